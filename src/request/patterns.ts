import { matchesGlob, parse, relative, resolve, sep } from 'node:path';
import { isBelow, listWays } from '../rules/open-file.ts';
import { refuseInput } from './input-kinds.ts';

/** A pattern: the absolute folder before its first wildcard, and the parts from there on. */
export type FilePattern = ReturnType<typeof readPattern>;

/** @throws {DeliveryError} `BAD_INPUT` for a `/` between `{` and `}`, which would silently miss files */
export function readPattern(line: string, folder: string) {
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

/** Whether a pattern may match files in a folder. `**` follows no link, so it never finds a file twice. */
export function matchesBelow({ parts }: FilePattern, path: string, isLink: boolean): boolean {
  const folders = path.split('/');
  const anyDepth = parts.indexOf('**');
  if (anyDepth !== -1 && folders.length > anyDepth) return !isLink;
  const own = parts.slice(0, folders.length).join('/');
  return folders.length < parts.length && matchesGlob(folders.join('/'), own);
}

/** Whether `!` lines exclude an absolute path, as written or after any of its links. */
export type IsLeftOut = (path: string) => boolean;

export const isExclusion = (line: string): boolean => line.startsWith('!');

/** The paths that a `!` line excludes, with everything in them. */
export type LeftOutPaths = ReturnType<typeof readExclusion>;

/** Reads the `!` lines. @throws {DeliveryError} as `readPattern` */
export function readExclusions(lines: readonly string[], folder: string) {
  const isInside = (line: string): boolean => isExclusion(line) || isBelow(folder, resolve(folder, line));
  // A name may be anywhere in the path of a line outside the folder.
  const anywhere = [folder, ...(lines.every(isInside) ? [] : [parse(folder).root])];
  const exclusions = lines.filter(isExclusion).map((line) => readExclusion(line, folder, anywhere));
  const isLeftOut: IsLeftOut = (path) =>
    exclusions.length > 0 &&
    listWays(path).some((way) => exclusions.some((exclusion) => covers(exclusion, way.normalize())));
  return { exclusions, isLeftOut };
}

/**
 * @param anywhere the roots of a pattern that begins with two stars
 * @returns in `exact`, the line read literally (wildcards may be part of a name); paths with those that links lead to
 */
function readExclusion(line: string, folder: string, anywhere: readonly string[]) {
  const path = line.slice(1).trim();
  const pattern = readPattern(path, folder);
  const parts = pattern.parts.filter((part) => part !== '');
  // A folder is excluded with everything in it, also hidden files.
  while (parts.at(-1) === '**') parts.pop();
  const roots = path.startsWith('**') ? anywhere : [pattern.root];
  return { line, parts, exact: listWays(resolve(folder, path)), roots: roots.flatMap(listWays) };
}

/** @param path in Unicode normal form, because an accent may be a character of its own */
function covers({ roots, parts, exact }: LeftOutPaths, path: string): boolean {
  if (exact.some((excluded) => isBelow(excluded.normalize(), path))) return true;
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

/** Lets `*` match hidden names, which an exclusion need not write out. */
const showHidden = (path: string): string => path.replace(/(^|[/{,])\./g, '$1·');
