import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, parse, relative, resolve, sep } from 'node:path';
import { DeliveryError } from '../errors.ts';
import { BATCH } from '../protocol/limits.ts';
import { isBelow, isListed, LIST_HINT, listWays, type PathProblem } from '../rules/open-file.ts';
import { refuseProblems, walkFolder } from '../rules/walk-folder.ts';
import type { Text } from '../words.ts';
import { refuseInput } from './input-kinds.ts';
import {
  type FilePattern,
  type IsLeftOut,
  isExclusion,
  type LeftOutPaths,
  matches,
  matchesBelow,
  readExclusions,
  readPattern,
} from './patterns.ts';

export interface NamedFile {
  /** The path below the folder that all files share, separated by `/`. */
  readonly relativePath: string;
  /** The absolute folder that symbolic links must not leave: the file's own, or the folder before a pattern. */
  readonly root: string;
}

export type FindFiles = (
  lines: readonly string[],
  folder: string,
  signal?: AbortSignal,
) => Promise<ReadonlyMap<string, NamedFile>>;

/** Reads each line as a literal path. @throws {DeliveryError} `BAD_INPUT` for a `!` line */
export const findLiteralFiles: FindFiles = async (lines, folder) => {
  const line = lines.length > 1 && lines.find(isExclusion);
  if (line) refuseInput(`${line} excludes no file here`, 'name each file to deliver, without patterns');
  const files = new Map(lines.map((line) => [resolve(folder, line), nameFile(line, folder)]));
  return addRelativePaths(files, [...files.keys()].map(dirname), folder);
};

interface FoundFile {
  readonly given: string;
  readonly root: string;
  readonly problem: PathProblem | null;
}

const nameFile = (line: string, folder: string): FoundFile => ({
  given: line,
  root: dirname(resolve(folder, line)),
  problem: null,
});

/**
 * Finds files by `*`, `**`, `?` and `[…]`, except those that a `!` line excludes. An exact name is not a pattern. Hidden
 * names must be written out, because hidden files often contain credentials.
 *
 * @throws {DeliveryError} `BAD_INPUT` for a line without effect; `BAD_FILE` for files that can't be delivered
 */
