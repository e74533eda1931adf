import { describe, expect, test } from '@jest/globals';
import { formatAddress } from '../../../src/rules/page/addresses.ts';
import { SEARCH_LIMITS } from '../../../src/rules/page/page-reader.ts';
import { searchText } from './search-page.ts';

/** `element address` of each reference except links. */
async function find(html: string): Promise<readonly string[]> {
  const { references } = await searchText(html);
  return references
    .filter(({ grade }) => grade !== 'link')
    .map(({ element, address }) => `${element} ${formatAddress(address)}`);
}

/** Tags with one attribute each, by their element. */
const tagsOf = (tags: string): (readonly [string, string])[] =>
  tags.split(/,\s+/).map((tag) => [`<${tag}=a>`, `${tag.split(' ')[0]} a`]);

/** A page by the grade of the one reference in it, which follows. */
const GRADED: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  code: [
    ['<script src=a.js></script>', 'script a.js'],
    ['<script defer src=a.js></script>', 'script a.js'],
    ['<script type=module src=a.js></script>', 'script a.js'],
    ['<script type=module>import "./a.js"</script>', 'script ./a.js'],
    ['<svg><script href=a.js /></svg>', 'script a.js'],
    ['<svg><script xlink:href=a.js /></svg>', 'script a.js'],
    ['<link rel=stylesheet href=a.css>', 'link a.css'],
    ['<link rel=STYLESHEET media="print" href=a.css>', 'link a.css'],
    ['<link rel=stylesheet type="Text/CSS; charset=utf-8" href=a.css>', 'link a.css'],
    ['<iframe srcdoc="<script src=a.js></script>"></iframe>', 'script a.js'],
    ['<template><img src=data:,></template><script src=a.js></script>', 'script a.js'],
  ],
  async: [
    ['<script async src=a.js></script>', 'script a.js'],
    ['<script async type=module>import "./a.js"</script>', 'script ./a.js'],
  ],
  content: [
    ...tagsOf(`audio src, body background, embed src, frame src, iframe src, img loading=lazy src, img srcset,
      input type=image src, object data, source srcset, source src, track src, video src, video poster,
      table background, td background`),
    ['<image src=a.png>', 'img a.png'],
    ['<svg><image href=a.png /></svg>', 'image a.png'],
    ['<svg><image xlink:href=a.png /></svg>', 'image a.png'],
    ['<svg><use href=a.svg#b /></svg>', 'use a.svg#b'],
    ['<svg><use xlink:href=a.svg#b /></svg>', 'use a.svg#b'],
    ['<svg><filter><feImage href=a.png /></filter></svg>', 'feImage a.png'],
    ['<link rel=preload as=image imagesrcset="a.png 1x">', 'link a.png'],
    ['<link rel="preload" href=a>', 'link a'],
    ['<link rel="MODULEPRELOAD" href=a>', 'link a'],
    ['<p style="b: url(a.png)">', 'background a.png'],
    ['<meta http-equiv=refresh content="0; url=a.html">', 'meta a.html'],
    ['<meta http-equiv=" Refresh" content="5;URL=\'//a.example\'">', 'meta //a.example'],
    ['<iframe srcdoc="<iframe srcdoc=\'&lt;img src=a.png>\'>"></iframe>', 'img a.png'],
    ['<style>@import "a.css"</style>', 'style a.css'],
    ['<style type=TEXT/CSS>@media print { a:hover { b: url(a.png) } }</style>', 'style a.png'],
    ['<svg><style>@imp<!-- -->ort "a.css"</style></svg>', 'style a.css'],
    ['<svg><style><![CDATA[@import "a.css"]]></style></svg>', 'style a.css'],
  ],
  later: [
    ['<script nomodule src=a.js></script>', 'script a.js'],
    ['<script>import("./a.js")</script>', 'script ./a.js'],
    ['<script type=Text/JavaScript>import("./a.js")</script>', 'script ./a.js'],
    ['<script type=application/x-javascript>import("./a.js")</script>', 'script ./a.js'],
    ['<svg><script>import("&#46;/a.js")</script></svg>', 'script ./a.js'],
    ['<link rel="alternate stylesheet" href=a.css>', 'link a.css'],
    ['<link rel=stylesheet disabled href=a.css>', 'link a.css'],
    ['<link rel=stylesheet type=text/less href=a.less>', 'link a.less'],
    ['<template><template><img src=a.png></template></template>', 'img a.png'],
    ['<template><iframe srcdoc="<img src=a.png>"></iframe></template>', 'img a.png'],
    ...'icon mask-icon apple-touch-icon-precomposed apple-touch-startup-image prefetch'
      .concat(' prerender manifest canonical&#10;icon')
      .split(' ')
      .map((rel) => [`<link rel="${rel}" href=a>`, 'link a'] as const),
  ],
  link: [...tagsOf('a href, area href'), ['<svg><a xlink:href=a.html /></svg>', 'a a.html']],
};

