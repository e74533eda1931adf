import { describe, expect, test } from '@jest/globals';
import type { Placement } from '../../../src/channels/channel.ts';
import { BuildWatch } from '../../../src/channels/pages/build.ts';
import { absent, FakeGitHub, failure } from '../../github/fake-github.ts';
import { fakePorts } from '../../support/ports.ts';

const COMMIT = 'c0ffee';
const PLACEMENT = { commitSha: COMMIT } as Placement;
const SECONDS = 1_000;

/** Watches a build, and passes time after each call. */
function createWatch(
  answers: ConstructorParameters<typeof FakeGitHub>[0],
  builtBy: 'branch' | 'workflow' = 'branch',
  siteWorkflow?: string,
) {
  const github = new FakeGitHub({ workflow_runs: { workflow_runs: [] }, ...answers });
  const ports = fakePorts();
  const options = { timeout: 240 * SECONDS, siteWorkflow };
  const watch = new BuildWatch(github, { builtBy, branch: 'main' }, options, ports.clock);
  const callWatch = async (after: number, placement = PLACEMENT) => {
    const progress = await watch.ask(placement);
    await ports.clock.sleep(after);
    return progress;
  };
  return { github, callWatch };
}

describe('BuildWatch', () => {
  test('finishes when the build of the commit is done, and sends no more requests', async () => {
    const { github, callWatch } = createWatch({
      pages_latest: (_: unknown, nth: number) => ({
        status: nth === 1 ? 'building' : 'built',
        commit: COMMIT,
      }),
    });
    const results = [
      await callWatch(5 * SECONDS),
      await callWatch(5 * SECONDS),
      await callWatch(5 * SECONDS),
    ];
    expect(results.map(({ finished }) => finished)).toEqual([false, true, true]);
    expect(github.calls).toHaveLength(2);
  });

  test('sends at most 48 requests, at most one in 5 s, however often it is called', async () => {
    const { github, callWatch } = createWatch({ pages_latest: { status: 'building', commit: COMMIT } });
    for (let s = 0; s < 400; s += 1) await callWatch(SECONDS);
    expect(github.sent('pages_latest')).toHaveLength(48);
  });

  test('fails with the error that the build reports', async () => {
    const { callWatch } = createWatch({
      pages_latest: { status: 'errored', commit: COMMIT, error: { message: 'page.html: bad front matter' } },
    });
    await expect(callWatch(0, { ...PLACEMENT, written: true })).rejects.toMatchObject({
      code: 'BUILD_ERRORED',
      message: "the site's build failed: page.html: bad front matter (build of our commit: errored)",
      hint: expect.stringContaining('.nojekyll'),
    });
  });

  test('ignores the error of an older commit’s build', async () => {
    const { callWatch } = createWatch({
      pages_latest: { status: 'errored', commit: 'older' },
      compare: absent,
    });
    await expect(callWatch(0)).resolves.toMatchObject({ finished: false });
  });

  test('requests a build once where none has started after six requests', async () => {
    const { github, callWatch } = createWatch({ pages_latest: absent, request_build: { status: 'queued' } });
    for (let n = 1; n <= 5; n += 1) await callWatch(5 * SECONDS);
    expect(github.sent('request_build')).toHaveLength(0);
    expect((await callWatch(5 * SECONDS)).detail).toBe('no build yet; a build was requested');
    for (let n = 1; n <= 20; n += 1) await callWatch(5 * SECONDS);
    expect(github.sent('request_build')).toHaveLength(1);
  });

  test('keeps naming the permission that the request for a build needs', async () => {
    const { github, callWatch } = createWatch({
      pages_latest: absent,
      request_build: failure('NO_PERMISSION', 403),
    });
    for (let n = 1; n <= 10; n += 1) await callWatch(5 * SECONDS);
    expect((await callWatch(0)).detail).toContain('the permission `pages: write`');
    expect(github.sent('request_build')).toHaveLength(1);
  });

  test('repeats the request for a build until the host accepts it', async () => {
    const { github, callWatch } = createWatch({
      pages_latest: absent,
      request_build: (_: unknown, nth: number) =>
        nth < 3 ? failure('HOST_ERROR', 502, { retryable: true }) : { status: 'queued' },
    });
    for (let n = 1; n <= 12; n += 1) await callWatch(5 * SECONDS);
    expect(github.sent('request_build')).toHaveLength(3);
    expect((await callWatch(0)).detail).toBe('no build yet; a build was requested');
  });

  test('requests no build while that of the commit is running', async () => {
    const { github, callWatch } = createWatch({ pages_latest: { status: 'queued', commit: COMMIT } });
    for (let n = 1; n <= 10; n += 1) await callWatch(5 * SECONDS);
    expect(github.sent('request_build')).toEqual([]);
  });

  test('starts the workflow after a commit whose deployments cannot be read', async () => {
    const answers = { deployments: failure('NO_PERMISSION', 403), dispatch_workflow: {} };
    const { github, callWatch } = createWatch(answers, 'workflow', 'pages.yml');
    await expect(callWatch(5 * SECONDS, { ...PLACEMENT, written: true })).resolves.toMatchObject({
      detail: expect.stringContaining('the permission `deployments: read`'),
    });
    expect(github.sent('dispatch_workflow')).toHaveLength(1);
  });

  test('starts no workflow where a deployment already has the commit', async () => {
    const deployed = { deployments: [{ id: 1, sha: COMMIT }], deployment_statuses: [{ state: 'success' }] };
    const { github, callWatch } = createWatch(deployed, 'workflow', 'pages.yml');
    await expect(callWatch(0)).resolves.toMatchObject({ finished: true });
    expect(github.sent('dispatch_workflow')).toEqual([]);
  });

  test('starts the workflow at the next poll where the host failed for a moment', async () => {
    const { github, callWatch } = createWatch(
      {
        deployments: [],
        dispatch_workflow: (_: unknown, nth: number) =>
          nth === 1 ? failure('HOST_ERROR', 502, { retryable: true }) : {},
      },
      'workflow',
      'pages.yml',
    );
    for (let n = 1; n <= 5; n += 1) await callWatch(5 * SECONDS);
    expect(github.sent('dispatch_workflow')).toHaveLength(2);
  });

  test('ends the wait at once where the workflow cannot be started by hand', async () => {
    const answers = { deployments: [], dispatch_workflow: failure('HOST_ERROR', 422) };
    const { callWatch } = createWatch(answers, 'workflow', 'pages.yml');
    const hint = expect.stringContaining('`on: workflow_dispatch`');
    await expect(callWatch(0)).rejects.toMatchObject({ code: 'BAD_INPUT', hint });
  });

  const RUN = {
    id: 9,
    status: 'in_progress',
    conclusion: null,
    html_url: 'https://github.com/o/r/actions/runs/9',
  };
  const runs = (run: object) => (_: unknown, nth: number) => ({
    workflow_runs: nth === 1 ? [] : [{ ...RUN, ...run }],
  });

  test('a deployment that succeeded counts whatever its run does', async () => {
    const deployed = (_: unknown, nth: number) => (nth === 1 ? [] : [{ id: 1, sha: COMMIT }]);
    const workflow_runs = runs({ status: 'completed', conclusion: 'failure' });
    const { callWatch } = createWatch(
      {
        deployments: deployed,
        deployment_statuses: [{ state: 'success' }],
        dispatch_workflow: {},
        workflow_runs,
      },
      'workflow',
      'pages.yml',
    );
    await callWatch(5 * SECONDS);
    await expect(callWatch(0)).resolves.toMatchObject({ finished: true });
  });

  describe('a build that had failed before the delivery', () => {
    const failed = { status: 'errored', commit: COMMIT, url: 'https://api/builds/1', created_at: '1' };

    test('is a failure at once where it cannot be requested, with the permission', async () => {
      const request_build = failure('NO_PERMISSION', 403);
      const { callWatch } = createWatch({ pages_latest: failed, request_build });
      await expect(callWatch(0)).rejects.toMatchObject({
        code: 'BUILD_ERRORED',
        message: expect.stringContaining('the permission `pages: write`'),
      });
    });
  });

  test('a host that asks to wait is asked again only then', async () => {
    const limited = failure('RATE_LIMITED', 403, { retryable: true, retryAfter: 60 * SECONDS });
    const { github, callWatch } = createWatch({
      pages_latest: (_: unknown, nth: number) => (nth === 1 ? limited : { status: 'built', commit: COMMIT }),
    });
    for (let poll = 0; poll < 12; poll += 1) await callWatch(5 * SECONDS);
    expect(github.sent('pages_latest')).toHaveLength(1);
    await expect(callWatch(0)).resolves.toMatchObject({ finished: true });
  });

  test('asks for what the branch holds where no commit was made', async () => {
    const { github, callWatch } = createWatch({
      pages_latest: { status: 'building', commit: COMMIT },
      compare: { status: 'identical' },
    });
    await expect(callWatch(0, {} as Placement)).resolves.toMatchObject({ building: true });
    expect(github.calls.length).toBeGreaterThan(0);
  });

  test('counts a commit of ours that has no build yet as one that is built', async () => {
    const { callWatch } = createWatch({
      pages_latest: { status: 'built', commit: 'older' },
      compare: absent,
    });
    const written = { ...PLACEMENT, written: true };
    await expect(callWatch(0, written)).resolves.toMatchObject({ finished: false, building: true });
  });
});

