import { describe, expect, test } from '@jest/globals';
import {
  applyJekyll,
  type PagesDestination,
  type PagesLocation,
  resolveDestination,
} from '../../../src/channels/pages/destination.ts';
import type { RepositoryContext } from '../../../src/github/api/repository.ts';
import { siteWith } from '../circumstances.ts';

const REPO = { owner: 'octo', repo: 'site' };
const WISHES: PagesLocation = {
  branch: undefined,
  path: undefined,
  pagesBase: undefined,
  rawBase: undefined,
  serverUrl: new URL('https://github.com'),
};

const destined = (
  wishes: Partial<PagesLocation> = {},
  site: RepositoryContext['site'] = siteWith(),
): PagesDestination => resolveDestination(REPO, { ...WISHES, ...wishes, name: 'page.html' }, site);
const urls = ({ pageUrl, rawUrl }: PagesDestination): string[] => [pageUrl.href, rawUrl.href];

describe('where a file goes', () => {
  test.each([
    ['the file’s name at the root', undefined, '', 'page.html'],
    ['the file’s name in the site’s folder', undefined, 'docs', 'docs/page.html'],
    ['a path of its own', 'a/b.html', '', 'a/b.html'],
    ['a folder of its own', 'a/', '', 'a/page.html'],
    ['a path in the site’s folder', 'docs/a/b.html', 'docs', 'docs/a/b.html'],
  ])('%s', (_, path, folder, expected) => {
    expect(destined({ path }, siteWith({ folder })).path).toBe(expected);
  });

  test.each([
    ['a.html', 'set `path: docs/a.html`'],
    ['docsy/a.html', 'set `path: docs/docsy/a.html`'],
    ['sub/', 'set `path: docs/sub/page.html`'],
  ])('not to %s, which the site does not show', (path, hint) => {
    expect(() => destined({ path }, siteWith({ folder: 'docs' }))).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', step: 'check', hint }),
    );
  });

  test.each([
    ['the wish', 'wish', siteWith({ branch: 'wish' }), 'wish'],
    ['the site’s own branch', undefined, siteWith({ branch: 'gh-pages' }), 'gh-pages'],
    ['main where a workflow builds', undefined, siteWith({ branch: null, builtBy: 'workflow' }), 'main'],
    ['main where nothing is known', undefined, 'unreadable', 'main'],
  ] as const)('on the branch of %s', (_, branch, site, expected) => {
    expect(destined({ branch }, site).branch).toBe(expected);
  });

  test('on any branch where a workflow builds, as was wished', () => {
    const site = siteWith({ branch: 'main', builtBy: 'workflow' });
    expect(destined({ branch: 'other' }, site)).toMatchObject({ branch: 'other', builtBy: 'workflow' });
  });

  test('not to a branch that the site is not built from', () => {
    expect(() => destined({ branch: 'other' })).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', hint: 'set `branch: main`, or leave it out' }),
    );
  });

  test('not to a site that only members may open', () => {
    expect(() => destined({}, siteWith({ isPublic: false }))).toThrow(
      expect.objectContaining({ code: 'NOT_EXTERNAL', hint: expect.stringContaining('K2 or K3') }),
    );
  });

  test('not where there is no site', () => {
    expect(() => destined({}, null)).toThrow(
      expect.objectContaining({
        code: 'NOT_FOUND',
        httpCode: 404,
        hint: expect.stringContaining('Settings → Pages'),
      }),
    );
  });
});

