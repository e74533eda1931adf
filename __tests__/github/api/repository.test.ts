import { describe, expect, test } from '@jest/globals';
import { getPagesSettings, loadRepositoryContext } from '../../../src/github/api/repository.ts';
import { absent, FakeGitHub, failure } from '../fake-github.ts';

const SITE = { html_url: 'https://octo.github.io/site/', source: { branch: 'main', path: '/' } };
const BOTH = { repository: true, pagesSettings: true };

describe('loadRepositoryContext', () => {
  test('requests nothing that is not needed', async () => {
    const github = new FakeGitHub();
    const asked = loadRepositoryContext(github, { repository: false, pagesSettings: false });
    await expect(asked).resolves.toEqual({ github, privateRepository: null, pagesSettings: 'not-requested' });
    expect(github.calls).toEqual([]);
  });

  test('assumes no public repository if the host returns no visibility', async () => {
    const github = new FakeGitHub({ get_repository: {}, pages_site: SITE });
    await expect(loadRepositoryContext(github, BOTH)).resolves.toMatchObject({
      privateRepository: null,
      pagesSettings: { branch: 'main' },
    });
  });

  test('names the repository that the token gives no access to', async () => {
    await expect(
      loadRepositoryContext(new FakeGitHub({ get_repository: absent }), BOTH),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
      httpCode: 404,
      message: "the repository octo/site doesn't exist, or the token can't see it",
      hint: expect.stringContaining('set `repository:` to a repository that `token:` can access'),
    });
  });

  test.each([
    ['get_repository', failure('NOT_FOUND', 301)],
    ['get_repository', failure('HOST_ERROR', 404)],
    ['pages_site', failure('HOST_ERROR', 502)],
  ] as const)('throws any other refusal of %s unchanged', async (call, refused) => {
    const github = new FakeGitHub({ get_repository: {}, pages_site: SITE, [call]: refused });
    await expect(loadRepositoryContext(github, BOTH)).rejects.toBe(refused);
  });
});

describe('getPagesSettings', () => {
  const read = (pages_site: unknown) => getPagesSettings(new FakeGitHub({ pages_site }));
  const DEFAULT = new URL('https://octo.github.io/site/');

  test.each<[string, object, object]>([
    ['on http', { html_url: 'http://www.octo.dev/site' }, { base: new URL('https://www.octo.dev/site/') }],
    ['whose address is null', { html_url: null, source: null }, { base: DEFAULT }],
    ['for members only', { public: false }, { isPublic: false }],
    // A missing visibility is not assumed to be public.
    ['that does not say for whom it is', {}, { isPublic: undefined }],
  ])('reads the settings of a site %s', async (_, record, site) => {
    await expect(read(record)).resolves.toMatchObject(site);
  });
});
