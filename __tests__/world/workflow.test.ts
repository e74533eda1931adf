import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestRepository } from './repository.ts';
import { NO_PERMISSIONS } from './tokens.ts';
import { isTriggeredBy, parseWorkflowDefinition, type TriggerEvent } from './workflow/definition.ts';
import { computeJobPermissions, type WorkflowEvent } from './workflow/event.ts';
import { interpolate, isConditionMet, type JobStatus } from './workflow/expressions.ts';
import { createWorkflowRunner, type WorkflowRunner } from './workflow/workflow-runner.ts';
import { type GitHubWorld, startWorld } from './world.ts';

const workflow = (jobs: string, on = 'push: {}') =>
  parseWorkflowDefinition(`name: Test\non:\n  ${on}\npermissions: {}\njobs:\n${jobs}`);

const on = (name: string, payload: TriggerEvent['payload'] = {}): TriggerEvent => ({
  name,
  ref: 'x',
  payload,
});
const push = (ref: string): TriggerEvent => ({ ...on('push'), ref });

test.each<[on: string, event: TriggerEvent, starts: boolean]>([
  ['push: {}', on('schedule'), false],
  ['push: { branches: [main] }', push('refs/heads/main'), true],
  ['push: { branches: [main] }', push('refs/heads/main2'), false],
  ["push: { tags: ['v*'] }", push('refs/tags/v1.2'), true],
  ["push: { tags: ['v*'] }", push('refs/tags/v1/2'), false],
  ['pull_request: {}', on('pull_request', { action: 'synchronize' }), true],
  ['pull_request: {}', on('pull_request', { action: 'closed' }), false],
  ["schedule: [{ cron: '1 2 * * *' }]", on('schedule', { schedule: '1 2 * * *' }), true],
  ["schedule: [{ cron: '1 2 * * *' }]", on('schedule', { schedule: '9 9 * * *' }), false],
  ['workflow_run: { workflows: [A] }', on('workflow_run', { workflow_run: { name: 'A' } }), true],
  ['workflow_run: { workflows: [A] }', on('workflow_run', { workflow_run: { name: 'B' } }), false],
])('whether a workflow `on: %s` starts after %j: %s', (trigger, event, starts) => {
  expect(isTriggeredBy(workflow('  job: { steps: [] }', trigger), event)).toBe(starts);
});

test.each([
  ['  job: { steps: [], container: x }', '`container` of a job'],
  ['  job: { steps: [], strategy: { matrix: {}, max-parallel: 1 } }', '`max-parallel` of a strategy'],
])('a workflow with an unsupported key is refused: %s', (jobs, message) => {
  expect(() => workflow(jobs)).toThrow(`${message} is not supported here.`);
});

test.each<[string | undefined, JobStatus, boolean]>([
  [undefined, 'success', true],
  [undefined, 'failure', false],
  ["github.event.action == 'closed'", 'success', true],
  ["${{ github.event.action != 'closed' }}", 'success', false],
  ['always()', 'failure', true],
  ['${{ !cancelled() }}', 'failure', true],
  ['failure()', 'failure', true],
])('`if: %s` after %s is %s', (condition, status, value) => {
  expect(isConditionMet(condition, { github: { event: { action: 'closed' } }, needs: {} }, status)).toBe(
    value,
  );
});

test('an expression with an unknown context is refused', () => {
  expect(() => interpolate('${{ steps.one }}', { github: {}, needs: {} })).toThrow(/steps/);
});

describe('the token of a job', () => {
  const fork = { head: { repo: { full_name: 'human/demo' } }, base: { repo: { full_name: 'octo/demo' } } };
  const own = { ...fork, head: fork.base };
  const may = (name: string, pull_request: object) =>
    // The rest of the payload is not used.
    computeJobPermissions({ contents: 'write', actions: 'read' }, {
      name,
      payload: { pull_request },
    } as WorkflowEvent);

  test.each([
    ['pull_request', own, 'write'],
    ['pull_request', fork, 'read'],
    ['pull_request_target', fork, 'write'],
  ])('on %s of %j has only the permissions %s', (name, pull, level) => {
    expect(may(name, pull)).toEqual({ ...NO_PERMISSIONS, contents: level, actions: 'read' });
  });
});

describe('a workflow run', () => {
  let world: GitHubWorld;
  let repository: TestRepository;
  let player: WorkflowRunner;

  beforeAll(async () => {
    world = await startWorld();
    repository = await world.repository({ owner: 'octo', name: 'demo' });
    player = createWorkflowRunner(world);
  });
  afterAll(() => world.stop());

  const play = (jobs: string, files?: Record<string, string>) =>
    player.run(workflow(jobs), {
      repository,
      name: 'push',
      payload: {},
      ref: 'refs/heads/main',
      sha: 'a'.repeat(40),
      ...(files === undefined ? {} : { files }),
    });

  test('continues after a tolerated failure and stops at any other', async () => {
    const run = await play(`
  job:
    env: { WORD: word }
    steps:
      - { id: one, continue-on-error: true, run: 'echo "said=$WORD" >> "$GITHUB_OUTPUT"; false; echo never' }
      - if: steps.one.outcome == 'failure' && steps.one.conclusion == 'success'
        run: echo "$SAID $GITHUB_REF_NAME"
        env: { SAID: '\${{ steps.one.outputs.said }}' }
      - run: exit 3
      - run: echo skipped
      - { if: always(), run: 'echo "\${{ job.status }}"' }
  after: { needs: job, steps: [] }
  cleaner: { needs: job, if: '\${{ !cancelled() }}', steps: [] }
`);
    expect(run?.conclusion).toBe('failure');
    expect(run?.jobs.map(({ conclusion }) => conclusion)).toEqual(['failure', 'skipped', 'success']);
    expect(run?.jobs[0]?.steps.map(({ log, succeeded }) => [log, succeeded])).toEqual([
      ['', false],
      ['word main\n', true],
      ['', false],
      ['failure\n', true],
    ]);
  });

  test.each([
    ['uses: actions/setup-node@v1', /setup-node@v1 is not supported/],
    ['uses: actions/checkout@v1, with: { ref: x }', /`ref` of actions\/checkout@v1 is not supported/],
    ['run: \'echo A=b >> "$GITHUB_ENV"\'', /GITHUB_ENV is not supported/],
  ])('refuses an unsupported feature: %s', async (step, message) => {
    await expect(play(`  job: { steps: [{ ${step} }] }`, {})).rejects.toThrow(message);
  });
});
