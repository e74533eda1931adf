import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { convert, FOLDER, inline, type TestFiles, unfold } from './inline-one.ts';

const FILES: TestFiles = {
  'a.css': 'a { b: url(p/a.png) }',
  'nested.css': '@import "sub/b.css" layer(x) supports(display: grid) print; i { b: c }',
  'sub/b.css': 'b { c: url("../p/a.png"), src("x.woff2") }',
  'sub/x.woff2': 'FONT',
  'circle.css': '@import url(circle.css);',
  'p/a.png': 'PNG',
  'b.png': 'B',
  'a.svg': '<svg/>',
  'a.js': 'one()',
  'https://page.invalid/top.js': 'top()',
  'strict.js': '/* a */ // b\n"use strict"\none()',
  'client.js': "'use client';'use strict';one()",
  'sub/c.js': 'c()',
  'page.js': { type: 'text/html; charset=utf-8', body: '<h1>Not found</h1>' },
  'plain.css': { type: 'text/plain', body: 'a {}' },
  'main.tfvars': 'password = "x"',
  'https://cdn.dev/f/x.woff2': { type: 'binary/octet-stream', body: 'FONT' },
  'https://cdn.dev/f/y.eot?': { type: 'application/vnd.ms-fontobject', body: 'FONT' },
  'https://cdn.dev/lib@1/x.js': 'x("</script>", \'&\\\', "é")',
  'https://cdn.dev/x.js?config=a': 'y()',
  'https://cdn.dev/lib': { to: 'https://cdn.dev/lib@1/x.js' },
  'https://cdn.dev/a.css': 'a { b: url(./a.png?v=1#x) }',
  'https://cdn.dev/a.png?v=1': 'CDN',
  'sprite.svg': '<?xml version="1.0"?><svg><symbol id="dot"><title>é</title></symbol><g id="two"/></svg>',
  'signs.svg': '<svg><g id="д"/></svg><!-- </svg> -->',
  'main.html': '<p>',
};

