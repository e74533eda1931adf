import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { isHtml, LARGEST_PAGE } from '../../../src/rules/page/page-file.ts';
import { formatSiteFindings } from '../../../src/rules/site/findings.ts';
import { inspectSite } from '../../../src/rules/site/inspect-site.ts';
import { inspect, inspectPage, verdictOf } from './sites.ts';

const PAGES = new URL('../page/pages/', import.meta.url);

const mapped = (address: string): string =>
  `<script type=importmap>{"imports":{"a":"${address}"}}</script><script type=module>import "a"</script>`;

describe('how a page begins and ends', () => {
  const PAGE = '<!doctype html>\n<html lang="en"><head><title>Report</title></head>\n<body><h1>Report</h1>';

  test.each([
    ['a script', `${PAGE}\n<p>1</p>\n<script>\nconst data = [1, 2`, 5, '<script>'],
    ['a style sheet in the head', '<!doctype html>\n<style>\nh1 { col', 2, '<style>'],
    ['a tag', `${PAGE}\n<table>\n<tr><td cla`, 5, 'tag'],
    ['an attribute', `${PAGE}\n<img alt="a report\nof`, 4, 'tag'],
    ['a comment', `${PAGE}\n<!-- the second half\n<p>2</p>`, 4, 'comment (<!--)'],
  ])('is refused if the file ends inside %s', async (_, html, line, name) => {
    const { refusals } = await inspectPage(html);
    const text = `it ends inside the ${name} of line ${line}`;
    expect(refusals).toMatchObject([{ kind: 'cut', line: 0, text }]);
  });

  test.each([
    ...['script', 'style', 'title', 'textarea', 'xmp', 'iframe', 'noscript'].map((name) => [
      `<${name}>`,
      `<${name}>`,
      `</${name}>`,
    ]),
    ['<script src="data:,1"/>', '<script>', '</script>'],
    ['<!-- the second half', 'comment (<!--)', '-->'],
    ['<p class="a>', 'tag', 'the missing quotation mark or >'],
  ])('is refused if %s is never closed, with what ends it', async (start, name, end) => {
    const { refusals } = await inspectPage(`${PAGE}\n${start}\n<p>1</p></body></html>\n`);
    const hint = `add ${end}; if the file was cut short, write it again`;
    expect(refusals).toMatchObject([
      { kind: 'broken', text: `the ${name} that begins here is never closed`, hint },
    ]);
  });

  test.each([
    ['a text in an element', `${PAGE}\n<div><p>light <b>rain</b>`, 'unknown cut'],
    ['a text in a cell', `${PAGE}\n<table><tr><td>Tom &am`, 'unknown cut'],
    ['a text in a drawing', `${PAGE}\n<svg><path/><text>Tom`, 'unknown cut'],
    ['a text with no such element', `${PAGE}\n<ul><li>a <i>b</ul><p>light<br>rain<img>`, ''],
    ['a text without a page around it', '<div><p>light rain', ''],
    ['the end of the page, with an open element', `${PAGE}<div><p>light</body>`, ''],
    ['many elements', `${PAGE}${'<i>'.repeat(9_000)}${'</b></i>'.repeat(9_000)}`, ''],
    ['letters that were lost', `${PAGE}<p>Gr\ufffd\ufffde</body>`, 'unknown encoding'],
    ['a lost letter in its script', `${PAGE}<script>"\ufffd"</script></body>`, ''],
  ])('is told if the file ends inside, or has, %s', async (_, html, verdict) => {
    expect(verdictOf(await inspectPage(html))).toBe(verdict);
  });

  test('names bytes that are no UTF-8 once', async () => {
    const page = Buffer.from(`${PAGE}<meta charset="utf-8"><p>Gr\xfc\xdfe</body>`, 'latin1');
    expect(verdictOf(await inspectPage(page))).toBe('note encoding');
  });

  test.each<[string, string, number?]>([
    ['everything escaped', PAGE.replaceAll('<', '&lt;')],
    ['a fence', `\`\`\`html\n${PAGE}</body></html>\n\`\`\``],
    ['a fence without a doctype', '```html\n<div>1</div>\n```'],
    ['words before the page', `Here is the complete file you asked for:\n\n${PAGE}`],
    ['words before <html>', 'Sure!\n<html><h1>Report</h1></html>'],
    ['words before a head', 'Here it is:\n<head><title>1</title></head><body>1</body>'],
    ['dashes that are no front matter', `--- Here it is: ---\n${PAGE}`],
    ['a fence after words', `Here it is:\n\`\`\`html\n<div>1</div>\n\`\`\``],
    ['a fence after the page', `${PAGE}</body></html>\n\`\`\`\n`, 4],
    ['words after the page', `${PAGE}</body></html>\nI hope this helps!`, 4],
    ['words with a tag after the page', `${PAGE}</body></html>\nI used <b>one</b> script.`, 4],
    ['JSON escapes after <html>', '<!DOCTYPE html><html lang=\\"en\\">\\n<body>\\n<h1>Report</h1>'],
    ['JSON escapes', JSON.stringify(`${PAGE}</body></html>`)],
    ['JSON escapes without quotes', '<!DOCTYPE html>\\n<html lang=\\"en\\">\\n<body>\\n<h1>Report</h1>'],
  ])('is refused for %s', async (_, html, line = 1) => {
    const { refusals } = await inspectPage(html);
    expect(refusals).toMatchObject([{ kind: 'source', line }]);
  });

  test('is quoted on one line, with escapes for what nobody sees', async () => {
    const { refusals } = await inspectPage(`It\u2028is\u202e:${PAGE}`);
    const text = 'a person sees this before the page: It is\\u202e:';
    expect(refusals).toMatchObject([{ text }]);
  });

  test.each([
    ['no end tags', '<!doctype html><title>1</title><h1>Report<p>text < more'],
    ['text alone', 'All tests passed: 1 < 2'],
    ['text before a first tag', 'Report <b>1</b>'],
    ['an escaped page that it shows', `${PAGE}<pre>${PAGE.replaceAll('<', '&lt;')}</pre>`],
    ['another page inside', `${PAGE}<p>text</p>${PAGE}</body></html>`],
    ['front matter, which Jekyll takes away', `---\ntitle: Report\n---\n${PAGE}`],
    ['an XML declaration and a comment', `\ufeff<?xml version="1.0"?>\n<!-- saved -->\n${PAGE}`],
    ['a style sheet in a drawing', `${PAGE}<svg><style>a { b: c }</style><title>1</title></svg>`],
    ['a conditional comment at its end', `${PAGE}</body></html><![endif]>`],
    ['a stray sign after it', `${PAGE}</body></html>\n>`],
    ['a script and a comment after it', `${PAGE}</body></html><script>let a</script><!-- made by hand -->`],
    ['a tag in a script', `${PAGE}<script>const html = "<html>"; // <!-- </script>`],
  ])('is not refused for %s', async (_, html) => {
    expect((await inspectPage(html)).refusals).toEqual([]);
  });
});

