import { readFileSync } from 'node:fs';
import { PNG } from 'pngjs';
import type { SelfContained } from '../../src/rules/page/page-file.ts';
import type { TestAnswer } from './test-host.ts';

/** One answer of the corpus' host; without anything it never comes. */
export interface CorpusAnswer extends TestAnswer {
  readonly type?: string;
}

/** One page, its other files, and the expected verdict. */
export interface CorpusPage {
  readonly name: string;
  /** Part of the reason; empty for a page that is shown. */
  readonly reason?: string;
  readonly marker?: string;
  /** By default a page may need no other host. */
  readonly mode?: SelfContained;
  /** What a report must say, beginning with `refused: ` or `unknown: `; parts are separated by ` & `. */
  readonly says?: string;
  /** The template tags that it shows, separated by spaces. */
  readonly tags?: string;
  /** Gets the same time as outside of tests, because it ends by itself. */
  readonly isPatient?: boolean;
  /** The page itself, as HTML or as an answer. */
  readonly page: string | CorpusAnswer;
  /** Answers by the file's name; all others are 404. */
  readonly files?: Readonly<Record<string, string | CorpusAnswer>>;
}

/** A picture of 40 × 40 pixels in two colors. */
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="#c00"/><circle cx="20" cy="20" r="12" fill="#fff"/></svg>';
const SPINNER =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><style>@keyframes r { to { rotate: 1turn } } path { animation: r 1s linear infinite; transform-origin: 20px 20px }</style><path d="M20 4 A16 16 0 0 1 36 20" stroke="#06c" stroke-width="6" fill="none"/></svg>';
const SVG = 'image/svg+xml';
const APP = '<!doctype html><title>App</title><div id="app"></div>';
const TEXT = '<h1>Quarterly report</h1><p>All numbers of the third quarter.</p>';
const page = (body: string, head = ''): string =>
  `<!doctype html><html><head><title>Page</title>${head}</head><body>${body}</body></html>`;

const asPage = (source: string): string => (source.startsWith('<!doctype') ? source : page(source));

/**
 * The pages of a text file, or their bodies. Below `-- name type status` is another file, or by `page` the page itself.
 */
function readPages(
  name: string,
  columns: readonly ('reason' | 'marker' | 'tags' | 'mode' | 'says')[],
  toPage = asPage,
): CorpusPage[] {
  const [, ...texts] = readFileSync(new URL(name, import.meta.url), 'utf8').split(/^== /m);
  return texts.map((text) => {
    const [head = '', ...lines] = text.trimEnd().split('\n');
    const [title = '', ...values] = head.split('|').map((one) => one.trim());
    const known = columns.flatMap((column, at) => (values[at] ? [[column, values[at]]] : []));
    const [source = '', ...parts] = lines.join('\n').split(/^-- /m);
    const { page: answer, ...files } = Object.fromEntries(parts.map(readPart));
    return { name: title, page: answer ?? toPage(source.trimEnd()), files, ...Object.fromEntries(known) };
  });
}

function readPart(text: string): [name: string, answer: CorpusAnswer] {
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const [name = '', type = 'text/html', status = '200', header = '', ...value] = head.split(' ');
  const body = lines.join('\n');
  const headers = header === '' ? {} : { [header.replace(':', '')]: value.join(' ') };
  return [name, { type, status: Number(status), headers, body: type === 'text/html' ? asPage(body) : body }];
}

/** Files that every page may request. */
export const COMMON_FILES: NonNullable<CorpusPage['files']> = {
  'a.svg': { type: SVG, body: PICTURE },
  'spin.svg': { type: SVG, body: SPINNER },
  'there.html': page(TEXT),
  'hang.css': {},
};

/** Pages that show a person nothing, or not the delivered content. */
export const BLANK_PAGES: readonly CorpusPage[] = [
  ...readPages('blank-pages.txt', ['reason', 'marker']),
  {
    name: 'out-of-memory',
    reason: 'crashed',
    page: `${APP}<script>const a = []; for (;;) a.push(new Array(1e7).fill(0.5))</script>`,
    isPatient: true,
  },
  { name: 'broken-picture', reason: 'shows an error', page: { type: SVG, body: PICTURE.slice(0, 80) } },
  { name: 'text-of-spaces', reason: 'blank', page: { type: 'text/plain', body: ' \n \n' } },
];

/** Pages that a person sees. */
export const SHOWN_PAGES: readonly CorpusPage[] = [
  ...readPages('shown-pages.txt', ['marker', 'tags']),
  {
    name: 'marker-far-below',
    page: page(`${'<p>Line of text</p>'.repeat(3_000)}<p>run 4711</p>`),
    marker: 'run 4711',
  },
  { name: 'large', page: page(`<table>${'<tr><td>cell</td><td>other</td></tr>'.repeat(20_000)}</table>`) },
  {
    name: 'utf-16',
    page: {
      body: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(page('<p>Зеленый отчет</p>'), 'utf16le')]),
      type: 'text/html',
    },
    marker: 'Зеленый отчет',
  },
];

/** Pages that a report refuses, or of which it names something in UNKNOWN. A name with an ending is the file's name. */
export const REPORTED_PAGES: readonly CorpusPage[] = [
  ...readPages('reported-pages.txt', ['mode', 'says'], (source) => source),
  ...[
    ['text-in-windows-1251.txt', '\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0'],
    ['text-in-latin-1.txt', 'Caf\xe9 cr\xe8me'],
  ].map(([name = '', text = '']): CorpusPage => {
    const says = `refused: & line 1: the text is not in UTF-8, but GitHub Pages declares it as UTF-8 & save it as UTF-8`;
    return { name, says, page: { body: Buffer.from(text, 'latin1') } };
  }),
  {
    name: 'picture-cut-short.png',
    says: 'refused: & the picture has no end',
    page: {
      body: PNG.sync
        .write({ width: 640, height: 480, data: Buffer.alloc(640 * 480 * 4, 'page') })
        .subarray(0, 300),
    },
  },
];

/** The file of a page, as it is delivered. */
export function fileOf({ name, page }: CorpusPage): readonly [name: string, content: string | Buffer] {
  const { body = '' } = typeof page === 'string' ? { body: page } : page;
  return [name.includes('.') ? name : 'page.html', body];
}
