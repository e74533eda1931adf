import { expect, test } from '@jest/globals';
import * as linkPage from '../../../src/rules/page/link-page.ts';
import { parsePage } from '../../../src/rules/page/parse-page.ts';
import { finish } from '../../support/finish.ts';

const { hasSameAddresses } = linkPage;
const isGatePage = (html: string): boolean => linkPage.isGatePage(parsePage(html));
const findAdditions = (file: string, page: string) =>
  linkPage.findAdditions(parsePage(file), parsePage(page));

test('A page with additions in several places is the page, whatever they are.', () => {
  const file = '<!doctype html><html><head><title>A</title></head><body><p>One</p><p>Two</p></body></html>';
  const page = file
    .replace('<head>', '<head><script src="x.js"></script><style>a{}</style>')
    .replace('<p>Two', '<aside><img src=a><br/>Hosted <a href="#">here</a></aside>\n<p>Two')
    .replace('</body>', '<!-- 12 ms --></body>');
  expect(findAdditions(file, page)).toEqual(['<script>', '<style>', '<aside>', 'a comment']);
  expect(findAdditions(file, file)).toEqual([]);
});

test.each(['<!--', '<script>', '<div', '<', '<p>', '</p>', '<svg><style>', '<a ', '<input '])(
  'Additions and forms among many %s are found in linear time.',
  (start) => {
    const page = start.repeat(1_000_000 / start.length);
    finish(() => findAdditions('<b>x</b>', `${page}<b>x</b>`));
    expect(finish(() => isGatePage(page))).toBe(start === '<svg><style>');
  },
);

test.each([
  ['nested deeper than browsers do', `${'<div>'.repeat(3_000)}x`],
  [
    'whose formatting opens again in each paragraph',
    `${Array.from({ length: 4_000 }, (_, nth) => `<b id=${nth}>`).join('')}${'<p>x'.repeat(4_000)}`,
  ],
])('A page with elements %s is not the page, and may be a gate.', (_, page) => {
  expect(findAdditions(page, `<p>Hosted here</p>${page}`)).toBeNull();
  expect(isGatePage(page)).toBe(true);
});

test.each([
  ['', true],
  ['<script src=/a.js></script><a href="#top">a</a><img src=https://a.dev/a.png>', true],
  ['<base href=/docs/><img src=a.png>', true],
  ['<img src=a.png>', false],
  ['<meta http-equiv=refresh content="0; url=a.html">', false],
  ['<body background=a.png>', false],
  ['<style>a { b: url(a.png) }</style>', false],
  ['<script type=module>import "./a.js"</script>', false],
  [
    '<script type=importmap>{"imports":{"/l":"./l.js"}}</script><script type=module>import "/l"</script>',
    false,
  ],
  ['<script type=importmap>{"imports":{"l":"/l.js"}}</script><script type=module>import "l"</script>', true],
  ['<base href="data:,x"><img src=a.png>', false],
  [`<a href=${' '.repeat(100_000)}"/x">`, true],
])('The addresses of %.60s lead to the same places from another folder: %s.', async (page, isSame) => {
  const seen = await hasSameAddresses(page, 'https://a.dev/docs/index.html', 'https://a.dev/docs');
  expect(seen).toBe(isSame);
});

test('A node with many others in it is compared with many in linear time.', () => {
  const file = `<title>t</title><div>${'<b></b>'.repeat(150_000)}</div>`;
  const page = `<title>t</title>${'<div></div>'.repeat(150_000)}`;
  expect(finish(() => findAdditions(file, page))).toBeNull();
});

test('A large node is compared with many others in linear time.', () => {
  const file = `<title>t</title><p x="${'A'.repeat(1_000_000)}">hi`;
  expect(finish(() => findAdditions(file, `<title>t</title>${'<p>'.repeat(30_000)}`))).toBeNull();
});

const FILE = '<p>One</p><p>Two</p>';

test.each([
  ['an attribute', `<meta name="description" content='${FILE}'>`],
  ['a hidden field', `<input type="hidden" value='${FILE}'>`],
  ['an element that does not close itself', `<div hidden/>${FILE}`],
  ['templates', `<template><template></template>${FILE}</template>`],
  ['a script', `<script><!--<script></script>${FILE}</script>-->`],
])('A page that has the file in %s does not have it.', (_, page) => {
  expect(findAdditions(FILE, `${page}<p>This preview has expired.`)).toBeNull();
});

test('A page with tags that are none is judged without an error.', () => {
  const odd = '<p>if a <b(c then</p><i>x</i><x(x+x+)+y>';
  expect(findAdditions(FILE, `${FILE}${odd}`)).toEqual(['<p>']);
  expect(findAdditions(`<b>x</b>${FILE}`, `<b>x</b>${odd}`)).toBeNull();
  expect(findAdditions(FILE, `${FILE}<${'a'.repeat(7_000)}>`)?.join('').length).toBeLessThan(70);
});

test.each([
  '<input placeholder="<password>" type="password">',
  '<input name=">" type=PASSWORD>',
  '<meta content="0; url=?a<b" http-equiv="refresh">',
  '<template shadowrootmode="open"><input type="password"></template>',
])('A page with %s is a gate, also as an addition.', (gate) => {
  expect(isGatePage(`<p>marker</p>${gate}`)).toBe(true);
  expect(findAdditions(FILE, FILE + gate)).toBeNull();
});

test.each([
  '<base href="https://elsewhere.dev/">',
  '<meta charset=windows-1251>',
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'">`,
])('A page to which its host has added %s is not the page.', (tag) => {
  expect(findAdditions(FILE, `<aside>${tag}</aside>${FILE}`)).toBeNull();
  expect(findAdditions(tag + FILE, `${tag}<aside>Hosted here</aside>${FILE}`)).toEqual(['<aside>']);
  expect(isGatePage(tag + FILE)).toBe(false);
});

test('A page to which its host has given another doctype is not the page.', () => {
  const old = '<!doctype html public "-//w3c//dtd html 3.2//en">';
  expect(findAdditions(`<!doctype html>${FILE}`, old + FILE)).toBeNull();
});

test('A page with metadata of its host is still the page.', () => {
  expect(findAdditions(FILE, `<meta name="robots" content="noindex">${FILE}`)).toEqual(['<meta>']);
});
