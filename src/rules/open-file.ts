import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { DeliveryError, isShortage, localError } from '../errors.ts';

export interface FileLocation {
  readonly path: string;
  /** The path as the user wrote it, for messages. */
  readonly given: string;
  /** Folders that must contain the file, without a symbolic link below them; if empty or absent, any folder may. */
  readonly allowedRoots?: readonly string[];
  /** Whether nothing is opened below the roots that is hidden, or in a hidden folder. */
  readonly refusesHidden?: boolean | undefined;
  /** Whether a path that is given as an absolute one may name any file. */
  readonly allowsFullPaths?: boolean;
}

/**
 * Opens the file at a path. Below the allowed roots it follows no symbolic link. As promises, these calls would cost more
 * than all else that is done with a small file.
 *
 * @throws {DeliveryError} `BAD_FILE` with what to change.
 */
export function openFile(location: FileLocation): number {
  let fd: number | undefined;
  try {
    // Without O_NONBLOCK, opening a pipe waits until something writes to it.
    const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
    const flags = O_RDONLY | O_NONBLOCK | (mayBeAnywhere(location) ? 0 : O_NOFOLLOW);
    fd = openSync(location.path, flags);
    refuseMoved(fd, location);
    return fd;
  } catch (cause) {
    if (fd !== undefined) closeSync(fd);
    throw openError(cause, location, fd === undefined);
  }
}

/** The same for work that is done in one go. The file is closed after it. */
export function withFile<T>(location: FileLocation, work: (fd: number) => T): T {
  const fd = openFile(location);
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

/** Why a file can't be opened or read. */
function openError(cause: unknown, location: FileLocation, isClosed: boolean): unknown {
  const { given } = location;
  try {
    // No link is opened: that is what is told, and not the error of the system.
    if (isClosed) refuseOutside(location);
  } catch (outside) {
    if (outside instanceof DeliveryError) return outside;
  }
  if (cause instanceof DeliveryError) return cause;
  if (isShortage(cause)) return localError(cause, given);
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const kind = /[/\\]$/.test(given) ? 'the folder' : 'the file';
  const message =
    code === 'ENOENT' ? `${kind} ${given} does not exist` : `${kind} ${given} can't be opened (${code})`;
  return new DeliveryError('BAD_FILE', message, {
    // Where patterns are read, none of them is left.
    hint: (w) =>
      code === 'EACCES'
        ? 'give this user the permission to read it'
        : `make sure that it exists by then; its path is relative to ${w.folder}${/[*?[]/.test(given) ? ', and is no pattern' : ''}`,
    cause,
  });
}

const mayBeAnywhere = ({ given, allowedRoots = [], allowsFullPaths = false }: FileLocation): boolean =>
  allowedRoots.length === 0 || (allowsFullPaths && isAbsolute(given));

/** Refuses a file outside, and one that another one replaced while its path was checked: no link is followed. */
function refuseMoved(fd: number, location: FileLocation): void {
  if (mayBeAnywhere(location)) return;
  refuseOutside(location);
  const [opened, found] = [fstatSync(fd), lstatSync(location.path)];
  if (opened.ino === found.ino && opened.dev === found.dev) return;
  throw new DeliveryError('BAD_FILE', `the file ${location.given} was replaced while it was opened`, {
    hint: 'deliver it after what writes it has ended',
  });
}

/**
 * Refuses a path outside the allowed roots, and every symbolic link below them.
 *
 * @throws {DeliveryError} `BAD_FILE` with what to change.
 */
export function refuseOutside(location: FileLocation): void {
  if (mayBeAnywhere(location)) return;
  const { path, given, allowedRoots = [], allowsFullPaths, refusesHidden } = location;
  const realPath = realpathSync.native(path);
  for (const root of allowedRoots) {
    const pathInRoot = relative(root, path);
    if (pathInRoot === '..' || pathInRoot.startsWith(`..${sep}`) || isAbsolute(pathInRoot)) continue;
    if (refusesHidden && pathInRoot.split(sep).some((part) => part.startsWith('.'))) throw hiddenError(given);
    if (realPath === join(realpathSync.native(root), pathInRoot)) return;
    throw new DeliveryError('BAD_FILE', `the file ${given} is a symbolic link or is in a linked folder`, {
      hint: `name the file itself${allowsFullPaths ? ', by its absolute path' : ''}`,
    });
  }
  throw new DeliveryError('BAD_FILE', (w) => `the file ${given} is outside ${w.folder}`, {
    hint: allowsFullPaths
      ? 'name it by its absolute path, if it may be published'
      : (w) => `copy it into ${w.folder} first`,
  });
}

/** Such files hold credentials more often than pages. */
const hiddenError = (given: string): DeliveryError =>
  new DeliveryError('BAD_FILE', `the file ${given} is hidden, or is in a hidden folder`, {
    hint: 'only a person can deliver it',
  });
