import { describe, expect, test } from '@jest/globals';
import { formatSiteFindings } from '../../../src/rules/site/findings.ts';
import { inspectSite } from '../../../src/rules/site/inspect-site.ts';
import type { SiteOptions } from '../../../src/rules/site/site-files.ts';
import { inspect, siteFile } from './sites.ts';

type Files = Readonly<Record<string, string>>;

const html = (body: string): Files => ({ 'index.html': body });

/** The kinds of the refusals, and of the notes. */
async function kindsOf(files: Files, options?: Partial<SiteOptions>): Promise<string> {
  const { refusals, notes } = await inspect(files, options);
  const kinds = (found: typeof refusals): string => found.map(({ kind }) => kind).join(' ');
  return `${kinds(refusals)} | ${kinds(notes)}`.trim();
}

describe('a page that is shown completely', () => {
  test.each<[string, Files]>([
    ['a relative address', { ...html('<script src=a.js></script>'), 'a.js': '' }],
    ['an address with a dot', { ...html('<script src=./b/../a.js></script>'), 'a.js': '' }],
    ['an address with query and fragment', { ...html('<img src="a.png?v=1#b">'), 'a.png': '' }],
    ['a percent-encoded address', { ...html('<img src="a%20%C3%A4.png">'), 'a ä.png': '' }],
    ['an address with a space', { ...html('<img src=" a b.png ">'), 'a b.png': '' }],
    ['a percent sign in a name', { ...html('<img src="100%25.png">'), '100%.png': '' }],
    ['an address of the whole host', { ...html('<img src="/repo/previews/pr-12/a.png">'), 'a.png': '' }],
    ['an address that leaves the folder and returns', { ...html('<img src="../pr-12/a.png">'), 'a.png': '' }],
    ['a page in a folder', { 'index.html': '', 'b/index.html': '<img src=../a.png>', 'a.png': '' }],
    [
      'a folder with an index',
      { ...html('<iframe src=b/></iframe><iframe src=b></iframe>'), 'b/index.html': '' },
    ],
    ['a page without its ending', { ...html('<a href=b>b</a><iframe src=b></iframe>'), 'b.html': '' }],
    ['a base', { ...html('<base href=a/><script src=b.js></script>'), 'a/b.js': '' }],
    ['candidates', { ...html('<img srcset="a.png 1x, b.png 2x">'), 'a.png': '', 'b.png': '' }],
    [
      'addresses without a request',
      html('<img src=data:,a><a href=mailto:a@b.c>a</a><a href="javascript:a()">a</a><a href="#a">a</a>'),
    ],
    [
      'a style sheet',
      { ...html('<link rel=stylesheet href=a/a.css>'), 'a/a.css': 'b { c: url(../b.png) }', 'b.png': '' },
    ],
    [
      'a module with imports',
      {
        ...html('<script type=module src=a/a.js></script>'),
        'a/a.js': 'import "../b.js"',
        'b.js': 'export {}',
      },
    ],
    [
      'an import map',
      {
        ...html(
          '<script type=importmap>{"imports":{"b":"./c.js"}}</script><script type=module src=a.js></script>',
        ),
        'a.js': 'import "b"',
        'c.js': '',
      },
    ],
    [
      'an import map with a folder, as of three.js without a bundler',
      {
        ...html(
          '<script type=importmap>{"imports":{"three/addons/":"./addons/"}}</script><script type=module>import "three/addons/a.js"</script>',
        ),
        'addons/a.js': '',
      },
    ],
    [
      'a drawing',
      {
        ...html('<svg><use href="a.svg#b"/></svg><object data=a.svg></object>'),
        'a.svg': '<svg><image href="b.png"/></svg>',
        'b.png': '',
      },
    ],
  ])('is accepted without a note: %s', async (_, files) => {
    expect(await kindsOf(files)).toBe('|');
  });

  test.each<[string, string, Files]>([
    ['a favicon', 'later-missing', html('<link rel=icon href=a.ico>')],
    ['a preload', 'later-missing', html('<link rel=preload as=font href=a.woff2>')],
    ['a preloaded module', 'later-missing', html('<link rel=modulepreload href=a.js>')],
    ['a connection', 'later-host', html('<link rel=preconnect href=https://a.example>')],
    ['a web manifest', 'later-missing', html('<link rel=manifest href=a.webmanifest>')],
    [
      'an icon of a web manifest',
      'later-missing',
      { ...html('<link rel=manifest href=a.webmanifest>'), 'a.webmanifest': '{"icons":[{"src":"a.png"}]}' },
    ],
    ['a style sheet for print', 'later-missing', html('<link rel=stylesheet media=print href=a.css>')],
    ['a rule for print', 'later-missing', html('<style>@media print { a { b: url(a.png) } }</style>')],
    ['a rule for a pointer', 'later-missing', html('<style>a:hover { b: url(a.png) }</style>')],
    ['an import in the wrong place', 'later-missing', html('<style>a { } @import "a.css";</style>')],
    [
      'a rule for a small screen',
      'later-missing',
      html('<style>@media (max-width: 600px) { a { b: url(a.png) } }</style>'),
    ],
    [
      'a style sheet for a dark theme',
      'later-missing',
      html('<link rel=stylesheet media="(prefers-color-scheme: dark)" href=a.css>'),
    ],
    [
      'an import for a dark theme',
      'later-missing',
      html('<style>@import "a.css" layer(x) (prefers-color-scheme: dark);</style>'),
    ],
    [
      'an import with a quoted url for a dark theme',
      'later-missing',
      html('<style>@import url("a.css") (prefers-color-scheme: dark);</style>'),
    ],
    [
      'what a style sheet for a dark theme loads',
      'later-missing',
      {
        ...html('<link rel=stylesheet media="(prefers-color-scheme: dark)" href=a.css>'),
        'a.css': 'a { b: url(b.png) }',
      },
    ],
    [
      'a rule of a container',
      'later-missing',
      html('<style>@container (width > 9px) { a { b: url(a.png) } }</style>'),
    ],
    [
      'a rule for old browsers',
      'later-missing',
      html('<style>@supports not (display: grid) { a { b: url(a.png) } }</style>'),
    ],
    [
      'a rule for one browser',
      'later-missing',
      html('<style>@-moz-document url-prefix() { a { b: url(a.png) } }</style>'),
    ],
    [
      'an image for a fine screen',
      'later-missing',
      { ...html('<img src=a.png srcset="a2.png 2x">'), 'a.png': '' },
    ],
    [
      'one of several widths',
      'later-missing',
      { ...html('<img src=c.png srcset="a.png 400w, b.png 800w" sizes=50vw>'), 'a.png': '', 'c.png': '' },
    ],
    [
      'an image for browsers without candidates',
      'later-missing',
      { ...html('<img src=a.png srcset=b.png>'), 'b.png': '' },
    ],
    [
      'one image of a set',
      'later-missing',
      { ...html('<p style="background: image-set(url(a.png) 1x, url(b.png) 2x)">'), 'a.png': '' },
    ],
    [
      'a source of a picture for a small screen',
      'later-missing',
      {
        ...html('<picture><source media="(max-width: 600px)" srcset=a.png><img src=b.png></picture>'),
        'b.png': '',
      },
    ],
    [
      'a source of a picture in a rare format, and what comes after the one that is taken',
      'later-missing later-missing later-missing',
      {
        ...html(
          '<picture><source type=image/jxl srcset=a.jxl><source srcset=b.webp type=image/webp><source srcset=c.png><img src=d.png></picture>',
        ),
        'b.webp': '',
      },
    ],
    [
      'one source of a film',
      'later-missing',
      { ...html('<video><source src=a.webm><source src=b.mp4></video>'), 'b.mp4': '' },
    ],
    [
      'a font for characters that no page shows',
      'later-missing',
      html(
        '<style>@font-face { font-family: F; src: url(a.woff2); unicode-range: U+0400-045F, U+1F?? } body { font-family: F }</style><p>text</p>',
      ),
    ],
    ['a script for old browsers', 'later-missing', html('<script nomodule src=a.js></script>')],
    ['a page without scripts', 'later-missing', html('<noscript><img src=a.png></noscript>')],
    ['a template', 'later-host', html('<template><script src=https://a.example/a.js></script></template>')],
    [
      'a font in old formats',
      'later-missing later-missing',
      {
        ...html(
          '<style>@font-face { src: url(a.eot); src: url(a.eot?#x) format("embedded-opentype"), url(a.woff2) format("woff2"), url(a.ttf) format("truetype") }</style>',
        ),
        'a.woff2': '',
      },
    ],
    ['an event', 'later-missing', html(`<p onclick="import('./a.js')">`)],
    [
      'a dynamic import in a function',
      'later-missing',
      html('<script>function f() { import("./a.js") }</script>'),
    ],
    [
      'a dynamic import from a host',
      'later-host',
      html('<script>function f() { import("https://a.example/a.js") }</script>'),
    ],
    [
      'a source map',
      'later-missing',
      { ...html('<script src=a.js></script>'), 'a.js': 'a()\n//# sourceMappingURL=a.js.map' },
    ],
    ['a link', 'link-missing', html('<a href=b.html>b</a>')],
    [
      'an entry of an import map',
      'later-missing',
      html('<script type=importmap>{"imports":{"b":"./c.js"}}</script>'),
    ],
    ['an unused style sheet', 'later-missing', { ...html(''), 'a.css': 'a { b: url(b.png) }' }],
    ['an attachment', 'later-missing', { ...html(''), 'data/3f2a.html': '<script src=/x.js></script>' }],
    [
      'a page for missing addresses',
      'later-missing',
      { ...html(''), '404.html': '<script src=/a.js></script>', 'a.js': '' },
    ],
  ])('is accepted with a note: %s', async (_, kind, files) => {
    expect(await kindsOf(files)).toBe(`| ${kind}`);
  });

  test.each<[string, Files]>([
    ['a dynamic import of a bare name', html('<script type=module>import("_").catch(() => 1)</script>')],
    ['an address that a script completes', html('<script>import("./a/" + b); import(`./${a}.js`)</script>')],
    ['a link to another host', html('<a href=https://a.example>a</a>')],
    ['a script that is data', html('<script type=text/template src=a.js>import "./a.js"</script>')],
    ['text in a string', html('<script type=module>const a = `import "./a.js"`</script>')],
  ])('needs no note for %s', async (_, files) => {
    expect(await kindsOf(files)).toBe('|');
  });
});

