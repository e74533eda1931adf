import { describe, expect, test } from '@jest/globals';
import { formatAddress } from '../../../src/rules/page/addresses.ts';
import { FETCHING_ATTRIBUTES, STYLE_ATTRIBUTES } from '../../../src/rules/page/fetching-attributes.ts';
import { SEARCH_LIMITS } from '../../../src/rules/page/html-references.ts';

import { searchText } from './search-page.ts';

/** `element address` of each reference that is no link. */
async function find(html: string, isXml = false): Promise<readonly string[]> {
  const { references } = await searchText(html, isXml);
  return references
    .filter(({ grade }) => grade !== 'link')
    .map(({ element, address }) => `${element} ${formatAddress(address)}`);
}

/** A page, and the one reference in it. */
const ATTRIBUTES: readonly (readonly [string, string])[] = [
  ['<audio src=a.ogg></audio>', 'audio a.ogg'],
  ['<body background=a.png>', 'body a.png'],
  ['<embed src=a.pdf>', 'embed a.pdf'],
  ['<frameset><frame src=a.html></frameset>', 'frame a.html'],
  ['<iframe src=a.html></iframe>', 'iframe a.html'],
  ['<img src=a.png>', 'img a.png'],
  ['<img srcset="a.png 1x">', 'img a.png'],
  ['<image src=a.png>', 'img a.png'],
  ['<input type=image src=a.png>', 'input a.png'],
  ['<input TYPE=IMAGE src=a.png>', 'input a.png'],
  ['<object data=a.pdf></object>', 'object a.pdf'],
  ['<script src=a.js></script>', 'script a.js'],
  ['<script type=module src=a.js></script>', 'script a.js'],
  ['<picture><source srcset="a.webp 1x"></picture>', 'source a.webp'],
  ['<video><source src=a.mp4></video>', 'source a.mp4'],
  ['<video><track src=a.vtt></video>', 'track a.vtt'],
  ['<video src=a.mp4></video>', 'video a.mp4'],
  ['<video poster=a.png></video>', 'video a.png'],
  ['<table background=a.png>', 'table a.png'],
  ['<table><tr><td background=a.png>', 'td a.png'],
  ['<svg><image href=a.png /></svg>', 'image a.png'],
  ['<svg><image xlink:href=a.png /></svg>', 'image a.png'],
  ['<svg><use href=a.svg#b /></svg>', 'use a.svg#b'],
  ['<svg><use xlink:href=a.svg#b /></svg>', 'use a.svg#b'],
  ['<svg><filter><feImage href=a.png /></filter></svg>', 'feimage a.png'],
  ['<svg><script href=a.js /></svg>', 'script a.js'],
  ['<svg><script xlink:href=a.js /></svg>', 'script a.js'],
  ['<meta http-equiv=refresh content="0; url=a.html">', 'meta a.html'],
  ['<meta http-equiv=" Refresh" content="5;URL=\'//a.example\'">', 'meta //a.example'],
  ['<link rel=preload as=image imagesrcset="a.png 1x">', 'link a.png'],
];

describe('the attributes of a page', () => {
  test.each(ATTRIBUTES)('%s contains the reference %s', async (html, reference) => {
    expect(await find(html)).toEqual([reference]);
  });

  test('are all covered by the examples above', () => {
    const rows = [...FETCHING_ATTRIBUTES.keys()];
    const untested = rows.filter((row) => {
      const [element, attribute] = row.split(' ');
      const written = new RegExp(`<${element} [^>]*\\b(?<!:)${attribute}=`, 'i');
      return !ATTRIBUTES.some(([html]) => written.test(html));
    });
    // Links have separate tests.
    expect(untested).toEqual(['a href', 'a xlink:href', 'area href', 'link href']);
  });

  const APPLE = 'apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image';
  const LOADING = `stylesheet STYLESHEET icon mask-icon ${APPLE} preload modulepreload prefetch prerender manifest`;
  test.each([...LOADING.split(' '), 'compression-dictionary', 'alternate stylesheet', 'canonical\nicon'])(
    'include a link of type %j',
    async (rel) => {
      expect(await find(`<link rel="${rel}" href=a>`)).toEqual(['link a']);
    },
  );

  test.each(
    'canonical alternate author license me next help search preconnect dns-prefetch constructor '.split(' '),
  )('do not include a link of type %j to a page', async (rel) => {
    expect(await find(`<link rel="${rel}" href=a>`)).toEqual([]);
  });

  test.each([...STYLE_ATTRIBUTES])('are read as CSS if the name is %s', async (name) => {
    expect(await find(`<svg><g ${name}="url(a.svg#b)" /></svg>`)).toEqual(['g a.svg#b']);
  });

  test.each([
    '<a href=https://a.example ping=b>a</a>',
    '<map><area href=a.html></map>',
    '<form action=a.html><button formaction=b.html></button></form>',
    '<svg><a href=a.html xlink:href=b.html></a></svg>',
    '<blockquote cite=a.html></blockquote>',
    '<input src=a.png>',
    '<meta name=a content="0; url=a.html">',
    '<meta property=og:image content=https://a.example/a.png>',
    '<meta http-equiv=refresh content=5>',
    '<base target=_blank>',
    '<base href=https://a.example/>',
    '<p data-src=a.png src=a.png title="url(a.png)">',
    '<img src=""><img src=#a><img src=data:,a><img src=blob:a><img>',
    '<iframe src=about:blank></iframe><iframe src=javascript:a></iframe>',
    '<svg><use href=#a /><g fill="url(#a)" /></svg>',
    '<a src=a constructor=b toString=c>',
    '<constructor src=a></constructor>',
    '<!-- <img src=a.png> --><!--[if IE]><script src=a.js></script><![endif]-->',
    '<textarea><img src=a.png></textarea><title><img src=a.png></title>',
    '',
  ])('contain no reference in %s', async (html) => {
    expect(await find(html)).toEqual([]);
  });
});

