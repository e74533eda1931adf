import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { convert, inline, type TestFiles, unfold } from './inline-one.ts';

const FILES: TestFiles = {
  'app.js': 'import { b } from "./lib/b.js"; export * from \'./lib/c.js\'',
  'lib/b.js': 'import "../app.js"; export const b = import.meta.url + import . meta.env',
  'lib/c.js': 'export const load = () => import("./b.js", )',
  'data.js': 'import d from "./d.json" with { type: "json" }; import c from "./c.css" with { type: "css" }',
  'd.json': '{}',
  'c.css': 'a { b: url(a.png) }',
  'a.png': 'PNG',
  'classic.js': 'import(`./lib/c.js`)',
  'optional.js': 'import("fs"); import("node:fs"); import(name); if (import.meta) 1',
  'react.js': 'import "react/jsx.js"; import "https://cdn.dev/react.js"',
  'https://cdn.dev/react.js': 'export default import.meta.url',
  'https://cdn.dev/react/jsx.js': 'import "./it\'s.js"',
  "https://cdn.dev/react/it's.js": '1',
  'worker.js': 'new Worker("w.js"); navigator.serviceWorker.register(\'s.js\')',
};

const REACT = '{"imports":{"react":"https://cdn.dev/react.js","react/":"https://cdn.dev/react/"}}';

/** The import map of an inlined page, and the rest of the page. */
async function split(page: string) {
  const made = await inline(page, FILES);
  const [, map = '{}'] = /<script type="?importmap"?>(.*?)<\/script>/.exec(made) ?? [];
  const { imports } = JSON.parse(map) as { imports?: Record<string, string> };
  const modules = Object.entries(imports ?? {}).map(([name, url]) => [name, unfold(url)]);
  return { modules: Object.fromEntries(modules), page: unfold(made.replace(map, 'MAP')) };
}

describe('modules', () => {
  test('get names, so that each is there once, also in a circle', async () => {
    const { page, modules } = await split('<p><script type=module>import "./app.js"</script>');
    expect(page).toBe(
      '<p><script type="importmap">MAP</script><script type=module>import "page:app.js"</script>',
    );
    expect(modules).toEqual({
      'page:app.js': '‹javascript import { b } from "page:lib/b.js"; export * from \'page:lib/c.js\'›',
      'page:lib/b.js':
        '‹javascript import "page:app.js"; export const b = (new URL("lib/b.js",document.baseURI).href) + import . meta.env›',
      'page:lib/c.js': '‹javascript export const load = () => import("page:lib/b.js", )›',
    });
  });

  test('of an element stay in the element', async () => {
    const { page, modules } = await split('<script type=module async src="lib/c.js"></script>');
    expect(page).toMatch(
      /^<script type="importmap">MAP<\/script><script type=module async src="‹javascript export/,
    );
    expect(Object.keys(modules)).toEqual(['page:lib/b.js', 'page:lib/c.js', 'page:app.js']);
  });

  test('may be JSON and style sheets', async () => {
    const { modules } = await split('<script type=module src=data.js></script>');
    expect(modules).toEqual({
      'page:d.json': '‹application/json {}›',
      'page:c.css': '‹css a { b: url("‹image/png PNG›") }›',
    });
  });

  test('of an import map keep what the map says about other names', async () => {
    const html = `<script type=importmap>${REACT}</script><script type=module>import "react"; import "./react.js"</script>`;
    const { page, modules } = await split(html);
    expect(page).toBe(
      '<script type="importmap">MAP</script><script type="text"></script><script type=module>import "https://cdn.dev/react.js"; import "page:react.js"</script>',
    );
    expect(modules).toEqual({
      react: 'https://cdn.dev/react.js',
      'react/': 'https://cdn.dev/react/',
      'https://cdn.dev/react.js': '‹javascript export default ("https://cdn.dev/react.js")›',
      'page:react.js':
        '‹javascript import "https://cdn.dev/react/jsx.js"; import "https://cdn.dev/react.js"›',
      'https://cdn.dev/react/jsx.js': '‹javascript import "https://cdn.dev/react/it%27s.js"›',
      'https://cdn.dev/react/it%27s.js': '‹javascript 1›',
    });
  });

  test('are found in classic scripts, drawings, templates and nested documents', async () => {
    const classic = await split('<svg><script href=classic.js /></svg>');
    expect(classic.page).toMatch(
      /^<script type="importmap">MAP<\/script><svg><script href="‹javascript src=.*import\("page:lib\/c.js"\)/,
    );
    const template = await split('<p><template><script type=module>import "./lib/c.js"</script></template>');
    expect(template.page).toMatch(
      /^<p><script type="importmap">MAP<\/script><template><script type=module>import "page:/,
    );
    const nested = await inline('<iframe srcdoc="<script>import(\'./lib/c.js\')</script>"></iframe>', FILES);
    expect(nested).toMatch(
      /^<iframe srcdoc="<script type=&quot;importmap&quot;>{.*<script>import\(&quot;page:lib/,
    );
  });

  test('that only some environments have stay', async () => {
    const html = '<script type=module src=optional.js></script>';
    expect(unfold(await inline(html, FILES))).toBe(
      `<script type=module src="‹javascript ${FILES['optional.js']}›"></script>`,
    );
  });

  test('do not have the names of an import map in a template', async () => {
    const page = `<template><script type=importmap>${REACT}</script></template><script type=module>import "react"</script>`;
    expect(await inline(page, FILES)).toBe('page line 1: no import map says where the module "react" is');
  });

  test('have the hashes that an import map names', async () => {
    const page = (hash: string): string =>
      `<script type=importmap>{"integrity":{"./d.json":"sha256-${hash}"}}</script><script>import("./d.json")</script>`;
    expect(await inline(page('x'), FILES)).toBe(
      "page line 1: d.json can't be put into the page: it differs from the hash in `integrity`",
    );
    expect(await inline(page(hash('sha256', '{}', 'base64')), FILES)).toContain('import("page:d.json")');
  });

  test('join several import maps, of which the first counts', async () => {
    const maps =
      '<script type=importmap>{"imports":{"a":"./lib/c.js"},"scopes":{"/":{"b":"./x<.js"}}}</script><script type=importmap>{"imports":{"a":"./gone.js","b":"./b.js"}}</script>';
    const made = await inline(`${maps}<script type=module>import "a"</script>`, FILES);
    const [, map = ''] =
      /^<script type="importmap">(.*?)<\/script><script type="text"><\/script><script type="text"><\/script><script type=module>import "page:lib\/c.js"/.exec(
        made,
      ) ?? [];
    expect(JSON.parse(map)).toMatchObject({
      imports: { a: './lib/c.js', b: './b.js' },
      scopes: { '/': { b: './x<.js' } },
    });
    expect(map).not.toContain('<');
  });
});

