import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { CurrentRun } from '../../src/action/current-run.ts';
import {
  actionFace,
  createRunContext,
  describePermissions,
  NARROW_INPUTS,
  readInputs,
} from '../../src/action/inputs.ts';
import { completeInputs, INPUTS, type RawInputs } from '../../src/request/inputs.ts';
import { say } from '../../src/words.ts';
import { FakeClock } from '../support/ports.ts';
import { runWith } from './current-runs.ts';

const RUNNER = {
  GITHUB_REPOSITORY: 'octo/site',
  GITHUB_API_URL: 'https://api.github.com',
  GITHUB_SERVER_URL: 'https://github.com',
};

test.each<[string, NodeJS.ProcessEnv, object]>([
  [
    'by its upper-case name, with its hyphens and trimmed',
    { INPUT_FILE: ' page.html\n', 'INPUT_FAIL-ON-NOT-READY': 'false' },
    { file: 'page.html', 'fail-on-not-ready': 'false' },
  ],
  [
    'with its default where it is empty, and with the value of the runner',
    { ...RUNNER, INPUT_TIMEOUT: '  ' },
    { timeout: '240', channel: 'auto', repository: 'octo/site', 'api-url': 'https://api.github.com' },
  ],
  ['but no token that was not given', { INPUT_TOKEN: '', GITHUB_TOKEN: 'ghs_x' }, { token: '' }],
  ['of GitHub itself, without a runner', {}, { repository: '', 'api-url': 'https://api.github.com' }],
])('each input is read %s', (_, env, expected) => {
  const raw = readInputs(env);
  expect(raw).toMatchObject(expected);
  expect(Object.keys(raw)).toEqual(Object.keys(INPUTS));
});

describe('createRunContext', () => {
  const ports = { clock: new FakeClock(), random: () => 0.5 };

  test('names the run as the origin of the file, its credentials, and the folders that a file may be in', () => {
    const env = {
      GITHUB_WORKSPACE: '/ws',
      RUNNER_TEMP: '/tmp/r',
      GITHUB_WORKFLOW: 'Deliver',
      GITHUB_JOB: 'pages',
      ACTIONS_RUNTIME_TOKEN: 'runtimeTokenAb12',
    };
    expect(createRunContext(env, runWith(), ports)).toMatchObject({
      folder: '/ws',
      job: 'Deliver/pages',
      runtime: null,
      secrets: [{ name: 'ACTIONS_RUNTIME_TOKEN', value: 'runtimeTokenAb12' }],
      allowedRoots: ['/ws', '/tmp/r'],
      allowsFullPaths: false,
      sourceRepositories: [null],
      fileSource: 'from run 7 of Deliver',
    });
    expect(createRunContext({ GITHUB_WORKSPACE: '' }, runWith(), ports).folder).toBe(process.cwd());
  });

  test.each<[string | undefined, string | undefined, string | undefined]>([
    ['octo/site/.github/workflows/a b.yml@refs/heads/x.yml@y', '42', 'octo/site/.github/workflows/a b.yml'],
    ['octo/site/.github/workflows/a.yaml@refs/pull/7/merge', '42', 'octo/site/.github/workflows/a.yaml'],
    [undefined, '42', undefined],
    ['octo/site/.github/workflows/a.yml@refs/heads/main', undefined, undefined],
  ])('takes from %j the file of the workflow, and its run', (reference, id, name) => {
    const env = { GITHUB_WORKFLOW_REF: reference, GITHUB_RUN_ID: id, GITHUB_RUN_ATTEMPT: '2' };
    const from = name && { name, run: '42/2' };
    expect(createRunContext(env, runWith(), ports).deliverer).toEqual(from);
  });

  test.each<[unknown, boolean | null]>([
    [{ private: true }, true],
    [{ private: false }, false],
    [{ private: 'false' }, null],
    [null, null],
    [undefined, null],
  ])(
    'reads from the repository %j of the event whether the source is private: %s',
    (repository, expected) => {
      const run = runWith({ payload: { repository } as CurrentRun['payload'] });
      const { sourceIsPrivate, commit } = createRunContext({}, run, ports);
      expect([sourceIsPrivate, commit]).toEqual([expected, run.sha]);
    },
  );
});

describe('what to change where the token may not do something', () => {
  const grant = (given: Partial<RawInputs>, run: Partial<CurrentRun> = {}): string =>
    say(
      (w) => w.grant('contents: write'),
      actionFace({}, completeInputs(given, {}), { ...runWith({}), ...run }),
    );
  const pull = (from: string | null): CurrentRun['payload'] => {
    const pull_request = {
      head: { repo: from && { full_name: from } },
      base: { repo: { full_name: 'octo/site' } },
    };
    return { pull_request } as never;
  };

  test('names all permissions that the step needs, since a list takes away the others', () => {
    const all = { comment: 'true', environment: 'preview', 'site-workflow': 'pages.yml' };
    expect(grant(all)).toBe(
      'give the job `permissions: { contents: write, pages: write, pull-requests: write, deployments: write, actions: write }`, or use channel: K3 (public to anyone with the link)',
    );
    for (const [channel, missing, needed] of [
      ['K3', 'pull-requests: write', 'pull-requests: write'],
      ['K2', 'contents: write', 'contents: write'],
      ['K1+K3', 'contents: write', 'contents: write, pages: write'],
    ] as const) {
      expect(describePermissions(completeInputs({ channel }, {}), missing, runWith())).toBe(
        `give the job \`permissions: { ${needed} }\``,
      );
    }
  });

  test('names the two workflows where the run is for the pull request of a fork', () => {
    const run = { eventName: 'pull_request', payload: pull('human/site') };
    expect(grant({}, run)).toMatch(
      /^publish from a second workflow, .* the fork human\/site is read-only: .*fork-safe-publish\.yml/,
    );
    expect(grant({}, { ...run, payload: pull(null) })).toContain('for the fork a deleted fork is read-only');
    expect(grant({}, { ...run, eventName: 'pull_request_target' })).toMatch(/^give the job/);
    expect(grant({}, { ...run, payload: pull('octo/site') })).toMatch(/^give the job/);
  });
});

test('the inputs of the narrow action are those of its action.yml', () => {
  const { inputs } = parse(readFileSync('agent/action.yml', 'utf8')) as { inputs: object };
  expect(Object.keys(inputs)).toEqual(NARROW_INPUTS);
});
