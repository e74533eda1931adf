import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { DeliveryError, isShortage, isSystemError, localError } from '../errors.ts';

export interface PathLimits {
  /** Real path of the folder that symbolic links must not leave. Absent: they may lead anywhere. */
  readonly within?: string | undefined;
  readonly refusesHidden?: boolean | undefined;
}

export interface FileLocation extends PathLimits {
  readonly path: string;
  readonly given: string;
}

export interface FileLimits {
  /** Folders that the file must be in; empty: any folder. */
  readonly allowedRoots: readonly string[];
  /** Whether an absolute path may name a file outside these folders, or a symbolic link. */
  readonly allowsFullPaths: boolean;
  readonly refusesHidden?: boolean | undefined;
}

/**
 * Opens a file, also through a symbolic link that stays in the folder. Synchronous, because promises take too long for
 * small files. @throws {DeliveryError} `BAD_FILE` with what to change.
 */
export function openFile(location: FileLocation): number {
  let fd: number | undefined;
  try {
    const path = realpathSync.native(location.path);
    const problem = findProblem(location.path, path, location);
    if (problem !== null) throw pathError(`the file ${location.given}`, problem);
    // Without O_NONBLOCK, opening a pipe waits until something writes to it.
    const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
    fd = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    refuseMoved(fd, path, location);
    return fd;
  } catch (cause) {
    if (fd !== undefined) closeSync(fd);
    throw openError(cause, location);
  }
}