/** Pages with one reference, by its grade. */
const GRADED: Readonly<Record<string, readonly string[]>> = {
  code: [
    '<script src=a.js></script>',
    '<script defer src=a.js></script>',
    '<script type=module src=a.js></script>',
    '<link rel=stylesheet href=a.css>',
    '<link rel=stylesheet media="Screen, print" href=a.css>',
    '<iframe srcdoc="<script src=a.js></script>"></iframe>',
    '<template><img src=data:,></template><script src=a.js></script>',
  ],
  async: ['<script async src=a.js></script>', '<script async type=module>import "./a.js"</script>'],
  content: [
    '<img src=a.png>',
    '<img loading=lazy src=a.png>',
    '<iframe src=a.html></iframe>',
    '<iframe srcdoc="<img src=a.png>"></iframe>',
    '<video src=a.mp4></video>',
    '<video preload=none poster=a.png></video>',
    '<track default src=a.vtt>',
    '<style>a { b: url(a.png) }</style>',
    '<style>@import "a.css";</style>',
    '<style>@media print { a:hover { b: url(a.png) } }</style>',
    '<meta http-equiv=refresh content="0; url=a.html">',
  ],
  later: [
    '<script nomodule src=a.js></script>',
    '<script nomodule>fetch("https://a.example")</script>',
    '<script>fetch("https://a.example")</script>',
    '<script type=module>import("./a.js")</script>',
    '<link rel=icon href=a.png>',
    '<link rel=modulepreload href=a.js>',
    '<link rel=preload href=a.js>',
    '<link rel=preload imagesrcset="a.png 1x">',
    '<link rel=manifest href=a.json>',
    '<link rel="alternate stylesheet" href=a.css>',
    '<link rel=stylesheet disabled href=a.css>',
    '<link rel=stylesheet media=print href=a.css>',
    '<link rel=stylesheet media="(min-width: 1px)" href=a.css>',
    '<picture><source media="(min-width: 1px)" srcset=a.png></picture>',
    '<style media=print>a { b: url(a.png) }</style>',
    '<video preload=none src=a.mp4></video>',
    '<track src=a.vtt>',
    '<template><img src=a.png></template>',
    '<template><iframe srcdoc="<img src=a.png>"></iframe></template>',
    '<p onclick="import(\'./a.js\')">',
    '<script type=importmap>{ "imports": { "a": "./a.js" } }</script>',
  ],
  link: ['<a href=a.html>a</a>', '<map><area href=a.html></map>', '<svg><a xlink:href=a.html /></svg>'],
};

test.each(Object.entries(GRADED).flatMap(([grade, pages]) => pages.map((html) => [grade, html])))(
  'the grade of a reference is %s for %s',
  async (grade, html) => {
    const { references } = await searchText(html as string);
    expect(references.map((one) => one.grade)).toEqual([grade]);
  },
);