describe('a page that would miss something', () => {
  test.each<[string, Files]>([
    ['a script', html('<script src=a.js></script>')],
    ['a style sheet', html('<link rel=stylesheet href=a.css>')],
    ['an image', html('<img src=a.png>')],
    ['an image that is loaded when it is near', html('<img loading=lazy src=a.png>')],
    [
      'a style sheet for print that a script switches on',
      html(`<link rel=stylesheet media=print href=a.css onload="this.media='all'">`),
    ],
    [
      'a preloaded style sheet that a script switches on',
      html(`<link rel=preload as=style href=a.css onload="this.onload=null;this.rel='stylesheet'">`),
    ],
    ['the candidate of ordinary screens', { ...html('<img srcset="a.png 1x, b.png 2x">'), 'b.png': '' }],
    [
      'the image beside a candidate of fine screens',
      { ...html('<img src=a.png srcset="b.png 2x">'), 'b.png': '' },
    ],
    ['all of several widths', html('<img src=c.png srcset="a.png 400w, b.png 800w">')],
    ['the only candidate', { ...html('<img src=c.png srcset="a.png 400w">'), 'c.png': '' }],
    ['all images of a set', html('<p style="background: image-set(url(a.png) 1x, url(b.png) 2x)">')],
    [
      'a rule for a large screen',
      html('<style>@media print, screen and (min-width: 37.5em) { a { b: url(a.png) } }</style>'),
    ],
    [
      'a style sheet for a light theme',
      html('<link rel=stylesheet media="(prefers-color-scheme: light)" href=a.css>'),
    ],
    [
      'a rule for what browsers have',
      html('<style>@layer a { @supports (display: grid) { a { b: url(a.png) } } }</style>'),
    ],
    [
      'a style sheet for all after it was one for small screens',
      {
        ...html('<link rel=stylesheet media="(max-width: 9px)" href=a.css><link rel=stylesheet href=a.css>'),
        'a.css': 'a { b: url(b.png) }',
      },
    ],
    [
      'the image of a picture with a source for small screens',
      {
        ...html('<picture><source media="(max-width: 600px)" srcset=a.png><img src=b.png></picture>'),
        'a.png': '',
      },
    ],
    [
      'the source that is taken',
      { ...html('<picture><source type=image/webp srcset=a.webp><img src=b.png></picture>'), 'b.png': '' },
    ],
    ['all sources of a film', html('<video><source src=a.webm><source src=b.mp4></video>')],
    [
      'a font for characters that a page shows',
      html(
        '<style>@font-face { font-family: F; src: url(a.woff2); unicode-range: U+0400-045F, U+7? } body { font-family: F }</style><p>text</p>',
      ),
    ],
    ['a frame', html('<iframe src=a.html></iframe>')],
    ['a video', html('<video src=a.mp4></video>')],
    ['a page to which it moves on', html('<meta http-equiv=refresh content="0; url=a.html">')],
    ['an import of a style', html('<style>@import "a.css";</style>')],
    ['an import with a quoted url', html(`<style>@import url('a.css');</style>`)],
    ['an import with a quoted url and spaces', html('<style>@import url( "a.css" ) screen ;</style>')],
    ['an import with a quoted url that is met', html('<style>@import url("a.css") layer(x) (width > 9px)')],
    [
      'an image of a style sheet',
      { ...html('<link rel=stylesheet href=a.css>'), 'a.css': 'a { b: url(b.png) }' },
    ],
    [
      'a style sheet of a style sheet',
      {
        ...html('<link rel=stylesheet href=a.css>'),
        'a.css': '@import "b/b.css";',
        'b/b.css': 'a { b: url(b.png) }',
      },
    ],
    ['a font', html('<style>@font-face { font-family: F; src: url(a.woff2) } p { font-family: F }</style>')],
    [
      'an import of a module',
      { ...html('<script type=module src=a.js></script>'), 'a.js': 'import "./b.js"' },
    ],
    [
      'a module of a module',
      {
        ...html('<script type=module>import "./a.js"</script>'),
        'a.js': 'export * from "./b.js"',
        'b.js': 'import "./c.js"',
      },
    ],
    ['a module that starts the page', html('<script>{ Promise.all([import("./a.js")]).then(b) }</script>')],
    [
      'a module of an import map',
      html(
        '<script type=importmap>{"imports":{"b":"./c.js"}}</script><script type=module>import "b"</script>',
      ),
    ],
    ['a name in another case', { ...html('<img src=A.png>'), 'a.png': '' }],
    ['a file below a base', { ...html('<base href=a/><script src=b.js></script>'), 'b.js': '' }],
    ['a page below another one', { ...html('<a href=b/c.html>b</a>'), 'b/c.html': '<img src=a.png>' }],
    ['a page in a frame', { ...html('<iframe src=b/c.html></iframe>'), 'b/c.html': '<img src=a.png>' }],
    ['the index of a folder', { ...html(''), 'b/index.html': '<img src=a.png>' }],
    ['another page at the top', { ...html(''), 'b.html': '<img src=a.png>' }],
    ['a hidden file', html('<img src=.a.png>')],
    ['a folder without an index', { ...html('<iframe src=b/></iframe>'), 'b/a.html': '' }],
    ['a page behind a slash', { ...html('<iframe src=b/></iframe>'), 'b.html': '' }],
    ['a file outside of the folder', html('<img src=../a.png>')],
    ['a file of the host', html('<img src=/a.png>')],
    ['a shadow tree', html('<p><template shadowrootmode=open><img src=a.png></template></p>')],
  ])('is refused: %s', async (_, files) => {
    expect(await kindsOf(files)).toMatch(/^missing(?: missing)? \|/);
  });

  test('is refused for a bare name without an import map', async () => {
    const { refusals } = await inspect(html('<script type=module>\nimport "react"</script>'));
    expect(refusals).toMatchObject([
      { kind: 'bare-import', line: 2, text: expect.stringContaining('react') },
    ]);
  });

  test.each([
    [
      'in another case',
      'Img/A.png',
      'img/a.png',
      'the folder has img/a.png; upper and lower case differ on GitHub Pages',
    ],
    ['with another ending', 'a.jpg', 'a.jpeg', 'the folder has a.jpeg'],
    ['in another folder', 'a.png', 'img/a.png', 'the folder has img/a.png'],
    ['nowhere', 'a.png', 'b.png', 'add the file to the folder, or remove the reference'],
  ])('is refused with a hint to a file %s', async (_, address, file, hint) => {
    const { refusals } = await inspect({ ...html(`<p>\n<img src="${address}">`), [file]: '' });
    expect(refusals).toEqual([
      { kind: 'missing', file: 'index.html', line: 2, text: `img ${address} is missing`, hint, count: 1 },
    ]);
  });

  test('is named once, with the number of places', async () => {
    const pages = Array.from({ length: 30 }, (_, at) => [`p${at}.html`, '<script src=a.js></script>']);
    const { refusals } = await inspect({ ...html(''), ...Object.fromEntries(pages) });
    expect(refusals).toMatchObject([{ file: 'p0.html', count: 30 }]);
  });
});

