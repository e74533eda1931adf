import { describe, expect, test } from '@jest/globals';
import {
  type PagesDestination,
  type PagesOptions,
  resolveDestination,
} from '../../../src/channels/pages/destination.ts';
import { applyJekyll } from '../../../src/channels/pages/jekyll.ts';
import { hasFailed, resultOf } from '../../../src/errors.ts';
import type { RepositoryContext } from '../../../src/github/api/repository.ts';
import { pagesOptionsWith } from '../pages-options.ts';
import { siteWith } from '../repository-context.ts';
import { memoryFile } from './site/memory-files.ts';

const REPO = { owner: 'octo', repo: 'site' };
const destinationFor = (
  location: Partial<PagesOptions> = {},
  site: RepositoryContext['pagesSettings'] = siteWith(),
): PagesDestination => resolveDestination(REPO, { ...pagesOptionsWith(location), name: 'page.html' }, site);
const getUrls = ({ pageUrl, rawUrl }: PagesDestination): string[] => [pageUrl.href, rawUrl.href];

describe('resolveDestination: the branch and the path', () => {
  test.each([
    ['the file’s name at the root of the branch', undefined, '', 'page.html'],
    ['the file’s name in the site’s folder', undefined, 'docs', 'docs/page.html'],
    ['the path', 'a/b.html', '', 'a/b.html'],
    ['the file’s name in the folder', 'a/', '', 'a/page.html'],
    ['the path in the site’s folder', 'docs/a/b.html', 'docs', 'docs/a/b.html'],
  ])('use %s', (_, path, folder, expected) => {
    expect(destinationFor({ path }, siteWith({ folder })).entryPath).toBe(expected);
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
    ['main if a workflow builds', undefined, siteWith({ branch: null, builtBy: 'workflow' }), 'main'],
    ['main if the settings cannot be read', undefined, 'unreadable', 'main'],
  ] as const)('use %s', (_, branch, site, expected) => {
    expect(destinationFor({ branch }, site).branch).toBe(expected);
  });

  test.each<
    [string, Partial<PagesOptions>, RepositoryContext['pagesSettings'], { code: string; hint: RegExp }]
  >([
    [
      'another branch',
      { branch: 'other' },
      siteWith(),
      { code: 'BAD_INPUT', hint: /^leave `branch:` out; .*choose it under/ },
    ],
    [
      'a site for members only',
      {},
      siteWith({ isPublic: false }),
      { code: 'NOT_EXTERNAL', hint: /K2 or K3/ },
    ],
    ['no site', {}, null, { code: 'NOT_FOUND', hint: /`setup: true`/ }],
  ])('refuse %s', (_, location, site, { code, hint }) => {
    const error = { code, hint: expect.stringMatching(hint) };
    expect(() => destinationFor(location, site)).toThrow(expect.objectContaining(error));
  });
});

test("resolveDestination notes that a private repository's page is public", () => {
  const given = { ...pagesOptionsWith(), name: 'page.html' };
  const { isPrivate, notes } = resolveDestination(REPO, given, siteWith(), true);
  expect([isPrivate, notes]).toEqual([true, [expect.stringMatching(/anybody can open the URL$/)]]);
});

test('resolveDestination: without a site, files can still be removed from their branch', () => {
  expect(destinationFor({ path: 'a.html', branch: 'gh-pages', isRemoval: true }, null)).toMatchObject({
    branch: 'gh-pages',
    entryPath: 'a.html',
  });
});

test('resolveDestination: the page and raw addresses are percent-encoded below the site’s base and the raw host', () => {
  expect(getUrls(destinationFor({ path: 'папка/@ü+&#1.html' }, siteWith({ branch: 'docs/ä' })))).toEqual([
    'https://octo.github.io/site/%D0%BF%D0%B0%D0%BF%D0%BA%D0%B0/@%C3%BC+&%231.html',
    'https://raw.githubusercontent.com/octo/site/docs/%C3%A4/%D0%BF%D0%B0%D0%BF%D0%BA%D0%B0/@%C3%BC+&%231.html',
  ]);
});

test.each<[string, string, boolean, object]>([
  ['notes.md', '# x', true, { page: 'notes.html', hostMayChangeBytes: true }],
  ['page.html', '---\ntitle: x', true, { page: 'page.html', hostMayChangeBytes: true }],
  ['notes.md', '# x', false, { page: 'notes.md', hostMayChangeBytes: false }],
  ['README.md', '# x', true, { page: 'README.md', hostMayChangeBytes: false }],
  ['notes.md', '---\n---\n', false, { code: 'BAD_INPUT', hint: expect.stringContaining('set `marker:`') }],
])(
  'what Jekyll makes of %s (%j, with a marker: %s) is found out',
  async (path, head, hasMarker, expected) => {
    const files = [{ path, file: { ...memoryFile(''), firstBytes: head } }];
    const options = { marker: hasMarker ? 'x' : undefined, nojekyll: false };
    const found = await resultOf(() =>
      applyJekyll(destinationFor({ path }), files, options, async () => false),
    );
    const page = hasFailed(found) ? '' : found.pageUrl.pathname.replace('/site/', '');
    expect(hasFailed(found) ? found : { ...found, page }).toMatchObject(expected);
  },
);
