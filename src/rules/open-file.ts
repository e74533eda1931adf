import type { Stats } from 'node:fs';
import { constants, type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { DeliveryError } from '../errors.ts';

/** A file to open. */
export interface FileLocation {
  readonly path: string;
  /** The path as the user wrote it, for messages. */
  readonly given: string;
  /** Folders that must contain the file, without a symbolic link below them; if empty or absent, any folder may. */
  readonly allowedRoots?: readonly string[];
  /** Whether a path that is given as an absolute one may name any file. */
  readonly allowsFullPaths?: boolean;
  /** Of many files: their folders that were compared already; absent where each file is compared by its whole path. */
  readonly checkedFolders?: CheckedFolders;
}

/** By folder: which one it was when its whole path was compared with the allowed roots. */
export type CheckedFolders = Map<string, Promise<FolderIdentity>>;

/** What the system calls a file or folder, whatever its path. */
type FolderIdentity = Pick<Stats, 'dev' | 'ino'>;

const isSame = (one: FolderIdentity, other: FolderIdentity): boolean =>
  one.ino === other.ino && one.dev === other.dev;

/**
 * Opens the file at a path. Below the allowed roots it follows no symbolic link and accepts no file that
 * replaced the checked one.
 *
 * @throws {DeliveryError} `BAD_FILE` with what to change.
 */
export async function openFile(location: FileLocation): Promise<FileHandle> {
  const { path, given } = location;
  let handle: FileHandle | undefined;
  try {
    await refusePath(location);
    handle = await open(path, openFlags(location));
    await refuseReplaced(handle, location);
    return handle;
  } catch (cause) {
    await handle?.close();
    if (cause instanceof DeliveryError) throw cause;
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ELOOP' && location.checkedFolders !== undefined) throw linkError(location);
    const message =
      code === 'ENOENT' ? `the file ${given} does not exist` : `the file ${given} can't be opened (${code})`;
    throw new DeliveryError('BAD_FILE', message, {
      hint: (w) => `name a file that exists; its path is relative to ${w.folder}`,
      cause,
    });
  }
}

const mayBeAnywhere = ({ given, allowedRoots = [], allowsFullPaths = false }: FileLocation): boolean =>
  allowedRoots.length === 0 || (allowsFullPaths && isAbsolute(given));

/** Without O_NONBLOCK, opening a pipe waits until something writes to it. */
function openFlags(location: FileLocation): number {
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  return O_RDONLY | O_NONBLOCK | (mayBeAnywhere(location) ? 0 : O_NOFOLLOW);
}

/** Refuses a file that replaced another one between the check of its path and its opening. */
async function refuseReplaced(handle: FileHandle, location: FileLocation): Promise<void> {
  if (mayBeAnywhere(location)) return;
  await refusePath(location);
  // No link is followed: where the system can't refuse to open one, it is another file.
  if (isSame(await handle.stat(), await lstat(location.path))) return;
  throw new DeliveryError('BAD_FILE', `the file ${location.given} was replaced while it was opened`, {
    hint: 'deliver it after what writes it has ended',
  });
}

/**
 * Refuses a file whose path leads through a link. Its folder is compared by its whole path once; from then on it
 * must be the same folder, which another one behind a link is not.
 */
async function refusePath(location: FileLocation): Promise<void> {
  const { path, checkedFolders } = location;
  if (checkedFolders === undefined || mayBeAnywhere(location)) return refuseOutside(location);
  const folder = dirname(path);
  const checked = checkedFolders.get(folder) ?? identifyFolder({ ...location, path: folder });
  checkedFolders.set(folder, checked);
  const known = await checked.catch(() => null);
  // The failure of the folder would name another file of it.
  if (known === null) return refuseOutside(location);
  if (!isSame(known, await stat(folder))) throw linkError(location);
}

async function identifyFolder(location: FileLocation): Promise<FolderIdentity> {
  const { dev, ino } = await stat(location.path);
  await refuseOutside(location);
  return { dev, ino };
}

/**
 * Refuses a path outside the allowed roots, and every symbolic link below them.
 *
 * @throws {DeliveryError} `BAD_FILE` with what to change.
 */
export async function refuseOutside(location: FileLocation): Promise<void> {
  if (mayBeAnywhere(location)) return;
  const { path, given, allowedRoots = [], allowsFullPaths } = location;
  const realPath = await realpath(path);
  for (const root of allowedRoots) {
    const pathInRoot = relative(root, path);
    if (pathInRoot === '..' || pathInRoot.startsWith(`..${sep}`) || isAbsolute(pathInRoot)) continue;
    if (realPath === join(await realpath(root), pathInRoot)) return;
    throw linkError(location);
  }
  throw new DeliveryError('BAD_FILE', (w) => `the file ${given} is outside ${w.folder}`, {
    hint: allowsFullPaths
      ? 'name it by its absolute path, if it may be published'
      : (w) => `copy it into ${w.folder} first`,
  });
}

function linkError({ given, allowsFullPaths }: FileLocation): DeliveryError {
  return new DeliveryError('BAD_FILE', `the file ${given} is a symbolic link or is in a linked folder`, {
    hint: allowsFullPaths ? 'name the file itself, by its absolute path' : 'name the file itself',
  });
}