describe('where it will be served', () => {
  test('below the site’s base and the raw host, percent-encoded', () => {
    expect(urls(destined({ path: 'папка/ü#1.html' }))).toEqual([
      'https://octo.github.io/site/%D0%BF%D0%B0%D0%BF%D0%BA%D0%B0/%C3%BC%231.html',
      'https://raw.githubusercontent.com/octo/site/main/%D0%BF%D0%B0%D0%BF%D0%BA%D0%B0/%C3%BC%231.html',
    ]);
  });

  test('without the site’s folder on the page, with it raw', () => {
    expect(urls(destined({}, siteWith({ folder: 'docs' })))).toEqual([
      'https://octo.github.io/site/page.html',
      'https://raw.githubusercontent.com/octo/site/main/docs/page.html',
    ]);
  });

  test('below the bases that were asked for, whatever the settings say', () => {
    const bases = { pagesBase: new URL('https://pages.dev/x'), rawBase: new URL('https://raw.dev/y/') };
    expect(urls(destined({ ...bases, branch: 'other' }, siteWith({ isPublic: false })))).toEqual([
      'https://pages.dev/x/page.html',
      'https://raw.dev/y/page.html',
    ]);
    expect(urls(destined(bases, null))[0]).toBe('https://pages.dev/x/page.html');
  });

  test.each([
    ['https://pages.git.corp.io/octo/site/', 'https://raw.git.corp.io/octo/site/docs/%C3%A4/page.html'],
    ['https://git.corp.io/pages/octo/site/', 'https://git.corp.io/raw/octo/site/docs/%C3%A4/page.html'],
    ['https://reports.corp.io/', 'https://git.corp.io/octo/site/raw/docs/%C3%A4/page.html'],
  ])('raw where a GitHub Enterprise with a site at %s serves it', (base, raw) => {
    const site = siteWith({ base: new URL(base), branch: 'docs/ä' });
    expect(urls(destined({ serverUrl: new URL('https://git.corp.io') }, site))).toEqual([
      `${base}page.html`,
      raw,
    ]);
  });

  test('at a GitHub Enterprise’s usual address where the settings can’t be read', () => {
    expect(urls(destined({ serverUrl: new URL('https://git.corp.io') }, 'unreadable'))).toEqual([
      'https://pages.git.corp.io/octo/site/page.html',
      'https://git.corp.io/octo/site/raw/main/page.html',
    ]);
  });

  test('at the usual address where the settings can’t be read, and UNKNOWN says so', () => {
    const destination = destined({}, 'unreadable');
    expect(urls(destination)[0]).toBe('https://octo.github.io/site/page.html');
    expect(destination.unknown).toEqual([expect.stringContaining('pages: read')]);
  });

  test('at the known address without any UNKNOWN', () => {
    expect(destined().unknown).toEqual([]);
  });
});

describe('a name that Jekyll leaves out', () => {
  const refuse = (more: Partial<PagesDestination>, stands = false) => {
    const asked: string[] = [];
    const looking = async (branch: string, path: string): Promise<boolean> => {
      asked.push(`${branch}:${path}`);
      return stands;
    };
    return { asked, work: applyJekyll({ ...destined(), ...more }, '<p>', false, looking) };
  };

  test.each(['_page.html', '.page.html', 'a/_b/c.html', 'page.html~', 'vendor/a.html'])(
    '%s is refused before anything is written',
    async (path) => {
      await expect(refuse({ path }).work).rejects.toMatchObject({
        code: 'BAD_INPUT',
        step: 'check',
        hint: expect.stringContaining('commit an empty .nojekyll'),
      });
    },
  );

  test('is served where .nojekyll stands at the site’s root', async () => {
    const { asked, work } = refuse({ path: 'docs/_page.html', folder: 'docs' }, true);
    await expect(work).resolves.toMatchObject({ path: 'docs/_page.html', hostMayChangeBytes: false });
    expect(asked).toEqual(['main:docs/.nojekyll']);
  });

  test('is served where a workflow builds the site', async () => {
    const { asked, work } = refuse({ path: '_page.html', builtBy: 'workflow' });
    await work;
    expect(asked).toEqual([]);
  });

  test('is judged without the site’s own folder', async () => {
    const { asked, work } = refuse({ path: '_site/page.html', folder: '_site' });
    await work;
    expect(asked).toEqual([]);
  });
});

describe('a file that Jekyll renders', () => {
  const asked = (path: string, head: string, hasMarker: boolean, stands = false) => {
    const pageUrl = new URL(`https://octo.github.io/site/${path}`);
    return applyJekyll({ ...destined(), path, pageUrl }, head, hasMarker, async () => stands);
  };

  test.each([
    ['notes.md', '# x', 'https://octo.github.io/site/notes.html'],
    ['page.html', '---\ntitle: x', 'https://octo.github.io/site/page.html'],
  ])('%s is looked for where it becomes a page, which may have other bytes', async (path, head, page) => {
    await expect(asked(path, head, true)).resolves.toMatchObject({
      pageUrl: new URL(page),
      hostMayChangeBytes: true,
      notes: [`Jekyll renders ${path} into this page`],
    });
  });

  test('is refused without a marker: its bytes can never come back', async () => {
    await expect(asked('notes.md', '# x', false)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      step: 'check',
      hint: expect.stringContaining('set `marker:`'),
    });
  });

  test('is served as it stands where a .nojekyll keeps Jekyll away', async () => {
    await expect(asked('notes.md', '# x', false, true)).resolves.toMatchObject({
      pageUrl: new URL('https://octo.github.io/site/notes.md'),
      hostMayChangeBytes: false,
    });
  });

  test('may be anything where a workflow builds the site', async () => {
    const built = applyJekyll(destined({}, siteWith({ builtBy: 'workflow' })), '<p>', false, () =>
      Promise.reject(new Error('asked')),
    );
    await expect(built).resolves.toMatchObject({ hostMayChangeBytes: true });
  });
});
