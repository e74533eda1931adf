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
export const PICTURE =
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

const styled = (body: string, style: string): string => page(body, `<style>${style}</style>`);

const blank = (name: string, source: CorpusPage['page'], more: Partial<CorpusPage> = {}): CorpusPage => ({
  name,
  reason: 'blank',
  page: source,
  ...more,
});

/** Files that every page may ask for. */
export const COMMON_FILES: NonNullable<CorpusPage['files']> = {
  'a.svg': { type: SVG, body: PICTURE },
  'spin.svg': { type: SVG, body: SPINNER },
  'there.html': page(TEXT),
};

/** Pages of which a person sees nothing, or not what was delivered. */
export const BLANK_PAGES: readonly CorpusPage[] = [
  blank('empty', page('')),
  blank('spinner-and-text', page('<img src="spin.svg"><p>Loading…</p>'), {
    reason: 'nothing but "Loading…"',
  }),
  blank('spinner-picture', page('<img src="spin.svg">'), {
    reason: 'a small moving picture',
  }),
  blank('error-screen', page('<h2>Application error: a client-side exception has occurred.</h2>'), {
    reason: 'shows an error',
  }),
  blank(
    'broken-xhtml',
    { type: 'application/xhtml+xml', body: '<html xmlns="http://www.w3.org/1999/xhtml"><p>a<br></p></html>' },
    { reason: 'shows an error' },
  ),
  blank('leads-nowhere', page(`${TEXT}<script>location.href = 'http://127.0.0.1:9/'</script>`), {
    reason: "leads to one that can't be opened",
  }),
  blank('script-throws', `${APP}<script>const data = undefined; app.textContent = data.items</script>`, {
    reason: "reading 'items'",
  }),
  blank('missing-chunk', `${APP}<script src="chunk-4f2a.js"></script>`, { reason: '404 https://' }),
  blank(
    'missing-module',
    `${APP}<script type="module">import './missing.js'; app.textContent = 'x'</script>`,
  ),
  blank(
    'wrong-base',
    `${APP}<link rel="stylesheet" href="/assets/a.css"><script src="/assets/a.js"></script>`,
  ),
  blank(
    'content-policy',
    `${page('<div id="app"></div>', '<meta http-equiv="Content-Security-Policy" content="script-src \'none\'">')}<script>app.textContent = "x"</script>`,
  ),
  blank(
    'removed-after-error',
    page(
      `<div id="app">${TEXT}</div><script>setTimeout(() => { app.remove(); throw new Error("hydration failed") }, 50)</script>`,
    ),
    { reason: 'hydration failed' },
  ),
  blank('display-none', styled(TEXT, 'body > * { display: none }')),
  blank('visibility-hidden', styled(TEXT, 'body { visibility: hidden }')),
  blank('opacity-zero', page(`<main style="opacity:0">${TEXT}</main>`)),
  blank('opacity-nearly-zero', page(`<main style="opacity:0.01">${TEXT}</main>`)),
  blank('white-on-white', styled(TEXT, '* { color: #fff; background: #fff }')),
  blank('nearly-white-on-white', styled(TEXT, '* { color: #fafafa }')),
  blank('dark-on-dark', styled(TEXT, 'html { background: #101014 } * { color: #121216 }')),
  blank('off-screen', page(`<div style="position:absolute;left:-9999px">${TEXT}</div>`)),
  blank('no-font-size', styled(TEXT, '* { font-size: 0 }')),
  blank('clipped', page(`<main style="clip-path:inset(100%)">${TEXT}</main>`)),
  blank('scaled-to-nothing', page(`<main style="transform:scale(0)">${TEXT}</main>`)),
  blank('under-a-white-cover', page(`${TEXT}<div style="position:fixed;inset:0;background:#fff"></div>`)),
  blank(
    'under-a-preloader',
    styled(
      `${TEXT}<div style="position:fixed;inset:0;background:#fff"><i class="s"></i></div>`,
      '@keyframes r { to { rotate: 1turn } } .s { position:absolute; left:20px; top:20px; width:40px; height:40px; border:4px solid #06c; border-top-color:transparent; border-radius:50%; animation:r 1s linear infinite }',
    ),
  ),
  blank(
    'spinner-only',
    page(
      '<svg width="60" height="60"><circle cx="30" cy="30" r="20" fill="none" stroke="#06c" stroke-width="6" stroke-dasharray="60"><animateTransform attributeName="transform" type="rotate" from="0 30 30" to="360 30 30" dur="1s" repeatCount="indefinite"/></circle></svg>',
    ),
    { reason: 'a small moving picture' },
  ),
  blank('loading-forever', page('<div id="app">Loading…</div><script src="app.js"></script>'), {
    reason: 'nothing but "Loading…"',
  }),
  blank(
    'skeleton',
    styled(
      '<div class="k"></div><div class="k"></div><div class="k"></div><div class="k"></div>',
      '.k { background: #e8e8e8; height: 60px; margin: 12px }',
    ),
  ),
  blank('gradient-only', styled('', 'html { background: linear-gradient(#fff, #246) }')),
  blank('broken-image', page('<img src="missing.png" alt="A chart of the third quarter">')),
  blank('white-image', page('<img src="white.svg">'), {
    files: { 'white.svg': { type: SVG, body: WHITE_PICTURE } },
  }),
  blank('empty-canvas', page('<canvas width="600" height="400" style="border:1px solid #000"></canvas>')),
  blank(
    'empty-canvas-on-black',
    styled(
      '<canvas style="position:fixed;inset:0;width:100%;height:100%"></canvas>',
      'body { background: #000 }',
    ),
  ),
  blank(
    'frame-refused',
    page('<iframe src="http://127.0.0.1:9/" width="600" height="400" style="border:0"></iframe>'),
  ),
  blank('only-noscript', page(`<noscript>${TEXT}</noscript>`)),
  blank('only-template', page(`<template>${TEXT}</template>`)),
  blank('never-ends', { start: '<!doctype html><title>Page</title>' }),
  blank('style-never-arrives', page(TEXT, '<link rel="stylesheet" href="hang.css">'), {
    reason: 'still waiting for https://',
    files: { 'hang.css': {} },
  }),
  blank('endless-loop', `${APP}<script>for (;;);</script>`, { reason: '' }),
  blank('endless-alert', `${APP}<script>for (;;) alert("Hello")</script>`, {
    reason: '',
  }),
  blank('endless-reload', `${APP}<script>location.reload()</script>`, { reason: '' }),
  blank('endless-navigation', `${APP}<script>location.href = "?" + Math.random()</script>`, {
    reason: '',
  }),
  blank(
    'much-dom',
    `${APP}<script>const text = 'x'.repeat(90); for (let i = 0; i < 1e6; i++) { const e = document.createElement('i'); e.id = text + i; app.append(e) }</script>`,
    { reason: '' },
  ),
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
  blank('marker-in-a-comment', page(`${TEXT}<!-- run 4711 -->`), { reason: 'marker', marker: 'run 4711' }),
  blank('marker-hidden', page(`${TEXT}<p style="display:none">run 4711</p>`), {
    reason: 'marker',
    marker: 'run 4711',
  }),
  blank('marker-in-white', page(`${TEXT}<p style="color:#fff">run 4711</p>`), {
    reason: 'marker',
    marker: 'run 4711',
  }),
  blank('only-404', page('<h1>404</h1>'), { reason: 'shows an error: 404' }),
  blank(
    'own-not-found-of-a-router',
    page(
      "<nav>My site Docs Blog</nav><h1>Page Not Found</h1><p>We could not find what you were looking for.</p><p>Please contact the owner of the site that linked you to the original URL and let them know their link is broken.</p><script>document.title = 'Page Not Found | My site'</script>",
    ),
    { reason: 'shows an error: My site Docs Blog Page Not Found' },
  ),
  blank(
    'own-not-found-with-a-joke',
    page(
      "<p>404</p><h1>PAGE NOT FOUND</h1><blockquote>But if you don't change your direction, and if you keep looking, you may end up where you are heading.</blockquote><a href='/'>Take me home</a><script>document.title = '404 | VitePress'</script>",
    ),
    { reason: 'shows an error' },
  ),
  blank(
    'own-specification-missing',
    page(
      '<div id="ui"></div><script>new Image().src = "https://validator.dev/badge"; fetch("openapi.json").then((answer) => answer.json()).then((data) => ui.append(data.title), () => 0)</script>',
    ),
    { reason: '404 https://octo.github.io/' },
  ),
  blank('only-cannot-get', page('<pre>Cannot GET /previews/</pre>'), { reason: 'shows an error' }),
  blank('only-undefined', page('<script>document.body.append(undefined)</script>'), {
    reason: 'shows an error: undefined',
  }),
  blank('only-object', page('<main>[object Object]</main>'), { reason: 'shows an error' }),
  blank(
    'only-a-trace',
    page(
      '<pre id="p"></pre><script>try { null.items } catch (error) { p.textContent = error.stack }</script>',
    ),
    { reason: 'shows an error: TypeError' },
  ),
  blank('only-an-apology', page('<h2>Oops!</h2><p>Something went wrong.</p><a href="/">Go home</a>'), {
    reason: 'shows an error',
  }),
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
  blank('print-only', styled(TEXT, '@media screen { body > * { display: none } }')),
  blank('refreshes-itself', page('', '<meta http-equiv="refresh" content="0">'), { reason: '' }),
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
  blank(
    'object-missing',
    page('<object data="none.svg" type="image/svg+xml" width="300" height="200"></object>'),
  ),
  blank('closed-dialog', page(`<dialog>${TEXT}</dialog>`)),
  blank('closed-details-in-white', page('<details><summary style="color:#fff"></summary>Text</details>'), {
    reason: '',
  }),
  blank(
    'never-revealed',
    styled(`<main class="r">${TEXT}</main><script src="reveal.js"></script>`, '.r { opacity: 0 }'),
  ),
  blank('frame-not-found', page('<iframe src="missing" style="width:100%;height:90vh;border:0"></iframe>'), {
    files: { missing: { status: 404, type: 'text/html', body: page(TEXT) } },
  }),
  blank(
    'covered-by-popover',
    page(
      `${TEXT}<div popover id="o" style="position:fixed;inset:0;width:100%;height:100%;border:0;background:#fff"></div><script>o.showPopover()</script>`,
    ),
  ),
];

