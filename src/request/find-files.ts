import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, parse, relative, resolve, sep } from 'node:path';
import { DeliveryError } from '../errors.ts';
import { BATCH } from '../protocol/limits.ts';
import { isBelow, isListed, LIST_HINT, listWays, type PathProblem } from '../rules/open-file.ts';
import { refuseProblems, walkFolder } from '../rules/walk-folder.ts';
import type { Text } from '../words.ts';
import { refuseInput } from './input-kinds.ts';
import {
  type Exclusion,
  type FilePattern,
  type IsLeftOut,
  isExclusion,
  matches,
  matchesBelow,
  readExclusions,
  readPattern,
} from './patterns.ts';

export interface NamedFile {
  /** Where it lies below the folder that all have in common, separated by `/`. */
  readonly relativePath: string;
  /** The absolute folder that no symbolic link leads out of: that of a pattern before its first sign, or the file's. */
  readonly root: string;
}

/** Finds what lines name, by their names. */
export type FindFiles = (
  lines: readonly string[],
  folder: string,
  signal?: AbortSignal,
) => Promise<ReadonlyMap<string, NamedFile>>;

/** Each line is a file's path, letter by letter. @throws {DeliveryError} `BAD_INPUT` for what would leave files out */
export const findLiteralFiles: FindFiles = async (lines, folder) => {
  const line = lines.length > 1 && lines.find(isExclusion);
  if (line) refuseInput(`${line} leaves no file out here`, 'name each file to deliver, without patterns');
  const files = new Map(lines.map((line) => [resolve(folder, line), nameFile(line, folder)]));
  return addRelativePaths(files, [...files.keys()].map(dirname), folder);
};

/** A file that lines name: as it is given, and why it can't be delivered, if that is known. */
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
 * Finds files by `*`, `**`, `?` and `[…]`, without those that a `!` line leaves out, wherever it stands. An exact name
 * means just that. Patterns match only hidden names that they write out: such files hold credentials more often than pages.
 *
 * @throws {DeliveryError} `BAD_INPUT` for a line without effect; `BAD_FILE` that names all that nobody can deliver
 */
