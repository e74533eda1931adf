import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BrowserDriver, ScreenView } from '../../src/browser/screen-view.ts';
import { getContentType } from '../../src/rules/media-type.ts';
import { createTestHost, createTestScreen } from '../browser/test-host.ts';
import { temporaryFolder } from '../support/files.ts';
import { inline } from './inline-one.ts';

const HOST = 'https://octo.github.io/';
const CDN = 'https://cdn.dev/';

/** A file of a package that the project has. */
const readPackage = (path: string): string =>
  readFileSync(new URL(`../../node_modules/${path}`, import.meta.url), 'utf8');

/** The files of both hosts. Each script writes its part of the marker. */
const FILES: Readonly<Record<string, string>> = {
  [`${CDN}say.js`]:
    'window.say = (text) => { (window.said ??= []).push(text); if (window.p) p.textContent = said.join(" ") }',
  [`${CDN}one.js`]: '--> first\nsay("one")',
  [`${CDN}deferred.js`]:
    '"use client"; "use strict"; say(p.id + (function () { return this === undefined })())',
  [`${CDN}self.js`]: 'say(document.currentScript.src + document.currentScript.dataset.a)',
  [`${CDN}count.js`]: 'import "./circle.js"; export const count = { value: 0 }; say("count")',
  [`${CDN}circle.js`]:
    'import { count } from "./count.js"; export const add = () => { count.value += 1; return count.value }',
  [`${CDN}lib/add.js`]: 'export { add } from "../circle.js"; export const own = import.meta.url',
  [`${CDN}load.js`]: 'import("./lib/add.js").then(({ add }) => say("loaded " + add()))',
  [`${CDN}a.css`]:
    '@import "b.css" layer(low); @import "gone.css" print; @layer low { h1 { color: red } } h1 { font-size: 20px }',
  [`${CDN}gone.css`]: 'h1 { color: rgb(9, 9, 9) !important }',
  [`${CDN}b.css`]: 'h1 { color: rgb(1, 2, 3); font-size: 50px; background: url(a.svg) }',
  [`${CDN}a.svg`]:
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><circle cx="2" cy="2" r="2" fill="green"/></svg>',
  [`${CDN}markdown-it.js`]: readPackage('markdown-it/dist/markdown-it.min.js'),
  [`${CDN}markdown.css`]: readPackage('github-markdown-css/github-markdown.css'),
  [`${CDN}csstree.js`]: readPackage('css-tree/dist/csstree.esm.js'),
  'own.js':
    'import { count } from "https://cdn.dev/count.js"; count.value += 10; say(new URL("x", import.meta.url).href)',
  'sprite.svg':
    '<svg xmlns="http://www.w3.org/2000/svg"><symbol id="dot" viewBox="0 0 4 4"><circle cx="2" cy="2" r="2" fill="blue"/></symbol></svg>',
};

const SAY = `<script src="${CDN}say.js"></script>`;

const PAGES: readonly (readonly [string, string, string])[] = [
  [
    'scripts in their order, deferred ones after the page',
    `${SAY}<script defer src="${CDN}deferred.js"></script><script src="${CDN}one.js" onload="say('load')"></script>
    <script>say('two')</script><script nomodule src="${CDN}gone.js"></script><p id=p></p>`,
    'one load two ptrue',
  ],
  [
    'a script that knows its address',
    `<p id=p></p>${SAY}<script data-a=1 src="${CDN}self.js"></script>`,
    `${CDN}self.js1`,
  ],
  [
    'a module once, for all that import it, also in a circle',
    `<p id=p></p>${SAY}<script type=module src="own.js"></script><script type=module>
    import { add, own } from '${CDN}lib/add.js'; say(add()); say(own);</script><script type=module src="${CDN}load.js"></script>`,
    `count ${HOST}x 11 ${CDN}lib/add.js loaded 12`,
  ],
  [
    'modules by the names of an import map',
    `<p id=p></p>${SAY}<script type=importmap>{"imports":{"lib/":"${CDN}lib/","later":"${CDN}lib/add.js"}}</script>
    <script type=module>import { add } from 'lib/add.js'; say(add() + (await import('later')).add())</script>`,
    'count 3',
  ],
  [
    'style sheets with layers and media',
    `<link rel=stylesheet crossorigin href="${CDN}a.css"><h1>Text</h1><p id=p></p><script>
    const { color, fontSize } = getComputedStyle(document.querySelector('h1'));
    p.textContent = color + fontSize + document.styleSheets[0].cssRules.length</script>`,
    'rgb(255, 0, 0)20px4',
  ],
  [
    'real libraries: a script, a style sheet and a module',
    `<link rel=stylesheet href="${CDN}markdown.css"><script type=importmap>{"imports":{"css-tree":"${CDN}csstree.js"}}</script>
    <article id=a class=markdown-body></article><p id=p></p>${SAY}<script src="${CDN}markdown-it.js"></script><script type=module>
    import { generate, parse } from 'css-tree'; a.innerHTML = markdownit().render('# Title\\n- one'); say(generate(parse('a { b : c }')))</script>`,
    'a{b:c}',
  ],
  [
    'a part of a drawing',
    '<h1>Text</h1><svg width=90 height=90><use href="sprite.svg#dot"/></svg></body></html>',
    'Text',
  ],
];

let screen: BrowserDriver;
let requested: string[] = [];

beforeAll(async () => {
  const http = createTestHost(({ href, pathname }) => {
    requested.push(href);
    const body = FILES[href];
    if (body === undefined) return { status: 404 };
    return {
      body,
      headers: { 'content-type': getContentType(pathname), 'access-control-allow-origin': '*' },
    };
  });
  screen = await createTestScreen({ http, tempFolder: await temporaryFolder() });
});
afterAll(() => screen.close());

function show(html: string, marker: string): Promise<ScreenView> {
  const local = (path: string) => {
    const text = path === '/report.html' ? html : FILES[path.slice(1)];
    if (text === undefined) return undefined;
    const contentType = getContentType(path);
    return { size: Buffer.byteLength(text), contentType, read: () => Readable.from([Buffer.from(text)]) };
  };
  return screen.view({ url: `${HOST}report.html`, marker, local }, new AbortController().signal);
}

test.each(PAGES)('A browser shows the same after inlining: %s.', async (_, body, marker) => {
  const html = `<!doctype html><meta charset=utf-8><title>Report</title>${body}`;
  const before = await show(html, marker);
  expect(before).toMatchObject({ verdict: 'shown', isMarkerVisible: true, exceptions: [] });
  expect(requested.length > 0 || marker === 'Text').toBe(true);
  requested = [];
  const after = await show(await inline(html, FILES), marker);
  expect(after).toMatchObject({ verdict: 'shown', isMarkerVisible: true, exceptions: [], consoleErrors: [] });
  expect(after).toMatchObject({ otherHosts: [], failedRequests: [], blockedRequests: [] });
  expect(requested).toEqual([]);
  expect(after.picture).toEqual(before.picture);
});