const shown = (name: string, source: CorpusPage['page'], more: Partial<CorpusPage> = {}): CorpusPage => ({
  name,
  page: source,
  ...more,
});

const SHADOW = (mode: string): string =>
  page(
    `<x-card></x-card><script>customElements.define('x-card', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: '${mode}' }).innerHTML = '<p>Text in a shadow</p>' } })</script>`,
  );

/** Pages that a person sees. */
export const SHOWN_PAGES: readonly CorpusPage[] = [
  shown('plain', page(TEXT), { marker: 'Quarterly report' }),
  shown('one-digit', page('1')),
  shown('marker-across-elements', page('<p>Run <b>47</b>11 of\n  main</p>'), { marker: 'Run 4711 of main' }),
  shown('marker-far-below', page(`${'<p>Line of text</p>'.repeat(3_000)}<p>run 4711</p>`), {
    marker: 'run 4711',
  }),
  shown('late', `${APP}<script>setTimeout(() => { app.textContent = 'Here it is' }, 1500)</script>`),
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
  shown(
    'canvas-only',
    page(
      '<canvas id="c" width="300" height="150"></canvas><script>const x = c.getContext("2d"); x.fillStyle = "#06c"; x.fillRect(20, 20, 100, 60)</script>',
    ),
  ),
  shown('svg-only', page(PICTURE)),
  shown('single-image', page('<img src="a.svg">')),
  shown('image-document', { type: SVG, body: PICTURE }),
  shown('background-image', page('<div style="width:200px;height:100px;background:url(a.svg)"></div>')),
  shown('dark-mode', styled(TEXT, 'html { background: #111 } * { color: #eee }')),
  shown('gray-text', styled(TEXT, '* { color: #999 }')),
  shown('open-shadow', SHADOW('open'), { marker: 'Text in a shadow' }),
  shown('closed-shadow', SHADOW('closed')),
  shown(
    'slots',
    page(
      '<x-box><b slot="t">Slotted text</b></x-box><script>customElements.define("x-box", class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: "open" }).innerHTML = "<h2><slot name=t></slot></h2>" } })</script>',
    ),
  ),
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
    'frame-of-another-host',
    page(
      '<iframe src="https://other.octo.dev/frame/inner.html" width="600" height="300" style="border:0"></iframe>',
    ),
    { marker: 'Inside the frame' },
  ),
  shown(
    'frameset',
    '<!doctype html><frameset cols="50%,50%"><frame src="a.html"><frame src="a.html"></frameset>',
    { files: { 'a.html': page(TEXT) } },
  ),
  shown('srcdoc', page('<iframe srcdoc="<p>From an attribute</p>"></iframe>')),
  shown('below-the-window', page(`<div style="height:900px"></div>${TEXT}`), { marker: 'Quarterly report' }),
  shown('generated-text', styled('<p class="g"></p>', '.g::before { content: "Only in the style sheet" }')),
  shown('form', page('<input placeholder="Your name"><textarea></textarea>')),
  shown('one-alert', page(`${TEXT}<script>alert("Welcome")</script>`)),
  shown(
    'one-dialog-element',
    page(`${TEXT}<dialog id="d">Accept the terms</dialog><script>d.showModal()</script>`),
  ),
  shown('throws-afterwards', page(`${TEXT}<script>throw new Error("late")</script>`)),
  shown(
    'missing-extras',
    page(`${TEXT}<img src="no.png"><script src="no.js"></script>`, '<link rel="stylesheet" href="no.css">'),
  ),
  shown('open-request', page(`${TEXT}<script>fetch("hang")</script>`), { files: { hang: {} } }),
  shown('still-arriving', { start: page(TEXT) }),
  shown(
    'never-still',
    styled(
      `${TEXT}<i class="m">moving</i>`,
      '@keyframes m { to { margin-left: 400px } } .m { display:block; animation:m 1s infinite }',
    ),
  ),
  shown(
    'moving-canvas',
    page(
      '<canvas id="c" width="600" height="300"></canvas><script>let t = 0; setInterval(() => { const x = c.getContext("2d"); x.clearRect(0, 0, 600, 300); x.fillRect(t++ % 500, 20, 80, 80) }, 30)</script>',
    ),
  ),
  shown('talks-of-loading', page('<p>Loading times of the start page, third quarter</p>')),
  shown('other-scripts', page('<p>加载完成 مرحبا 🙂</p>')),
  shown(
    'bars',
    styled(
      '<div class="b" style="width:200px"></div><div class="b" style="width:300px"></div><div class="b" style="width:120px"></div>',
      '.b { height: 24px; margin: 8px; background: #06c }',
    ),
  ),
  shown('large', page(`<table>${'<tr><td>cell</td><td>other</td></tr>'.repeat(20_000)}</table>`)),
  shown('redirect-by-script', page('<script>location.replace("there.html")</script>')),
  shown('redirect-by-meta', page('', '<meta http-equiv="refresh" content="0;url=there.html">')),
  shown('redirect-by-host', { status: 301, headers: { location: 'there.html' } }),
  shown(
    'own-prototypes',
    page(
      `${TEXT}<script>Array.prototype.toJSON = Array.prototype.entries = Map.prototype.get = Element.prototype.checkVisibility = null</script>`,
    ),
  ),
  shown('talks-of-404', page('<h1>404 Not Found</h1><p>Why servers answer it, and what to do then.</p>')),
  shown(
    'explains-404',
    page(
      '<h1>404 Not Found</h1><p>A host answers it where nothing is. Look at the address first, and then at the links to it.</p><script>document.title = "404 Not Found explained | Handbook"</script>',
    ),
  ),
  shown('counts-to-404', page('<b>404</b> visitors')),
  shown(
    'error-then-content',
    page(
      '<div id="app">undefined</div><script>setTimeout(() => { app.textContent = "Here it is" }, 900)</script>',
    ),
  ),
  shown('error-above-content', page(`<h1 style="height:100vh">404</h1>${TEXT}`)),
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
    'after-nine-seconds',
    `${APP}<script>setTimeout(() => { app.textContent = 'At last' }, 9000)</script>`,
  ),
  shown(
    'webgl-only',
    page(
      '<canvas id="c" width="400" height="300"></canvas><script>const g = c.getContext("webgl"); g.clearColor(0.1, 0.4, 0.8, 1); g.clear(g.COLOR_BUFFER_BIT)</script>',
    ),
  ),
  shown('object', page('<object data="a.svg" type="image/svg+xml" width="300" height="200"></object>')),
  shown(
    'object-page',
    page('<object data="inner.html" type="text/html" width="600" height="200"></object>'),
    {
      files: { 'inner.html': page('<p>Inside the object</p>') },
    },
  ),
  shown('embed', page('<embed src="a.svg" type="image/svg+xml" width="300" height="200">')),
  shown('generated-picture', styled('<i class="g"></i>', '.g::before { content: url(a.svg) }')),
  shown(
    'generated-on-a-pseudo-background',
    styled(
      '<i class="g"></i>',
      '.g::after { content: ""; display: block; width: 200px; height: 100px; background: url(a.svg) }',
    ),
  ),
  shown(
    'fades-in',
    styled(`<main>${TEXT}</main>`, '@keyframes f { from { opacity: 0 } } main { animation: f 2s 0.5s both }'),
  ),
  shown(
    'revealed-by-scrolling',
    page(
      `<div style="height:1200px"></div><main style="opacity:0">${TEXT}</main><script>new IntersectionObserver(([{ isIntersecting, target }]) => { if (isIntersecting) target.style.opacity = 1 }).observe(document.querySelector('main'))</script>`,
    ),
  ),
  shown('huge-picture', page('<img src="a.svg" width="30000" height="30000">'), {
    files: { 'a.svg': { type: SVG, body: PICTURE.replace('<svg', '<svg viewBox="0 0 40 40"') } },
  }),
  shown(
    'cookie-wall',
    page(
      `${TEXT}<div style="position:fixed;inset:0;background:#fff"><p>We value your privacy</p><button>Accept all</button></div>`,
    ),
  ),
  shown('dialog-only', page('<dialog id="d"><p>The whole app</p></dialog><script>d.showModal()</script>')),
  shown('document-write', page("<script>document.write('<h1>Written</h1>')</script>")),
  shown(
    'document-write-late',
    page(
      "<script>setTimeout(() => { document.open(); document.write('<h1>Written</h1>'); document.close() }, 400)</script>",
    ),
  ),
  shown(
    'utf-16',
    {
      type: 'text/html',
      body: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(page('<p>Зеленый отчет</p>'), 'utf16le')]),
    },
    { marker: 'Зеленый отчет' },
  ),
  shown('right-to-left', '<!doctype html><html dir="rtl"><title>x</title><p>تقرير ربع سنوي</p></html>', {
    marker: 'تقرير ربع سنوي',
  }),
  shown('vertical-text', styled(TEXT, 'html { writing-mode: vertical-rl }')),
  shown('refreshes-now-and-then', page(TEXT, '<meta http-equiv="refresh" content="3">')),
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
  shown('math', page('<math display="block"><mfrac><mi>a</mi><mi>b</mi></mfrac></math>')),
  shown('popover', page('<div popover id="o">From a popover</div><script>o.showPopover()</script>')),
  shown('text-in-columns-to-the-right', page(`<main style="width:200vw;padding-left:110vw">${TEXT}</main>`)),
  shown(
    'scrolling-box',
    page(`<div style="height:300px;overflow:auto"><div style="height:600px"></div>${TEXT}</div>`),
  ),
  shown(
    'image-set',
    styled(
      '<i class="g"></i>',
      '.g { display: block; width: 200px; height: 100px; background: image-set(url(a.svg) 1x) }',
    ),
  ),
  shown(
    'masked-icon',
    styled(
      '<i class="g"></i>',
      '.g { display: block; width: 200px; height: 100px; background: #06c; mask: url(a.svg) }',
    ),
  ),
];
