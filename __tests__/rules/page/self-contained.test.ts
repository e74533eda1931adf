import { readdir, readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../../src/errors.ts';
import { checkSelfContained, isHtml, LARGEST_PAGE } from '../../../src/rules/page/self-contained.ts';

const PAGES = new URL('pages/', import.meta.url);

/** A file of these bytes, in pieces that cut its letters. */
function page(bytes: string | Buffer, name = 'page.html') {
  const buffer = Buffer.from(bytes);
  const half = Math.ceil(buffer.length / 2);
  return {
    name,
    size: buffer.length,
    read: () => Readable.from([buffer.subarray(0, half), buffer.subarray(half)]),
  };
}

const refusalOf = async (bytes: string | Buffer, name?: string): Promise<DeliveryError> => {
  const thrown = await checkSelfContained(page(bytes, name), 'enforce').catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(DeliveryError);
  return thrown as DeliveryError;
};

const untouched = {
  name: 'page.html',
  size: 100,
  read: () => {
    throw new Error('the file was read');
  },
};

describe('which files are pages', () => {
  test.each(['a.html', 'a.htm', 'A.HTML', 'a.xhtml', 'a.xht', 'a.shtml', 'a.b.html', '.html'])(
    '%s is one',
    (name) => {
      expect(isHtml(name)).toBe(true);
    },
  );

  test.each(['a.md', 'a.html.gz', 'html', 'a.htmlx', 'ahtml', 'a.html/b.png', ''])('%j is none', (name) => {
    expect(isHtml(name)).toBe(false);
  });
});

describe('a page that needs something from elsewhere', () => {
  test('is refused, with line, element and address of each and a way out', async () => {
    const refusal = await refusalOf(
      '<img src=a.png>\n<style>@import "https://b.example/b.css"</style>',
      'a.html',
    );
    expect(refusal.code).toBe('BAD_FILE');
    expect(refusal.message).toBe(
      'a.html is not self-contained: line 1 img a.png, line 2 style https://b.example/b.css',
    );
    expect(refusal.hint).toContain('`self-contained: warn`');
  });

  test('has at most ten of its references named, and the others counted', async () => {
    const images = (count: number): string =>
      Array.from({ length: count }, (_, at) => `<img src=${at + 1}.png>`).join('');
    expect((await refusalOf(images(10))).message).toMatch(/line 1 img 10\.png$/);
    expect((await refusalOf(images(13))).message).toMatch(/line 1 img 10\.png, and 3 more$/);
  });

  test('is let through by `warn`, which says what it needs', async () => {
    expect(await checkSelfContained(page('<img src=a.png>'), 'warn')).toEqual([
      'page.html is not self-contained: line 1 img a.png',
    ]);
  });

  test('is not even read by `off`', async () => {
    expect(await checkSelfContained(untouched, 'off')).toEqual([]);
  });

  test.each([
    ['UTF-8', Buffer.from('<p>ä🙂<img src="ж.png">')],
    ['UTF-8 with a mark', Buffer.from('\ufeff<p>ä<img src="ж.png">')],
    ['UTF-16 with a mark', Buffer.from('\ufeff<p>ä<img src="ж.png">', 'utf16le')],
    ['UTF-16, the other way round', Buffer.from('\ufeff<p>ä<img src="ж.png">', 'utf16le').swap16()],
  ])('is read in %s', async (_, bytes) => {
    expect((await refusalOf(bytes)).message).toContain('img ж.png');
  });

  test('is read as XML where its name says so', async () => {
    const xml = '<html><title/><img src="a.png"/></html>';
    expect((await refusalOf(xml, 'a.xhtml')).message).toContain('img a.png');
    expect(await checkSelfContained(page(xml, 'a.html'), 'enforce')).toEqual([]);
  });
});

describe('what passes', () => {
  test.each(['enforce', 'warn'] as const)('a page that holds all it shows, with %s', async (mode) => {
    expect(await checkSelfContained(page('<style>a { b: c }</style><img src=data:,>'), mode)).toEqual([]);
  });

  test('a file that is no page is not read', async () => {
    expect(await checkSelfContained({ ...untouched, name: 'a.md' }, 'enforce')).toEqual([]);
  });
});

describe('a page that can not be searched', () => {
  test.each(['enforce', 'warn'] as const)(
    'is not read above the bound, and said to be unknown, with %s',
    async (mode) => {
      const [unknown, ...others] = await checkSelfContained({ ...untouched, size: LARGEST_PAGE + 1 }, mode);
      expect(unknown).toBe(
        'page.html was not searched to its end for what it needs from elsewhere, because it is larger than 32 MB',
      );
      expect(others).toEqual([]);
    },
  );

  test('is said to be unknown when it is nested too deeply', async () => {
    const [unknown] = await checkSelfContained(page('<i>'.repeat(10_000)), 'enforce');
    expect(unknown).toMatch(/^page\.html was not searched to its end .* nested too deeply/);
  });

  test('is refused all the same for what was found, and `warn` says both', async () => {
    const nested = `<img src=a.png>${'<i>'.repeat(10_000)}`;
    expect((await refusalOf(nested)).message).toContain('img a.png');
    expect(await checkSelfContained(page(nested), 'warn')).toEqual([
      expect.stringContaining('img a.png'),
      expect.stringContaining('was not searched to its end'),
    ]);
  });
});

describe('large pages', () => {
  const row =
    '<tr><td class="name">src/a.ts</td><td>100 %</td><td><a href="https://a.example">12</a></td></tr>\n';
  const image = (bytes: number): string =>
    `<img alt="" src="data:image/png;base64,${'iVBORw0K'.repeat(bytes / 8)}">`;
  const statement = 'const a = { b: "c" };\n';
  const needs = '<script src=late.js></script>';

  test.each([
    ['3 MB of rows', row.repeat(3_145_728 / row.length)],
    [
      '20 MB with images and scripts',
      `${image(16_777_216)}<script>${statement.repeat(4_194_304 / statement.length)}</script>`,
    ],
  ])('%s are searched to the last line', async (_, html) => {
    expect((await refusalOf(`${html}${needs}`)).message).toContain('script late.js');
  });
});

/** What each sample page needs; nothing where it is self-contained. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  'chart-from-cdn.html': ['line 7 script https://cdn.plot.ly/plotly-2.35.2.min.js'],
  'chart-page.html': [],
  'coverage-report.html': [
    'line 5 link ../prettify.css',
    'line 6 link ../base.css',
    'line 7 link ../favicon.png',
    'line 11 style ../sort-arrow-sprite.png',
    'line 38 script ../prettify.js',
    'line 47 script ../sorter.js',
    'line 48 script ../block-navigation.js',
  ],
  'coverage-single-file.html': [],
  'notebook-export.html': [
    'line 7 script https://cdnjs.cloudflare.com/ajax/libs/require.js/2.1.10/require.min.js',
    'line 14 script https://cdnjs.cloudflare.com/ajax/libs/mathjax/2.7.7/latest.js?…',
    'line 27 script https://cdnjs.cloudflare.com/ajax/libs/mermaid/10.7.0/mermaid.esm.min.mjs',
  ],
  'slide-deck.html': [],
  'slide-deck-linked.html': [
    'line 6 link dist/reveal.css',
    'line 7 link dist/theme/black.css',
    'line 14 section images/title.jpg',
    'line 20 script dist/reveal.js',
    'line 22 script ./plugin/notes.js',
  ],
  'test-report.html': [],
};

describe('pages as generators write them', () => {
  test('each sample page has its expectation', async () => {
    const pages = (await readdir(PAGES)).filter(isHtml);
    expect(pages.sort()).toEqual(Object.keys(SAMPLES).sort());
  });

  test.each(Object.entries(SAMPLES))('%s', async (name, needs) => {
    const file = page(await readFile(new URL(name, PAGES)), name);
    const expected = needs.length === 0 ? [] : [`${name} is not self-contained: ${needs.join(', ')}`];
    expect(await checkSelfContained(file, 'warn')).toEqual(expected);
  });
});