describe('a rule of a style sheet with a missing file', () => {
  const page = '<link rel=stylesheet href=a.css>';

  test.each<[string, string, string]>([
    ['a class that is in the page', '.b { c: url(d.png) }', '<p class="a b">'],
    ['an id that is in the page', '#b { c: url(d.png) }', '<p id=b>'],
    ['a class that a script sets', '.b { c: url(d.png) }', '<script>a.className = "b"</script>'],
    ['an element', 'p > b { c: url(d.png) }', ''],
    ['one of its selectors', '.b, p { c: url(d.png) }', ''],
    ['a class that must be absent', 'p:not(.b) { c: url(d.png) }', ''],
    [
      'a font that a rule uses',
      '@font-face { font-family: F G; src: url(d.woff2) } p { font: 1em "F G" }',
      '',
    ],
    ['a font that is a property', '@font-face { font-family: "F"; src: url(d.woff2) } :root { --f: F }', ''],
    [
      'a font that an element names',
      '@font-face { font-family: "F"; src: url(d.woff2) }',
      '<p style="font-family: F">',
    ],
  ])('is refused if it may match by %s', async (_, css, body) => {
    expect(await kindsOf({ ...html(page + body), 'a.css': css })).toMatch(/^missing \|/);
  });

  test.each<[string, string, string]>([
    ['a class that is nowhere', '.b { c: url(d.png) } .e #f { c: url(g.png) }', '<p class=e>'],
    ['a font that no rule uses', '@font-face { font-family: Fira; src: url(d.woff2) }', ''],
    [
      'a font of an unused rule',
      '@font-face { font-family: Fira; src: url(d.woff2) } .b { font-family: Fira }',
      '',
    ],
  ])('is a note if it matches nothing: %s', async (_, css, body) => {
    expect(await kindsOf({ ...html(page + body), 'a.css': css })).toMatch(/^\|(?: later-missing)+$/);
  });
});

