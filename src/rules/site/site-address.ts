import { encodePath } from '../naming.ts';
import { decodePercents } from '../page/addresses.ts';
import type { SiteOptions } from './site-files.ts';

export interface SiteTarget {
  readonly url: URL;
  /** In the folder, elsewhere on its host, or on another host. */
  readonly where: 'folder' | 'outside' | 'host';
  /** Decoded; relative to the folder, else without the slash at its start. */
  readonly path: string;
}

export interface AddressResolver {
  toUrl(file: string): string;
  /** @param base the URL to which the address is relative @returns `null` where it causes no request */
  resolve(address: string, base: string): SiteTarget | null;
}

/** Stands for the site's own host where it is not known. */
const UNKNOWN_ORIGIN = 'https://site.invalid';

export function createAddressResolver({
  sitePath,
  origin = UNKNOWN_ORIGIN,
}: Pick<SiteOptions, 'sitePath' | 'origin'>): AddressResolver {
  const own = new URL(origin);
  const folder = decodePath(sitePath);
  const resolve = (address: string, base: string): SiteTarget | null => {
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
  return { toUrl: (file) => `https://${own.host}${sitePath}${encodePath(file)}`, resolve };
}

/**
 * The file that GitHub Pages serves at a path: the file itself, else the same name with `.html`, else the index of
 * the folder, to which it redirects. Names are case-sensitive.
 *
 * @param path decoded, without a slash at the start
 * @returns `null` if it answers 404
 */
export function findServed(path: string, isFile: (path: string) => boolean): string | null {
  if (path === '' || path.endsWith('/')) return isFile(`${path}index.html`) ? `${path}index.html` : null;
  return [path, `${path}.html`, `${path}/index.html`].find(isFile) ?? null;
}

/** Decodes the path of a URL as a server does: an invalid escape stays, several slashes count as one. */
export function decodePath(pathname: string): string {
  return decodePercents(pathname.replace(/\/{2,}/g, '/'));
}
