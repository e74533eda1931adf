import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isShortage, isSystemError } from '../errors.ts';
import { shorten } from '../plain-text.ts';

/** What a walk through a folder meets. */
export interface FolderEntry {
  /** Its path within the folder, separated by `/`; that of a folder ends in `/`. */
  readonly path: string;
  /** Whether it is hidden or left out, and so no part of a delivery. */
  readonly isSkipped: boolean;
  /** Why it can't be delivered, such as `is a symbolic link`; `null` for a regular file and a readable folder. */
  readonly problem: string | null;
}

/** What a walk passes over. */
interface WalkLimits {
  /** Whether to enter a folder, by its path within the folder, without the last slash. */
  readonly enters?: (path: string) => boolean;
  /** Whether an absolute path is no part of a delivery. */
  readonly isLeftOut?: (path: string) => boolean;
}

/**
 * Meets everything in a folder, apart from the contents of folders that are skipped. It follows no symbolic link.
 */
export async function* walkFolder(
  folder: string,
  { enters = () => true, isLeftOut = () => false }: WalkLimits = {},
): AsyncGenerator<FolderEntry, void, undefined> {
  // Folders are added while they are found. One is open at a time.
  const folders = [''];
  for (const prefix of folders) {
    try {
      for await (const entry of await opendir(join(folder, prefix))) {
        const path = prefix + entry.name;
        const isSkipped = isLeftOut(join(folder, path)) || entry.name.startsWith('.');
        const isFolder = entry.isDirectory();
        const problem =
          PATH_PROBLEMS.find(({ pattern }) => pattern.test(entry.name))?.text ??
          (isFolder || entry.isFile()
            ? null
            : entry.isSymbolicLink()
              ? 'is a symbolic link'
              : 'is no regular file');
        if (isFolder && !isSkipped && problem === null && enters(path)) folders.push(`${path}/`);
        yield { path: isFolder ? `${path}/` : path, isSkipped, problem };
      }
    } catch (thrown) {
      if (isShortage(thrown) || !isSystemError(thrown)) throw thrown;
      yield { path: prefix || './', isSkipped: false, problem: `can't be read (${thrown.code})` };
    }
  }
}

/** Names that git, a browser or a host would change. */
const PATH_PROBLEMS = [
  { pattern: /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, text: 'has a control character in its name' },
  { pattern: /\\/, text: 'has a backslash in its name' },
  { pattern: /\uFFFD/, text: 'has a name that is not UTF-8' },
] as const;

/** A line for a message. A name that is too long for the system may be too long for a message. */
export const describeProblem = (path: string, problem: string): string =>
  `${/[\p{C}\p{Z}\\]/u.test(path) ? JSON.stringify(shorten(path, 100)) : shorten(path, 100)} ${problem}`;