describe('the content of elements', () => {
  test.each([
    ['<style>@import "a.css"</style>', 'style a.css'],
    ['<style type=TEXT/CSS>a { b: url(a.png) }</style>', 'style a.png'],
    ['<svg><style>a { b: url(a.png) }</style></svg>', 'style a.png'],
    ['<svg><style>@imp<!-- -->ort "a.css"</style></svg>', 'style a.css'],
    ['<svg><style><![CDATA[@import "a.css"]]></style></svg>', 'style a.css'],
    ['<style><!-- @import "a.css" --></style>', 'style a.css'],
    ['<script>import("./a.js")</script>', 'script ./a.js'],
    ['<script type=module>import "./a.js"</script>', 'script ./a.js'],
    ['<script type=Text/JavaScript>import("./a.js")</script>', 'script ./a.js'],
    ['<script type=application/x-javascript>import("./a.js")</script>', 'script ./a.js'],
    ['<script type=importmap>{ "imports": { "a": "./a.js" } }</script>', 'importmap ./a.js'],
    ['<svg><script>import("./a.js")</script></svg>', 'script ./a.js'],
    ['<svg><script>import("&#46;/a.js")</script></svg>', 'script ./a.js'],
    ['<p onclick="import(&quot;./a.js&quot;)">', 'p ./a.js'],
    ['<noscript><img src=a.png></noscript>', undefined],
    ['<iframe src="data:text/html,<img src=a.png>">', undefined],
    ['<template><img src=a.png></template>', 'img a.png'],
    ['<template><template><style>@import "a.css"</style></template></template>', 'style a.css'],
    ['<iframe srcdoc="&lt;img src=a.png>"></iframe>', 'img a.png'],
    ['<iframe srcdoc="<iframe srcdoc=\'&lt;img src=a.png>\'>"></iframe>', 'img a.png'],
    ['<iframe srcdoc="" src=a.html></iframe>', undefined],
    ['<style type=text/less>@import "a.css"</style>', undefined],
    ['<script type=text/template>import("./a.js") <img src=a.png></script>', undefined],
    ['<script type=application/json>{ "imports": { "a": "./a.js" } }</script>', undefined],
  ])('%s contains the reference %s', async (html, reference) => {
    expect(await find(html)).toEqual(reference === undefined ? [] : [reference]);
  });
});

describe('a page with unusual syntax', () => {
  test.each([
    ['capitals', '<ImG sRc=a.png>', ['img a.png']],
    ['a slash instead of a space', '<img/src=a.png>', ['img a.png']],
    ['line breaks', '<img\n\tsrc\n=\n"a.png"\n>', ['img a.png']],
    ['no closing bracket before the next tag', '<img src=a.png <p>', ['img a.png']],
    ['entities', '<img src="&#97;.&#x70;ng">', ['img a.png']],
    ['entities without a semicolon', '<img src="&#97&#46png">', ['img a.png']],
    ['a scheme with a tab', '<img src="ht&Tab;tps://a.example">', ['img https://a.example']],
    ['data: as a folder', '<img src="./data:a.png">', ['img ./data:a.png']],
    ['the second of two attributes', '<img src=data:, src=a.png>', []],
    ['the first of two attributes', '<img src=a.png src=data:,>', ['img a.png']],
    ['a comment that ends early', '<!--><img src=a.png>-->', ['img a.png']],
    ['a comment that ends with a bang', '<!-- --!><img src=a.png> -->', ['img a.png']],
    ['a comment across noscript', '<body><noscript><!-- </noscript><img src=a.png> -->', ['img a.png']],
    ['CDATA outside of SVG', '<![CDATA[><img src=a.png>]]>', ['img a.png']],
    ['CDATA within SVG', '<svg><![CDATA[<img src=a.png>]]></svg>', []],
    ['an end tag in a style', '<style>a { b: "</style><img src=a.png>" }', ['img a.png']],
    ['an end tag in a script', '<script>"</script><img src=a.png>"', ['img a.png']],
    ['escaped script text', '<script><!--<script></script><img src=a.png>--></script>', []],
    ['a title in SVG', '<svg><title><img src=a.png></title></svg>', ['img a.png']],
    ['an image after plain text', '<xmp><img src=a.png></xmp><img src=b.png>', ['img b.png']],
    ['an image in a select', '<table><select><tr><td><img src=a.png>', ['img a.png']],
    ['a body that comes late', '<p><body background=a.png>', ['body a.png']],
    ['an image out of its table', '<table><img src=a.png><tr><td>', ['img a.png']],
    ['tags that cross', '<b><p><i></b><img src=a.png></i></p>', ['img a.png']],
    ['a tag without an end', '<p><img src=a.png', []],
    ['a style without an end', '<style>@import "a.css', ['style a.css']],
    ['a script after a drawing that closes itself', '<svg/><script>"<img src=a.png>"</script>', []],
    ['a byte order mark', '\ufeff<img src=a.png>', ['img a.png']],
    ['a null', '<img src=a.png\0>', ['img a.png\ufffd']],
    ['credentials', '<img src=https://me:word@a.example/a?b>', ['img https://***@a.example/a?…']],
  ])('is searched as a browser reads it: %s', async (_, html, references) => {
    expect(await find(html)).toEqual(references);
  });
});

