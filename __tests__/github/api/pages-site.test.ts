import { describe, expect, test } from '@jest/globals';
import {
  getBuildStatus,
  getDeploymentStatus,
  getPagesSite,
  requestBuild,
} from '../../../src/github/api/pages-site.ts';
import { absent, FakeGitHub, failure } from '../fake-github.ts';

const OURS = 'c0ffee';

describe('the site’s settings', () => {
  const read = (pages_site: unknown) => getPagesSite(new FakeGitHub({ pages_site }));

  test('give base, branch and folder of a site built from a branch', async () => {
    const record = {
      html_url: 'http://www.octo.dev/site',
      build_type: 'legacy',
      source: { branch: 'gh-pages', path: '/docs' },
      public: true,
    };
    await expect(read(record)).resolves.toEqual({
      base: new URL('https://www.octo.dev/site/'),
      branch: 'gh-pages',
      folder: 'docs',
      builtBy: 'branch',
      isPublic: true,
    });
  });

  test('of a site built by a workflow name no branch', async () => {
    const record = { html_url: 'https://octo.github.io/site/', build_type: 'workflow', source: null };
    await expect(read(record)).resolves.toMatchObject({ builtBy: 'workflow', branch: null, folder: '' });
  });

  test('that name no address leave the usual one', async () => {
    await expect(read({ source: { branch: 'main', path: '/' } })).resolves.toMatchObject({
      base: new URL('https://octo.github.io/site/'),
      folder: '',
    });
  });

  test('tell a site that only members may open', async () => {
    await expect(read({ public: false })).resolves.toMatchObject({ isPublic: false });
  });

  test('are null where there is no site', async () => {
    await expect(read(absent)).resolves.toBeNull();
  });

  test('that can’t be read are a failure', async () => {
    const denied = failure('NO_PERMISSION', 403);
    await expect(read(denied)).rejects.toBe(denied);
  });
});

describe('the latest build', () => {
  const state = (pages_latest: unknown, compare: unknown = absent) =>
    getBuildStatus(new FakeGitHub({ pages_latest, compare }), OURS);

  test.each([
    ['built', 'built'],
    ['building', 'building'],
    ['queued', 'building'],
    ['a word of tomorrow', 'building'],
  ])('of our commit with the word %s is %s', async (word, status) => {
    await expect(state({ status: word, commit: OURS })).resolves.toEqual({
      status,
      detail: `build of our commit: ${word}`,
    });
  });

  test.each([
    [{ message: 'front matter is broken' }, 'front matter is broken'],
    [{ message: null }, 'no error text was given'],
    [undefined, 'no error text was given'],
  ])('that is errored gives its error field %j', async (error, text) => {
    await expect(state({ status: 'errored', commit: OURS, error })).resolves.toMatchObject({
      status: 'errored',
      error: text,
    });
  });

  test('of an older commit says nothing of ours, although it is built', async () => {
    const older = state({ status: 'built', commit: 'older' }, { status: 'behind' });
    await expect(older).resolves.toMatchObject({ status: 'unknown', notStarted: true });
  });

  test.each(['ahead', 'identical'])('of a later commit that contains ours (%s) counts', async (status) => {
    await expect(state({ status: 'built', commit: 'later' }, { status })).resolves.toMatchObject({
      status: 'built',
      detail: 'build of a later commit that contains ours: built',
    });
  });

  test('compares from our commit to the build’s', async () => {
    const github = new FakeGitHub({ pages_latest: { status: 'built', commit: 'later' }, compare: {} });
    await getBuildStatus(github, OURS);
    expect(github.sent('compare')).toEqual([{ base: OURS, head: 'later', per_page: 1 }]);
  });

  test('of a commit that was rewritten away says nothing of ours', async () => {
    await expect(state({ status: 'built', commit: 'gone' }, absent)).resolves.toMatchObject({
      status: 'unknown',
    });
  });

  test('that names no commit says nothing of ours', async () => {
    await expect(state({ status: 'built' })).resolves.toMatchObject({ status: 'unknown' });
  });

  test('that does not exist yet has not started', async () => {
    await expect(state(absent)).resolves.toEqual({
      status: 'unknown',
      detail: 'no build yet',
      httpCode: 404,
      notStarted: true,
    });
  });

  test('that may not be read names the permission, and is no failure', async () => {
    const denied = await state(failure('NO_PERMISSION', 403));
    expect(denied).toMatchObject({ status: 'unknown', detail: expect.stringContaining('pages: read') });
    expect(denied.notStarted).toBeUndefined();
  });

  test.each(['HOST_ERROR', 'CONNECTION', 'RATE_LIMITED', 'NO_NETWORK'] as const)(
    'that can’t be asked for (%s) is unknown',
    async (code) => {
      await expect(state(failure(code, 502))).resolves.toMatchObject({ status: 'unknown', httpCode: 502 });
    },
  );

  test.each([failure('BAD_TOKEN', 401), new TypeError('our own mistake')])(
    'does not swallow %s',
    async (thrown) => {
      await expect(state(thrown)).rejects.toBe(thrown);
    },
  );

  test('does not swallow a refused comparison', async () => {
    const refused = failure('BAD_TOKEN', 401);
    await expect(state({ status: 'built', commit: 'later' }, refused)).rejects.toBe(refused);
  });

  test('is asked once a look', async () => {
    const github = new FakeGitHub({ pages_latest: { status: 'built', commit: OURS } });
    await getBuildStatus(github, OURS);
    expect(github.calls).toEqual([{ name: 'pages_latest', once: true, parameters: {} }]);
  });
});