/** Opens a file, does some synchronous work with it, and closes it. */
export function withFile<T>(location: FileLocation, work: (fd: number) => T): T {
  const fd = openFile(location);
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

/** Whether a line looks like part of a YAML or JSON list, or of a list with commas. */
export const isListed = (line: string): boolean => /^- |^["']|["']$|,/.test(line);

export const LIST_HINT = 'write one path on each line, without commas, dashes or quotes';

function openError(cause: unknown, { path, given, refusesHidden }: FileLocation): unknown {
  if (cause instanceof DeliveryError) return cause;
  if (isShortage(cause)) return localError(cause, given);
  const code = isSystemError(cause) ? cause.code : 'no valid name';
  if (isLink(path)) return pathError(`the file ${given}`, brokenLink(code, refusesHidden));
  const kind = /[/\\]$/.test(given) ? 'the folder' : 'the file';
  const message =
    code === 'ENOENT' ? `${kind} ${given} does not exist` : `${kind} ${given} can't be opened (${code})`;
  return new DeliveryError('BAD_FILE', message, {
    hint: (w) =>
      code === 'EACCES'
        ? 'give this user permission to read it'
        : isListed(given)
          ? LIST_HINT
          : `create it first, or correct its path, which is relative to ${w.folder}${/[*?[]/.test(given) ? ' and not read as a pattern' : ''}`,
    cause,
  });
}

const pathError = (subject: string, { text, hint }: PathProblem): DeliveryError =>
  new DeliveryError('BAD_FILE', `${subject} ${text}`, { hint });

/** Refuses a file that another one replaced while its path was checked. */
function refuseMoved(fd: number, path: string, { given }: FileLocation): void {
  const [opened, found] = [fstatSync(fd), lstatSync(path)];
  if (opened.ino === found.ino && opened.dev === found.dev && realpathSync.native(path) === path) return;
  throw new DeliveryError('BAD_FILE', `the file ${given} was replaced while it was opened`, {
    hint: CHANGED_HINT,
  });
}

export const CHANGED_HINT = 'deliver it after the program that writes it has finished';

export interface PathProblem {
  readonly text: string;
  readonly hint: string;
}

/** For an agent: it must not learn a way around the refusal. */
const BY_PERSON = 'only a person can deliver it';

const linkProblem = (text: string, isForAgent = false): PathProblem => ({
  text: `is a symbolic link ${text}`,
  hint: isForAgent ? BY_PERSON : 'replace the links by copies: `cp -rL`',
});

/** The problem of a link that can't be followed. */
export function brokenLink(code: string | undefined, isForAgent = false): PathProblem {
  if (code === 'ELOOP') return linkProblem('in a circle', isForAgent);
  return linkProblem(code === 'ENOENT' ? 'to nothing' : `that can't be read (${code})`, isForAgent);
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Why the file that a path leads to must not be delivered. @param real the path without links */
export function findProblem(
  path: string,
  real: string,
  { within, refusesHidden = false }: PathLimits,
): PathProblem | null {
  if (within !== undefined && !isBelow(within, real)) {
    return linkProblem('that leads out of its folder', refusesHidden);
  }
  if (refusesHidden && isHidden(relative(within ?? '', real))) {
    return path === real || isHidden(basename(path))
      ? HIDDEN
      : linkProblem('to a hidden file or folder', refusesHidden);
  }
  // Packages lie in hidden folders, so only the name of the file counts.
  const isOtherName = basename(real) !== basename(path);
  if (isOtherName && isHidden(basename(real))) return linkProblem('to a hidden file');
  return real.split(sep).includes('.git') ? OF_GIT : null;
}

const isHidden = (path: string): boolean => path.split(sep).some((part) => part.startsWith('.'));

/** Hidden files often contain credentials. */
const HIDDEN: PathProblem = {
  text: 'is hidden, or is in a hidden folder',
  hint: BY_PERSON,
};

/** The history also contains what was removed long ago. */
const OF_GIT: PathProblem = { text: "holds git's own data", hint: 'name the output folder of the build' };

/** Whether a path is a folder itself or below it; false for another drive on Windows. */
export function isBelow(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return !isAbsolute(below) && below !== '..' && !below.startsWith(`..${sep}`);
}

/** No system follows more links in a row. @see https://man7.org/linux/man-pages/man7/path_resolution.7.html */
const MAX_LINKS = 40;

/** An absolute path, and the paths that its links lead to, up to the path without links. */
export function listWays(path: string): readonly string[] {
  const ways = [path];
  try {
    for (let at = path; ways.length <= MAX_LINKS; ways.push(at)) {
      const link = findLink(at);
      if (link === undefined) break;
      at = resolve(dirname(link), readlinkSync(link), relative(link, at));
    }
    // The system resolves `..` after the links before it.
    if (ways.length > 1) ways.push(realpathSync.native(path));
  } catch (thrown) {
    // Opening it fails as well, so nothing is delivered.
    if (!isSystemError(thrown)) throw thrown;
  }
  return ways;
}

function findLink(path: string): string | undefined {
  const above = dirname(path);
  const before = above === path ? undefined : findLink(above);
  return before ?? (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? path : undefined);
}

/**
 * Locates a file that must be in an allowed root, and that no symbolic link may lead out of its folder.
 * @throws {DeliveryError} `BAD_FILE` for a folder outside the allowed roots, or behind a link below them
 */
export function locate(
  { path, given }: Pick<FileLocation, 'path' | 'given'>,
  folder: string,
  limits: FileLimits,
): FileLocation {
  const { allowedRoots, allowsFullPaths, refusesHidden } = limits;
  const mayBeAnywhere = allowedRoots.length === 0 || (allowsFullPaths && isAbsolute(given));
  if (mayBeAnywhere && folder !== path) return { path, given };
  const subject = `${folder === path ? 'the folder' : 'the file'} ${given}`;
  try {
    const within = realpathSync.native(folder);
    const root = mayBeAnywhere ? null : findAllowedRoot(folder, subject, limits);
    const pathInRoot = relative(root ?? folder, folder);
    const isLinked = root !== null && within !== join(realpathSync.native(root), pathInRoot);
    const hidden = refusesHidden && isHidden(pathInRoot) ? HIDDEN : null;
    // The user chose the root, even if it is a link to a hidden folder.
    const named = folder === root ? within : folder;
    const problem = hidden ?? (isLinked ? LINKED : findProblem(named, within, { within }));
    if (problem !== null) throw pathError(subject, problem);
    return { path, given, within, refusesHidden };
  } catch (cause) {
    throw openError(cause, { path: folder, given, refusesHidden });
  }
}

const LINKED: PathProblem = {
  text: 'is a symbolic link or is in a linked folder',
  hint: 'name it by its path without links',
};

function findAllowedRoot(
  folder: string,
  subject: string,
  { allowedRoots, allowsFullPaths, refusesHidden }: FileLimits,
): string {
  const root = allowedRoots.find((allowed) => isBelow(allowed, folder));
  if (root !== undefined) return root;
  const shown = refusesHidden ? '' : ` ${allowedRoots[0]}`;
  throw new DeliveryError('BAD_FILE', (w) => `${subject} is outside ${w.folder}${shown}`, {
    hint: (w) =>
      refusesHidden
        ? `${BY_PERSON}; the allowed folder is ${allowedRoots[0]}`
        : allowsFullPaths
          ? 'name it by its absolute path, if it may be published'
          : `copy it into ${w.folder} first`,
  });
}
