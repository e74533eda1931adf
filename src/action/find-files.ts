import { AssertionError } from 'node:assert';
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Globber } from '@actions/glob';
import { type FindFiles, findLiteralFiles, withRelativePaths } from '../delivery/find-files.ts';
import { BATCH } from '../protocol/limits.ts';
import { refuseInput } from '../request/values.ts';

/** Whether a line may match other files than the one with exactly this name. */
const isPattern = (line: string): boolean => /[*?[]|^[!#]/.test(line);

/**
 * Finds files by the patterns of GitHub Actions: `*`, `**`, `?`, `[…]`, and `!` to exclude. A line that is the
 * exact name of an existing file means that file. Patterns match no hidden files, which hold credentials more
 * often than pages, and follow no symbolic links.
 */
export const findFiles: FindFiles = async (lines, folder) => {
  const patterns = lines.filter((line) => isPattern(line) && !existsSync(resolve(folder, line)));
  if (patterns.length === 0) return findLiteralFiles(lines, folder);
  const named = lines.filter((line) => !patterns.includes(line));
  const files = new Map(named.map((given) => [resolve(folder, given), given]));
  const search = await createGlobber(patterns, folder);
  for await (const path of listMatches(search)) {
    if (!files.has(path)) files.set(path, relative(folder, path));
    if (files.size > BATCH.files) {
      refuseInput(`input \`file\` matches more than ${BATCH.files} files`, 'narrow the pattern');
    }
  }
  if (files.size === 0) {
    const hint = 'check that an earlier step writes them, and that the pattern is relative to the workspace';
    refuseInput(`input \`file\` matches no file: ${patterns.join(' ')}`, hint);
  }
  const roots = [...named.map((line) => dirname(resolve(folder, line))), ...search.getSearchPaths()];
  return withRelativePaths(
    [...files].map(([path, given]) => ({ path, given })),
    roots.map((root) => (files.has(root) ? dirname(root) : root)),
    folder,
  );
};

/** A name that is no UTF-8 is listed with other letters, under which nothing exists. */
async function* listMatches(search: Globber): AsyncGenerator<string> {
  try {
    yield* search.globGenerator();
  } catch (thrown) {
    if (!(thrown instanceof Error) || !('code' in thrown) || thrown.code !== 'ENOENT') throw thrown;
    refuseInput(
      `input \`file\` matches a file that can't be read, or whose name is not UTF-8: ${thrown.message}`,
      'rename the file, or exclude it by a line that begins with !',
    );
  }
}

async function createGlobber(patterns: readonly string[], folder: string): Promise<Globber> {
  const { create } = await import(/* webpackMode: "eager" */ '@actions/glob');
  try {
    return await create(patterns.map((line) => makeAbsolute(folder, line)).join('\n'), {
      followSymbolicLinks: false,
      implicitDescendants: false,
      matchDirectories: false,
      excludeHiddenFiles: true,
    });
  } catch (thrown) {
    if (!(thrown instanceof AssertionError)) throw thrown;
    return refuseInput(
      `input \`file\` holds a pattern that can't be read: ${thrown.message}`,
      'write it without . and ..',
    );
  }
}

/** The pattern with the workspace in front of it: the step itself may run in another folder. */
function makeAbsolute(folder: string, line: string): string {
  const [, negated = '', pattern = ''] = /^(!*)\s*(?:\.\/)?(.*)$/s.exec(line) ?? [];
  if (line.startsWith('#') || /^([/\\~]|[A-Za-z]:)/.test(pattern)) return line;
  const plain = sep === '/' ? folder.replaceAll('\\', '\\\\') : folder;
  return `${negated}${join(plain.replace(/[*?[]/g, '[$&]'), '/')}${pattern}`;
}
