import { encodePath } from '../naming.ts';
import { decodePercents } from '../page/addresses.ts';
import type { SiteOptions } from './site-files.ts';

/** Where an address leads. */
export type SiteTarget =
  /** It causes no request, or is no address. */
  | { readonly where: 'none' }
  | { readonly where: 'host'; readonly host: string; readonly path: string }
  /** In the folder; the path is decoded and relative to it. */
  | { readonly where: 'folder'; readonly path: string }
  /** On the Pages site, outside of the folder; the path is decoded and relative to the site's root. */
  | { readonly where: 'root'; readonly path: string }
  /** On the host of the site, outside of the Pages site; the path is decoded and without the slash at its start. */
  | { readonly where: 'elsewhere'; readonly path: string };

/** Resolves addresses of one site. */
export interface AddressResolver {
  /** The URL of a file. */
  toUrl(file: string): string;
  /** @param base the URL to which the address is relative */
  resolve(address: string, base: string): SiteTarget;
}

const NO_TARGET: SiteTarget = { where: 'none' };

/** Stands for the site's own host where it is not known. */
const UNKNOWN_ORIGIN = 'https://site.invalid';

export function createAddressResolver({
  sitePath,
  rootPath,
  origin = UNKNOWN_ORIGIN,
}: Pick<SiteOptions, 'sitePath' | 'rootPath' | 'origin'>): AddressResolver {
  const { host } = new URL(origin);
  const folder = decodePath(sitePath);
  const root = decodePath(rootPath);
  const resolve = (address: string, base: string): SiteTarget => {
    const url = URL.parse(address, base);
    if (url === null) return NO_TARGET;
    if (!/^(?:https?|wss?|ftp):$/.test(url.protocol)) return NO_TARGET;
    const path = decodePath(url.pathname);
    if (url.host !== host) return { where: 'host', host: url.host, path: path.slice(1) };
    if (path.startsWith(folder)) return { where: 'folder', path: path.slice(folder.length) };
    // GitHub Pages redirects the folder's address without its slash.
    if (`${path}/` === folder) return { where: 'folder', path: '' };
    if (path.startsWith(root)) return { where: 'root', path: path.slice(root.length) };
    return { where: 'elsewhere', path: path.slice(1) };
  };
  return { toUrl: (file) => `https://${host}${sitePath}${encodePath(file)}`, resolve };
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
