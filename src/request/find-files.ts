import { glob, lstat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, parse, relative, resolve, sep } from 'node:path';
import { DeliveryError } from '../errors.ts';
import { BATCH } from '../protocol/limits.ts';
import { baseName, nameFromFile, repositoryPath } from '../rules/naming.ts';
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

/**
 * Finds files by `*`, `**`, `?` and `[…]`; `!` before a pattern leaves out what the lines above it have found. The
 * exact name of something that exists means just that. Patterns match regular files alone, none that is hidden (those
 * hold credentials more often than pages), and follow no links.
 */
export const findFiles: FindFiles = async (lines, folder, signal) => {
  const files = new Map<string, string>();
  const named = new Set<string>();
  const roots: string[] = [];
  // What is found may be left out again; else the search need not go on.
  const most = lines.some((line) => line.startsWith('!')) ? Number.POSITIVE_INFINITY : BATCH.files + 1;
  for (const line of lines) {
    const path = resolve(folder, line);
    const [, excluded] = /^!\s*(.*)$/s.exec(line) ?? [];
    if (!/^!|[*?[]/.test(line) || (await exists(path))) {
      files.set(path, line);
      named.add(path);
      roots.push(dirname(path));
    } else if (excluded !== undefined) {
      for (const match of await findMatches(excluded, folder, most, signal)) {
        if (!named.has(match)) files.delete(match);
      }
    } else {
      const matches = await findMatches(line, folder, most, signal);
      if (matches.length === 0) throw noMatchError(line);
      for (const match of matches) if (!files.has(match)) files.set(match, relative(folder, match));
      roots.push(resolve(folder, findSearchRoot(line)));
    }
  }
  if (files.size === 0 && lines.length > 0) throw noMatchError(lines.join(' '));
  if (files.size > BATCH.files) {
    refuseInput((w) => `${w.subject('file')} matches more than ${BATCH.files} files`, 'narrow the pattern');
  }
  return placeFiles(files, roots, folder);
};

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

/** The folders before the first pattern. */
function findSearchRoot(line: string): string {
  const parts = line.split(/[\\/]/);
  const first = parts.findIndex((part) => /[*?[]/.test(part));
  return parts.slice(0, first).join(sep) || (line.startsWith('/') ? sep : '.');
}

/** Absolute, sorted, and only the first ones. */
async function findMatches(pattern: string, folder: string, most: number, signal?: AbortSignal) {
  const paths: string[] = [];
  let left = BATCH.looked;
  // It is asked of all that the search meets, also where nothing matches.
  const exclude = (): boolean => {
    signal?.throwIfAborted();
    left -= 1;
    if (left < 0) refuseInput(`${pattern} meets more than ${BATCH.looked} files`, 'narrow the pattern');
    return false;
  };
  for await (const entry of glob(pattern, { cwd: folder, withFileTypes: true, exclude })) {
    const path = resolve(folder, entry.parentPath, entry.name);
    const isHidden = /(^|[\\/])\.(?!\.?([\\/]|$))/.test(relative(folder, path));
    if (entry.isFile() && !isHidden) paths.push(path);
    if (paths.length === most) break;
  }
  return paths.sort();
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
