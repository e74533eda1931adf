import type { Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DeliveryError, isShortage, isSystemError } from '../errors.ts';
import { firstFew, shorten } from '../plain-text.ts';
import type { Text } from '../words.ts';
import { brokenLink, findProblem, isBelow, type PathLimits, type PathProblem } from './open-file.ts';

export interface WalkLimits {
  /** Whether to enter a folder. @param path in the walked folder, without the last slash */
  readonly enters?: (path: string, isLink: boolean) => boolean;
  readonly isLeftOut?: (path: string) => boolean;
  readonly names?: readonly string[];
  readonly refusesHidden?: boolean | undefined;
}

interface WalkedFolder {
  readonly prefix: string;
  readonly real: string;
  readonly parent: WalkedFolder | null;
}

/**
 * Yields everything in a folder, except the contents of skipped folders. It follows symbolic links that stay in the
 * folder, except to a folder around the link, so the walk ends. Paths of folders end in `/`.
 */
export async function* walkFolder(
  folder: string,
  { enters = () => true, isLeftOut = () => false, names = [], refusesHidden = false }: WalkLimits = {},
) {
  // A folder that can't be resolved can't be opened either.
  const root = await realpath(folder).catch(() => folder);
  // The loop adds folders to the list. Only one is open at a time.
  const folders: WalkedFolder[] = [{ prefix: '', real: root, parent: null }];
  for (const at of folders) {
    try {
      for await (const entry of await opendir(at.real)) {
        const path = at.prefix + entry.name;
        const isNamed = !entry.name.startsWith('.') || (names.includes(entry.name) && entry.name !== '.git');
        if (!isNamed || isLeftOut(join(folder, path))) {
          yield { path: entry.isDirectory() ? `${path}/` : path, isSkipped: true, problem: null };
          continue;
        }
        const { real, isFolder, problem } = await meet(entry, at, { within: root, refusesHidden });
        const isSkipped = isFolder && !enters(path, entry.isSymbolicLink());
        if (isFolder && !isSkipped && problem === null) {
          folders.push({ prefix: `${path}/`, real, parent: at });
        }
        yield { path: isFolder ? `${path}/` : path, isSkipped, problem };
      }
    } catch (thrown) {
      if (isShortage(thrown) || !isSystemError(thrown)) throw thrown;
      const problem = {
        text: `can't be read (${thrown.code})`,
        hint: 'give this user permission to read it',
      };
      yield { path: at.prefix || './', isSkipped: false, problem };
    }
  }
}

async function meet(entry: Dirent, at: WalkedFolder, limits: PathLimits) {
  const real = join(at.real, entry.name);
  const isFolder = entry.isDirectory();
  const broken = NAME_PROBLEMS.find(({ pattern }) => pattern.test(entry.name));
  if (broken !== undefined) return { real, isFolder, problem: { text: broken.text, hint: 'rename it' } };
  if (entry.isSymbolicLink()) return followLink(real, at, limits);
  return { real, isFolder, problem: isFolder || entry.isFile() ? null : IRREGULAR };
}

async function followLink(link: string, at: WalkedFolder, limits: PathLimits) {
  try {
    const real = await realpath(link);
    const stats = await stat(real);
    const isFolder = stats.isDirectory();
    const circle = isFolder && isAround(real, at) ? brokenLink('ELOOP', limits.refusesHidden) : null;
    const kind = isFolder || stats.isFile() ? null : IRREGULAR;
    return { real, isFolder, problem: findProblem(link, real, limits) ?? circle ?? kind };
  } catch (thrown) {
    if (isShortage(thrown) || !isSystemError(thrown)) throw thrown;
    return { real: link, isFolder: false, problem: brokenLink(thrown.code, limits.refusesHidden) };
  }
}

/** Whether a folder contains a folder that the walk came through. */
function isAround(real: string, at: WalkedFolder): boolean {
  for (let folder: WalkedFolder | null = at; folder !== null; folder = folder.parent) {
    if (isBelow(real, folder.real)) return true;
  }
  return false;
}

const IRREGULAR: PathProblem = { text: 'is not a regular file', hint: 'remove it' };

const NAME_PROBLEMS = [
  { pattern: /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, text: 'has a control character in its name' },
  { pattern: /\\/, text: 'has a backslash in its name' },
  { pattern: /\uFFFD/, text: 'has a name that is not UTF-8' },
] as const;

export interface FoundProblem {
  readonly path: string;
  readonly problem: PathProblem;
}

/** Refuses all problems in one error. @param orElse an alternative to correcting them */
export function refuseProblems(message: Text, found: readonly FoundProblem[], orElse: Text = ''): void {
  const [hint, ...others] = new Set(found.map(({ problem }) => problem.hint));
  if (hint === undefined) return;
  throw new DeliveryError('BAD_FILE', message, {
    hint: (w) =>
      `${w.say(others.length === 0 ? hint : 'correct the program that writes them')}${w.say(orElse)}`,
    findings: firstFew(
      found.map(({ path, problem }) => {
        const shown = shorten(path, 100);
        return `${/[\p{C}\p{Z}\\]/u.test(path) ? JSON.stringify(shown) : shown} ${problem.text}`;
      }),
    ),
    step: 'check',
  });
}
