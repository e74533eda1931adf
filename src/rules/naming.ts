import { basename } from 'node:path';
import { DeliveryError } from '../errors.ts';
import { BIN_FILE_NAME, TEXT } from '../protocol/limits.ts';
import type { Text } from '../words.ts';
import { decodePercents } from './page/addresses.ts';

/**
 * The name under which a local file is published: composed letters (NFC), `-` for spaces. @see protocol 1 (file rules)
 *
 * @throws {DeliveryError} `BAD_INPUT` with the rule that the name breaks.
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

/** What a path in a repository must not contain, the problem, and the hint. */
const PATH_RULES: readonly (readonly [broken: RegExp, problem: string, hint: string])[] = [
  [/^$/, 'is empty', 'name a file, or ./ for the root of the site'],
  [new RegExp(`^.{${TEXT.path + 1}}`, 's'), `is longer than ${TEXT.path} characters`, 'choose a shorter one'],
  [/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, 'contains control characters', 'remove them'],
  [/\s/, 'contains a space', 'remove it, or write - or _ in its place'],
  [/\\/, 'contains a backslash', 'write / between folders, or rename the file'],
  [/\*/, 'contains *, but is not a pattern', 'write each path in full'],
  [/:(?:\/|$)/, 'is a URL, or has a part that ends in :', 'write only what follows https://…/'],
  [/^\//, 'starts with a slash', 'write it without this slash: it is relative to the repository'],
  [
    /(?:^|\/)\.\.?(?:\/|$)/,
    'contains . or .. as a folder',
    'write it without them: it is relative to the repository',
  ],
  [/\/(?:\/|$)/, 'has an empty folder or file name', 'remove the extra slash'],
  [/(?:^|\/)\.git(?:\/|$)/i, 'leads into .git', 'choose another path'],
  [/^\.github(?:\/|$)/i, 'leads into .github', 'choose another path'],
];

/**
 * Composes (NFC) and checks a path in a repository. @param label the name of the path in the error message
 *
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
 * Encodes a path as browsers do: some hosts know `/@app.js`, but not `/%40app.js`.
 * @see protocol 4, https://url.spec.whatwg.org/#path-percent-encode-set
 */
export const encodePath = (path: string): string => encodeURI(path).replace(/[?#]/g, encodeURIComponent);

/** Decodes the path of a URL as servers do: keeps invalid escapes, and joins repeated slashes. */
export const decodePath = (pathname: string): string => decodePercents(pathname.replace(/\/{2,}/g, '/'));

/** The URL of a path below a folder. @param folder with or without its last slash */
export function urlBelow(folder: URL, path: string): URL {
  const url = new URL(folder);
  // As a relative URL, `a:b` would have the scheme `a`.
  url.pathname = `${folder.pathname.replace(/\/$/, '')}/${encodePath(path)}`;
  url.search = '';
  url.hash = '';
  return url;
}

/** The URL of a page, without `index.html`. */
export const entryUrl = (page: URL): URL => new URL(page.href.replace(/\/index\.html$/, '/'));

/** Adds `?v=` with a new value, so that no cache has an answer. */
export function withVersion(address: URL | string, value: string): URL {
  const url = new URL(address);
  url.searchParams.set('v', value);
  return url;
}

/** The URL as people open it; any other text as it is. */
export function withoutVersion(address: string): string {
  const url = URL.parse(address);
  url?.searchParams.delete('v');
  return url?.href ?? address;
}

/** Where agents publish unless a call names another folder. In the root, a file could affect the whole site. */
export const agentPath = (path: string): string => `agent/${path}`;

/** Whether an item's path is a folder, which ends in `/`, or the root. */
export const isFolderPath = (itemPath: string): boolean => itemPath === '' || itemPath.endsWith('/');

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The number of the pull request in the name of a folder, such as `pr-12/` or `12/`; `null` for `v2` or `2026-01-12`. */
export function pullNumberOf(folder: string): number | null {
  const [, number] =
    /^(?:[a-z_-]*[a-z_-]{2})?([1-9]\d{0,8})$/i.exec(baseName(folder.replace(/\/$/, ''))) ?? [];
  return number === undefined ? null : Number(number);
}

/** A path as a single name, for a host without folders. */
export const flatName = (name: string): string => name.replaceAll('/', '-');

/** An asset name that GitHub keeps: it replaces other characters with dots, and non-ASCII names with `default`. */
export async function assetName(name: string): Promise<string> {
  // It takes 10 ms to load. `eager` keeps the bundle in one file.
  const { default: toAscii } = /^[ -~]*$/.test(name)
    ? { default: String }
    : await import(/* webpackMode: "eager" */ '@sindresorhus/transliterate');
  const ascii = toAscii(name)
    .replace(/[^A-Za-z0-9\-_+@.]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[.-]+/, '')
    .replace(/-+(?=\.|$)/g, '');
  const ending = /\.[A-Za-z0-9]+$/.exec(name)?.[0] ?? '';
  return ascii === '' || ascii === ending.slice(1) ? `file${ending}` : ascii;
}

/** A name that the file-bin stores unchanged; a second upload under any other name gets 500. */
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
  const room = limit - Buffer.byteLength(ending);
  // A character that was cut in two becomes a replacement character.
  return (
    Buffer.from(name)
      .toString('utf8', 0, room)
      .replace(/\ufffd+$/, '') + ending
  );
}
