import { describe, expect, test } from '@jest/globals';
import { getPagesSite, loadRepositoryContext } from '../../../src/github/api/repository.ts';
import { absent, FakeGitHub, failure } from '../fake-github.ts';

const SITE = { html_url: 'https://octo.github.io/site/', source: { branch: 'main', path: '/' } };
const BOTH = { repository: true, site: true };

describe('loadRepositoryContext', () => {
  test('requests nothing without a token', async () => {
    await expect(loadRepositoryContext(null, BOTH)).resolves.toEqual({
      hasToken: false,
      privateRepository: null,
      site: 'unasked',
    });
  });

  test('requests nothing that is not needed', async () => {
    const github = new FakeGitHub();
    await expect(loadRepositoryContext(github, { repository: false, site: false })).resolves.toEqual({
      hasToken: true,
      privateRepository: null,
      site: 'unasked',
    });
    expect(github.calls).toEqual([]);
  });

  test.each([
    [{ private: true }, true],
    [{ private: false }, false],
    [{}, null],
  ])('reads from the answer %j whether the repository is private', async (record, privateRepository) => {
    const github = new FakeGitHub({ get_repository: record, pages_site: SITE });
    await expect(loadRepositoryContext(github, BOTH)).resolves.toMatchObject({
      privateRepository,
      site: { branch: 'main' },
    });
  });

  test('distinguishes a repository without a site from one whose settings cannot be read', async () => {
    const loadSite = (pages_site: unknown) =>
      loadRepositoryContext(new FakeGitHub({ pages_site }), { repository: false, site: true });
    await expect(loadSite(absent)).resolves.toMatchObject({ site: null });
    await expect(loadSite(failure('NO_PERMISSION', 403))).resolves.toMatchObject({ site: 'unreadable' });
  });

  test('names the repository that the token gives no access to', async () => {
    await expect(
      loadRepositoryContext(new FakeGitHub({ get_repository: absent }), BOTH),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
      httpCode: 404,
      message: 'the repository octo/site does not exist for this token',
      hint: expect.stringContaining('set `repository:` to one that `token:` may write to'),
    });
  });

  test.each([
    ['get_repository', failure('BAD_TOKEN', 401)],
    ['get_repository', failure('NOT_FOUND', 301)],
    ['get_repository', failure('HOST_ERROR', 404)],
    ['pages_site', failure('HOST_ERROR', 502)],
  ] as const)('throws any other refusal of %s unchanged', async (call, refused) => {
    const github = new FakeGitHub({ get_repository: {}, pages_site: SITE, [call]: refused });
    await expect(loadRepositoryContext(github, BOTH)).rejects.toBe(refused);
  });
});

describe('getPagesSite', () => {
  const read = (pages_site: unknown) => getPagesSite(new FakeGitHub({ pages_site }));

  test('returns base, branch and folder of a site built from a branch', async () => {
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

  test('returns no branch for a site built by a workflow', async () => {
    const record = { html_url: 'https://octo.github.io/site/', build_type: 'workflow', source: null };
    await expect(read(record)).resolves.toMatchObject({ builtBy: 'workflow', branch: null, folder: '' });
  });

  test('uses the default address where the settings have none', async () => {
    await expect(read({ source: { branch: 'main', path: '/' } })).resolves.toMatchObject({
      base: new URL('https://octo.github.io/site/'),
      folder: '',
    });
  });

  test('returns that only members may open the site', async () => {
    await expect(read({ public: false })).resolves.toMatchObject({ isPublic: false });
  });

  test('returns null where there is no site', async () => {
    await expect(read(absent)).resolves.toBeNull();
  });

  test('says where the settings cannot be read', async () => {
    await expect(read(failure('NO_PERMISSION', 403))).resolves.toBe('unreadable');
  });

  test('fails where GitHub gives no answer, or redirects to another name', async () => {
    for (const failed of [failure('HOST_ERROR', 500), failure('NOT_FOUND', 301)]) {
      await expect(read(failed)).rejects.toBe(failed);
    }
  });

  test.each([null, 42, 'javascript:alert(1)', 'no address'])(
    'uses the default address where the settings have %j',
    async (html_url) => {
      await expect(read({ html_url, source: null })).resolves.toMatchObject({
        base: new URL('https://octo.github.io/site/'),
      });
    },
  );
});
