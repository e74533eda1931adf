import { readdir, readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../../src/errors.ts';
import { isHtml, LARGEST_PAGE } from '../../../src/rules/page/page-file.ts';
import { checkSelfContained } from '../../../src/rules/page/self-contained.ts';

const PAGES = new URL('pages/', import.meta.url);

/** A file with these bytes, read in two parts that may cut a letter. */
function page(bytes: string | Buffer, name = 'page.html') {
  const buffer = Buffer.from(bytes);
  const half = Math.ceil(buffer.length / 2);
  return {
    name,
    size: buffer.length,
    read: () => Readable.from([buffer.subarray(0, half), buffer.subarray(half)]),
  };
}

const getRefusal = async (bytes: string | Buffer, name?: string, given?: string): Promise<DeliveryError> => {
  const thrown = await checkSelfContained(page(bytes, name), 'enforce', { given }).catch(
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(DeliveryError);
  return thrown as DeliveryError;
};

const unreadable = {
  name: 'page.html',
  size: 100,
  read: () => {
    throw new Error('the file was read');
  },
};

describe('isHtml', () => {
  test.each('a.html a.htm A.HTML a.xhtml a.xht a.shtml a.b.html .html'.split(' '))('takes %s', (name) => {
    expect(isHtml(name)).toBe(true);
  });

  test.each('a.md a.html.gz html a.htmlx ahtml a.html/b.png '.split(' '))('does not take %j', (name) => {
    expect(isHtml(name)).toBe(false);
  });
});

describe('the hint for a page that is not self-contained', () => {
  const WARN = 'or set `self-contained: warn`';
  const EMBED = 'write styles and scripts into the page and images as data: addresses';
  test.each([
    [
      '<link rel=stylesheet href="a_files/a.css">',
      `put the missing files in place and deliver the folder site/out/, with \`entry: a.html\`, or ${EMBED}`,
    ],
    [
      '<script src="../../b.js"></script><script src="c.js"></script>',
      `put the missing files in place and deliver a folder that has the page and these files, with \`entry: site/out/a.html\`, or ${EMBED}`,
    ],
    [
      '<script src="../b.js"></script><script src="c.js"></script>',
      `put the missing files in place and deliver the folder site/, with \`entry: out/a.html\`, or ${EMBED}`,
    ],
    ['<script src="https://cdn.example/a.js"></script>', `${EMBED}, ${WARN}`],
    ['<script src="/a.js"></script>', EMBED],
    [
      '<script src="a.js"></script><script src="https://cdn.example/a.js"></script>',
      `put the missing files in place and deliver the folder site/out/, with \`entry: a.html\`, or ${EMBED}`,
    ],
    [
      '<script src="https://cdn.plot.ly/plotly-3.0.0.min.js"></script>',
      `write the page with \`include_plotlyjs=True\` of Plotly, ${WARN}`,
    ],
    [
      '<script src="https://cdn.bokeh.org/b.js"></script>',
      `write the page with \`mode="inline"\` of Bokeh, ${WARN}`,
    ],
    [
      '<meta name=generator content="quarto-1.5.5"><script src="a/b.js"></script>',
      `put the missing files in place and deliver the folder site/out/, with \`entry: a.html\`, or set \`embed-resources: true\` in the options of Quarto`,
    ],
  ])('leads out of %s', async (html, hint) => {
    expect((await getRefusal(html, 'a.html', 'site/out/a.html')).hint).toBe(hint);
  });
});

describe('a script that only counts visits', () => {
  const tag = 'https://www.googletagmanager.com/gtag/js?id=G-LNDJ3J7WT0';
  // As generators of reports and documentation write it.
  test.each([
    `<script async src="${tag}"></script>`,
    '<script defer data-domain="a.example" src="https://plausible.io/js/script.outbound-links.js"></script>',
    '<script defer src="https://static.cloudflareinsights.com/beacon.min.js/v84a3a4012de94ce1a686ba8c167c359c1696973893317"></script>',
    '<script async src="//gc.zgo.at/count.js" data-goatcounter="https://a.goatcounter.com/count"></script>',
  ])('is a note: %s', async (html) => {
    expect(await checkSelfContained(page(html), 'enforce')).toEqual([
      expect.stringContaining('page.html may load later: line 1 script '),
    ]);
  });

  test.each([
    ['the page waits for it', `<script src="${tag}"></script>`],
    [
      'its host serves other things',
      '<script async src="https://www.googletagmanager.com/gtm.js?id=GTM-1"></script>',
    ],
    [
      'its host is another one',
      '<script async src="https://www.googletagmanager.com.a.example/gtag/js?"></script>',
    ],
    ['it is no script', `<img src="${tag}">`],
    ['it is in a query', `<script async src="https://a.example/?${tag}"></script>`],
  ])('is refused as any other where %s', async (_, html) => {
    expect((await getRefusal(html)).code).toBe('BAD_FILE');
  });
});

describe('a page that needs external resources', () => {
  test('is refused with line, element and address of each, and a hint', async () => {
    const refusal = await getRefusal(
      '<img src=a.png>\n<style>@import "https://b.example/b.css"</style>',
      'a.html',
    );
    expect(refusal.code).toBe('BAD_FILE');
    expect(refusal.message).toBe(
      'a.html is not self-contained: line 1 img a.png, line 2 style https://b.example/b.css',
    );
  });

  test('is refused with a list of at most ten references and the number of the others', async () => {
    const images = (count: number): string =>
      Array.from({ length: count }, (_, at) => `<img src=${at + 1}.png>`).join('');
    expect((await getRefusal(images(10))).message).toMatch(/line 1 img 10\.png$/);
    expect((await getRefusal(images(13))).message).toMatch(/line 1 img 10\.png, and 3 more$/);
    expect((await getRefusal(images(150_000))).message).toMatch(/line 1 img 10\.png, and 149990 more$/);
  });

  test.each([
    ['UTF-8', Buffer.from('<p>ä🙂<img src="ж.png">')],
    ['UTF-8 with a byte order mark', Buffer.from('\ufeff<p>ä<img src="ж.png">')],
    ['little-endian UTF-16', Buffer.from('\ufeff<p>ä<img src="ж.png">', 'utf16le')],
    ['big-endian UTF-16', Buffer.from('\ufeff<p>ä<img src="ж.png">', 'utf16le').swap16()],
  ])('is read in %s', async (_, bytes) => {
    expect((await getRefusal(bytes)).message).toContain('img ж.png');
  });

  test('is parsed as XML if its name says so', async () => {
    const xml = '<html><title/><img src="a.png"/></html>';
    expect((await getRefusal(xml, 'a.xhtml')).message).toContain('img a.png');
    expect(await checkSelfContained(page(xml, 'a.html'), 'enforce')).toEqual([]);
  });
});

describe('the import map of a page', () => {
  test.each([
    ['https://a.example/a.js', 'line 1 importmap https://a.example/a.js, line 1 importmap ./b/'],
    ['data:text/javascript,1', 'line 1 importmap ./b/'],
  ])('is refused for what it has outside of the page: %s', async (address, references) => {
    const html = `<script type=importmap>{ "imports": { "a": "${address}", "b/": "./b/" } }</script>
      <script type=module>import "a"; import "b/c.js"</script>`;
    expect((await getRefusal(html)).message).toBe(`page.html is not self-contained: ${references}`);
  });
});

describe('a page that needs files of its own host', () => {
  const html =
    '<base href=../><link rel=stylesheet href=a.css>\n<script src=/b.js></script><img src=d.png><script src=//c.example/c.js></script>';
  /** What is asked for, of a page whose host has some paths. */
  const checkAt = async (mode: 'enforce' | 'warn' | 'off', has: readonly string[]) => {
    const asked: string[] = [];
    const findMissing = async (urls: readonly URL[]) => {
      asked.push(...urls.map(({ href }) => href));
      return urls.filter(({ pathname }) => !has.includes(pathname));
    };
    const place = { url: new URL('https://o.example/site/x/page.html'), findMissing };
    const result = await checkSelfContained(page(html), mode, { place }).catch((thrown: unknown) => thrown);
    return { asked, result };
  };

  test.each(['warn', 'off'] as const)('is refused with %s where one is missing', async (mode) => {
    const { asked, result } = await checkAt(mode, ['/b.js']);
    expect(asked).toEqual(['https://o.example/site/a.css', 'https://o.example/b.js']);
    expect(result).toMatchObject({
      code: 'BAD_FILE',
      message: 'page.html needs files that are missing: line 1 link a.css',
      hint: expect.stringContaining('the folder'),
    });
  });

  test('is accepted where the host has them all', async () => {
    expect((await checkAt('off', ['/site/a.css', '/b.js'])).result).toEqual([]);
    expect((await checkAt('warn', ['/site/a.css', '/b.js'])).result).toEqual([
      expect.stringContaining(
        'line 1 link a.css, line 2 script /b.js, line 2 img d.png, line 2 script //c.example/c.js',
      ),
    ]);
  });

  test('is refused with `enforce` without a question', async () => {
    expect(await checkAt('enforce', [])).toMatchObject({ asked: [], result: { code: 'BAD_FILE' } });
  });
});

describe('a page that is not refused', () => {
  test('may contain everything it shows', async () => {
    const html = '<style>a { b: c }</style><img src=data:,>';
    expect(await checkSelfContained(page(html), 'enforce')).toEqual([]);
  });

  test('is not read if its name is that of another file, or if it is too large, which is told', async () => {
    expect(await checkSelfContained({ ...unreadable, name: 'a.md' }, 'enforce')).toEqual([]);
    expect(await checkSelfContained({ ...unreadable, size: LARGEST_PAGE + 1 }, 'enforce')).toEqual([
      'page.html was not searched completely for external resources, because it is larger than 32 MB',
    ]);
  });

  test('is accepted if it is nested too deeply, and the result says so', async () => {
    const [unknown] = await checkSelfContained(page('<svg>'.repeat(10_000)), 'enforce');
    expect(unknown).toMatch(/^page\.html was not searched completely .* nested too deeply/);
  });

  test('is still refused for the references found, and `warn` returns both', async () => {
    const nested = `<img src=a.png>${'<svg>'.repeat(10_000)}`;
    expect((await getRefusal(nested)).message).toContain('img a.png');
    expect(await checkSelfContained(page(nested), 'warn')).toEqual([
      expect.stringContaining('img a.png'),
      expect.stringContaining('was not searched completely'),
    ]);
  });
});

/** What each sample page loads at the start, and what it may load later. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  'chart-from-cdn.html': ['line 7 script https://cdn.plot.ly/plotly-2.35.2.min.js'],
  'chart-page.html': [],
  'coverage-report.html': [
    'line 5 link ../prettify.css',
    'line 6 link ../base.css',
    'line 11 style ../sort-arrow-sprite.png',
    'line 38 script ../prettify.js',
    'line 47 script ../sorter.js',
    'line 48 script ../block-navigation.js',
  ],
  'coverage-single-file.html': [],
  'notebook-export.html': [
    'line 7 script https://cdnjs.cloudflare.com/ajax/libs/require.js/2.1.10/require.min.js',
    'line 14 script https://cdnjs.cloudflare.com/ajax/libs/mathjax/2.7.7/latest.js?…',
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

const LATER: Readonly<Record<string, string>> = {
  // A comment may be read as a call: it is a note.
  'coverage-single-file.html': 'line 25 script https://a.example',
  'coverage-report.html': 'line 7 link ../favicon.png',
  'notebook-export.html':
    'line 27 script https://cdnjs.cloudflare.com/ajax/libs/mermaid/10.7.0/mermaid.esm.min.mjs',
};

describe('the sample pages of real generators', () => {
  test('all have an expected result', async () => {
    const pages = (await readdir(PAGES)).filter(isHtml);
    expect(pages.sort()).toEqual(Object.keys(SAMPLES).sort());
  });

  test.each(Object.entries(SAMPLES))('give the expected references for %s', async (name, needs) => {
    const file = page(await readFile(new URL(name, PAGES)), name);
    const later = LATER[name];
    expect(await checkSelfContained(file, 'warn')).toEqual([
      ...(needs.length === 0 ? [] : [`${name} is not self-contained: ${needs.join(', ')}`]),
      ...(later === undefined ? [] : [`${name} may load later: ${later}`]),
    ]);
  });
});
