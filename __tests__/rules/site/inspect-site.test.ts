import { describe, expect, test } from '@jest/globals';
import { formatSiteFindings, type SiteOptions } from '../../../src/rules/site/findings.ts';
import { inspectSite } from '../../../src/rules/site/inspect-site.ts';
import { type Files, inspect, site, siteFile, verdictOf } from './sites.ts';

const judge = async (files: Files, options?: Partial<SiteOptions>): Promise<string> =>
  verdictOf(await inspect(files, options));

const module = (code: string): string => `<script type=module>${code}</script>`;
const importMap = (imports: string): string => `<script type=importmap>{"imports":{${imports}}}</script>`;
const SCOPED =
  '<script type=importmap>{"imports":{"b":"./c.js"},"scopes":{"/else/":{"b":"./d.js"}}}</script>';
const MODULE = '<script type=module src=a.js></script>';
const STYLED = '<link rel=stylesheet href=a.css>';

describe('a page that is shown completely', () => {
  test.each<[string, Files]>([
    ['a relative address', site('<script src=a.js></script>', 'a.js')],
    ['an address with a dot', site('<script src=./b/../a.js></script>', 'a.js')],
    ['an address with query and fragment', site('<img src="a.png?v=1#b">', 'a.png')],
    ['a percent-encoded address', site('<img src="a%20%C3%A4.png">', 'a ä.png')],
    ['an address with a space', site('<img src=" a b.png ">', 'a b.png')],
    ['a percent sign in a name', site('<img src="100%25.png">', '100%.png')],
    ['an address of the whole host', site('<img src="/repo/previews/pr-12/a.png">', 'a.png')],
    ['an address that leaves the folder and returns', site('<img src="../pr-12/a.png">', 'a.png')],
    ['a page in a folder', site('', 'b/index.html: <img src=../a.png>', 'a.png')],
    ['a folder with an index', site('<iframe src=b/></iframe><iframe src=b></iframe>', 'b/index.html')],
    ['a page without its ending', site('<a href=b>b</a><iframe src=b></iframe>', 'b.html')],
    ['a base', site('<base href=a/><script src=b.js></script>', 'a/b.js')],
    [
      'the first base with an address',
      site('<base target=a><base href=a/><base href=b/><img src=c.png>', 'a/c.png'),
    ],
    ['a base in a drawing', site('<svg><base href=a/></svg><script src=c.js></script>', 'c.js')],
    ['candidates', site('<img srcset="a.png 1x, b.png 2x">', 'a.png', 'b.png')],
    ['addresses without a request', site('<img src=data:,a><a href=mailto:a@b.c>a</a><a href="#a">a</a>')],
    ['a style sheet', site('<link rel=stylesheet href=a/a.css>', 'a/a.css: b { c: url(../b.png) }', 'b.png')],
    ['a module with imports', site(MODULE, 'a.js: import "./b/b.js"', 'b/b.js: import "../c.js"', 'c.js')],
    ['an import map', site(importMap('"b":"./c.js"') + MODULE, 'a.js: import "b"', 'c.js')],
    ['an import map with a folder', site(importMap('"x/":"./x/"') + module('import "x/a.js"'), 'x/a.js')],
    ['a scope of another folder', site(`${SCOPED}${module('import "b"')}`, 'c.js')],
    ['a frame with its document', site('<iframe srcdoc="<p>a" src=a.html></iframe>')],
    [
      'a base of a frame',
      site('<base href=a/><iframe srcdoc="<base href=b/><script src=c.js></script>"></iframe>', 'a/b/c.js'),
    ],
    [
      'a base before a frame has one',
      site('<iframe srcdoc="<base href=b/>"></iframe><script src=c.js></script>', 'c.js'),
    ],
    ['a drawing', site('<object data=a.svg></object>', 'a.svg: <svg><image href="b.png"/></svg>', 'b.png')],
    ['a dynamic import of a bare name', site(module('import("_").catch(() => 1)'))],
    ['an address that a script completes', site('<script>import("./a/" + b); import(`./${a}.js`)</script>')],
    ['a link to another host', site('<a href=https://a.example>a</a>')],
    ['a script that is data', site('<script type=text/template src=a.js>import "./a.js"</script>')],
    ['text in a string', site(module('const a = `import "./a.js"`'))],
  ])('is accepted without a note: %s', async (_, files) => {
    expect(await judge(files)).toBe('');
  });

  test.each<[string, string, Files]>([
    ['content of another page', 'missing', site('', 'b.html: <img src=a.png>')],
    ['a picture of a style sheet', 'missing', site('<style>a { b: url(a.png) }</style>')],
    ['parts of a sheet', 'missing missing', site(STYLED, 'a.css: @import url(b.css); c { d: url(d) }')],
    ['what is loaded later', 'missing', site('<link rel=icon href=a.ico>')],
    ['a sheet that only a script reads', 'missing', site('<link rel=stylesheet type=text/less href=a.less>')],
    ['a template', 'later-host', site('<template><script src=https://a.example/a.js></script></template>')],
    ['a dynamic import', 'missing', site('<script>Promise.all([import("./a.js")])</script>')],
    ['a dynamic import from a host', 'later-host', site('<script>import("https://a.example/a.js")</script>')],
    ['a link', 'link-missing', site('<a href=b.html>b</a>')],
    ["a link to a developer's machine", 'link-missing', site('<a href=http://localhost:3000>b</a>')],
    ['an unused style sheet', 'missing', site('', 'a.css: a { b: url(b.png) }')],
    ['an attachment', 'outside', site('', 'data/3f2a.html: <script src=/x.js></script>')],
    ['a page for missing addresses', 'base', site('', '404.html: <script src=/a.js></script>', 'a.js')],
  ])('is accepted with a note: %s', async (_, kind, files) => {
    expect(await judge(files)).toBe(`note ${kind}`);
  });

  test.each([
    ['<img src=figures/a.png>', 'missing'],
    ['<img src=b.png srcset="b.png 1x, c.png 2x">', 'missing'],
    ['<p style="background: url(a.png)">', 'missing'],
    ['<img src=/b.png>', 'base'],
    ['<a href=/d.html>d</a>', 'base'],
    ['<a href=/>home</a><a href=/api/x>API</a>', ''],
  ])('is shown with a doubt about what its reader meets: %s', async (entry, kind) => {
    expect(await judge(site(entry, 'b.png', 'd.html'))).toBe(kind && `unknown ${kind}`);
  });
});