describe('something of another host', () => {
  const files = html('<script src=https://a.example/a.js></script>');

  test.each([
    ['enforce', 'host |'],
    ['warn', '| host'],
    ['off', '|'],
  ] as const)(
    'that is loaded at the start is judged by `self-contained: %s`',
    async (selfContained, kinds) => {
      expect(await kindsOf(files, { selfContained })).toBe(kinds);
    },
  );

  test.each([
    '<style>@media (max-width: 600px) { a { b: url(https://a.example/a.png) } }</style>',
    '<img src=a.png srcset="https://a.example/a.png 2x">',
    '<style>@font-face { font-family: F; src: url(https://a.example/a); unicode-range: U+1F?? } a { font-family: F }</style>',
  ])('is refused for a part of the screens as well: %s', async (page) => {
    expect(await kindsOf({ ...html(page), 'a.png': '' })).toBe('host |');
  });

  test.each(['http://localhost:3000/a.js', 'https://127.0.0.1/a.js'])(
    'is refused in any mode if it is the machine itself: %s',
    async (address) => {
      expect(await kindsOf(html(`<script src=${address}></script>`), { selfContained: 'off' })).toBe(
        'host |',
      );
    },
  );

  test('belongs to the site if it is its own host', async () => {
    const own = { ...html('<script src=https://o.example/repo/previews/pr-12/a.js></script>'), 'a.js': '' };
    expect(await kindsOf(own, { origin: 'https://o.example' })).toBe('|');
    expect(await kindsOf(own)).toBe('host |');
  });
});

