import { describe, expect, test } from '@jest/globals';
import type { Placement } from '../../../src/channels/channel.ts';
import { BuildWatch } from '../../../src/channels/pages/build.ts';
import { ACTION, say } from '../../../src/words.ts';
import { placementWith } from '../../delivery/builders.ts';
import { type Answers, absent, FakeGitHub, failure } from '../../github/fake-github.ts';
import { fakePorts } from '../../support/ports.ts';

const COMMIT = 'c0ffee';
const PLACEMENT = placementWith({ commitSha: COMMIT, written: false, expect: { is: 'bytes' } });
const WRITTEN = { ...PLACEMENT, written: true };
const SECONDS = 1_000;

/** Watches a build; a named workflow builds the site. */
function createWatch(answers: Answers, siteWorkflow?: string) {
  const github = new FakeGitHub({ workflow_runs: { workflow_runs: [] }, ...answers });
  const { clock } = fakePorts();
  const builtBy = siteWorkflow === undefined ? 'branch' : 'workflow';
  const options = { timeout: 240 * SECONDS, siteWorkflow };
  const watch = new BuildWatch(github, { builtBy, branch: 'main' }, options, clock);
  const ask = (placement = PLACEMENT) => watch.ask(placement);
  /** Polls several times, with a pause after each. */
  const askOften = async (times: number, pause = 5 * SECONDS) => {
    for (let nth = 0; nth < times; nth += 1) {
      await ask();
      await clock.sleep(pause);
    }
  };
  return { github, clock, ask, askOften };
}

const buildIn = (status: string, more: object = {}) => ({ status, commit: COMMIT, ...more });
const errored = (more: object) => buildIn('errored', more);
const REQUESTED = 'no build yet; a build was requested';
const SUCCESS = [{ state: 'success' }];
const deployed = [{ id: 1, sha: COMMIT }];
const denied = failure('NO_PERMISSION', 403);
const failsTimes = (times: number, then: object) => (_: unknown, nth: number) =>
  nth <= times ? failure('HOST_ERROR', 502, { retryable: true }) : then;

