import type { FetchedContent } from '../http/fetch-back.ts';

/** The types that browsers need: anything else they take for what its bytes are. */
const NEEDED_TYPES: readonly (readonly [RegExp, RegExp])[] = [
  [/\.css$/i, /^text\/css\b/i],
  [/\.m?js$/i, /^(?:text|application)\/(?:x-)?(?:java|ecma)script\b/i],
  [/\.svg$/i, /^image\/svg\+xml\b/i],
];

/**
 * Whether a file is at its own address: a redirect may lead only to another form of it, such as `/about` for
 * `/about.html`, and where that is in another folder, a page must have no relative references.
 *
 * @param home the address of the file itself
 */
export function isAtHome({ addresses, head, type }: FetchedContent, home: URL): boolean {
  const end = addresses.at(-1) ?? home;
  if (addresses.some(({ origin }) => origin !== home.origin) || cleanPath(end) !== cleanPath(home))
    return false;
  const needed = NEEDED_TYPES.find(([name]) => name.test(home.pathname));
  if (needed !== undefined && !needed[1].test(type)) return false;
  return new URL('.', end).pathname === new URL('.', home).pathname || !RELATIVE.test(head);
}

/** One form of the addresses under which hosts serve a page. */
const cleanPath = ({ pathname }: URL): string =>
  pathname
    .replace(/\.html?$/i, '')
    .replace(/\/index$/i, '/')
    .replace(/\/$/, '')
    .toLowerCase();

/** A reference that begins neither with a scheme nor with `/`, nor stays on the page. */
const RELATIVE =
  /(?:\b(?:src|href|srcset|action|data|poster)\s*=|\burl\()\s*["']?\s*(?![a-z][a-z0-9+.-]*:|[/#\s"'>])[^\s]|["'`]\.\.?\//i;
