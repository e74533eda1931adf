import { extname } from 'node:path';
import { decodePath, encodePath } from '../naming.ts';
import type { ReferenceGrade, ResourceKind } from '../page/addresses.ts';
import { isHtml } from '../page/page-file.ts';
import type { SiteOptions } from './findings.ts';

export interface ResolvedAddress {
  readonly url: URL;
  /** In the folder, elsewhere on its host, or on another host. */
  readonly where: 'folder' | 'outside' | 'host';
  /** Decoded; relative to the folder, else without the slash at its start. */
  readonly path: string;
}

/** Stands for the site's own host where it is not known. */
const UNKNOWN_ORIGIN = 'https://site.invalid';

export function createAddressResolver({
  sitePath,
  origin = UNKNOWN_ORIGIN,
}: Pick<SiteOptions, 'sitePath' | 'origin'>) {
  const own = new URL(origin);
  const folder = decodePath(sitePath);
  /** @param base the URL to which the address is relative @returns `null` where it causes no request */
  const resolve = (address: string, base: string): ResolvedAddress | null => {
    const url = URL.parse(address, base);
    if (url === null || !/^(?:https?|wss?|ftp):$/.test(url.protocol)) return null;
    const path = decodePath(url.pathname);
    if (url.host !== own.host) return { url, where: 'host', path: path.slice(1) };
    // GitHub Pages redirects the folder's address without its slash.
    const isFolder = path.startsWith(folder) || `${path}/` === folder;
    return isFolder
      ? { url, where: 'folder', path: path.slice(folder.length) }
      : { url, where: 'outside', path: path.slice(1) };
  };
  return { toUrl: (file: string) => `https://${own.host}${sitePath}${encodePath(file)}`, resolve };
}

/** The file that GitHub Pages serves at a decoded path without a slash at its start; `null` if it answers 404. */
export function findServed(path: string, isFile: (path: string) => boolean): string | null {
  if (path === '' || path.endsWith('/')) return isFile(`${path}index.html`) ? `${path}index.html` : null;
  return [path, `${path}.html`, `${path}/index.html`].find(isFile) ?? null;
}

/** Pages that a host shows for addresses without a page: their addresses are made for another place. */
const FALLBACK_PAGE = /^(?:200|404)\.html$/i;

/** Whether a person may open the page by its address. */
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

/** How a file without a known use is read. */
export const getKindOfName = (path: string): ResourceKind =>
  isHtml(path) ? 'document' : (KINDS_BY_ENDING[extname(path).toLowerCase()] ?? 'data');

/** A page that is opened has code of its own; in a style sheet nothing is code. */
export function gradeVisit(kind: ResourceKind, grade: ReferenceGrade): ReferenceGrade {
  if (kind === 'document') return 'code';
  return kind === 'style' ? 'content' : grade;
}

/** Whether a file that is used in this way has references that matter. */
export function hasReferences(kind: ResourceKind, path: string): boolean {
  if (kind === 'document') return isHtml(path) || isSvg(path);
  return kind === 'style' || (kind !== 'data' && !/\.(?:json|css|wasm)$/i.test(path));
}