describe('an address outside of the folder', () => {
  const files = { ...html('<script src=/repo/a.js></script>') };

  test('is accepted if the site has it', async () => {
    expect(await kindsOf(files, { existing: (path) => path === 'a.js' })).toBe('|');
  });

  test('is a note if nothing is known of the site', async () => {
    const { existing: _, ...options } = { existing: undefined };
    const known = new Map(Object.entries(files).map(([path, text]) => [path, siteFile(text)]));
    const { refusals, notes } = await inspectSite(known, {
      entry: 'index.html',
      sitePath: '/repo/previews/pr-12/',
      rootPath: '/repo/',
      selfContained: 'enforce',
      ...options,
    });
    expect([refusals, notes.map(({ kind }) => kind)]).toEqual([[], ['unchecked']]);
  });

  test('is a note if the folder has the file, too', async () => {
    const both = { ...files, 'a.js': '' };
    expect(await kindsOf(both, { existing: (path) => path === 'a.js' })).toBe('| root-copy');
  });

  test('is one refusal for the whole folder if only its base is wrong', async () => {
    const page = '<link rel=stylesheet href=/a/a.css><script src=/a/a.js></script>';
    const { refusals } = await inspect({ ...html(page), 'b.html': page, 'a/a.css': '', 'a/a.js': '' });
    expect(refusals).toEqual([
      {
        kind: 'base',
        file: 'index.html',
        line: 1,
        text: 'link /a/a.css leads out of the folder /repo/previews/pr-12/, and so do others in 2 files',
        hint: expect.stringContaining('use addresses relative to the page'),
        count: 4,
      },
    ]);
  });

  test.each([
    ['of the repository', '/repo/a/a.js'],
    ['of another repository', '/other/a/a.js'],
    ['of the host, by a base', 'a/a.js'],
  ])('has a wrong base if it is an address %s', async (_, address) => {
    const page = `<base href=/><script src="${address}"></script>`;
    expect(await kindsOf({ ...html(page), 'a/a.js': '' })).toMatch(/^base \|/);
  });
});

