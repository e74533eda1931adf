import { describe, expect, test } from '@jest/globals';
import { getPagesSite } from '../../../src/github/api/pages-site.ts';
import { absent, FakeGitHub, failure } from '../fake-github.ts';

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

  test.each([{ branch: false }, { branch: {} }, { branch: 'main', path: ['/'] }])(
    'fails where the source is no branch: %j',
    async (source) => {
      await expect(read({ source })).rejects.toMatchObject({ code: 'HOST_ERROR', retryable: true });
    },
  );

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