describe('a page that misses its code', () => {
  const code = '<script src=a.js></script>';

  test.each<[string, Files]>([
    ['a script', site(code)],
    ['a style sheet', site(STYLED)],
    ['a module of a module', site(MODULE, 'a.js: export * from "./b.js"', 'b.js: import "./c.js"')],
    ['a module of an import map', site(importMap('"b":"./c.js"') + module('import "b"'))],
    [
      'a module of the map of a frame',
      site(`<iframe srcdoc='${importMap('"b":"./c.js"')}'></iframe>${module('import "b"')}`, 'c.js'),
    ],
    [
      'a module of a map in a template',
      site(`<template>${importMap('"b":"./c.js"')}</template>${module('import "b"')}`, 'c.js'),
    ],
    ['a name in another case', site('<script src=A.js></script>', 'a.js')],
    ['a file at a base without a place', site('<base href=data:,x><script src=b.js></script>')],
    ['a page below another one', site('<a href=b/c.html>b</a>', `b/c.html: ${code}`)],
    ['a page in a folder with a space', site('<a href="d%20e/c">c</a>', `d e/c.html: ${code}`)],
    ['a page below a base', site('<base href=d/><iframe src=../e/c.html></iframe>', `e/c.html: ${code}`)],
    ['a page in a frame', site('<iframe src=b/c.html></iframe>', `b/c.html: ${code}`)],
    ['the index of a folder', site('', `b/index.html: ${code}`)],
    ['another page at the top', site('', `b.html: ${code}`)],
    ['a hidden file', site('<script src=.a.js></script>')],
  ])('is refused: %s', async (_, files) => {
    expect(await judge(files)).toMatch(/^refused (?:missing|bare-import)\b/);
  });

  test('is refused for a module that is not a script, unless its import names its type', async () => {
    const wrong = ['a.js: import "./style.css"; import logo from "./a.svg"', 'style.css', 'a.svg'];
    expect((await inspect(site(MODULE, ...wrong))).refusals).toMatchObject([
      { kind: 'missing', file: 'a.js', text: expect.stringContaining('style.css is text/css') },
      { kind: 'missing', file: 'a.js', text: expect.stringContaining('a.svg is image/svg+xml') },
    ]);
    expect(await judge(site(module('import "./main.ts"'), 'main.ts'))).toBe('refused missing');
    const right = 'a.js: import a from "./a.json" with { type: "json" }; import("./b.css")';
    expect(await judge(site(MODULE, right, 'a.json: 1', 'b.css'))).toBe('');
  });

  test.each<[string, Files, string]>([
    ['itself', site('<p>\n<script async src=a.js></script>'), 'index.html line 2: script a.js is missing ('],
    [
      'a module of it',
      site('<script async type=module src=a.js></script>', 'a.js: \nimport "./b.js"'),
      'a.js line 2: import ./b.js is missing (add the file to the folder, ',
    ],
    [
      'its right address',
      site('<script async src=/b.js></script><img src=/b.png>', 'b.js', 'b.png'),
      'index.html line 1: script /b.js leads out of the folder /repo/previews/pr-12/, 2 times (set the base path ',
    ],
  ])('may be shown without a script that it does not wait for, which lacks %s', async (_, files, told) => {
    const { refusals, unknown } = await inspect(files);
    expect(refusals).toEqual([]);
    expect(formatSiteFindings(unknown)).toEqual([expect.stringContaining(told)]);
    // One page may load a script with `async`, and another page without it.
    const both = { ...files, 'c.html': (files['index.html'] as string).replace('async', '') };
    expect(await judge(both)).toMatch(/^refused (?:missing|base)\b/);
  });

  test('is refused for a bare name without an import map', async () => {
    const { refusals } = await inspect(site(module('\nimport "react"')));
    expect(refusals).toMatchObject([{ kind: 'bare-import', line: 2, text: expect.stringMatching('react') }]);
    const mapped = site(importMap('"b":"./c.js"') + MODULE, 'a.js: import "b"', 'c.js');
    // Its script is the same for both pages, but the import map is not.
    expect(await judge({ ...mapped, 'd.html': MODULE })).toBe('refused bare-import');
  });

  test.each([
    ['Js/A.js', 'js/a.js', 'the folder has js/a.js; GitHub Pages distinguishes upper and lower case'],
    ['a.js', 'js/a.js', 'the folder has js/a.js'],
    ['a.js', 'b.js', 'add the file to the folder, or remove the reference'],
    ['a/index.html', 'b/index.html', 'add the file to the folder, or remove the reference'],
  ])('is refused for %s with a hint if the folder has %s', async (address, file, hint) => {
    const { refusals } = await inspect(site(`<p>\n<script src="${address}"></script>`, file));
    const text = `script ${address} is missing`;
    expect(refusals).toMatchObject([{ kind: 'missing', file: 'index.html', line: 2, text, hint, count: 1 }]);
  });

  test('is named once, with the number of places', async () => {
    const pages = Array.from({ length: 30 }, (_, at) => `p${at}.html: ${code}`);
    const { refusals } = await inspect(site('', ...pages));
    expect(refusals).toMatchObject([{ file: 'p0.html', count: 30 }]);
  });
});

