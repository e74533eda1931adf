import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, matchesGlob, parse, relative, resolve, sep } from 'node:path';
import { DeliveryError } from '../errors.ts';
import { firstFew } from '../plain-text.ts';
import { BATCH } from '../protocol/limits.ts';
import { baseName, nameFromFile, repositoryPath } from '../rules/naming.ts';
import { describeProblem, walkFolder } from '../rules/walk-folder.ts';
import { refuseInput } from './input-kinds.ts';

/** Finds what lines name: each with its place below the folder that all have in common, separated by `/`. */
export type FindFiles = (
  lines: readonly string[],
  folder: string,
  signal?: AbortSignal,
) => Promise<ReadonlyMap<string, string>>;

/** Each line is a file's path, letter by letter. */
export const findLiteralFiles: FindFiles = async (lines, folder) => {
  const files = new Map(lines.map((line) => [resolve(folder, line), line]));
  return placeFiles(files, [...files.keys()].map(dirname), folder);
};

/** A file that lines name: as it is given, and why it can't be delivered, if that is known. */
interface FoundFile {
  readonly given: string;
  readonly problem: string | null;
}

/**
 * Finds files by `*`, `**`, `?` and `[…]`; `!` before a pattern leaves out what the lines above it have found. An exact
 * name means just that. Patterns match no hidden file, since those hold credentials more often than pages.
 *
 * @throws {DeliveryError} `BAD_FILE` that names all that a pattern matches and nobody can deliver, such as a link
 */
export const findFiles: FindFiles = async (lines, folder, signal) => {
  const files = new Map<string, FoundFile>();
  const named = new Set<string>();
  const roots: string[] = [];
  // A later line may leave files out again; without one the search ends early.
  const most = lines.some((line) => line.startsWith('!')) ? Number.POSITIVE_INFINITY : BATCH.files + 1;
  for (const line of lines) {
    const path = resolve(folder, line);
    const [, excluded] = /^!\s*(.*)$/s.exec(line) ?? [];
    if (!/^!|[*?[]/.test(line) || (await exists(path))) {
      files.set(path, { given: line, problem: null });
      named.add(path);
      roots.push(dirname(path));
    } else if (excluded !== undefined) {
      const pattern = readPattern(excluded, folder);
      for (const match of files.keys()) {
        if (!named.has(match) && matches(pattern, match)) files.delete(match);
      }
    } else {
      const pattern = readPattern(line, folder);
      const found = await findMatches(pattern, folder, most, signal);
      if (found.length === 0) throw noMatchError(line);
      for (const [match, file] of found) if (!files.has(match)) files.set(match, file);
      roots.push(pattern.root);
    }
  }
  if (files.size === 0 && lines.length > 0) throw noMatchError(lines.join(' '));
  refuseProblems([...files.values()]);
  if (files.size > BATCH.files) {
    refuseInput((w) => `${w.subject('file')} matches more than ${BATCH.files} files`, 'narrow the pattern');
  }
  return placeFiles(new Map([...files].map(([path, { given }]) => [path, given])), roots, folder);
};

function refuseProblems(files: readonly FoundFile[]): void {
  const found = files.filter(({ problem }) => problem !== null);
  const [first] = found;
  if (first === undefined) return;
  throw new DeliveryError('BAD_FILE', (w) => `${w.subject('file')} matches what can't be delivered`, {
    hint: `put regular files in its place, or leave it out: add the line \`!${first.given.replace(/[/\\]$/, '$&**')}\``,
    findings: firstFew(found.map(({ given, problem }) => describeProblem(given, problem ?? ''))),
    step: 'check',
  });
}

const noMatchError = (subject: string): DeliveryError =>
  new DeliveryError('BAD_INPUT', (w) => `${w.subject('file')} matches no file: ${subject}`, {
    hint: (w) =>
      `correct the pattern, which is relative to ${w.folder} and finds no folders (\`**\` finds all files in them), and make sure that the file is there`,
    step: 'check',
    subject,
  });

const exists = async (path: string): Promise<boolean> => (await lstat(path).catch(() => null)) !== null;

export const isFolderAt = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => null))?.isDirectory() === true;

/** A pattern: the folder before its first sign, which is absolute, and the parts from there on. */
interface Pattern {
  readonly line: string;
  readonly root: string;
  readonly parts: readonly string[];
}

