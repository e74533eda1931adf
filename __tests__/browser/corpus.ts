import { readFileSync } from 'node:fs';

/** One answer of the corpus' host; without a body it never ends. */
export interface CorpusAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Sent before the answer stays open forever. */
  readonly start?: string;
}

/** One page, its other files, and what must be said of it. */
export interface CorpusPage {
  readonly name: string;
  /** Part of the reason; nothing for a page that is shown. */
  readonly reason?: string;
  readonly marker?: string;
  /** Looked at for as long as outside of tests, because it ends by itself. */
  readonly isPatient?: boolean;
  /** The page itself, as HTML or as an answer. */
  readonly page: string | CorpusAnswer;
  /** Answers by the file's name; all others are 404. */
  readonly files?: Readonly<Record<string, string | CorpusAnswer>>;
}

/** A picture of 40 × 40 pixels in two colors. */
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="#c00"/><circle cx="20" cy="20" r="12" fill="#fff"/></svg>';
const WHITE_PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="#fff"/></svg>';
const SPINNER =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><style>@keyframes r { to { rotate: 1turn } } path { animation: r 1s linear infinite; transform-origin: 20px 20px }</style><path d="M20 4 A16 16 0 0 1 36 20" stroke="#06c" stroke-width="6" fill="none"/></svg>';
const SVG = 'image/svg+xml';
const APP = '<!doctype html><title>App</title><div id="app"></div>';
const TEXT = '<h1>Quarterly report</h1><p>All numbers of the third quarter.</p>';
const page = (body: string, head = ''): string =>
  `<!doctype html><html><head><title>Page</title>${head}</head><body>${body}</body></html>`;

const blank = (name: string, source: CorpusPage['page'], more: Partial<CorpusPage> = {}): CorpusPage => ({
  name,
  reason: 'blank',
  page: source,
  ...more,
});

/** The pages of a text file: all that needs no file of its own. What is no whole document is the body of one. */
function readPages(name: string, columns: readonly ('reason' | 'marker')[]): CorpusPage[] {
  const [, ...texts] = readFileSync(new URL(name, import.meta.url), 'utf8').split(/^== /m);
  return texts.map((text) => {
    const [head = '', ...lines] = text.trimEnd().split('\n');
    const [title = '', ...values] = head.split('|').map((one) => one.trim());
    const source = lines.join('\n');
    const known = columns.flatMap((column, at) => (values[at] === undefined ? [] : [[column, values[at]]]));
    return {
      name: title,
      page: source.startsWith('<!doctype') ? source : page(source),
      ...Object.fromEntries(known),
    };
  });
}

/** Files that every page may ask for. */
export const COMMON_FILES: NonNullable<CorpusPage['files']> = {
  'a.svg': { type: SVG, body: PICTURE },
  'spin.svg': { type: SVG, body: SPINNER },
  'there.html': page(TEXT),
};

/** Pages of which a person sees nothing, or not what was delivered. */
export const BLANK_PAGES: readonly CorpusPage[] = [
  ...readPages('blank-pages.txt', ['reason', 'marker']),
  blank(
    'broken-xhtml',
    { type: 'application/xhtml+xml', body: '<html xmlns="http://www.w3.org/1999/xhtml"><p>a<br></p></html>' },
    { reason: 'shows an error' },
  ),
  blank('white-image', page('<img src="white.svg">'), {
    files: { 'white.svg': { type: SVG, body: WHITE_PICTURE } },
  }),
  blank('never-ends', { start: '<!doctype html><title>Page</title>' }),
  blank('style-never-arrives', page(TEXT, '<link rel="stylesheet" href="hang.css">'), {
    reason: 'still waiting for https://',
    files: { 'hang.css': {} },
  }),
  blank('out-of-memory', `${APP}<script>const a = []; for (;;) a.push(new Array(1e7).fill(0.5))</script>`, {
    reason: 'crashed',
    isPatient: true,
  }),
  blank('not-found', { status: 404, body: page(TEXT) }, { reason: 'answered with 404' }),
  blank('server-error', { status: 500, body: page(TEXT) }, { reason: 'answered with 500' }),
  blank(
    'redirects-forever',
    { status: 302, headers: { location: 'page' } },
    { reason: 'ERR_TOO_MANY_REDIRECTS' },
  ),
  blank(
    'download',
    { headers: { 'content-disposition': 'attachment; filename="a.html"' }, body: page(TEXT) },
    { reason: 'downloads' },
  ),
  blank('frame-with-404', page('<iframe src="a.html" width="600" height="300"></iframe>'), {
    reason: 'shows an error',
    files: { 'a.html': page('<h1>404 Not Found</h1><hr>nginx') },
  }),
  blank(
    'picture-without-namespace',
    { type: SVG, body: PICTURE.replace(' xmlns="http://www.w3.org/2000/svg"', '') },
    { reason: 'shows an error' },
  ),
  blank('broken-picture', { type: SVG, body: PICTURE.slice(0, 80) }, { reason: 'shows an error' }),
  blank('no-picture', { type: 'image/png', body: 'not a picture' }),
  blank('text-of-spaces', { type: 'text/plain', body: ' \n \n' }),
  blank(
    'worker-reloads',
    page(
      '<script>navigator.serviceWorker.register("worker.js").then(() => setTimeout(() => location.reload(), 50))</script>',
    ),
    {
      reason: '',
      files: { 'worker.js': { type: 'text/javascript', body: 'oninstall = () => skipWaiting()' } },
    },
  ),
  blank('frame-not-found', page('<iframe src="missing" style="width:100%;height:90vh;border:0"></iframe>'), {
    files: { missing: { status: 404, type: 'text/html', body: page(TEXT) } },
  }),
];

