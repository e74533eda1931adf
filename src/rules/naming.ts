import { DeliveryError } from '../errors.ts';
import { TEXT } from '../protocol/limits.ts';
import type { Text } from '../words.ts';

/**
 * The name under which a local file is published: composed letters (NFC), `-` for spaces.
 *
 * @throws {DeliveryError} `BAD_INPUT` with the rule that the name breaks.
 * @see protocol 1 (file rules)
 */
export function nameFromFile(fileName: string): string {
  return repositoryPath(fileName.normalize('NFC').trim().replace(/\s+/gu, '-'), "the file's name");
}

/** A rule for paths in a repository. */
interface PathRule {
  readonly isBroken: (path: string, segments: readonly string[]) => boolean;
  readonly problem: string;
  /** What to change. */
  readonly hint: string;
}

const PATH_RULES: readonly PathRule[] = [
  { isBroken: (path) => path === '', problem: 'is empty', hint: 'name a file' },
  {
    isBroken: (path) => path.length > TEXT.path,
    problem: `is longer than ${TEXT.path} characters`,
    hint: 'choose a shorter one',
  },
  {
    isBroken: (path) => /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/u.test(path),
    problem: 'contains control characters',
    hint: 'remove them',
  },
  {
    isBroken: (path) => /\s/u.test(path),
    problem: 'contains a space',
    hint: 'remove it, or write - or _ in its place',
  },
  {
    isBroken: (path) => path.includes('\\'),
    problem: 'contains a backslash',
    hint: 'separate folders by /',
  },
  {
    isBroken: (path) => path.startsWith('/'),
    problem: 'starts with a slash',
    hint: 'write it without this slash: it is relative to the repository',
  },
  {
    isBroken: (_, segments) => segments.some((segment) => segment === '..' || segment === '.'),
    problem: 'contains . or .. as a folder',
    hint: 'write it without them: it is relative to the repository',
  },
  {
    isBroken: (_, segments) => segments.includes(''),
    problem: 'has an empty folder or file name',
    hint: 'remove the extra slash',
  },
  {
    isBroken: (_, segments) => segments.some((segment) => /^\.git$/iu.test(segment)),
    problem: 'leads into .git',
    hint: 'choose another place',
  },
  {
    isBroken: (_, segments) => segments[0]?.toLowerCase() === '.github',
    problem: 'leads into .github',
    hint: 'choose another place',
  },
];

/**
 * A path in a repository, composed (NFC) and checked.
 *
 * @param label how the error message calls it, such as "the file's name"
 * @throws {DeliveryError} `BAD_INPUT` with the rule that the path breaks, and what to change.
 */
export function repositoryPath(given: string, label: Text): string {
  const path = given.normalize('NFC');
  const segments = path.split('/');
  const rule = PATH_RULES.find(({ isBroken }) => isBroken(path, segments));
  if (rule === undefined) return path;
  throw new DeliveryError('BAD_INPUT', (w) => `${w.say(label)} ${rule.problem}`, { hint: rule.hint });
}

/** Percent-encodes every segment of a path and keeps its slashes. @see protocol 4 */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** The address of a folder's page: that of the folder itself. */
export const entryUrl = (page: URL): URL => new URL(page.href.replace(/\/index\.html$/, '/'));

/** The last segment of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A path as one name, for a host without folders. */
export function flatName(name: string): string {
  return name.replaceAll('/', '-');
}

/**
 * A name that GitHub keeps unchanged for a release asset. It replaces other characters by dots, several dots by
 * one, and names without any ASCII letter by `default`, so that they collide.
 */
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

/**
 * A name that the file-bin stores unchanged. It replaces other characters, collapses spaces, cuts at 120
 * bytes, and answers 500 to a second upload under a name that it would change.
 */
export function binFileName(name: string): string {
  const safe = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{Nd}\-_=+,.()[\]]/gu, '_')
    .replace(/^\./, '_');
  return cutToBytes(safe, 120);
}

/** Shortens a name to a number of UTF-8 bytes and keeps its ending. */
function cutToBytes(name: string, limit: number): string {
  if (Buffer.byteLength(name) <= limit) return name;
  const ending = /\.[^.]{1,16}$/u.exec(name)?.[0] ?? '';
  let stem = [...name.slice(0, name.length - ending.length)];
  while (Buffer.byteLength(stem.join('') + ending) > limit) stem = stem.slice(0, -1);
  return stem.join('') + ending;
}