test.each([
  ...[
    'import(`./lang-${a}.js`)',
    'import(a)',
    'import("./lang-" + a)',
    'document.scripts[0].getAttribute("src")',
  ],
  ...[
    'import.meta.resolve("./a.png")',
    'const { url } = import.meta',
    'import.meta?.url',
    'import.meta["url"]',
  ],
  ...[
    "const me = document.currentScript; me.getAttribute('src')",
    'document.querySelector("script[src$=\'a.js\']")',
  ],
])('A script that computes URLs is named: %s.', async (code) => {
  const text = 'computes URLs, whose files stay outside of the page';
  const page = `<script type=module src=a.js></script><script type=module src=a.js></script>`;
  expect(await convert(page, { 'a.js': code })).toMatchObject({ notes: [`the code of a.js ${text}`] });
  expect(await convert(`<script type=module>${code}</script>`)).toMatchObject({
    notes: [`the code of report.html ${text}`],
  });
});

test.each([
  'import.meta.url; import.meta.env.X',
  'import(`./a.js`); import("./a.js")',
  'img.getAttribute("src")',
  'document.currentScript.src',
  '// import(a)',
])('A script that computes no URL is not named: %s.', async (code) => {
  expect(await convert('<script type=module src=a.js></script>', { 'a.js': code })).toMatchObject({
    notes: [],
  });
});

test('Workers stay outside, and are named once.', async () => {
  const html =
    '<script src=worker.js></script><script>new Worker("w.js"); new SharedWorker(url); new Worker(new URL("u.js", import.meta.url)); new Worker("data:,")</script>';
  const converted = await convert(html, FILES);
  expect(converted).toMatchObject({
    notes: [
      'a script starts w.js, which stays outside of the page',
      'a script starts s.js, which stays outside of the page',
      'a script starts u.js, which stays outside of the page',
    ],
  });
});