/** A page and what becomes of it, with each file in brackets. */
const PAGES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'style sheets': [
    [
      '<link rel=stylesheet href=a.css media="print" title=\'t\'>',
      '<link rel=stylesheet href="‹css a { b: url("‹image/png PNG›") }›" media="print" title=\'t\'>',
    ],
    [
      '<link rel="alternate stylesheet" href=a.css>',
      '<link rel="alternate stylesheet" href="‹css a { b: url("‹image/png PNG›") }›">',
    ],
    [
      '<link rel=stylesheet href="nested.css">',
      '<link rel=stylesheet href="‹css @import "‹css b { c: url("‹image/png PNG›"), src("‹font/woff2 FONT›") }›" layer(x) supports(display: grid) print; i { b: c }›">',
    ],
    [
      '<link rel="stylesheet" href="//cdn.dev/a.css" integrity="" crossorigin=anonymous>',
      '<link rel="stylesheet" href="‹css a { b: url("‹image/png CDN›#x") }›"  >',
    ],
    [
      '<style>@import url(sub/b.css) screen;</style>',
      '<style>@import url("‹css b { c: url("‹image/png PNG›"), src("‹font/woff2 FONT›") }›") screen;</style>',
    ],
    [
      '<style>a { b: url(sub/x.woff2) format("woff2"), url(gone.woff?#x) format(\'woff\'),url("gone.ttf") format(truetype) }</style>',
      '<style>a { b: url("‹font/woff2 FONT›") format("woff2"), url("data:,") format(\'woff\'),url("data:,") format(truetype) }</style>',
    ],
    [
      '<style>a { b: /* url(c.woff2) format("woff2"), */ url(b.png) format("woff"), url(sub/x.woff2) format("woff2"); c: url(b.png) }</style>',
      '<style>a { b: /* url(c.woff2) format("woff2"), */ url("‹image/png B›") format("woff"), url("‹font/woff2 FONT›") format("woff2"); c: url("‹image/png B›") }</style>',
    ],
    [
      '<style>a { b: url(https://cdn.dev/f/x.woff2); c: url(https://cdn.dev/f/y.eot?#iefix) }</style>',
      '<style>a { b: url("‹font/woff2 FONT›"); c: url("‹application/vnd.ms-fontobject FONT›#iefix") }</style>',
    ],
    ['<style>\r\na{b:url( b.png )}\r\n</style>', '<style>\r\na{b:url("‹image/png B›")}\r\n</style>'],
    [
      '<svg><style>a &gt; b[c="&amp;lt;"] { c: url(b.png) }</style></svg>',
      '<svg><style>a > b[c="&amp;lt;"] { c: url("‹image/png B›") }</style></svg>',
    ],
    ['<p style="a: url(\'b.png\'); c: d">', '<p style="a: url(&quot;‹image/png B›&quot;); c: d">'],
    [
      '<link rel=preload as=style href=a.css onload="this.rel=\'stylesheet\'">',
      '<link rel=preload as=style href="‹css a { b: url("‹image/png PNG›") }›" onload="this.rel=\'stylesheet\'">',
    ],
    [
      '<link rel=preload as=Style href=a.css><script>document.querySelector("link").rel = "stylesheet"</script>',
      '<link rel=preload as=Style href="‹css a { b: url("‹image/png PNG›") }›"><script>document.querySelector("link").rel = "stylesheet"</script>',
    ],
    [
      '<svg><foreignObject><style>a{b:url(b.png);c:"<&amp;"}</style></foreignObject></svg>',
      '<svg><foreignObject><style>a{b:url("‹image/png B›");c:"<&amp;"}</style></foreignObject></svg>',
    ],
    ['<style>a{b:url("b.png#a\\\\")}</style>', '<style>a{b:url("‹image/png B›#a%5c")}</style>'],
    [
      '<base href="sub/"><link rel=stylesheet href=b.css>',
      '<base href="sub/"><link rel=stylesheet href="‹css b { c: url("‹image/png PNG›"), src("‹font/woff2 FONT›") }›">',
    ],
  ],
  scripts: [
    [
      '<script src=a.js></script>',
      '<script src="‹javascript src=new URL("a.js",document.baseURI).href; one()›"></script>',
    ],
    [
      '<script async src="a.js" defer></script>',
      '<script async src="‹javascript src=new URL("a.js",document.baseURI).href; one()›" defer></script>',
    ],
    [
      '<script src=strict.js></script>',
      '<script src="‹javascript "use strict";src=new URL("strict.js",document.baseURI).href; /* a */ // b\n"use strict"\none()›"></script>',
    ],
    [
      '<script src=client.js></script>',
      `<script src="‹javascript "use strict";src=new URL("client.js",document.baseURI).href; 'use client';'use strict';one()›"></script>`,
    ],
    [
      '<base href="sub/?a/b"><script src=c.js></script>',
      '<base href="sub/?a/b"><script src="‹javascript src=new URL("../sub/c.js",document.baseURI).href; c()›"></script>',
    ],
    [
      '<script src="https://cdn.dev/lib"></script>',
      '<script src="‹javascript src="https://cdn.dev/lib"; x("</script>", \'&\\\', "é")›"></script>',
    ],
    [
      '<script src="https://cdn.dev/x.js?config=a"></script>',
      '<script src="‹javascript src="https://cdn.dev/x.js?config=a"; y()›"></script>',
    ],
    [
      '<script src="/top.js"></script>',
      '<script src="‹javascript src=new URL("/top.js",document.baseURI).href; top()›"></script>',
    ],
    [
      '<svg><script xlink:href="a.js"/></svg>',
      '<svg><script xlink:href="‹javascript src=new URL("a.js",document.baseURI).href; one()›"/></svg>',
    ],
    ['<script nomodule src=gone.js></script>', '<script nomodule src=""></script>'],
    [
      '<script type=text/x-template src=gone.html></script>',
      '<script type=text/x-template src=gone.html></script>',
    ],
  ],
  pictures: [
    [
      '<img src=b.png srcset="p/a.png 1x, b.png 2x" alt="a &amp; b">',
      '<img src="‹image/png B›" srcset="‹image/png PNG› 1x, ‹image/png B› 2x" alt="a &amp; b">',
    ],
    [
      '<picture><source srcset=b.png media=print><img src=b.png></picture>',
      '<picture><source srcset="‹image/png B›" media=print><img src="‹image/png B›"></picture>',
    ],
    [
      '<link rel="shortcut icon" href=b.png><video poster=b.png></video>',
      '<link rel="shortcut icon" href="‹image/png B›"><video poster="‹image/png B›"></video>',
    ],
    [
      '<object data=a.svg></object><embed src=b.png>',
      '<object data="‹image/svg+xml <svg/>›"></object><embed src="‹image/png B›">',
    ],
    [
      '<svg><image href="b.png"/><image xlink:href="b.png"/></svg>',
      '<svg><image href="‹image/png B›"/><image xlink:href="‹image/png B›"/></svg>',
    ],
    ['<template><img src=b.png></template>', '<template><img src="‹image/png B›"></template>'],
    [
      '<svg><use href="signs.svg#д"/></svg>',
      '<svg><use href="#%D0%B4"/></svg><svg style="position:absolute;width:0;height:0" aria-hidden="true"><svg><g id="&#1076;"/></svg><!-- </svg> --></svg>',
    ],
    [
      '<body><template></body></template><svg></body><use href="sprite.svg#dot"/><use xlink:href="sprite.svg#two"/></svg></body>',
      '<body><template></body></template><svg></body><use href="#dot"/><use xlink:href="#two"/></svg></body><svg style="position:absolute;width:0;height:0" aria-hidden="true"><svg><symbol id="dot"><title>&#233;</title></symbol><g id="two"/></svg></svg>',
    ],
    [
      '<iframe srcdoc="<img src=&quot;b.png&quot;>"></iframe>',
      '<iframe srcdoc="<img src=&quot;‹image/png B›&quot;>"></iframe>',
    ],
  ],
  'what only prepares requests': [
    ['a<link rel=preconnect href=https://cdn.dev><link rel="dns-prefetch" href=//x>b', 'ab'],
    ['<link rel=modulepreload href=a.js><link rel=prefetch href=x><link rel=manifest href=x>', ''],
  ],
  'what stays': [
    ...[
      '<a href="main.html">x</a>',
      '<link rel=canonical href=x>',
      '<img src="data:,x">',
      '<p data-src=x.png>',
    ],
    ...['<!-- <img src=x> --><noscript><img src=x></noscript>', "<P CLASS = 'a'  ID=b>\r\n<br/ >", ''],
    ...['<img src="https://"><textarea><img src=x></textarea>'],
  ].map((page) => [page, page] as const),
};