export const findFiles: FindFiles = async (lines, folder, signal) => {
  const files = new Map<string, FoundFile>();
  const named: string[] = [];
  const roots: string[] = [];
  const { exclusions, isLeftOut } = readExclusions(lines, folder);
  for (const line of lines.filter((text) => !isExclusion(text))) {
    const path = resolve(folder, line);
    if (!/[*?[]/.test(line) || (await exists(path))) {
      named.push(path);
      if (isLeftOut(path)) continue;
      files.set(path, nameFile(line, folder));
      roots.push(dirname(path));
    } else {
      const pattern = readPattern(line, folder);
      const found = await findMatches(pattern, folder, isLeftOut, signal);
      if (found.length === 0) throw noMatchError(line);
      for (const [match, file] of found) if (!files.has(match)) files.set(match, file);
      named.push(pattern.root);
      roots.push(pattern.root);
    }
  }
  if (files.size === 0 && exclusions.length > 0) refuseNothingLeft(lines);
  // A folder to withdraw need not exist here.
  if ((await Promise.all(named.map(exists))).every(Boolean)) await refuseElsewhere(exclusions, named);
  refuseFound([...files.values()]);
  if (files.size > BATCH.files) {
    refuseInput(
      (w) => `${w.subject('file')} matches more than ${BATCH.files} files`,
      'narrow the pattern, and deliver the rest in a second step',
    );
  }
  return addRelativePaths(files, roots, folder);
};

/** A `!` line must name an existing path in or around the other lines: a mistake in it would publish files. */
async function refuseElsewhere(exclusions: readonly LeftOutPaths[], named: readonly string[]): Promise<void> {
  const ways = named.flatMap(listWays);
  for (const { roots, line } of exclusions) {
    const forms = roots.flatMap((root) => [root, root.normalize('NFC'), root.normalize('NFD')]);
    const near = forms.filter((root) => ways.some((path) => isBelow(path, root) || isBelow(root, path)));
    const found = await Promise.all(near.map(exists));
    if (found.includes(true)) continue;
    refuseInput(
      `the line ${line} does not exclude anything`,
      (w) => `correct its path, which is relative to ${w.folder} (\`!**/name\` is a name in any folder)`,
    );
  }
}

function refuseFound(files: readonly FoundFile[]): void {
  const found = files.flatMap(({ given: path, problem }) => (problem === null ? [] : [{ path, problem }]));
  const pattern = `${found[0]?.path.replace(/[/\\]$/, '$&**')}`;
  const message: Text = (w) => `${w.subject('file')} matches files that can't be delivered`;
  refuseProblems(message, found, (w) => `, or ${w.leaveOut(pattern)}`);
}

function refuseNothingLeft(lines: readonly string[]): void {
  const named = lines.filter((line) => !isExclusion(line)).join(' ');
  if (named === '') refuseInput('only `!` lines are given', 'add a line that names the file or folder');
  refuseInput(`the \`!\` lines exclude all of ${named}`, 'remove or correct one of them');
}

const noMatchError = (subject: string): DeliveryError =>
  new DeliveryError('BAD_INPUT', (w) => `${w.subject('file')} matches no file: ${subject}`, {
    hint: (w) =>
      isListed(subject)
        ? LIST_HINT
        : sep === '/' && subject.includes('\\')
          ? 'write / between folders'
          : `create the file first, or correct the pattern, which is relative to ${w.folder}`,
    step: 'check',
    subject,
  });

const exists = async (path: string): Promise<boolean> => (await lstat(path).catch(() => null)) !== null;

export const isFolderAt = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isDirectory() === true;

async function findMatches(pattern: FilePattern, folder: string, isLeftOut: IsLeftOut, signal?: AbortSignal) {
  const { root, line, parts: names } = pattern;
  const found: [path: string, file: FoundFile][] = [];
  const isAbsent = await stat(root).then(
    (stats) => !stats.isDirectory(),
    ({ code }) => ['ENOENT', 'ENOTDIR'].includes(code),
  );
  if (isAbsent || isLeftOut(root)) return found;
  let met = 0;
  const enters = (path: string, isLink: boolean): boolean => matchesBelow(pattern, path, isLink);
  for await (const { path, isSkipped, problem } of walkFolder(root, { enters, isLeftOut, names })) {
    signal?.throwIfAborted();
    met += 1;
    if (met > BATCH.looked)
      refuseInput(`${line} has to check more than ${BATCH.looked} files`, 'narrow the pattern');
    if (isSkipped) continue;
    const full = resolve(root, path);
    // Files of an unreadable folder must not be missing silently.
    const isMet = path.endsWith('/') ? problem !== null : matches(pattern, full);
    const end = path.endsWith('/') ? '/' : '';
    // Only absolute paths may leave the allowed folder.
    const given = isAbsolute(line) && !isBelow(folder, full) ? full : relative(folder, full);
    if (isMet) found.push([full + end, { given: given + end, root, problem }]);
    if (found.length > BATCH.files) break;
  }
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

function addRelativePaths(
  files: ReadonlyMap<string, FoundFile>,
  roots: readonly string[],
  folder: string,
): ReadonlyMap<string, NamedFile> {
  const relativePathOf = createRelativePaths(roots, folder);
  return new Map(
    [...files].map(([path, { given, root }]) => [given, { root, relativePath: relativePathOf(path) }]),
  );
}

/** Returns a function that makes absolute paths relative to the roots' common folder, inside `folder` or outside. */
export function createRelativePaths(roots: readonly string[], folder: string): (path: string) => string {
  const inside = findCommonFolder(roots.filter((root) => isBelow(folder, root)));
  const others = roots.filter((root) => !isBelow(folder, root));
  const shared = findCommonFolder(others);
  // All folders share the root, and must not reveal the layout of this machine.
  const outside = others.length > 1 && shared === parse(shared ?? '').root ? undefined : shared;
  return (path) => {
    const root = [inside, outside].find((shared) => shared !== undefined && isBelow(shared, path));
    return (root === undefined ? basename(path) : relative(root, path)).replaceAll(sep, '/');
  };
}

function findCommonFolder([first, ...others]: readonly string[]): string | undefined {
  const parts = others.map((folder) => folder.split(sep));
  const isShared = (part: string, at: number): boolean => parts.every((other) => other[at] === part);
  const own = first?.split(sep);
  const end = own?.findIndex((part, at) => !isShared(part, at)) ?? 0;
  return own && (own.slice(0, end === -1 ? own.length : end).join(sep) || sep);
}

/** @throws {DeliveryError} `BAD_INPUT` if `path` names one file, but there are several. */
export function refuseOneNameForMany(count: number, path: string | undefined): void {
  if (count < 2 || path === undefined || path.endsWith('/')) return;
  refuseInput(
    (w) => `${w.subject('path')} is one name for several files`,
    (w) => `set ${w.input('path', `${path}/`)} to make it their folder`,
  );
}