describe('the commit that a finished build contains', () => {
  const built = { pages_latest: { status: 'built', commit: COMMIT } };
  const commits = [{ sha: COMMIT, commit: { committer: { date: '2026-01-02T03:04:05Z' } } }];
  const MARKED = { ...PLACEMENT, hostMayChangeBytes: true };

  test('is dated by the host where only the marker can prove the page, with one request', async () => {
    const { github, callWatch } = createWatch({ ...built, commits_of_path: commits });
    await expect(callWatch(0, MARKED)).resolves.toMatchObject({ committedAt: Date.UTC(2026, 0, 2, 3, 4, 5) });
    await callWatch(0, MARKED);
    expect(github.sent('commits_of_path')).toHaveLength(1);
  });

  test('is not asked for where the bytes decide', async () => {
    const { github, callWatch } = createWatch(built);
    await callWatch(0, PLACEMENT);
    expect(github.names).toEqual(['pages_latest']);
  });

  test.each([
    ['nothing', []],
    ['another commit', [{ ...commits[0], sha: 'other' }]],
    ['no date', [{ sha: COMMIT, commit: {} }]],
  ])('has no date where the host answers with %s', async (_, answer) => {
    const { callWatch } = createWatch({ ...built, commits_of_path: answer });
    await expect(callWatch(0, MARKED)).resolves.toMatchObject({ finished: true, committedAt: undefined });
  });

  test('says nothing of another commit', async () => {
    const { callWatch } = createWatch({
      ...built,
      compare: { status: 'behind' },
    });
    await expect(callWatch(0)).resolves.toMatchObject({ finished: true });
    const other = { ...PLACEMENT, commitSha: 'c0ffee2' };
    await expect(callWatch(0, other)).resolves.toMatchObject({ finished: false });
  });
});