function readPattern(line: string, folder: string): Pattern {
  const parts = line.split(sep === '/' ? '/' : /[\\/]/);
  const first = parts.findIndex((part) => /[*?[{]/.test(part));
  const root = parts.slice(0, first).join(sep) || (line.startsWith('/') ? sep : '.');
  return { line, root: resolve(folder, root), parts: parts.slice(first).filter((part) => part !== '.') };
}

/** Whether a pattern matches an absolute path; it matches a folder, which ends in a slash, with what is in it. */
function matches({ root, parts }: Pattern, path: string): boolean {
  const below = relative(root, path);
  const isFolder = /[\\/]$/.test(path);
  return [below, ...(isFolder ? [join(below, '*')] : [])].some((one) => matchesGlob(one, parts.join('/')));
}

/** Whether a pattern matches files in a folder that the search meets. */
function matchesBelow({ parts }: Pattern, path: string): boolean {
  const folders = path.split('/').filter((name) => name !== '' && name !== '.');
  if (folders.length === 0) return true;
  const anyDepth = parts.indexOf('**');
  if (anyDepth !== -1 && folders.length > anyDepth) return true;
  const own = parts.slice(0, folders.length).join('/');
  return folders.length < parts.length && matchesGlob(folders.join('/'), own);
}

/** By absolute paths, sorted, and only the first ones. */
async function findMatches(pattern: Pattern, folder: string, most: number, signal?: AbortSignal) {
  const { root, line } = pattern;
  const found: [path: string, file: FoundFile][] = [];
  const isHiddenRoot = /(^|[\\/])\.(?!\.?([\\/]|$))/.test(relative(folder, root));
  // If the root can't be read, the walk says why.
  const isAbsent = await stat(root).then(
    (one) => !one.isDirectory(),
    ({ code }) => ['ENOENT', 'ENOTDIR'].includes(code),
  );
  if (isHiddenRoot || isAbsent) return found;
  let met = 0;
  for await (const { path, isHidden, problem } of walkFolder(root, (one) => matchesBelow(pattern, one))) {
    signal?.throwIfAborted();
    met += 1;
    if (met > BATCH.looked)
      refuseInput(`${line} meets more than ${BATCH.looked} files`, 'narrow the pattern');
    if (isHidden) continue;
    const full = resolve(root, path);
    // The files of a linked or unreadable folder would be missing without a word.
    const isMissed =
      problem !== null &&
      matchesBelow(pattern, path) &&
      (path.endsWith('/') || (await stat(full).catch(() => null))?.isDirectory() === true);
    const end = isMissed ? '/' : '';
    const isMet = isMissed || (!path.endsWith('/') && matches(pattern, full));
    if (isMet) found.push([full + end, { given: relative(folder, full) + end, problem }]);
    if (found.length === most) break;
  }
  return found.sort(([one], [other]) => (one < other ? -1 : 1));
}

/** The places of files (names by absolute paths) below `roots`; what is outside of `folder` changes no other. */
export function placeFiles(
  files: ReadonlyMap<string, string>,
  roots: readonly string[],
  folder: string,
): ReadonlyMap<string, string> {
  const inside = findCommonFolder(roots.filter((root) => isBelow(folder, root)));
  const others = roots.filter((root) => !isBelow(folder, root));
  const shared = findCommonFolder(others);
  // All folders have the root in common: what lies below it is the layout of this machine.
  const outside = others.length > 1 && shared === parse(shared ?? '').root ? undefined : shared;
  const places = [...files].map(([path, given]): readonly [string, string] => {
    const root = [inside, outside].find((one) => one !== undefined && isBelow(one, path));
    const place = root === undefined ? basename(path) : relative(root, path);
    return [given, place.replaceAll(sep, '/')];
  });
  return new Map(places);
}

/** Whether a path is a folder itself, or below it. On Windows, another drive is not. */
function isBelow(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return !isAbsolute(below) && below !== '..' && !below.startsWith(`..${sep}`);
}

function findCommonFolder([first, ...others]: readonly string[]): string | undefined {
  const parts = others.map((folder) => folder.split(sep));
  const isShared = (part: string, at: number): boolean => parts.every((other) => other[at] === part);
  const own = first?.split(sep);
  const end = own?.findIndex((part, at) => !isShared(part, at)) ?? 0;
  return own && (own.slice(0, end === -1 ? own.length : end).join(sep) || sep);
}

/** The name that a file gets: that of `path`, or its own with its folders. @throws {DeliveryError} */
export function deliveredName(place: string, path: string | undefined): string {
  if (path !== undefined && !path.endsWith('/')) return baseName(path);
  return repositoryPath(place.split('/').map(nameFromFile).join('/'), "the file's path");
}

/** The folder that a site gets: that of `path`, or its own name; of several, its own name in `path`. */
export function siteName(folder: string, path: string | undefined, isOnly: boolean): string {
  if (path !== undefined && isOnly) return path;
  return `${path === undefined || path === './' ? '' : path}${nameFromFile(basename(folder))}`;
}

/** @throws {DeliveryError} `BAD_INPUT` where `path` names one file, and there are several. */
export function refuseOneNameForMany(count: number, path: string | undefined): void {
  if (count < 2 || path === undefined || path.endsWith('/')) return;
  refuseInput(
    (w) => `${w.subject('path')} is one name for several files`,
    (w) => `set ${w.input('path', `${path}/`)} to make it their folder`,
  );
}