describe('formatSiteFindings', () => {
  test('lists ten findings in full, at least one of each kind, and counts the others by kind', async () => {
    const body = Array.from({ length: 14 }, (_, at) => `<img src=${at}.png>`).join('\n');
    const { refusals } = await inspect(html(`${body}<script src=https://a.example/a.js></script>`));
    const lines = formatSiteFindings(refusals);
    expect(lines[0]).toBe(
      'index.html line 1: img 0.png is missing (add the file to the folder, or remove the reference)',
    );
    expect(lines).toHaveLength(11);
    expect(lines[8]).toMatch(/^index\.html line 9: img 8\.png is missing/);
    expect(lines[9]).toMatch(
      /^index\.html line 14: script https:\/\/a\.example\/a\.js is loaded from another host/,
    );
    expect(lines[10]).toBe('and 5 more: 5 missing files');
  });
});

describe('the cost of a search', () => {
  test('does not include files that are no text', async () => {
    const unreadable = {
      size: 1_000_000_000,
      read() {
        throw new Error('the file was read');
      },
    };
    const names = ['a.png', 'a.woff2', 'a.mp4', 'a.wasm', 'a.zip', 'a'];
    const files = new Map([
      ['index.html', siteFile('<img src=a.png>')],
      ...names.map((name) => [name, unreadable] as const),
    ]);
    const { refusals } = await inspectSite(files, {
      entry: 'index.html',
      sitePath: '/',
      rootPath: '/',
      selfContained: 'enforce',
    });
    expect(refusals).toEqual([]);
  });

  test('is bounded for a large page, and the result says so', async () => {
    const files = new Map([['index.html', { ...siteFile(''), size: 50_000_000 }]]);
    const { notes } = await inspectSite(files, {
      entry: 'index.html',
      sitePath: '/',
      rootPath: '/',
      selfContained: 'enforce',
    });
    expect(notes).toMatchObject([{ kind: 'incomplete', text: expect.stringContaining('larger than 32 MB') }]);
  });

  test('ends when the signal is aborted', async () => {
    const aborted = AbortSignal.abort(new Error('stopped'));
    await expect(inspect(html(''), { signal: aborted })).rejects.toThrow('stopped');
  });
});