describe('something of another host', () => {
  const files = site('<script src=https://a.example/a.js></script>');

  test.each([
    ['enforce', files, 'refused host'],
    ['warn', files, 'unknown host'],
    ['off', files, ''],
    ['off', site('<img src=http://localhost/a.png>'), 'unknown machine'],
    ['off', site('<script src=http://localhost:3000/a.js></script>'), 'refused machine'],
    ['off', site('<script src=https://127.0.0.1/a.js></script>'), 'refused machine'],
  ] as const)('is judged by `self-contained: %s`, in %j: %s', async (selfContained, page, kinds) => {
    expect(await judge(page, { selfContained })).toBe(kinds);
  });

  test('belongs to the site if it is its own host', async () => {
    const own = site('<script src=https://o.example/repo/previews/pr-12/a.js></script>', 'a.js');
    expect(await judge(own, { origin: 'https://o.example' })).toBe('');
    expect(await judge(own)).toBe('refused host');
  });
});

describe('an address outside of the folder', () => {
  const files = site('<script src=/repo/a.js></script>');
  const hint = expect.stringContaining('use URLs relative to the page');

  test('is unknown, with its URL on the host, and how far up it leads', async () => {
    const url = 'https://site.invalid/repo/a.js';
    expect((await inspect(files)).unknown).toMatchObject([{ kind: 'outside', url, levels: undefined }]);
    const up = await inspect({ ...site('<p>'), 'a/index.html': '<script src=../../lib/a.js></script>' });
    expect(up.unknown).toMatchObject([{ url: 'https://site.invalid/repo/previews/lib/a.js', levels: 1 }]);
  });

  test.each([
    ['an image', '<img src=/repo/a.png>', 'unknown outside'],
    ['an icon', '<link rel=icon href=/a.ico>', 'note outside'],
    ['a link', '<a href=/repo/b.html>b</a>', ''],
  ])('is requested only for code: %s', async (_, page, verdict) => {
    const inspection = await inspect(site(page));
    expect(verdictOf(inspection)).toBe(verdict);
    expect(inspection.unknown.flatMap(({ url }) => url ?? [])).toEqual([]);
  });

  test('is one refusal for the whole folder if only its base is wrong', async () => {
    const page = '<link rel=stylesheet href=/a/a.css><script src=/a/a.js></script>';
    const { refusals } = await inspect({ ...site(page), 'b.html': page, 'a/a.css': '', 'a/a.js': '' });
    const text = 'link /a/a.css leads out of the folder /repo/previews/pr-12/';
    const path = 'a/a.css';
    expect(refusals).toEqual([{ kind: 'base', file: 'index.html', line: 1, text, hint, path, count: 4 }]);
  });
});

