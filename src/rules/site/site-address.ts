import { extname } from 'node:path';
import { decodePath, encodePath } from '../naming.ts';
import type { ReferenceGrade, ResourceKind } from '../page/addresses.ts';
import { isHtml } from '../page/page-file.ts';
import type { SiteOptions } from './findings.ts';

export type ResolvedAddress = NonNullable<ReturnType<ReturnType<typeof createAddressResolver>['resolve']>>;

const UNKNOWN_ORIGIN = 'https://site.invalid';

export function createAddressResolver({
  sitePath,
  origin = UNKNOWN_ORIGIN,
}: Pick<SiteOptions, 'sitePath' | 'origin'>) {
  const own = new URL(origin);
  const folder = decodePath(sitePath);
  /**
   * @param base the URL that the address is relative to
   * @returns `null` if it causes no request; the decoded path in the folder, or otherwise without its first slash
   */
  const resolve = (address: string, base: string) => {
    const url = URL.parse(address, base);
    if (url === null || !/^(?:https?|wss?|ftp|attachment|cid|file|sandbox):$/.test(url.protocol)) return null;
    const path = decodePath(url.pathname);
    if (url.host !== own.host) return { url, where: 'host', path: path.slice(1) } as const;
    // GitHub Pages redirects the URL of the folder without its slash.
    const isFolder = path.startsWith(folder) || `${path}/` === folder;
    return isFolder
      ? ({ url, where: 'folder', path: path.slice(folder.length) } as const)
      : ({ url, where: 'outside', path: path.slice(1) } as const);
  };
  return { toUrl: (file: string) => `https://${own.host}${sitePath}${encodePath(file)}`, resolve };
}

/** The file that GitHub Pages serves at a decoded path, or `null` for a 404. */
export function findServed(path: string, isFile: (path: string) => boolean): string | null {
  if (path === '' || path.endsWith('/')) return isFile(`${path}index.html`) ? `${path}index.html` : null;
  return [path, `${path}.html`, `${path}/index.html`].find(isFile) ?? null;
}

/** Pages that a host shows for missing URLs, so their relative addresses don't fit their own path. */
const FALLBACK_PAGE = /^(?:200|404)\.html$/i;

/** Whether a person may open the page by its URL. */
export function isOpenedPage(path: string): boolean {
  if (!isHtml(path) || FALLBACK_PAGE.test(path)) return false;
  return !path.includes('/') || path.endsWith('/index.html');
}

export const isSvg = (path: string): boolean => /\.svg$/i.test(path);

const KINDS_BY_ENDING: Readonly<Record<string, ResourceKind>> = {
  '.css': 'style',
  '.js': 'module',
  '.mjs': 'module',
  '.svg': 'document',
};

/** How to read a file that no page loads. */
export const getKindOfName = (path: string): ResourceKind =>
  isHtml(path) ? 'document' : (KINDS_BY_ENDING[extname(path).toLowerCase()] ?? 'data');

/** The grade for references in a file: an opened page has its own code, a style sheet has none. */
export function gradeVisit(kind: ResourceKind, grade: ReferenceGrade): ReferenceGrade {
  if (kind === 'document') return 'code';
  return kind === 'style' ? 'content' : grade;
}

/** Whether a file may have references to follow. */
export function hasReferences(kind: ResourceKind, path: string): boolean {
  if (kind === 'document') return isHtml(path) || isSvg(path);
  return kind === 'style' || (kind !== 'data' && !/\.(?:json|css|wasm)$/i.test(path));
}