describe('a file in another encoding than UTF-8', () => {
  const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
  const BAD = '<meta charset=windows-1251>\xcf\xf0\xe8\xe2\xe5\xf2';
  const kindsIn = async (bytes: Readonly<Record<string, Buffer>>): Promise<string> => {
    const files = new Map(Object.entries(bytes).map(([path, content]) => [path, siteFile(content)]));
    const { refusals, notes } = await inspectSite(files, {
      entry: 'index.html',
      sitePath: '/repo/',
      rootPath: '/repo/',
      existing: () => false,
      selfContained: 'enforce',
    });
    const format = (found: typeof refusals): string =>
      found.map(({ kind, file, count }) => `${kind} ${file} ${count}`).join(', ');
    return `${format(refusals)} | ${format(notes)}`.trim();
  };
  const INDEX = {
    'index.html': latin1('<a href=b/c.html>c</a><script src=a.js></script>'),
    'a.js': latin1(''),
  };

  test.each<[string, Readonly<Record<string, Buffer>>, string]>([
    ['refuses the entry', { 'index.html': latin1(BAD) }, 'encoding index.html 1 |'],
    ['refuses a linked page', { ...INDEX, 'b/c.html': latin1(BAD) }, 'encoding b/c.html 1 |'],
    [
      'notes an attachment',
      { ...INDEX, 'b/c.html': latin1(''), 'b/d.html': latin1(BAD) },
      '| encoding b/d.html 1',
    ],
    ['notes a script', { ...INDEX, 'a.js': latin1('// \xe9'), 'b/c.html': latin1('') }, '| encoding a.js 1'],
    [
      'notes a page with a wrong byte',
      { 'index.html': latin1('<meta charset=utf-8>\xe9') },
      '| encoding index.html 1',
    ],
    ['accepts a drawing', { 'index.html': latin1(''), 'a.svg': latin1('<svg>\xe9</svg>') }, '|'],
    ['accepts Latin letters', { 'index.html': latin1('<meta charset=windows-1251>Hello') }, '|'],
  ])('%s', async (_, files, kinds) => {
    expect(await kindsIn(files)).toBe(kinds);
  });
});
