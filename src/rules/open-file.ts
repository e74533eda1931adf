import { constants, type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { DeliveryError } from '../errors.ts';

/** A file that is to be opened. */
export interface FileLocation {
  /** Where it lies, and how the user wrote it. */
  readonly path: string;
  readonly given: string;
  /** Folders that it must lie in, through no symbolic link; empty or absent where any will do. */
  readonly allowedRoots?: readonly string[];
}

/**
 * Opens the file behind a path, and no other: through no symbolic link below the allowedRoots, and not one that took
 * its place meanwhile.
 *
 * @throws {DeliveryError} `BAD_FILE` with what to change.
 */
export async function openFile(asked: FileLocation): Promise<FileHandle> {
  const { path, given } = asked;
  let handle: FileHandle | undefined;
  try {
    await refuseOutside(asked);
    // Without O_NONBLOCK a pipe would be waited for until somebody writes into it.
    handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    await refuseSwapped(handle, asked);
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

/** Refuses a file that took another one's place between the look at its way and its opening. */
async function refuseSwapped(handle: FileHandle, asked: FileLocation): Promise<void> {
  if ((asked.allowedRoots ?? []).length === 0) return;
  await refuseOutside(asked);
  const [opened, there] = [await handle.stat(), await stat(asked.path)];
  if (opened.ino === there.ino && opened.dev === there.dev) return;
  throw new DeliveryError('BAD_FILE', `the file ${asked.given} was replaced while it was opened`, {
    hint: 'deliver it after the step that writes it has ended',
  });
}

/** Refuses what leads out of the allowedRoots, and every symbolic link below them. */
async function refuseOutside({ path, given, allowedRoots = [] }: FileLocation): Promise<void> {
  if (allowedRoots.length === 0) return;
  const real = await realpath(path);
  for (const wall of allowedRoots) {
    const way = relative(wall, path);
    if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) continue;
    if (real === join(await realpath(wall), way)) return;
    throw new DeliveryError('BAD_FILE', `the file ${given} is a symbolic link or lies behind one`, {
      hint: 'set `file:` to the file itself',
    });
  }
  throw new DeliveryError('BAD_FILE', `the file ${given} lies outside the workspace`, {
    hint: "copy it into the workspace or the runner's temp folder first",
  });
}