export const findFiles: FindFiles = async (lines, folder, signal) => {
  const files = new Map<string, FoundFile>();
  const named: string[] = [];
  const roots: string[] = [];
  const { exclusions, isLeftOut } = readExclusions(lines, folder);
  for (const line of lines.filter((one) => !isExclusion(one))) {
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
  // A folder that is withdrawn need not be here.
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

/**
 * A `!` line must name something that is there, in or around what the other lines name: otherwise a mistake in it would
 * publish files. A pattern may match none of them.
 */
async function refuseElsewhere(exclusions: readonly Exclusion[], named: readonly string[]): Promise<void> {
  const ways = named.flatMap(listWays);
  for (const { roots, line } of exclusions) {
    const near = roots.filter((root) => ways.some((path) => isBelow(path, root) || isBelow(root, path)));
    const found = await Promise.all(near.flatMap((root) => [root, root.normalize('NFD')]).map(exists));
    if (found.includes(true)) continue;
    refuseInput(
      `the line ${line} leaves nothing out`,
      (w) => `correct its path, which is relative to ${w.folder} (\`!**/name\` is a name in any folder)`,
    );
  }
}

function refuseFound(files: readonly FoundFile[]): void {
  const found = files.flatMap(({ given: path, problem }) => (problem === null ? [] : [{ path, problem }]));
  const pattern = `${found[0]?.path.replace(/[/\\]$/, '$&**')}`;
  const message: Text = (w) => `${w.subject('file')} matches what can't be delivered`;
  refuseProblems(message, found, (w) => `, or ${w.leaveOut(pattern)}`);
}

function refuseNothingLeft(lines: readonly string[]): void {
  const named = lines.filter((line) => !isExclusion(line)).join(' ');
  if (named === '') refuseInput('only `!` lines are given', 'add a line that names what to deliver');
  refuseInput(`the \`!\` lines leave out all of ${named}`, 'remove one of them, or correct its pattern');
}

const noMatchError = (subject: string): DeliveryError =>
  new DeliveryError('BAD_INPUT', (w) => `${w.subject('file')} matches no file: ${subject}`, {
    hint: (w) =>
      isListed(subject)
        ? LIST_HINT
        : sep === '/' && subject.includes('\\')
          ? 'write / between folders'
          : `correct the pattern, which is relative to ${w.folder} and finds no folders (\`**\` finds all files in them, but in no linked ones) and only hidden names that it writes out, and make sure that the file is there, and that no \`!\` line leaves it out`,
    step: 'check',
    subject,
  });

const exists = async (path: string): Promise<boolean> => (await lstat(path).catch(() => null)) !== null;

export const isFolderAt = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isDirectory() === true;

/** By absolute paths, sorted, and only the first ones. */
async function findMatches(pattern: FilePattern, folder: string, isLeftOut: IsLeftOut, signal?: AbortSignal) {
  const { root, line, parts: names } = pattern;
  const found: [path: string, file: FoundFile][] = [];
  // If the root can't be read, the walk says why.
  const isAbsent = await stat(root).then(
    (one) => !one.isDirectory(),
    ({ code }) => ['ENOENT', 'ENOTDIR'].includes(code),
  );
  if (isAbsent || isLeftOut(root)) return found;
  let met = 0;
  const enters = (path: string, isLink: boolean): boolean => matchesBelow(pattern, path, isLink);
  for await (const { path, isSkipped, problem } of walkFolder(root, { enters, isLeftOut, names })) {
    signal?.throwIfAborted();
    met += 1;
    if (met > BATCH.looked)
      refuseInput(`${line} meets more than ${BATCH.looked} files`, 'narrow the pattern');
    if (isSkipped) continue;
    const full = resolve(root, path);
    // The files of a folder that can't be read would be missing without a word.
    const isMet = path.endsWith('/') ? problem !== null : matches(pattern, full);
    const end = path.endsWith('/') ? '/' : '';
    // An absolute path may lead anywhere where a relative one may not.
    const given = isAbsolute(line) && !isBelow(folder, full) ? full : relative(folder, full);
    if (isMet) found.push([full + end, { given: given + end, root, problem }]);
    if (found.length > BATCH.files) break;
  }
  return found.sort(([one], [other]) => (one < other ? -1 : 1));
}

function addRelativePaths(
  files: ReadonlyMap<string, FoundFile>,
  roots: readonly string[],
  folder: string,
): ReadonlyMap<string, NamedFile> {
  const placeOf = createRelativePaths(roots, folder);
  return new Map([...files].map(([path, { given, root }]) => [given, { root, relativePath: placeOf(path) }]));
}

/** Tells the place of an absolute path below `roots`; what is outside of `folder` changes no other. */
export function createRelativePaths(roots: readonly string[], folder: string): (path: string) => string {
  const inside = findCommonFolder(roots.filter((root) => isBelow(folder, root)));
  const others = roots.filter((root) => !isBelow(folder, root));
  const shared = findCommonFolder(others);
  // All folders have the root in common: what lies below it is the layout of this machine.
  const outside = others.length > 1 && shared === parse(shared ?? '').root ? undefined : shared;
  return (path) => {
    const root = [inside, outside].find((one) => one !== undefined && isBelow(one, path));
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

/** @throws {DeliveryError} `BAD_INPUT` where `path` names one file, and there are several. */
export function refuseOneNameForMany(count: number, path: string | undefined): void {
  if (count < 2 || path === undefined || path.endsWith('/')) return;
  refuseInput(
    (w) => `${w.subject('path')} is one name for several files`,
    (w) => `set ${w.input('path', `${path}/`)} to make it their folder`,
  );
}