const shown = (name: string, source: CorpusPage['page'], more: Partial<CorpusPage> = {}): CorpusPage => ({
  name,
  page: source,
  ...more,
});

/** Pages that a person sees. */
export const SHOWN_PAGES: readonly CorpusPage[] = [
  ...readPages('shown-pages.txt', ['marker']),
  shown('marker-across-elements', page('<p>Run <b>47</b>11 of\n  main</p>'), { marker: 'Run 4711 of main' }),
  shown('marker-far-below', page(`${'<p>Line of text</p>'.repeat(3_000)}<p>run 4711</p>`), {
    marker: 'run 4711',
  }),
  shown(
    'fetched',
    page(
      '<div id="app">Loading…</div><script>fetch("data.json").then((r) => r.json()).then((d) => { app.textContent = d.text })</script>',
    ),
    { files: { 'data.json': { type: 'application/json', body: '{"text":"From the data"}' } } },
  ),
  shown(
    'module',
    `${APP}<script type="module">import { text } from './text.js'; app.textContent = text</script>`,
    { files: { 'text.js': { type: 'text/javascript', body: "export const text = 'From a module'" } } },
  ),
  shown('image-document', { type: SVG, body: PICTURE }),
  shown(
    'plain-text',
    { type: 'text/plain; charset=utf-8', body: 'A log of the run\nline 2\n' },
    { marker: 'line 2' },
  ),
  shown('json', { type: 'application/json', body: '{"passed":true}' }),
  shown('xhtml', {
    type: 'application/xhtml+xml',
    body: '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><p>Strict</p></body></html>',
  }),
  shown('frame', page('<iframe src="inner.html" width="600" height="300"></iframe>'), {
    marker: 'Inside the frame',
    files: { 'inner.html': page('<p>Inside the frame</p>') },
  }),
  shown(
    'frameset',
    '<!doctype html><frameset cols="50%,50%"><frame src="a.html"><frame src="a.html"></frameset>',
    { files: { 'a.html': page(TEXT) } },
  ),
  shown('open-request', page(`${TEXT}<script>fetch("hang")</script>`), { files: { hang: {} } }),
  shown('still-arriving', { start: page(TEXT) }),
  shown('large', page(`<table>${'<tr><td>cell</td><td>other</td></tr>'.repeat(20_000)}</table>`)),
  shown('redirect-by-host', { status: 301, headers: { location: 'there.html' } }),
  shown('plain-text-undefined', { type: 'text/plain', body: 'undefined' }),
  shown('json-null', { type: 'application/json', body: 'null' }),
  shown('markdown', { type: 'text/markdown; charset=utf-8', body: '# Loading...\n' }),
  shown('style-sheet', { type: 'text/css', body: 'a { color: red }' }),
  shown('xml', { type: 'application/xml', body: '<?xml version="1.0"?><suite><case name="a"/></suite>' }),
  shown('moving-picture', { type: SVG, body: SPINNER }),
  shown('moving-picture-smil', {
    type: SVG,
    body: '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><circle cx="30" cy="30" r="20" fill="#06c"><animate attributeName="r" values="10;20;10" dur="1s" repeatCount="indefinite"/></circle></svg>',
  }),
  shown(
    'object-page',
    page('<object data="inner.html" type="text/html" width="600" height="200"></object>'),
    {
      files: { 'inner.html': page('<p>Inside the object</p>') },
    },
  ),
  shown('huge-picture', page('<img src="a.svg" width="30000" height="30000">'), {
    files: { 'a.svg': { type: SVG, body: PICTURE.replace('<svg', '<svg viewBox="0 0 40 40"') } },
  }),
  shown(
    'utf-16',
    {
      type: 'text/html',
      body: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(page('<p>Зеленый отчет</p>'), 'utf16le')]),
    },
    { marker: 'Зеленый отчет' },
  ),
  shown(
    'worker-reloads-once',
    page(
      `${TEXT}<script>if (!navigator.serviceWorker.controller) navigator.serviceWorker.register("worker.js").then(() => navigator.serviceWorker.ready).then(() => location.reload())</script>`,
    ),
    {
      files: {
        'worker.js': {
          type: 'text/javascript',
          body: 'oninstall = () => skipWaiting(); onactivate = (event) => event.waitUntil(clients.claim())',
        },
      },
    },
  ),
];