describe('a page in XHTML', () => {
  test.each([
    ['an empty title', '<title/><img src="a.png"/>', ['img a.png']],
    ['an empty script', '<script src="a.js"/><img src="b.png"/>', ['script a.js', 'img b.png']],
    ['an empty style with a bracket', '<style title="a>b"/><img src="b.png"/>', ['img b.png']],
    [
      'a prefix',
      '<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:img src="a.png"/></h:html>',
      ['img a.png'],
    ],
    ['a style in CDATA', '<style><![CDATA[ @import "a.css"; ]]></style>', ['style a.css']],
  ])('is searched correctly with %s', async (_, xhtml, references) => {
    expect(await find(xhtml, true)).toEqual(references);
  });
});

describe('the line of a reference', () => {
  test('is that of the attribute, the rule or the statement, in page order', async () => {
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
    expect((await searchText(html)).references.map(({ line, address }) => `${line} ${address}`)).toEqual([
      '3 2.png',
      '4 3.png',
      '6 5.png',
      '6 5b.png',
      '7 6.css',
      '10 ./9.js',
      '12 12.png',
    ]);
  });
});

describe('the limits of a search', () => {
  const image = '<img src=a.png>';

  test.each([
    ['drawings nested too deeply', '<svg>'],
    ['too many elements', '<br>'],
    ['too many comments', '<!---->'],
  ])('end the search at %s: references before it are found, and the result is incomplete', async (_, one) => {
    const limits = { ...SEARCH_LIMITS };
    // Lower ones show the same in less time.
    Object.assign(SEARCH_LIMITS, { nodes: 5_000, depth: 100 });
    try {
      const { references, complete } = await searchText(`${image}${one.repeat(5_010)}<img src=b.png>`);
      expect(references.map(({ address }) => address)).toEqual(['a.png']);
      expect(complete).toBe(false);
      const { complete: isWhole } = await searchText(`${image}${one.repeat(90)}`);
      expect(isWhole).toBe(true);
    } finally {
      Object.assign(SEARCH_LIMITS, limits);
    }
  });

  test('end the search of nested documents', async () => {
    const wrap = (page: string): string =>
      `<iframe srcdoc="${page.replace(/&/g, '&amp;').replace(/"/g, '&quot;')}">`;
    const nested = (times: number): string => Array.from({ length: times }).reduce<string>(wrap, image);
    expect(await searchText(nested(3))).toMatchObject({ references: [{ address: 'a.png' }], complete: true });
    expect(await searchText(nested(SEARCH_LIMITS.documents + 1))).toMatchObject({
      references: [],
      complete: false,
    });
  });

  test.each([1, 7, 70_000])('find the same in a page that comes in pieces of %i', async (length) => {
    const html = `<base href=b/>\r\n<style>${' a { b: url(🙂.png) }\r\n'.repeat(9_000)}</style><img srcset="c 1x,\nd"><script>import("e")</script>`;
    expect(await searchText(html, false, length)).toEqual(await searchText(html));
  });

  test('count no depth for tags that cross', async () => {
    const crossing = '<b><p><i><table><tr><td>x</b></i></p></table></p></i></b><svg/><a><p><a></p>';
    expect((await searchText(crossing.repeat(3_000))).complete).toBe(true);
  });

  test.each([
    ['spaces in an address', `<img src="${' '.repeat(1_000_000)}a.png">`],
    ['commas in a srcset', `<img srcset="${','.repeat(1_000_000)} a.png">`],
    ['spaces in a refresh', `<meta http-equiv=refresh content="0;${' '.repeat(1_000_000)}a.png">`],
    ['escapes in a style', `<style>${'\\75'.repeat(300_000)} @import "a.png"</style>`],
    ['brackets in a style', `<style>${'a('.repeat(300_000)}url(a.png)</style>`],
  ])('are not reached, and the time is linear, for %s', async (_, html) => {
    const start = process.cpuUsage();
    expect((await searchText(html)).references.map(({ address }) => address)).toEqual(['a.png']);
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(20_000);
  });
});
