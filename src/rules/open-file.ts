import { constants, type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
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
}

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
    await refuseOutside(location);
    // Without O_NONBLOCK, opening a pipe waits until something writes to it.
    handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    await refuseReplaced(handle, location);
    return handle;
  } catch (cause) {
    await handle?.close();
    if (cause instanceof DeliveryError) throw cause;
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const message =
      code === 'ENOENT' ? `the file ${given} does not exist` : `the file ${given} can't be opened (${code})`;
    throw new DeliveryError('BAD_FILE', message, {
      hint: 'set `file:` to a path relative to the workspace, and make sure that an earlier step writes it',
      cause,
    });
  }
}

const mayBeAnywhere = ({ given, allowedRoots = [], allowsFullPaths = false }: FileLocation): boolean =>
  allowedRoots.length === 0 || (allowsFullPaths && isAbsolute(given));

/** Refuses a file that replaced another one between the check of its path and its opening. */
async function refuseReplaced(handle: FileHandle, location: FileLocation): Promise<void> {
  if (mayBeAnywhere(location)) return;
  await refuseOutside(location);
  const [opened, current] = [await handle.stat(), await stat(location.path)];
  if (opened.ino === current.ino && opened.dev === current.dev) return;
  throw new DeliveryError('BAD_FILE', `the file ${location.given} was replaced while it was opened`, {
    hint: 'deliver it after the step that writes it has ended',
  });
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
    throw new DeliveryError('BAD_FILE', `the file ${given} is a symbolic link or is in a linked folder`, {
      hint: allowsFullPaths ? 'name the file itself, by its absolute path' : 'set `file:` to the file itself',
    });
  }
  const roots = allowsFullPaths ? 'the current folder' : 'the workspace';
  throw new DeliveryError('BAD_FILE', `the file ${given} is outside ${roots}`, {
    hint: allowsFullPaths
      ? 'name it by its absolute path, if it may be published'
      : "copy it into the workspace or the runner's temp folder first",
  });
}
