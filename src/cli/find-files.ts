import type { Dirent } from 'node:fs';
import { glob, lstat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type FindFiles, withRelativePaths } from '../delivery/find-files.ts';
import { BATCH } from '../protocol/limits.ts';
import { refuseInput } from '../request/values.ts';

const PATTERN = /[*?[]/;

/**
 * Finds files by `*`, `**`, `?` and `[…]`, where a shell has not resolved them. The exact name of something that
 * exists means just that. Patterns match regular files alone, and none that is hidden. (The library of the action
 * writes to stdout, which holds nothing but results here.)
 */
export const findPatternFiles: FindFiles = async (lines, folder) => {
  const files = new Map<string, string>();
  const roots: string[] = [];
  for (const line of lines) {
    if (!PATTERN.test(line) || (await exists(resolve(folder, line)))) {
      files.set(resolve(folder, line), line);
      roots.push(dirname(resolve(folder, line)));
      continue;
    }
    roots.push(resolve(folder, findSearchRoot(line)));
    const matches = await findMatches(line, folder);
    if (matches.length === 0) {
      refuseInput(
        `input \`file\` matches no file: ${line}`,
        'correct the pattern, which is relative to the current folder',
      );
    }
    for (const path of matches) if (!files.has(path)) files.set(path, relative(folder, path));
    if (files.size > BATCH.files) {
      refuseInput(`input \`file\` matches more than ${BATCH.files} files`, 'narrow the pattern');
    }
  }
  return withRelativePaths(
    [...files].map(([path, given]) => ({ path, given })),
    roots,
    folder,
  );
};

/** The same, but each list of lines is searched once: a pattern may take long in a large folder. */
export function createFileFinder(find: FindFiles = findPatternFiles): FindFiles {
  const searches = new Map<string, ReturnType<FindFiles>>();
  return (lines, folder) => {
    const key = JSON.stringify([folder, ...lines]);
    const search = searches.get(key) ?? find(lines, folder);
    searches.set(key, search);
    return search;
  };
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** The folders before the first pattern. */
function findSearchRoot(line: string): string {
  const parts = line.split(/[\\/]/);
  return (
    parts
      .slice(
        0,
        parts.findIndex((part) => PATTERN.test(part)),
      )
      .join(sep) || (line.startsWith('/') ? sep : '.')
  );
}

/** Absolute, sorted, and one more than a step takes at most. */
async function findMatches(line: string, folder: string): Promise<readonly string[]> {
  const paths: string[] = [];
  const isHidden = (path: string): boolean => /(^|[\\/])\.[^.\\/]/.test(path);
  for await (const entry of glob(line, { cwd: folder, withFileTypes: true }) as AsyncIterable<Dirent>) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || isHidden(relative(folder, path))) continue;
    paths.push(resolve(folder, path));
    if (paths.length > BATCH.files) break;
  }
  return paths.sort();
}
