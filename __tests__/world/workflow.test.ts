import { expect, test } from '@jest/globals';
import { setUpWorld } from './set-up-world.ts';
import { isTriggeredBy, parseWorkflowDefinition, type TriggerEvent } from './workflow/definition.ts';
import { createWorkflowRunner } from './workflow/workflow-runner.ts';

const setup = setUpWorld();

const workflow = (jobs: string, on = 'push: {}') =>
  parseWorkflowDefinition(`name: Test\non:\n  ${on}\npermissions: {}\njobs:\n${jobs}`);

test.each<[on: string, name: string, payload: TriggerEvent['payload'], ref?: string]>([
  ['push: {}', 'schedule', {}],
  ['push: { branches: [main] }', 'push', {}, 'refs/heads/main2'],
  ["push: { tags: ['v*'] }", 'push', {}, 'refs/tags/v1/2'],
  ['pull_request: {}', 'pull_request', { action: 'closed' }],
  ["schedule: [{ cron: '1 2 * * *' }]", 'schedule', { schedule: '9 9 * * *' }],
  ['workflow_run: { workflows: [A] }', 'workflow_run', { workflow_run: { name: 'B' } }],
])('a workflow `on: %s` does not start after %s of %j', (trigger, name, payload, ref = 'x') => {
  expect(isTriggeredBy(workflow('  job: { steps: [] }', trigger), { name, ref, payload })).toBe(false);
});

test.each([
  ['steps: [], container: x', '`container` of a job'],
  ['steps: [], strategy: { matrix: {}, max-parallel: 1 }', '`max-parallel` of a strategy'],
  ['steps: [{ uses: actions/setup-node@v1 }]', 'actions/setup-node@v1'],
  ['steps: [{ uses: actions/checkout@v1, with: { ref: x } }]', '`ref` of actions/checkout@v1'],
  ['steps: [{ run: \'echo A=b >> "$GITHUB_ENV"\' }]', 'GITHUB_ENV'],
])('a feature that is not played is refused: %s', async (job, what) => {
  const repository = await setup.repository();
  const event = {
    repository,
    name: 'push',
    payload: {},
    ref: 'refs/heads/main',
    sha: 'a'.repeat(40),
    files: {},
  };
  const play = async () => createWorkflowRunner(setup.world).run(workflow(`  job: { ${job} }`), event);
  await expect(play()).rejects.toThrow(`${what} is not supported here.`);
});
