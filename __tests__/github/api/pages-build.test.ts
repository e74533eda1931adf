import { describe, expect, test } from '@jest/globals';
import { hasFailed, resultOf } from '../../../src/errors.ts';
import { getBuildStatus, getDeploymentStatus, requestBuild } from '../../../src/github/api/pages-build.ts';
import { absent, FakeGitHub, failure } from '../fake-github.ts';

const OURS = 'c0ffee';
const NO_TEXT = 'no error text was given';

describe('getBuildStatus', () => {
  const getStatus = (pages_latest: unknown, compare: unknown = absent) =>
    getBuildStatus(new FakeGitHub({ pages_latest, compare }), OURS);
  const ofOurs = (status: string, error?: object) => ({ status, commit: OURS, error });
  const LATER = { status: 'built', commit: 'later' };

  test.each<[string, unknown, unknown, object]>([
    ['built', ofOurs('built'), absent, { status: 'built', detail: 'build of our commit: built' }],
    ['queued', ofOurs('queued'), absent, { status: 'building', detail: 'build of our commit: queued' }],
    ['an error', ofOurs('errored', { message: 'broken' }), absent, { status: 'errored', error: 'broken' }],
    ['an empty error', ofOurs('errored', { message: null }), absent, { status: 'errored', error: NO_TEXT }],
    ['an older commit', LATER, { status: 'behind' }, { status: 'unknown', notStarted: true }],
    [
      'a later one',
      LATER,
      { status: 'ahead' },
      { status: 'built', detail: 'build of a later commit that contains ours: built' },
    ],
    ['a commit that is gone', LATER, absent, { status: 'unknown', notStarted: true }],
    ['no commit', { status: 'built' }, absent, { status: 'unknown', notStarted: true }],
    ['no build', absent, absent, { status: 'unknown', httpCode: 404, notStarted: true }],
  ])('reads the latest build: %s', async (_, build, compare, expected) => {
    await expect(getStatus(build, compare)).resolves.toMatchObject(expected);
  });

  test.each(['HOST_ERROR', 'CONNECTION', 'RATE_LIMITED', 'NO_NETWORK'] as const)(
    'is unknown after a failure that may pass (%s)',
    async (code) => {
      const status = getStatus(failure(code, 502));
      await expect(status).resolves.toMatchObject({ status: 'unknown', httpCode: 502 });
    },
  );

  test('throws what no later question changes, of the build and of the comparison', async () => {
    const refused = failure('BAD_TOKEN', 401);
    for (const thrown of [refused, new TypeError('a defect')]) {
      await expect(getStatus(thrown)).rejects.toBe(thrown);
    }
    await expect(getStatus(LATER, refused)).rejects.toBe(refused);
  });
});

describe('getDeploymentStatus', () => {
  const getStatus = (deployments: unknown, statuses: unknown = []) =>
    getDeploymentStatus(
      new FakeGitHub({ deployments, deployment_statuses: statuses, compare: absent }),
      OURS,
    );
  const ours = [{ id: 5, sha: OURS }];

  test.each<[unknown, object]>([
    [[{ state: 'success' }], { status: 'built' }],
    [[{ state: 'in_progress' }], { status: 'building' }],
    [[], { status: 'building' }],
    [[{ state: 'failure', description: 'no artifact' }], { status: 'errored', error: 'no artifact' }],
    [[{ state: 'error', description: '' }], { status: 'errored', error: NO_TEXT }],
    [[{ state: 'inactive' }], { status: 'unknown', notStarted: true }],
  ])('reads the statuses %j of a deployment of our commit: %j', async (statuses, expected) => {
    await expect(getStatus(ours, statuses)).resolves.toMatchObject(expected);
  });

  test.each([[[]], [[{ id: 4, sha: 'older' }]]])('finds no deployment of ours in %j', async (deployments) => {
    const detail = 'no deployment of our commit yet';
    await expect(getStatus(deployments)).resolves.toEqual({ status: 'unknown', detail, notStarted: true });
  });
});

const GRANT = expect.stringMatching(/`permissions: \{ pages: write \}`.*; then run it again/);
const DENIED = [expect.stringMatching(/permission `pages: write`/), false, GRANT];
test.each<[unknown, unknown]>([
  [{ status: 'queued' }, 'a build was requested'],
  [failure('NO_PERMISSION', 403), DENIED],
  [absent, DENIED],
  [failure('HOST_ERROR', 500, { retryable: true }), [expect.stringMatching(/said 500/), true, undefined]],
  [failure('HOST_ERROR', 422), [expect.stringMatching(/said 422/), false, undefined]],
])('requestBuild returns its outcome: %s', async (request_build, expected) => {
  const requested = await resultOf(() => requestBuild(new FakeGitHub({ request_build })));
  expect(hasFailed(requested) ? [requested.message, requested.retryable, requested.hint] : requested).toEqual(
    expected,
  );
});