describe('formatSiteFindings', () => {
  test('lists ten findings, at least one of each kind, and counts the others', async () => {
    const body = Array.from({ length: 14 }, (_, at) => `<script src=${at}.js></script>`).join('\n');
    const { refusals } = await inspect(site(`${body}<script src=https://a.example/a.js></script>`));
    const lines = formatSiteFindings(refusals);
    const hint = 'add the file to the folder, or remove the reference';
    expect(lines[0]).toBe(`index.html line 1: script 0.js is missing (${hint})`);
    expect(lines[1]).toMatch(/^index\.html line 14: script .*\/a\.js is loaded from another host/);
    expect(lines[9]).toMatch(/^index\.html line 9: script 8\.js is missing/);
    expect(lines.slice(10)).toEqual(['and 5 more']);
  });
});

describe('the cost of a search', () => {
  const unreadable = {
    size: 1_000_000_000,
    pieces() {
      throw new Error('the file was read');
    },
  };

  test('does not include binary files', async () => {
    const names = ['a.png', 'a.woff2', 'a.mp4', 'a.wasm', 'a.zip', 'a'];
    const page = ['index.html', siteFile('<img src=a.png>')] as const;
    const files = new Map([page, ...names.map((name) => [name, unreadable] as const)]);
    const options = { entry: 'index.html', sitePath: '/', isFolder: true, selfContained: 'enforce' } as const;
    expect((await inspectSite(files, options)).refusals).toEqual([]);
  });

  test('ends when the signal is aborted', async () => {
    const aborted = AbortSignal.abort(new Error('stopped'));
    await expect(inspect(site(''), { signal: aborted })).rejects.toThrow('stopped');
  });
});

describe('a file in another encoding than UTF-8', () => {
  const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
  const BAD = '<meta charset=windows-1251>\xcf\xf0\xe8\xe2\xe5\xf2';
  const INDEX = { 'index.html': '<a href=b/c.html>c</a><script src=a.js></script>', 'a.js': '' };

  test.each<[string, Files, string]>([
    ['refuses the entry', { 'index.html': latin1(BAD) }, 'refused encoding'],
    ['refuses a linked page', { ...INDEX, 'b/c.html': latin1(BAD) }, 'refused encoding'],
    ['notes an attachment', { ...INDEX, 'b/c.html': '', 'b/d.html': latin1(BAD) }, 'note encoding'],
    ['notes a script', { ...INDEX, 'a.js': latin1('// \xe9'), 'b/c.html': '' }, 'note encoding'],
    ['notes a page with a wrong byte', site(latin1('<meta charset=utf-8>\xe9')), 'note encoding'],
    ['accepts a drawing', { 'index.html': '', 'a.svg': latin1('<svg>\xe9</svg>') }, ''],
    ['accepts Latin letters', site(latin1('<meta charset=windows-1251>Hello')), ''],
  ])('%s', async (_, files, verdict) => {
    expect(await judge(files)).toBe(verdict);
  });
});
