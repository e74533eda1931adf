import { describe, expect, test } from '@jest/globals';
import { getBuildStatus, getDeploymentStatus, requestBuild } from '../../../src/github/api/pages-build.ts';
import { absent, FakeGitHub, failure } from '../fake-github.ts';

const OURS = 'c0ffee';

describe('getBuildStatus', () => {
  const getStatus = (pages_latest: unknown, compare: unknown = absent) =>
    getBuildStatus(new FakeGitHub({ pages_latest, compare }), OURS);

  test.each([
    ['built', 'built'],
    ['building', 'building'],
    ['queued', 'building'],
    ['a future status', 'building'],
  ])('reads the status %s of a build of our commit as %s', async (word, status) => {
    await expect(getStatus({ status: word, commit: OURS })).resolves.toEqual({
      status,
      detail: `build of our commit: ${word}`,
    });
  });

  test.each([
    [{ message: 'front matter is broken' }, 'front matter is broken'],
    [{ message: null }, 'no error text was given'],
    [undefined, 'no error text was given'],
  ])('returns the error %j of an errored build as text', async (error, text) => {
    await expect(getStatus({ status: 'errored', commit: OURS, error })).resolves.toMatchObject({
      status: 'errored',
      error: text,
    });
  });

  test('returns unknown for a finished build of an older commit', async () => {
    const older = getStatus({ status: 'built', commit: 'older' }, { status: 'behind' });
    await expect(older).resolves.toMatchObject({ status: 'unknown', notStarted: true });
  });

  test.each(['ahead', 'identical'])(
    'counts a build of a later commit that contains ours (%s)',
    async (status) => {
      await expect(getStatus({ status: 'built', commit: 'later' }, { status })).resolves.toMatchObject({
        status: 'built',
        detail: 'build of a later commit that contains ours: built',
      });
    },
  );

  test('compares our commit with the commit of the build', async () => {
    const github = new FakeGitHub({ pages_latest: { status: 'built', commit: 'later' }, compare: {} });
    await getBuildStatus(github, OURS);
    expect(github.sent('compare')).toEqual([{ basehead: `${OURS}...later`, per_page: 1 }]);
  });

  test('returns unknown for a build of a commit that no longer exists', async () => {
    await expect(getStatus({ status: 'built', commit: 'gone' }, absent)).resolves.toMatchObject({
      status: 'unknown',
    });
  });

  test('returns unknown for a build without a commit', async () => {
    await expect(getStatus({ status: 'built' })).resolves.toMatchObject({ status: 'unknown' });
  });

  test('returns that no build has started where there is none', async () => {
    await expect(getStatus(absent)).resolves.toEqual({
      status: 'unknown',
      detail: 'no build yet',
      httpCode: 404,
      notStarted: true,
    });
  });

  test('returns unknown with the missing permission', async () => {
    const denied = await getStatus(failure('NO_PERMISSION', 403));
    expect(denied).toMatchObject({ status: 'unknown', detail: expect.stringContaining('pages: read') });
    expect(denied.notStarted).toBeUndefined();
  });

  test.each(['HOST_ERROR', 'CONNECTION', 'RATE_LIMITED', 'NO_NETWORK'] as const)(
    'returns unknown after a failure that may pass (%s)',
    async (code) => {
      await expect(getStatus(failure(code, 502))).resolves.toMatchObject({
        status: 'unknown',
        httpCode: 502,
      });
    },
  );

  test.each([failure('BAD_TOKEN', 401), new TypeError('a defect')])('throws %s', async (thrown) => {
    await expect(getStatus(thrown)).rejects.toBe(thrown);
  });

  test('throws when the comparison is refused', async () => {
    const refused = failure('BAD_TOKEN', 401);
    await expect(getStatus({ status: 'built', commit: 'later' }, refused)).rejects.toBe(refused);
  });

  test('requests the build once per poll', async () => {
    const github = new FakeGitHub({ pages_latest: { status: 'built', commit: OURS } });
    await getBuildStatus(github, OURS);
    expect(github.calls).toEqual([{ name: 'pages_latest', parameters: {} }]);
  });
});

describe('getDeploymentStatus', () => {
  const getStatus = (deployments: unknown, statuses: unknown = [], compare: unknown = absent) =>
    getDeploymentStatus(new FakeGitHub({ deployments, deployment_statuses: statuses, compare }), OURS);
  const ours = [{ id: 5, sha: OURS }];

  test.each([
    [[{ state: 'success' }], 'built'],
    [[{ state: 'in_progress' }], 'building'],
    [[], 'building'],
    [[{ state: 'failure', description: 'no artifact' }], 'errored'],
    [[{ state: 'error', description: '' }], 'errored'],
    [[{ state: 'queued' }], 'building'],
    [[{ state: 'inactive' }], 'unknown'],
  ])('reads the statuses %j of a deployment of our commit as %s', async (statuses, status) => {
    await expect(getStatus(ours, statuses)).resolves.toMatchObject({ status });
  });

  test('returns the description of a failed deployment as its error', async () => {
    const failed = await getStatus(ours, [{ state: 'failure', description: 'no artifact' }]);
    expect(failed.error).toBe('no artifact');
    expect((await getStatus(ours, [{ state: 'error' }])).error).toBe('no error text was given');
  });

  test.each([[[]], [[{ id: 4, sha: 'older' }]]])(
    'finds no deployment of our commit in %j',
    async (deployments) => {
      await expect(getStatus(deployments)).resolves.toEqual({
        status: 'unknown',
        detail: 'no deployment of our commit yet',
        notStarted: true,
      });
    },
  );

  test('requests the latest deployment and status in the environment of Pages', async () => {
    const github = new FakeGitHub({ deployments: ours, deployment_statuses: [] });
    await getDeploymentStatus(github, OURS);
    expect(github.sent('deployments')).toEqual([{ environment: 'github-pages', per_page: 1 }]);
    expect(github.sent('deployment_statuses')).toEqual([{ deployment_id: 5, per_page: 1 }]);
  });
});

describe('requestBuild', () => {
  const request = (request_build: unknown) => requestBuild(new FakeGitHub({ request_build }));

  test('returns that the build was requested', async () => {
    await expect(request({ status: 'queued' })).resolves.toEqual({
      words: 'a build was requested',
      again: false,
      started: true,
    });
  });

  test.each([failure('NO_PERMISSION', 403), absent])(
    'returns the missing permission after %s',
    async (thrown) => {
      await expect(request(thrown)).resolves.toEqual({
        words: expect.stringContaining('the permission `pages: write`'),
        again: false,
        started: false,
      });
    },
  );

  test.each([true, false])(
    'returns any other failure, and whether to request again: %s',
    async (retryable) => {
      await expect(request(failure('HOST_ERROR', 500, { retryable }))).resolves.toEqual({
        words: expect.stringContaining('the host said 500'),
        again: retryable,
        started: false,
      });
    },
  );

  test('throws an error that is not a DeliveryError', async () => {
    await expect(request(new TypeError('a defect'))).rejects.toThrow('a defect');
  });
});
