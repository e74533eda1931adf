import transliterate from '@sindresorhus/transliterate';
import { DeliveryError } from '../errors.ts';
import { TEXT } from '../protocol/limits.ts';

/**
 * Names and paths: what is taken, and how each host must be given it.
 *
 * @see protocol 1 (file rules)
 */

/** A file's own name as it may stand in a channel: composed letters, `-` for spaces. */
export function nameFromFile(basename: string): string {
  return repositoryPath(basename.normalize('NFC').trim().replace(/\s+/gu, '-'), "the file's name");
}

/** A rule that a path in a repository must keep, and what to do when it doesn't. */
interface PathRule {
  readonly broken: (path: string, segments: readonly string[]) => boolean;
  readonly says: string;
}

const PATH_RULES: readonly PathRule[] = [
  { broken: (path) => path === '', says: 'is empty: name a file' },
  { broken: (path) => path.length > TEXT.path, says: `is longer than ${TEXT.path} characters` },
  {
    broken: (path) => /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/u.test(path),
    says: 'holds control characters: remove them',
  },
  { broken: (path) => /\s/u.test(path), says: 'holds a space: use - or _ instead' },
  { broken: (path) => path.includes('\\'), says: 'holds a backslash: separate folders by /' },
  {
    broken: (path) => path.startsWith('/'),
    says: 'starts with a slash: write it relative to the repository',
  },
  {
    broken: (_, segments) => segments.some((segment) => segment === '..' || segment === '.'),
    says: 'holds . or .. as a folder: write the path without it',
  },
  {
    broken: (_, segments) => segments.includes(''),
    says: 'has an empty folder or file name: remove the extra slash',
  },
  {
    broken: (_, segments) => segments.some((segment) => /^\.git$/iu.test(segment)),
    says: 'leads into .git: choose another folder',
  },
  {
    broken: (_, segments) => segments[0]?.toLowerCase() === '.github',
    says: 'leads into .github: choose another folder',
  },
];

/**
 * A path within a repository, composed (NFC) and checked.
 *
 * @param what how the refusal calls it, such as "input `path`"
 * @throws {DeliveryError} `BAD_INPUT` naming the rule it breaks.
 */
export function repositoryPath(given: string, what: string): string {
  const path = given.normalize('NFC');
  const segments = path.split('/');
  const rule = PATH_RULES.find((one) => one.broken(path, segments));
  if (rule !== undefined) throw new DeliveryError('BAD_INPUT', `${what} ${rule.says}`);
  return path;
}

/** Percent-encodes every segment of a path and keeps its slashes. @see protocol 4 */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** The last segment of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The name for a host that knows no folders. */
export function flatName(name: string): string {
  return name.replaceAll('/', '-');
}

/**
 * A name that a release asset keeps as it is: GitHub turns anything else into dots, and names of
 * only foreign letters into `default`, where they collide.
 */
export function assetName(name: string): string {
  const ascii = transliterate(name)
    .replace(/[^A-Za-z0-9\-_+@.]+/g, '-')
    .replace(/^[.-]+/, '')
    .replace(/-+(?=\.|$)/g, '');
  const ending = /\.[A-Za-z0-9]+$/.exec(name)?.[0] ?? '';
  return ascii === '' || ascii === ending.slice(1) ? `file${ending}` : ascii;
}

/**
 * A name that the file-bin stores unchanged: it replaces other characters, collapses spaces and
 * cuts at 120 bytes, and answers 500 to a second upload of a name that it would change.
 */
export function binFileName(name: string): string {
  const safe = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{Nd}\-_=+,.()[\]]/gu, '_')
    .replace(/^\./, '_');
  return cutToBytes(safe, 120);
}

/** Shortens a name to so many UTF-8 bytes and keeps its ending. */
function cutToBytes(name: string, limit: number): string {
  if (Buffer.byteLength(name) <= limit) return name;
  const ending = /\.[^.]{1,16}$/u.exec(name)?.[0] ?? '';
  let stem = [...name.slice(0, name.length - ending.length)];
  while (Buffer.byteLength(stem.join('') + ending) > limit) stem = stem.slice(0, -1);
  return stem.join('') + ending;
}