describe('the references of a page', () => {
  test.each(
    Object.entries(GRADED).flatMap(([grade, pages]) => pages.map(([html, found]) => [grade, html, found])),
  )('are of the grade %s in %s: %s', async (grade, html, found) => {
    const { references } = await searchText(html as string);
    expect(references.map((one) => `${one.grade} ${one.element} ${one.address}`)).toEqual([
      `${grade} ${found}`,
    ]);
  });

  test.each([
    ...'canonical alternate author license next search preconnect dns-prefetch constructor '
      .split(' ')
      .map((rel) => `<link rel="${rel}" href=a>`),
    '<form action=a.html><button formaction=b.html></button></form>',
    '<blockquote cite=a.html></blockquote>',
    '<meta name=a content="0; url=a.html"><meta http-equiv=refresh content=5>',
    '<base target=_blank><base href=https://a.example/>',
    '<p data-src=a.png src=a.png title="url(a.png)">',
    '<img src=""><img src=#a><img src=data:,a><img src=blob:a><img>',
    '<iframe src=about:blank></iframe><iframe src=javascript:a></iframe>',
    '<iframe src="data:text/html,<img src=a.png>">',
    '<svg><use href=#a /></svg>',
    '<p constructor=b toString=c><constructor src=a></constructor>',
    '<!-- <img src=a.png> --><!--[if IE]><script src=a.js></script><![endif]-->',
    '<textarea><img src=a.png></textarea><title><img src=a.png></title>',
    '<noscript><img src=a.png></noscript>',
    '<style type=text/less>@import "a.css"</style>',
    '<script type=text/template>import("./a.js") <img src=a.png></script>',
    '<script type=application/json>{ "imports": { "a": "./a.js" } }</script>',
    '',
  ])('are none in %s', async (html) => {
    expect(await find(html)).toEqual([]);
  });

  test.each([
    ['entities', '<img src="&#97&#46&#x70;ng">', ['img a.png']],
    ['a scheme with a tab', '<img src="ht&Tab;tps://a.example">', ['img https://a.example']],
    ['data: as a folder', '<img src="./data:a.png">', ['img ./data:a.png']],
    ['the second of two attributes', '<img src=data:, src=a.png>', []],
    ['a comment across noscript', '<body><noscript><!-- </noscript><img src=a.png> -->', ['img a.png']],
    ['CDATA within SVG', '<svg><![CDATA[<img src=a.png>]]></svg>', []],
    ['an end tag in a style', '<style>a { b: "</style><img src=a.png>" }', ['img a.png']],
    ['escaped script text', '<script><!--<script></script><img src=a.png>--></script>', []],
    ['a title in SVG', '<svg><title><img src=a.png></title></svg>', ['img a.png']],
    ['a style without an end', '<style>@import "a.css', ['style a.css']],
    ['a script after a drawing that closes itself', '<svg/><script>"<img src=a.png>"</script>', []],
  ])('are read as a browser does: %s', async (_, html, references) => {
    expect(await find(html)).toEqual(references);
  });

  test('have the line of the attribute, the rule or the statement, in page order', async () => {
    const html = [
      '<!doctype html>',
      '<img alt="a',
      'b" src="2.png"',
      'srcset="3.png">',
      '<style>',
      'a { b: url(5.png); c: url(5b.png) }',
      '@import "6.css";</style>',
      '<script>',
      'a;',
      'import("./9.js")</script>',
      '<iframe srcdoc="<p>',
      '<img src=12.png>"></iframe>',
    ].join('\r\n');
    const { references } = await searchText(html);
    expect(references.map(({ line, address }) => `${line} ${address}`).join(', ')).toBe(
      '3 2.png, 4 3.png, 6 5.png, 6 5b.png, 7 6.css, 10 ./9.js, 12 12.png',
    );
  });
});