describe('a file that a browser shows as it is', () => {
  const PICTURE = Buffer.from('\x89PNG\r\n\x1a\n0123IDAT0123456789IEND\xaeB`\x82', 'latin1');

  test.each<[string, string, string | Buffer, string]>([
    ['a text in windows-1251', 'a.txt', Buffer.from([0xcf, 0xf0, 0xe8]), 'refused encoding'],
    ['a text in Latin-1', 'a.log', Buffer.from('caf\xe9', 'latin1'), 'refused encoding'],
    ['a text in UTF-8', 'a.txt', 'Привет', ''],
    ['YAML with letters beyond ASCII', 'a.yaml', 'name: Grüße', 'unknown encoding'],
    ['YAML with a byte order mark, which tells the encoding', 'a.yaml', '\ufeffname: Grüße', ''],
    [
      'YAML with a byte order mark and a stray byte',
      'a.yaml',
      Buffer.concat([Buffer.from('\ufeffname: Grüße'), Buffer.from([0xff])]),
      'unknown encoding',
    ],
    ['YAML in ASCII', 'a.yml', 'name: a', ''],
    ['a table, which is downloaded', 'a.csv', Buffer.from([0xcf]), ''],
    [
      'a log with a stray byte',
      'a.log',
      Buffer.concat([Buffer.from('Привет, мир\n'), Buffer.from([0xff])]),
      'unknown encoding',
    ],
    ['a picture that was cut short', 'a.png', PICTURE.subarray(0, 24), 'refused cut'],
    ['a picture with bytes after its end', 'a.png', Buffer.concat([PICTURE, Buffer.alloc(5_000)]), ''],
    ['a picture of a kind that is not judged', 'a.gif', Buffer.from('GIF89a'), ''],
    ['a whole picture', 'a.png', PICTURE, ''],
    ['a page with the name of a picture', 'a.png', '\n<html>404 Not found', 'refused broken'],
    ['a photo that was cut short', 'a.jpg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2]), 'refused cut'],
    [
      'a drawing whose picture is not delivered',
      'a.svg',
      '<svg><image href="b.png"/></svg>',
      'refused outside',
    ],
    [
      'a drawing with a picture of another host',
      'a.svg',
      '<svg><image href="//a.b/c.png"/></svg>',
      'refused host',
    ],
  ])('is judged: %s', async (_, name, content, verdict) => {
    expect(verdictOf(await inspectPage(content, {}, name))).toBe(verdict);
  });
});

describe('a picture of a page that was cut short', () => {
  const PICTURE = Buffer.from('\x89PNG\r\n\x1a\n0123IDAT0123456789IEND\xaeB`\x82', 'latin1');
  const asUrl = (bytes: Buffer): string => `data:image/png;base64,${bytes.toString('base64')}`;

  test.each([
    ['is told in a `data:` URL', `<p>1\n<img src="${asUrl(PICTURE.subarray(0, 24))}">`, 'unknown cut'],
    [
      'is told in a style',
      `<p>1\n<p style="background: url(${asUrl(PICTURE.subarray(0, 24))})">`,
      'unknown cut',
    ],
    ['is not told if it is whole', `<p>1\n<img src="${asUrl(PICTURE)}">`, ''],
    ['is not told of another kind', '<p>1\n<img src="data:image/gif;base64,R0lGODlh">', ''],
  ])('%s', async (_, html, verdict) => {
    const inspection = await inspectPage(html);
    expect(verdictOf(inspection)).toBe(verdict);
    for (const { line } of inspection.unknown) expect(line).toBe(2);
  });

  test.each([
    ['is told of the entry', { 'index.html': '<img src=a.png>' }, 'unknown cut'],
    ['is not told of a file that the entry only links', { 'index.html': '<a href=a.png>a</a>' }, ''],
  ])('%s', async (_, pages, verdict) => {
    const files = { ...pages, 'a.png': PICTURE.subarray(0, 24), 'b.png': PICTURE };
    const inspection = await inspect(files);
    expect(verdictOf(inspection)).toBe(verdict);
    for (const { missing } of inspection.unknown) expect(missing).toBe('/repo/previews/pr-12/a.png');
  });
});

describe('a page that is delivered alone', () => {
  test.each([
    ['another host at the start', '<img src=https://a.example/a.png>', 'refused host'],
    ['an image beside it', '<img src=a.png>', 'refused outside'],
    ['a script beside it', '<script src=/a.js></script>', 'refused outside'],
    ['a script that it does not wait for', '<script async src=https://a.example/></script>', 'refused host'],
    [
      'what only counts visits',
      '<script async src="https://plausible.io/js/a.js"></script>',
      'note later-host',
    ],
    [
      'what does more',
      '<script src="https://www.googletagmanager.com/gtm.js?id=GTM-1"></script>',
      'refused host',
    ],
    ['an icon', '<link rel=icon href=a.ico>', 'note outside'],
    ['a host that it loads ahead', '<link rel=preload as=font href=//a.example/a.woff2>', 'refused host'],
    ['a module that it loads ahead', '<link rel=modulepreload href=//a.example/a.js>', 'refused host'],
    [
      'a picture that it loads ahead',
      '<link rel=preload as=image imagesrcset="//a.b/a.png 1x">',
      'refused host',
    ],
    ['what another page may need', '<link rel=prefetch href=//a.example/b.html>', 'note later-host'],
    ['a later host', '<script>import("https://a.example/a.js")</script>', 'note later-host'],
    ['a link beside it', '<a href=b.html>b</a>', 'note link-missing'],
    ['a link elsewhere', '<a href=/b.html>b</a><a href=//a.example>a</a><a href=tel:1>c</a>', ''],
    ['a file of a chat', '<a href=sandbox:/mnt/a.csv>a</a>', 'unknown link-missing'],
    ['a file of a machine', '<a href=file:///a.csv>a</a>', 'unknown link-missing'],
    ["a developer's machine", '<a href=http://localhost:3000>a</a>', 'unknown link-missing'],
    ['a picture of a mail', '<img src=cid:a.png>', 'refused machine'],
    ['a part of itself', '<svg><use href="page.html#a"/></svg>', ''],
    ['nothing', '<style>a { b: c }</style><img src=data:,>', ''],
    ['attributes that never end', `<p>1</p><p ${'<meta '.repeat(150_000)}>`, ''],
    ['a bare name', '<script type=module>import "a"</script>', 'refused bare-import'],
    ['a module that its import map names', mapped('https://a.example/a.js'), 'refused host'],
    ['a module that its import map holds', mapped('data:text/javascript,1'), ''],
    ['too deep elements', `<img src=a.png>${'<svg>'.repeat(10_000)}`, 'refused outside, unknown incomplete'],
  ])('is judged for %s', async (_, html, verdict) => {
    expect(verdictOf(await inspectPage(html))).toBe(verdict);
  });

  test.each([
    ['warn', 'unknown host outside'],
    ['off', 'unknown outside'],
  ] as const)('is not refused with `%s`: its host is asked for its code', async (selfContained, verdict) => {
    const html = '<base href=../><script src=//c.example/c.js></script><script src=/b.js></script>';
    const place = { sitePath: '/site/x/', origin: 'https://o.example' };
    const inspection = await inspectPage(html, { ...place, selfContained });
    expect(verdictOf(inspection)).toBe(verdict);
    expect(inspection.unknown.at(-1)).toMatchObject({ url: 'https://o.example/b.js', levels: undefined });
    const relative = await inspectPage('<script src=../b.js></script>', { ...place, selfContained });
    expect(relative.unknown).toMatchObject([{ url: 'https://o.example/site/b.js', levels: 1 }]);
  });

  // Lines of real pages, each with its scripts on another host or beside it.
  test.each([
    ['`--embed-resources` of pandoc', '<meta name="generator" content="pandoc" />'],
    ['`embed-resources: true` of Quarto', '<meta name="generator" content="quarto-1.6.42">'],
    [
      '`--self-contained-html` of pytest-html',
      'by <a href="https://pypi.python.org/pypi/pytest-html">pytest-html</a>',
    ],
    ['`inline=True` of Altair', "'<p>This usually means there\\'s a typo in your chart specification. '"],
    ['`include_plotlyjs=True` of Plotly', "<script>window.PlotlyConfig = {MathJaxConfig: 'local'};</script>"],
    [
      '`mode="inline"` of Bokeh',
      '<script src="https://cdn.bokeh.org/bokeh/release/bokeh-3.9.2.min.js"></script>',
    ],
    [
      "`cdn_resources='in_line'` of pyvis",
      '<script src="https://cdnjs.cloudflare.com/ajax/libs/vis-network/9.1.2/dist/dist/vis-network.min.css"></script>',
    ],
    [
      '`--HTMLExporter.require_js_url= --HTMLExporter.mathjax_url=` (formulas stay LaTeX) of nbconvert',
      '<body class="jp-Notebook" data-jp-theme-light="true" data-jp-theme-name="JupyterLab Light">',
    ],
  ])('names the option that writes everything into it: %s', async (option, line) => {
    const { refusals } = await inspectPage(`${line}<script src="a.js"></script>`);
    expect(refusals.at(-1)).toMatchObject({ hint: `use ${option}` });
  });

  test('is told the address of its import map, not the bare name', async () => {
    const page = mapped('https://esm.sh/react@19');
    const text = 'script https://esm.sh/react@19 is loaded from another host';
    expect((await inspectPage(page)).refusals).toMatchObject([{ text }]);
  });

  test.each([
    ['UTF-8 with a byte order mark', Buffer.from('\ufeff<p>ä<img src="ж.png">')],
    ['big-endian UTF-16', Buffer.from('\ufeff<p>ä<img src="ж.png">', 'utf16le').swap16()],
  ])('is read in %s', async (_, bytes) => {
    const text = 'the picture ж.png is outside the page, so it is not part of this delivery';
    expect((await inspectPage(bytes)).refusals).toMatchObject([{ text }]);
  });

  test.each([
    ['a.html', LARGEST_PAGE + 1, 'larger than 32 MB'],
    ['a.xhtml', 1, 'XHTML'],
  ])('is not read if %s is too large or XHTML, which is reported', async (entry, size, reason) => {
    const pieces = () => {
      throw new Error('the file was read');
    };
    const options = { entry, isFolder: false, sitePath: '/', selfContained: 'enforce' } as const;
    const { unknown } = await inspectSite(new Map([[entry, { size, pieces }]]), options);
    const told = `${entry} line 1: the file was not searched completely, because it is ${reason}`;
    expect(formatSiteFindings(unknown)).toEqual([told]);
  });
});

/** What each sample page loads at the start, and what it may load later. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  'chart-from-cdn.html': ['line 7: script https://cdn.plot.ly/plotly-2.35.2.min.js is loaded'],
  'chart-page.html': [],
  'coverage-report.html': [
    'line 5: link ../prettify.css is outside',
    'line 6: link ../base.css is outside',
    'line 11: style ../sort-arrow-sprite.png is outside',
    'line 38: script ../prettify.js is outside',
    'line 47: script ../sorter.js is outside',
    'line 48: script ../block-navigation.js is outside',
    'line 7: link ../favicon.png is outside',
    'line 18: the link to ../index.html leads to no file',
    'line 18: the link to index.html leads to no file',
  ],
  'coverage-single-file.html': [],
  'notebook-export.html': [
    'line 7: script https://cdnjs.cloudflare.com/ajax/libs/require.js/2.1.10/require.min.js is loaded',
    'line 14: script https://cdnjs.cloudflare.com/ajax/libs/mathjax/2.7.7/latest.js?… is loaded',
    'line 27: script https://cdnjs.cloudflare.com/ajax/libs/mermaid/10.7.0/mermaid.esm.min.mjs may be loaded later',
  ],
  'slide-deck.html': [],
  'slide-deck-linked.html': [
    'line 6: link dist/reveal.css is outside',
    'line 7: link dist/theme/black.css is outside',
    'line 14: the background images/title.jpg is outside',
    'line 20: script dist/reveal.js is outside',
    'line 22: script ./plugin/notes.js is outside',
  ],
  'test-report.html': [],
};

describe('the sample pages of real generators', () => {
  test('all have an expected result', async () => {
    const pages = (await readdir(PAGES)).filter(isHtml);
    expect(pages.sort()).toEqual(Object.keys(SAMPLES).sort());
  });

  test.each(Object.entries(SAMPLES))('give the expected references for %s', async (name, needs) => {
    const { refusals, notes } = await inspectPage(await readFile(new URL(name, PAGES)), {}, name);
    const found = [...formatSiteFindings(refusals), ...formatSiteFindings(notes)];
    expect(found).toEqual(needs.map((line) => expect.stringContaining(`${name} ${line}`)));
  });
});