describe('the latest deployment', () => {
  const state = (deployments: unknown, statuses: unknown = [], compare: unknown = absent) =>
    getDeploymentStatus(new FakeGitHub({ deployments, deployment_statuses: statuses, compare }), OURS);
  const ours = [{ id: 5, sha: OURS }];

  test.each([
    [[{ state: 'success' }], 'built'],
    [[{ state: 'in_progress' }], 'building'],
    [[], 'building'],
    [[{ state: 'failure', description: 'no artifact' }], 'errored'],
    [[{ state: 'error', description: '' }], 'errored'],
  ])('of our commit with the statuses %j is %s', async (statuses, status) => {
    await expect(state(ours, statuses)).resolves.toMatchObject({ status });
  });

  test('that failed gives its description', async () => {
    const failed = await state(ours, [{ state: 'failure', description: 'no artifact' }]);
    expect(failed.error).toBe('no artifact');
    expect((await state(ours, [{ state: 'error' }])).error).toBe('no error text was given');
  });

  test.each([[[]], [[{ id: 4, sha: 'older' }]]])('%j is none of our commit', async (deployments) => {
    await expect(state(deployments)).resolves.toEqual({
      status: 'unknown',
      detail: 'no deployment of our commit yet',
    });
  });

  test('is asked for in the environment of Pages', async () => {
    const github = new FakeGitHub({ deployments: ours, deployment_statuses: [] });
    await getDeploymentStatus(github, OURS);
    expect(github.sent('deployments')).toEqual([{ environment: 'github-pages', per_page: 1 }]);
    expect(github.sent('deployment_statuses')).toEqual([{ id: 5, per_page: 1 }]);
  });
});

describe('requesting a build', () => {
  const request = (request_build: unknown) => requestBuild(new FakeGitHub({ request_build }));

  test('says that it was requested', async () => {
    await expect(request({ status: 'queued' })).resolves.toEqual({
      words: 'a build was requested',
      again: false,
    });
  });

  test.each([failure('NO_PERMISSION', 403), absent])(
    'names the missing permission after %s',
    async (thrown) => {
      await expect(request(thrown)).resolves.toEqual({
        words: expect.stringContaining('`permissions: { pages: write }`'),
        again: false,
      });
    },
  );

  test.each([true, false])(
    'says why else it failed, and to ask again where that may pass: %s',
    async (passing) => {
      await expect(request(failure('HOST_ERROR', 500, { retryable: passing }))).resolves.toEqual({
        words: expect.stringContaining('the host said 500'),
        again: passing,
      });
    },
  );

  test('does not swallow our own mistakes', async () => {
    await expect(request(new TypeError('ours'))).rejects.toThrow('ours');
  });
});
