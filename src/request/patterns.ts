import { dirname, matchesGlob, relative, resolve, sep } from 'node:path';
import { isBelow, listWays } from '../rules/open-file.ts';
import { refuseInput } from './input-kinds.ts';

/** A pattern: the folder before its first sign, which is absolute, and the parts from there on. */
export interface FilePattern {
  readonly line: string;
  readonly root: string;
  readonly parts: readonly string[];
}

/** @throws {DeliveryError} `BAD_INPUT` for a `/` between `{` and `}`, which would miss files without a word */
export function readPattern(line: string, folder: string): FilePattern {
  const parts = line.split(sep === '/' ? '/' : /[\\/]/);
  if (parts.some((part) => part.split('{').length !== part.split('}').length)) {
    refuseInput(`the pattern ${line} has a / between { and }`, 'write a line for each alternative');
  }
  const sign = parts.findIndex((part) => /[*?[{]/.test(part));
  const first = sign === -1 ? parts.length : sign;
  const root = parts.slice(0, first).join(sep) || (line.startsWith('/') ? sep : '.');
  return { line, root: resolve(folder, root), parts: parts.slice(first).filter((part) => part !== '.') };
}

export const matches = ({ root, parts }: FilePattern, path: string): boolean =>
  matchesGlob(relative(root, path), parts.join('/'));

/** Whether a pattern matches files in a folder below its root. `**` goes through no link, or it would meet files twice. */
export function matchesBelow({ parts }: FilePattern, path: string, isLink: boolean): boolean {
  const folders = path.split('/');
  const anyDepth = parts.indexOf('**');
  if (anyDepth !== -1 && folders.length > anyDepth) return !isLink;
  const own = parts.slice(0, folders.length).join('/');
  return folders.length < parts.length && matchesGlob(folders.join('/'), own);
}

/** Whether `!` lines leave an absolute path out: as it is written, or as any link on its way changes it. */
export type IsLeftOut = (path: string) => boolean;

export const isExclusion = (line: string): boolean => line.startsWith('!');

/** What a `!` line leaves out: a path, or what a pattern matches, always with all that is in it. */
export interface Exclusion extends Pick<FilePattern, 'line' | 'parts'> {
  /** The line's path letter by letter (the signs of a pattern may be part of a name), and where links lead from there. */
  readonly exact: readonly string[];
  /** The same of the root. A pattern that begins with `**` has the folder of each line as well. */
  readonly roots: readonly string[];
}

/** Reads the `!` lines. @throws {DeliveryError} as `readPattern` */
export function readExclusions(lines: readonly string[], folder: string) {
  const folders = lines.filter((line) => !isExclusion(line)).map((line) => folderOf(line, folder));
  const exclusions = lines.filter(isExclusion).map((line) => readExclusion(line, folder, folders));
  const isLeftOut: IsLeftOut = (path) =>
    exclusions.length > 0 &&
    listWays(path).some((way) => exclusions.some((one) => covers(one, way.normalize())));
  return { exclusions, isLeftOut };
}

/** The folder in which a line names something: that before its first sign, or that of its file or folder. */
function folderOf(line: string, folder: string): string {
  const [before = ''] = line.split(/[^/\\]*[*?[{]/, 1);
  return before === line ? dirname(resolve(folder, line)) : resolve(folder, before);
}

function readExclusion(line: string, folder: string, folders: readonly string[]): Exclusion {
  const path = line.slice(1).trim();
  const pattern = readPattern(path, folder);
  const parts = pattern.parts.filter((part) => part !== '');
  // All that is in a folder, hidden files included, is left out with the folder.
  while (parts.at(-1) === '**') parts.pop();
  const roots = path.startsWith('**') ? [folder, ...folders] : [pattern.root];
  return { line, parts, exact: listWays(resolve(folder, path)), roots: roots.flatMap(listWays) };
}

/** @param path normalized: an accent may be a part of its letter, or a letter of its own */
function covers({ roots, parts, exact }: Exclusion, path: string): boolean {
  if (exact.some((one) => isBelow(one.normalize(), path))) return true;
  const pattern = showHidden(parts.join('/').normalize());
  return roots.some((given) => {
    const root = given.normalize();
    if (!isBelow(root, path)) return false;
    const names = relative(root, path).split(sep);
    return (
      parts.length === 0 ||
      names.some((_, at) => matchesGlob(showHidden(names.slice(0, at + 1).join('/')), pattern))
    );
  });
}

/** `*` matches no dot at the beginning of a name: what is left out need not be named so exactly. */
const showHidden = (path: string): string => path.replace(/(^|[/{,])\./g, '$1·');