describe('BuildWatch', () => {
  test('finishes when the build of the commit is done, and sends no more requests', async () => {
    const latest = (_: unknown, nth: number) => buildIn(nth === 1 ? 'building' : 'built');
    const { github, ask, askOften } = createWatch({ pages_latest: latest });
    await expect(ask()).resolves.toMatchObject({ finished: false });
    await askOften(3);
    await expect(ask()).resolves.toMatchObject({ finished: true });
    expect(github.names).toEqual(['pages_latest', 'pages_latest']);
  });

  test('sends at most 48 requests, at most one in 5 s, however often it is called', async () => {
    const { github, askOften } = createWatch({ pages_latest: buildIn('building') });
    await askOften(400, SECONDS);
    expect(github.sent('pages_latest')).toHaveLength(48);
  });

  test.each<[string, Answers, object]>([
    [
      'the error that the build reports',
      { pages_latest: errored({ error: { message: 'bad front matter' } }) },
      {
        message: "the site's build failed: bad front matter (build of our commit: errored)",
        hint: expect.stringContaining('.nojekyll'),
      },
    ],
    [
      'the permission where one that had failed before cannot be requested',
      { pages_latest: errored({ url: 'https://api/builds/1', created_at: '1' }), request_build: denied },
      { message: expect.stringContaining('the permission `pages: write`') },
    ],
  ])('fails with %s', async (_, answers, error) => {
    const { clock, ask } = createWatch(answers);
    const isFirst = answers?.request_build === undefined;
    if (isFirst) await expect(ask(WRITTEN)).resolves.toMatchObject({ finished: false });
    await clock.sleep(5 * SECONDS);
    await expect(ask(isFirst ? WRITTEN : PLACEMENT)).rejects.toMatchObject({
      code: 'BUILD_ERRORED',
      ...error,
    });
  });

  test.each<[string, Answers, number, string]>([
    ['once, after six requests', { pages_latest: absent, request_build: {} }, 1, REQUESTED],
    ['once, denied', { pages_latest: absent, request_build: denied }, 1, 'the permission `pages: write`'],
    ['until the host accepts it', { pages_latest: absent, request_build: failsTimes(2, {}) }, 3, REQUESTED],
    ['not at all, while one is running', { pages_latest: buildIn('queued') }, 0, 'queued'],
  ])('requests a build %s', async (_, answers, count, detail) => {
    const { github, ask, askOften } = createWatch(answers);
    await askOften(5);
    expect(github.sent('request_build')).toHaveLength(0);
    await askOften(20);
    expect(github.sent('request_build')).toHaveLength(count);
    expect((await ask()).detail).toContain(detail);
  });

  test('names the permission if this token may not request a build', async () => {
    const { ask, askOften } = createWatch({ pages_latest: absent, request_build: denied });
    await askOften(20);
    const { hint = '' } = await ask();
    expect(say(hint, ACTION)).toMatch(/^give the job `permissions: \{ pages: write \}`/);
  });

  const ended = { id: 9, status: 'completed', conclusion: 'failure', html_url: 'https://github.com/o/r' };
  test.each<[string, Answers, number, boolean]>([
    ['after a commit whose deployments cannot be read', { deployments: denied }, 1, false],
    ['not if a deployment has the commit', { deployments: deployed, deployment_statuses: SUCCESS }, 0, true],
    ['again after a failure', { deployments: [], dispatch_workflow: failsTimes(1, {}) }, 2, false],
    [
      'and a deployment that succeeded counts, whatever its run does',
      {
        deployments: (_: unknown, nth: number) => (nth === 1 ? [] : deployed),
        deployment_statuses: SUCCESS,
        workflow_runs: (_: unknown, nth: number) => ({ workflow_runs: nth === 1 ? [] : [ended] }),
      },
      1,
      true,
    ],
  ])('starts the workflow %s', async (_, answers, count, finished) => {
    const { github, ask, askOften } = createWatch({ dispatch_workflow: {}, ...answers }, 'pages.yml');
    await ask(WRITTEN);
    await askOften(4);
    await expect(ask(WRITTEN)).resolves.toMatchObject({ finished });
    expect(github.sent('dispatch_workflow')).toHaveLength(count);
  });

  test("ends the wait at once if the workflow can't be started by hand", async () => {
    const { ask } = createWatch(
      { deployments: [], dispatch_workflow: failure('HOST_ERROR', 422) },
      'pages.yml',
    );
    const hint = expect.stringContaining('`on: workflow_dispatch`');
    await expect(ask()).rejects.toMatchObject({ code: 'BAD_INPUT', hint });
  });

  test("waits as long as the host's Retry-After", async () => {
    const limited = failure('RATE_LIMITED', 403, { retryable: true, retryAfter: 60 * SECONDS });
    const { github, ask, askOften } = createWatch({
      pages_latest: (_: unknown, nth: number) => (nth === 1 ? limited : buildIn('built')),
    });
    await askOften(12);
    expect(github.sent('pages_latest')).toHaveLength(1);
    await expect(ask()).resolves.toMatchObject({ finished: true });
  });

  test.each<[string, Answers, Placement]>([
    ['an older build’s error', { pages_latest: errored({ commit: 'older' }), compare: absent }, PLACEMENT],
    [
      'no commit',
      { pages_latest: buildIn('building'), compare: { status: 'identical' } },
      placementWith({ on: 'K2', written: false }),
    ],
    [
      'a commit without a build',
      { pages_latest: { status: 'built', commit: 'older' }, compare: absent },
      WRITTEN,
    ],
  ])('goes on with %s', async (_, answers, placement) => {
    const { ask } = createWatch(answers);
    await expect(ask(placement)).resolves.toMatchObject({ finished: false, building: true });
  });
});

describe('a finished build', () => {
  const created_at = '2026-01-02T03:04:05Z';
  const begun = Date.UTC(2026, 0, 2, 3, 4, 5);

  test.each<[string, Answers, number | undefined]>([
    ['a build', { pages_latest: buildIn('built', { created_at }) }, begun],
    ['a deployment', { deployments: [{ ...deployed[0], created_at }], deployment_statuses: SUCCESS }, begun],
    ['a build without a date', { pages_latest: buildIn('built') }, undefined],
  ])('is dated by the beginning of %s', async (_, answers, builtAt) => {
    const { ask } = createWatch(answers, 'deployments' in (answers ?? {}) ? 'pages.yml' : undefined);
    await expect(ask()).resolves.toMatchObject({ finished: true, builtAt });
  });

  test("doesn't count for another commit", async () => {
    const { ask } = createWatch({ pages_latest: buildIn('built'), compare: { status: 'behind' } });
    await expect(ask()).resolves.toMatchObject({ finished: true });
    await expect(ask({ ...PLACEMENT, commitSha: 'c0ffee2' })).resolves.toMatchObject({ finished: false });
  });
});