describe('inlinePage', () => {
  test.each(Object.entries(PAGES).flatMap(([of, pages]) => pages.map(([page, made]) => [of, page, made])))(
    'inlines %s: %s',
    async (_, page, made) => {
      expect(unfold(await inline(page as string, FILES))).toBe(made);
    },
  );

  test.each([
    [
      'a frame',
      '<iframe src=main.html></iframe>',
      "<iframe> shows another document, main.html, which can't become part of the page",
    ],
    [
      'an object with a page',
      '<object data="main.html"></object>',
      "<object> shows another document, main.html, which can't become part of the page",
    ],
    [
      'a frame in a template, which may be a shadow root',
      '<div><template shadowrootmode=open><iframe src=main.html></iframe></template></div>',
      "<iframe> shows another document, main.html, which can't become part of the page",
    ],
    [
      'a refresh',
      '<meta http-equiv=refresh content="0; url=main.html">',
      "<meta> shows another document, main.html, which can't become part of the page",
    ],
    [
      'a style sheet that imports itself',
      '<link rel=stylesheet href=circle.css>',
      'the style sheet circle.css imports itself',
    ],
    [
      'a page instead of a script',
      '<script src=page.js></script>',
      'page.js is text/html, not a style sheet or script',
    ],
    [
      'a style sheet that browsers ignore',
      '<link rel=stylesheet href=plain.css>',
      'plain.css is text/plain, not a style sheet or script',
    ],
    [
      'a file beside the page as a script',
      '<script src=main.tfvars></script>',
      'main.tfvars is application/octet-stream, not a style sheet or script',
    ],
    [
      'a file beside the page as a sound',
      '<audio src=main.tfvars></audio>',
      'main.tfvars is application/octet-stream, not a picture, font, sound or video',
    ],
    [
      'a login page as a picture',
      '<p style="background: url(\'page.js\')">',
      'page.js is text/html, not a picture, font, sound or video',
    ],
    [
      'other bytes than named',
      `<script src=a.js integrity="sha256-${hash('sha256', 'x', 'base64')}"></script>`,
      "a.js can't be put into the page: it differs from the hash in `integrity`",
    ],
    [
      'an id that is used twice',
      '<p id=dot><svg><use href="sprite.svg#dot"/></svg>',
      'the drawing sprite.svg#dot has the id dot, which the page uses already',
    ],
    [
      'a part that a drawing lacks',
      '<svg><use href="sprite.svg#x"/></svg>',
      'the drawing sprite.svg#x has no such part',
    ],
    ['a drawing that is none', '<svg><use href="a.js#x"/></svg>', 'the drawing a.js#x has no such part'],
    [
      'a bare name',
      '<script type=module>import "react"</script>',
      'no import map says where the module "react" is',
    ],
    [
      'a policy',
      '<meta http-equiv=Content-Security-Policy content="script-src \'self\'"><p><img src=b.png>',
      "the page's Content-Security-Policy may block what is put into the page",
    ],
  ])('refuses %s', async (_, page, problem) => {
    expect(await inline(`\n${page}`, FILES)).toBe(`page line 2: ${problem}`);
  });

  test.each(['<script/>', '<style/>', '<image href="b.png"/>', '<a onclick="x"/>', '<iframe srcdoc="x"/>'])(
    'refuses a drawing with %s, because it would become part of the page',
    async (part) => {
      const files = { 's.svg': `<svg><g id="x">${part}</g></svg>` };
      const problem = 'has scripts, styles or files, which would become part of the page';
      expect(await inline('<svg><use href="s.svg#x"/></svg>', files)).toBe(
        `page line 1: the drawing s.svg#x ${problem}`,
      );
    },
  );

  test.each([
    ...['<image href="b.png"/>', "<a xlink:href='main.html'/>", '<style>a{b:url(https://x)}</style>'],
    ...['<style>@import "a.css"</style>', '<s:script/>', '<g onclick="x"/>', '<use href=" &#35;a"/>'],
    ...['<style>a{b:image-set("c" 1x)}</style>', '<set attributeName="href"/>', '<image src="b.png"/>'],
  ])('refuses to show a drawing as a document if it has %s', async (part) => {
    const problem = "shows another document, s.svg, which can't become part of the page";
    const files = { 's.svg': `<svg>${part}</svg>` };
    expect(await inline('<object data=s.svg>', files)).toBe(`page line 1: <object> ${problem}`);
    expect(await inline('<embed src=s.svg>', files)).toBe(`page line 1: <embed> ${problem}`);
  });

  test('shows a drawing as a document if it stands alone', async () => {
    const svg =
      '<svg xmlns="x" xmlns:xlink="y"><style>a{b:url(#c);d:rgb(0,0,0)}</style><g xlink:href="#c" clip-path="url(#c)"/></svg>';
    const made = await inline('<object data=s.svg>', { 's.svg': svg });
    expect(unfold(made)).toBe(`<object data="‹image/svg+xml ${svg}›">`);
  });

  test('names the line of a problem in a nested document by its frame', async () => {
    expect(await inline('\n<p>\n<iframe srcdoc="\n\n<iframe src=x>"></iframe>')).toMatch(
      /^page line 3: <iframe>/,
    );
  });

  test.each([
    ['sha256', hash('sha256', 'one()', 'base64')],
    ['sha384', hash('sha384', 'one()', 'base64')],
    ['sha512', `x sha256-x sha512-${hash('sha512', 'one()', 'base64')}?a`],
  ])('accepts a hash of an integrity attribute: %s', async (name, value) => {
    const page = `<script src=a.js integrity="${name}-${value}" crossorigin></script>`;
    expect(unfold(await inline(page, FILES))).toMatch(/one\(\)›" {2}><\/script>$/);
  });

  test('ignores a policy that names no sources, or if nothing is put into the page', async () => {
    const upgrade =
      '<meta http-equiv=content-security-policy content=upgrade-insecure-requests><img src=b.png>';
    expect(await inline(upgrade, FILES)).toContain('data:');
    const alone = '<meta http-equiv=content-security-policy content="default-src \'none\'">';
    expect(await inline(alone, FILES)).toBe(alone);
  });

  test.each([
    [
      'styles that reach a drawing',
      '<style>a{}</style><svg><use href="sprite.svg#dot"/></svg>',
      'styles and scripts of the page now reach the drawings that <use> shows',
    ],
    ['a drawing without styles', '<svg><use href="sprite.svg#dot"/></svg>', null],
    [
      'files for browsers without scripts',
      '<noscript><img src=b.png></noscript>',
      '<noscript> may need files that stay outside of the page',
    ],
    [
      'a text for browsers without scripts',
      '<noscript>Scripts? <a href="https://a.dev">src</a></noscript><img src=b.png>',
      null,
    ],
    [
      'an address that changes later',
      '<svg><image href="b.png"><set attributeName="xlink:href" to="a.svg" begin=60s /></image></svg>',
      '<set> may need files that stay outside of the page',
    ],
    ['another animation', '<svg><animate attributeName="x" to="a.svg"/></svg>', null],
  ])('tells of %s', async (_, page, note) => {
    expect(await convert(page, FILES)).toMatchObject({ notes: note === null ? [] : [note] });
  });

  test("names the page's line and the reason if a file can't be read", async () => {
    expect(await inline('\n<img src=gone.png>')).toBe('page line 2: the file gone.png does not exist');
  });

  test('reads each file once, in page order, and lists it with its hash', async () => {
    const reads: string[] = [];
    const page =
      '<img src=b.png><link rel=stylesheet href=nested.css><img src="b.png#x"><script src="https://cdn.dev/lib"></script>';
    const converted = await convert(page, FILES, reads);
    expect(reads).toEqual([
      'b.png',
      'nested.css',
      'sub/b.css',
      'p/a.png',
      'sub/x.woff2',
      'https://cdn.dev/lib',
      'https://cdn.dev/lib@1/x.js',
    ]);
    const { files } = converted as { files: readonly unknown[] };
    expect(files[0]).toEqual({ url: `${FOLDER}b.png`, sha256: hash('sha256', 'B'), size: 1 });
    expect(files.at(-1)).toMatchObject({ url: 'https://cdn.dev/lib@1/x.js' });
    expect(await convert(page, FILES)).toEqual(converted);
  });

  test('ends if its signal is aborted', async () => {
    const { inlinePage } = await import('../../src/convert/inline/inline-page.ts');
    const options = { url: new URL('https://page.invalid/'), read: () => Promise.reject(new Error('read')) };
    const signal = AbortSignal.abort(new Error('ended'));
    await expect(inlinePage(Buffer.from('<img src=a.png>'), { ...options, signal })).rejects.toThrow('ended');
  });

  test.each([
    ['Latin-1', Buffer.from('<p>é</p><img src=b.png>\xff', 'latin1'), 'latin1'],
    ['UTF-8 with a mark', Buffer.from('\ufeff<p>é</p>\0<img src=b.png>'), 'utf8'],
  ] as const)('keeps all other bytes of a page in %s', async (_, page, encoding) => {
    const { page: made } = await convert(page, FILES);
    expect(made.toString(encoding)).toBe(
      page.toString(encoding).replace('src=b.png', 'src="data:image/png;base64,Qg=="'),
    );
    expect(made.length).toBe(page.length + '"data:image/png;base64,Qg=="'.length - 'b.png'.length);
  });

  test.each([
    ['the header', { type: 'text/css; charset=windows-1251', body: Buffer.from([0xe6]) }, 'ж'],
    ['a mark', { type: 'text/css; charset=windows-1251', body: Buffer.from('\ufeffж') }, 'ж'],
    ['a mark of UTF-16', { type: 'text/css', body: Buffer.from('\ufeffж', 'utf16le') }, 'ж'],
    [
      'its own declaration',
      { type: 'text/css', body: Buffer.from('@charset "koi8-r";\xd6', 'latin1') },
      '@charset "koi8-r";ж',
    ],
    ['the attribute', { type: 'text/css', body: Buffer.from([0xe6]) }, 'ж'],
    ['nothing', { type: 'text/css; charset=x', body: Buffer.from('ж') }, 'ж'],
  ])('decodes a style sheet by %s', async (by, file, text) => {
    const charset = by === 'the attribute' ? 'windows-1251' : 'replacement';
    const page = `<link rel=stylesheet href=x.css${by === 'nothing' ? '' : ` charset=${charset}`}>`;
    expect(unfold(await inline(page, { 'x.css': file }))).toContain(`‹css ${text}›`);
  });

  test('ends before files that grow without end take the memory', async () => {
    const sheets = Array.from({ length: 40 }, (_, at): [string, string] => [
      `${at}.css`,
      at === 0 ? '/* 1000 */'.repeat(100) : `@import "${at - 1}.css"; `.repeat(2),
    ]);
    const problem = 'page line 1: with everything that it needs, the page is larger than 32 MB';
    expect(await inline('<link rel=stylesheet href=39.css>', Object.fromEntries(sheets))).toBe(problem);
    const picture = { 'a.png': Buffer.alloc(100_000) };
    expect(await inline('<img src=a.png>'.repeat(1_000), picture)).toBe(problem);
  });

  test.each([
    ['a large picture in each', 97, `${'a{background:url(p.png)}'.repeat(150)}`],
    ['many escapes', 90, `/*${'"'.repeat(150_000)}*/`],
  ])('ends for style sheets in style sheets with %s', async (_, levels, inner) => {
    const sheets = Object.fromEntries(
      Array.from({ length: levels }, (_, at) => [`${at}.css`, at > 0 ? `@import "${at - 1}.css";` : inner]),
    );
    const page = `<link rel=stylesheet href=${levels - 1}.css>`;
    expect(await inline(page, { ...sheets, 'p.png': Buffer.alloc(150_000) })).toBe(
      "page line 1: the page's style sheets and scripts have too many others in them",
    );
  });

  test('sees a stop between files that it has read', async () => {
    const { inlinePage } = await import('../../src/convert/inline/inline-page.ts');
    const stop = new AbortController();
    const read = async (url: URL) => {
      setImmediate(() => stop.abort(new Error('stopped')));
      return { url: url.href, bytes: Buffer.from('PNG'), contentType: 'image/png' };
    };
    const options = { url: new URL('https://page.invalid/'), read, signal: stop.signal };
    const page = Buffer.from('<img src=a.png>'.repeat(1_000));
    await expect(inlinePage(page, options)).rejects.toThrow('stopped');
  });

  test.each([
    ['nested documents', nestDocuments(17), 'page line 1: the page is nested too deeply'],
    ['nested drawings', '<svg>'.repeat(3_000), 'page: the page is nested too deeply'],
    [
      'elements',
      '<meta>'.repeat(60_000),
      'page: with everything that it needs, the page is larger than 32 MB',
    ],
    [
      'addresses',
      `<p style="${'a:url(b.png);'.repeat(60_000)}">`,
      'page line 1: with everything that it needs, the page is larger than 32 MB',
    ],
  ])('ends for too many %s', async (_, page, problem) => {
    expect(await inline(page, FILES)).toBe(problem);
  });

  test.each(['/', '/*', '//', '// */', '"use strict', '<svg ', '</svg>', 'new Worker(', 'import.meta'])(
    'takes linear time for many %s',
    async (piece) => {
      const text = piece.repeat(300_000 / piece.length);
      const page = `<script src=a.js integrity="${text.replaceAll('"', '')}"></script><script type=module src=a.js></script>`;
      const begin = process.cpuUsage();
      expect(await inline(page, { 'a.js': text })).toContain('data:');
      await inline('<svg><use href="a.svg#x"/></svg>', { 'a.svg': text });
      expect(process.cpuUsage(begin).user).toBeLessThan(20_000_000);
    },
  );
});

/** A page in a frame of a page, and so on. */
function nestDocuments(levels: number): string {
  let page = '<p>';
  for (let level = 0; level < levels; level += 1)
    page = `<iframe srcdoc="${page.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">`;
  return page;
}
