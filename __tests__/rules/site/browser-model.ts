/**
 * A small model of a browser and of GitHub Pages, written without the product's code: it loads a described site as a
 * browser would and reports every request for code that fails, and every request to another host. It never parses a
 * page; it knows what was put into it.
 */

/** What a page, style sheet or module holds. */
export type ModelUse = PageUse | 'import' | 'call' | 'sheet-import';
type PageUse =
  | CodeUse
  | 'img'
  | 'frame'
  | 'background'
  | 'link'
  | 'icon'
  | 'preload'
  | 'template'
  | 'print-sheet';
type CodeUse = 'script' | 'module' | 'sheet' | 'inline-module';

export interface ModelReference {
  readonly use: ModelUse;
  readonly address: string;
}

export interface ModelFile {
  readonly references: readonly ModelReference[];
  /** Of a page: `<base href>`. */
  readonly base?: string | undefined;
}

export type ModelSite = Readonly<Record<string, ModelFile>>;

export const MODEL_FOLDER = '/repo/previews/pr-12/';

const HOST = 'https://pages.example';

/** How a page is written that holds these references. */
export function writeModelFile(path: string, { references, base }: ModelFile): string {
  if (path.endsWith('.css')) return [...references].sort(importsFirst).map(writeRule).join('\n');
  if (path.endsWith('.js')) return references.map(writeStatement).join('\n');
  if (!path.endsWith('.html')) return '';
  const head = base === undefined ? '' : `<base href="${base}">\n`;
  return `<!doctype html>\n${head}${references.map(writeElement).join('\n')}`;
}

function writeElement({ use, address }: ModelReference): string {
  const elements: Partial<Record<ModelUse, string>> = {
    img: `<img alt="" src="${address}">`,
    script: `<script src='${address}'></script>`,
    module: `<script type="module" src="${address}"></script>`,
    sheet: `<link href="${address}" rel="stylesheet">`,
    frame: `<iframe src="${address}"></iframe>`,
    background: `<div style="background: url('${address}')"></div>`,
    'inline-module': `<script type=module>import "${address}";</script>`,
    link: `<a href="${address}">a</a>`,
    icon: `<link rel="icon" href="${address}">`,
    preload: `<link rel="preload" as="image" href="${address}">`,
    template: `<template><img src="${address}"></template>`,
    'print-sheet': `<link rel="stylesheet" media="print" href="${address}">`,
  };
  return elements[use] ?? '';
}

/** A browser ignores an import after a rule. */
const importsFirst = (one: ModelReference, other: ModelReference): number =>
  Number(isSheetImport(other)) - Number(isSheetImport(one));

const isSheetImport = ({ use }: ModelReference): boolean => use === 'sheet-import';

function writeRule({ use, address }: ModelReference): string {
  const rules: Partial<Record<ModelUse, string>> = {
    background: `b { background: url("${address}") }`,
    'sheet-import': `@import url("${address}");`,
  };
  return rules[use] ?? '';
}

function writeStatement({ use, address }: ModelReference): string {
  const statements: Partial<Record<ModelUse, string>> = {
    import: `import "${address}";`,
    call: `export const load${Math.abs(address.length)} = () => import("${address}");`,
  };
  return statements[use] ?? '';
}

/** Every request for code that fails, and every one to another host, while a browser opens the pages of the site. */
export function findFailedRequests(site: ModelSite): readonly string[] {
  const failed = new Set<string>();
  const done = new Set<string>();
  const pages = Object.keys(site).filter(
    (path) => /(?:^|\/)index\.html$/.test(path) || (/^[^/]+\.html$/.test(path) && path !== '404.html'),
  );
  for (const page of pages) openPage(page);
  return [...failed];

  function openPage(path: string): void {
    if (done.has(path)) return;
    done.add(path);
    const url = fileUrl(path);
    const { references, base } = site[path] as ModelFile;
    const documentBase = base === undefined ? url : new URL(base, url).href;
    for (const reference of references) {
      if (reference.use === 'link') follow(reference.address, documentBase);
      else useReference(reference, documentBase);
    }
  }

  function follow(address: string, base: string): void {
    const url = new URL(address, base);
    const file = url.origin === HOST ? serve(site, decodeURIComponent(url.pathname)) : null;
    if (file?.endsWith('.html')) openPage(file);
  }

  function useReference({ use, address }: ModelReference, base: string): void {
    const isCode = CODE.has(use);
    if (!isCode && !CONTENT.has(use)) return;
    const url = new URL(address, base);
    const isOwn = url.origin === HOST;
    const file = isOwn ? serve(site, decodeURIComponent(url.pathname)) : null;
    if (file === null) {
      if (isCode || !isOwn) failed.add(url.href);
    } else if (use === 'frame' && file.endsWith('.html')) openPage(file);
    else if (LOADS_SHEET.has(use) && file.endsWith('.css')) loadAll(`sheet ${file}`, file);
    else if (!LOADS_MODULE.has(use)) return;
    else if (file.endsWith('.js')) loadAll(`module ${file}`, file);
    // No browser runs a module of another type.
    else failed.add(url.href);
  }

  function loadAll(key: string, file: string): void {
    if (done.has(key)) return;
    done.add(key);
    for (const reference of (site[file] as ModelFile).references) useReference(reference, fileUrl(file));
  }
}

/** A page misses its code where it is missing. */
const CODE: ReadonlySet<ModelUse> = new Set<ModelUse>([
  'script',
  'module',
  'sheet',
  'inline-module',
  'import',
]);

/** Loaded with the page, which is shown without it as well. */
const CONTENT: ReadonlySet<ModelUse> = new Set<ModelUse>(['img', 'frame', 'background', 'sheet-import']);

const LOADS_SHEET: ReadonlySet<ModelUse> = new Set<ModelUse>(['sheet', 'sheet-import']);

const LOADS_MODULE: ReadonlySet<ModelUse> = new Set<ModelUse>(['module', 'inline-module', 'import']);

const fileUrl = (path: string): string =>
  new URL(path.split('/').map(encodeURIComponent).join('/'), `${HOST}${MODEL_FOLDER}`).href;

/** What Pages serves; only the folder is on the host. */
function serve(site: ModelSite, pathname: string): string | null {
  if (`${pathname}/` === MODEL_FOLDER) return serve(site, MODEL_FOLDER);
  if (!pathname.startsWith(MODEL_FOLDER)) return null;
  const path = pathname.slice(MODEL_FOLDER.length);
  const candidates =
    path === '' || path.endsWith('/') ? [`${path}index.html`] : [path, `${path}.html`, `${path}/index.html`];
  for (const candidate of candidates) if (Object.hasOwn(site, candidate)) return candidate;
  return null;
}
