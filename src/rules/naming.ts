import { basename } from 'node:path';
import { DeliveryError } from '../errors.ts';
import { BIN_FILE_NAME, TEXT } from '../protocol/limits.ts';
import type { Text } from '../words.ts';
import { decodePercents } from './page/addresses.ts';

/**
 * The name under which a local file is published: composed letters (NFC), `-` for spaces.
 *
 * @throws {DeliveryError} `BAD_INPUT` with the rule that the name breaks.
 * @see protocol 1 (file rules)
 */
export function nameFromFile(fileName: string): string {
  return repositoryPath(fileName.normalize('NFC').trim().replace(/\s+/gu, '-'), "the file's name");
}

/** The name of a delivered file: the name in `path`, or its own with its folders. @throws {DeliveryError} `BAD_INPUT` */
export function deliveredName(relativePath: string, path: string | undefined): string {
  if (path !== undefined && !path.endsWith('/')) return baseName(path);
  return repositoryPath(relativePath.split('/').map(nameFromFile).join('/'), "the file's path");
}

/** The folder of a delivered site: `path`, or its own name in `path` if there are several. */
export function siteName(folder: string, path: string | undefined, isOnly: boolean): string {
  if (path !== undefined && isOnly) return path;
  return `${path === undefined || path === './' ? '' : path}${nameFromFile(basename(folder))}`;
}

/** What a path in a repository must not be, what is wrong then, and what to change. */
const PATH_RULES: readonly (readonly [broken: RegExp, problem: string, hint: string])[] = [
  [/^$/, 'is empty', 'name a file, or ./ for the root of the site'],
  [new RegExp(`^.{${TEXT.path + 1}}`, 's'), `is longer than ${TEXT.path} characters`, 'choose a shorter one'],
  [/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, 'contains control characters', 'remove them'],
  [/\s/, 'contains a space', 'remove it, or write - or _ in its place'],
  [/\\/, 'contains a backslash', 'write / between folders, or rename the file'],
  [/\*/, 'contains *, and is no pattern', 'write each path in full'],
  [/:(?:\/|$)/, 'is an address, or has a part that ends in :', 'write only what follows https://…/'],
  [/^\//, 'starts with a slash', 'write it without this slash: it is relative to the repository'],
  [
    /(?:^|\/)\.\.?(?:\/|$)/,
    'contains . or .. as a folder',
    'write it without them: it is relative to the repository',
  ],
  [/\/(?:\/|$)/, 'has an empty folder or file name', 'remove the extra slash'],
  [/(?:^|\/)\.git(?:\/|$)/i, 'leads into .git', 'choose another place'],
  [/^\.github(?:\/|$)/i, 'leads into .github', 'choose another place'],
];

/**
 * A path in a repository, composed (NFC) and checked.
 *
 * @param label how the error message calls it, such as "the file's name"
 * @throws {DeliveryError} `BAD_INPUT` with the rule that the path breaks, and what to change.
 */
export function repositoryPath(given: string, label: Text): string {
  const path = given.normalize('NFC');
  const rule = PATH_RULES.find(([broken]) => broken.test(path));
  if (rule === undefined) return path;
  const [, problem, hint] = rule;
  throw new DeliveryError('BAD_INPUT', (w) => `${w.say(label)} ${problem}`, { hint });
}

/**
 * A path as browsers write it: some hosts know `/@app.js`, and not `/%40app.js`.
 *
 * @see protocol 4, https://url.spec.whatwg.org/#path-percent-encode-set
 */
export const encodePath = (path: string): string => encodeURI(path).replace(/[?#]/g, encodeURIComponent);

/** The path of a URL as a server reads it: an invalid escape stays, several slashes count as one. */
export const decodePath = (pathname: string): string => decodePercents(pathname.replace(/\/{2,}/g, '/'));

/** The address of a path below a folder's, which may lack its last slash. */
export function urlBelow(folder: URL, path: string): URL {
  const url = new URL(folder);
  // Resolved as an address, `a:b` would be one of its own.
  url.pathname = `${folder.pathname.replace(/\/$/, '')}/${encodePath(path)}`;
  url.search = '';
  url.hash = '';
  return url;
}

/** The address of a folder's page: that of the folder itself. */
export const entryUrl = (page: URL): URL => new URL(page.href.replace(/\/index\.html$/, '/'));

/** The address with `?v=`: no cache has an answer to a value that is new. */
export function withVersion(address: URL | string, value: string): URL {
  const url = new URL(address);
  url.searchParams.set('v', value);
  return url;
}

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** A path as one name, for a host without folders. */
export const flatName = (name: string): string => name.replaceAll('/', '-');

/** A name that GitHub keeps for an asset: it replaces other characters by dots, and names without ASCII by `default`. */
export async function assetName(name: string): Promise<string> {
  const ascii = (await transliterateName(name))
    .replace(/[^A-Za-z0-9\-_+@.]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[.-]+/, '')
    .replace(/-+(?=\.|$)/g, '');
  const ending = /\.[A-Za-z0-9]+$/.exec(name)?.[0] ?? '';
  return ascii === '' || ascii === ending.slice(1) ? `file${ending}` : ascii;
}

/** The name in ASCII letters; the tables for that are loaded only where it has others. */
async function transliterateName(name: string): Promise<string> {
  if (/^[ -~]*$/.test(name)) return name;
  const { default: transliterate } = await import(/* webpackMode: "eager" */ '@sindresorhus/transliterate');
  return transliterate(name);
}

/** A name that the file-bin stores unchanged; to a second upload under any other it answers 500. */
export function binFileName(name: string): string {
  const safe = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{Nd}\-_=+,.()[\]]/gu, '_')
    .replace(/^\./, '_');
  return cutToBytes(safe, BIN_FILE_NAME);
}

function cutToBytes(name: string, limit: number): string {
  if (Buffer.byteLength(name) <= limit) return name;
  const ending = /\.[^.]{1,16}$/u.exec(name)?.[0] ?? '';
  let stem = [...name.slice(0, name.length - ending.length)];
  while (Buffer.byteLength(stem.join('') + ending) > limit) stem = stem.slice(0, -1);
  return stem.join('') + ending;
}