describe('the limits of a search', () => {
  const image = '<img src=a.png>';

  test('leave a base out that is longer than an address may be', async () => {
    const { base, complete } = await searchText(`<base href="/${'a'.repeat(4_000)}/">${image}`);
    expect([base.length < 100, complete]).toEqual([true, false]);
  });

  test('end it for import maps without end', async () => {
    const { maps, mapEntries } = SEARCH_LIMITS;
    const map = (entries: number) => {
      const imports = Array.from({ length: entries }, (_, nth) => [`m${nth}`, './a.js']);
      return `<script type=importmap>${JSON.stringify({ imports: Object.fromEntries(imports) })}</script>`;
    };
    expect(await searchText(map(1).repeat(maps))).toMatchObject({ complete: true });
    expect(await searchText(map(1).repeat(maps + 1))).toMatchObject({ complete: false });
    expect(await searchText(map(mapEntries))).toMatchObject({ complete: true });
    expect(await searchText(map(mapEntries + 1))).toMatchObject({ complete: false });
  });

  test('end it if drawings are nested too deeply, with what was found before', async () => {
    const { depth } = SEARCH_LIMITS;
    const page = `${image}${'<svg>'.repeat(depth + 1)}<image href=b.png>`;
    expect(await searchText(page)).toMatchObject({ references: [{ address: 'a.png' }], complete: false });
    expect((await searchText(`${image}${'<svg>'.repeat(depth)}`)).complete).toBe(true);
    // Tags that cross count no depth.
    const crossing = '<b><p><i><table><tr><td>x</b></i></p></table></p></i></b><svg/><a><p><a></p>';
    expect((await searchText(crossing.repeat(depth + 1))).complete).toBe(true);
  });

  test('end the search of nested documents', async () => {
    const wrap = (page: string): string =>
      `<iframe srcdoc="${page.replace(/&/g, '&amp;').replace(/"/g, '&quot;')}">`;
    const nested = (times: number): string => Array.from({ length: times }).reduce<string>(wrap, image);
    expect(await searchText(nested(3))).toMatchObject({ references: [{ address: 'a.png' }], complete: true });
    const tooDeep = await searchText(nested(SEARCH_LIMITS.documents + 1));
    expect(tooDeep).toMatchObject({ references: [], complete: false });
  });

  test.each([1, 7, 70_000])('find the same in a page that comes in pieces of %i', async (length) => {
    const html = `<base href=b/>\r\n<style>${' a { b: url(🙂.png) }\r\n'.repeat(9_000)}</style><img srcset="c 1x,\nd"><script>import("e")</script>`;
    expect(await searchText(html, length)).toEqual(await searchText(html));
  });

  test.each([
    ['spaces in an address', `<img src="${' '.repeat(1_000_000)}a.png">`],
    ['commas in a srcset', `<img srcset="${','.repeat(1_000_000)} a.png">`],
    ['spaces in a refresh', `<meta http-equiv=refresh content="0;${' '.repeat(1_000_000)}a.png">`],
    ['escapes in a style', `<style>${'\\75'.repeat(300_000)} @import "a.png"</style>`],
    ['brackets in a style', `<style>${'a('.repeat(300_000)}url(a.png)</style>`],
  ])('are not reached, in linear time, for %s', async (_, html) => {
    expect((await searchText(html)).references.map(({ address }) => address)).toEqual(['a.png']);
  });
});
