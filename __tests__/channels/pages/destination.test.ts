import { describe, expect, test } from '@jest/globals';
import {
  type PagesDestination,
  type PagesLocation,
  resolveDestination,
} from '../../../src/channels/pages/destination.ts';
import { applyJekyll } from '../../../src/channels/pages/jekyll.ts';
import type { RepositoryContext } from '../../../src/github/api/repository.ts';
import { siteWith } from '../repository-context.ts';
import { memoryFile } from './site/memory-files.ts';

const REPO = { owner: 'octo', repo: 'site' };
const LOCATION: PagesLocation = {
  branch: undefined,
  siteWorkflow: undefined,
  path: undefined,
  pagesBase: undefined,
  rawBase: undefined,
  serverUrl: new URL('https://github.com'),
};

const destinationFor = (
  location: Partial<PagesLocation> = {},
  site: RepositoryContext['site'] = siteWith(),
): PagesDestination => resolveDestination(REPO, { ...LOCATION, ...location, name: 'page.html' }, site);
const getUrls = ({ pageUrl, rawUrl }: PagesDestination): string[] => [pageUrl.href, rawUrl.href];

describe('resolveDestination: the branch and the path', () => {
  test.each([
    ['the file’s name at the root of the branch', undefined, '', 'page.html'],
    ['the file’s name in the site’s folder', undefined, 'docs', 'docs/page.html'],
    ['the path', 'a/b.html', '', 'a/b.html'],
    ['the file’s name in the folder', 'a/', '', 'a/page.html'],
    ['the path in the site’s folder', 'docs/a/b.html', 'docs', 'docs/a/b.html'],
  ])('use %s', (_, path, folder, expected) => {
    expect(destinationFor({ path }, siteWith({ folder })).path).toBe(expected);
  });

  test.each([
    ['a.html', 'set `path: docs/a.html`'],
    ['docsy/a.html', 'set `path: docs/docsy/a.html`'],
    ['sub/', 'set `path: docs/sub/`'],
  ])('refuse the path %s, which the site does not show', (path, hint) => {
    expect(() => destinationFor({ path }, siteWith({ folder: 'docs' }))).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', hint }),
    );
  });

  test.each([
    ['the branch input', 'wanted', siteWith({ branch: 'wanted' }), 'wanted'],
    ['the branch of the site', undefined, siteWith({ branch: 'gh-pages' }), 'gh-pages'],
    ['main where a workflow builds', undefined, siteWith({ branch: null, builtBy: 'workflow' }), 'main'],
    ['main where the settings cannot be read', undefined, 'unreadable', 'main'],
  ] as const)('use %s', (_, branch, site, expected) => {
    expect(destinationFor({ branch }, site).branch).toBe(expected);
  });

  test.each<[string, Partial<PagesLocation>, RepositoryContext['site'], { code: string; hint: RegExp }]>([
    ['another branch', { branch: 'other' }, siteWith(), { code: 'BAD_INPUT', hint: /^set `branch: main`/ }],
    [
      'a site for members only',
      {},
      siteWith({ isPublic: false }),
      { code: 'NOT_EXTERNAL', hint: /K2 or K3/ },
    ],
    ['no site', {}, null, { code: 'NOT_FOUND', hint: /Settings → Pages/ }],
  ])('refuse %s', (_, location, site, { code, hint }) => {
    const error = { code, hint: expect.stringMatching(hint) };
    expect(() => destinationFor(location, site)).toThrow(expect.objectContaining(error));
  });
});

test('resolveDestination: the page and raw addresses are percent-encoded below the site’s base and the raw host', () => {
  expect(getUrls(destinationFor({ path: 'папка/ü#1.html' }, siteWith({ branch: 'docs/ä' })))).toEqual([
    'https://octo.github.io/site/%D0%BF%D0%B0%D0%BF%D0%BA%D0%B0/%C3%BC%231.html',
    'https://raw.githubusercontent.com/octo/site/docs/%C3%A4/%D0%BF%D0%B0%D0%BF%D0%BA%D0%B0/%C3%BC%231.html',
  ]);
});

const jekyllInput = (place: string, head: string, hasMarker: boolean) => ({
  ...{ place, hasMarker, nojekyll: false },
  files: [{ path: place, file: { ...memoryFile(''), head } }],
});

describe('applyJekyll for a file that Jekyll renders', () => {
  const applyTo = (path: string, head: string, hasMarker: boolean) => {
    const pageUrl = new URL(`https://octo.github.io/site/${path}`);
    return applyJekyll(
      { ...destinationFor(), path, pageUrl },
      jekyllInput(path, head, hasMarker),
      async () => false,
    );
  };

  test.each([
    ['notes.md', '# x', 'https://octo.github.io/site/notes.html'],
    ['page.html', '---\ntitle: x', 'https://octo.github.io/site/page.html'],
  ])('uses the address of the page for %s, which may have other bytes', async (path, head, page) => {
    await expect(applyTo(path, head, true)).resolves.toMatchObject({
      pageUrl: new URL(page),
      hostMayChangeBytes: true,
      notes: [`Jekyll renders ${path} into this page`],
    });
  });

  test('refuses it without a marker, because the page never has the file’s bytes', async () => {
    const hint = expect.stringContaining('set `marker:`');
    await expect(applyTo('notes.md', '---\n---\n', false)).rejects.toMatchObject({ code: 'BAD_INPUT', hint });
  });

  test.each([
    ['notes.md', false],
    ['README.md', true],
  ])('keeps the address of %s, which is copied too (marker: %s)', async (path, hasMarker) => {
    await expect(applyTo(path, '# x', hasMarker)).resolves.toMatchObject({
      pageUrl: new URL(`https://octo.github.io/site/${path}`),
      hostMayChangeBytes: false,
    });
  });
});
