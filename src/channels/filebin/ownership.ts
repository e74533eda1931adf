import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import {
  type BinEntry,
  type BinFile,
  type BinLocation,
  type BinState,
  type BinTarget,
  lockBin,
  readBin,
} from './bin-client.ts';

/** Whose a file in a bin is, is told by its bytes alone: anybody may write to a bin and delete from it. */

/**
 * Finds the file in the bin, or decides that it may be posted.
 *
 * @returns the file where the bin already holds its bytes; `undefined` where it may be posted
 * @throws {DeliveryError} `CONFLICT` for a bin that takes no uploads, `NOT_OURS` for another file of this name.
 * @see design 4
 */
export function findOrAllowUpload(
  entry: BinEntry,
  { status, files }: BinState,
  { bin, overwrite }: BinTarget,
): BinFile | undefined {
  const named = files.find(({ filename }) => filename === entry.filename);
  if (named !== undefined && named.sha256 === entry.sha256) return named;
  if (status === 'locked' || status === 'unavailable') throw closedBinError(bin, status);
  if (named === undefined || overwrite) return undefined;
  throw new DeliveryError('NOT_OURS', `bin ${bin} already holds another file named ${entry.filename}`, {
    hint: (w) =>
      `leave ${w.input('bin')} out, set ${w.input('path')} to another name, or ${w.input('overwrite', 'true')}`,
  });
}

function closedBinError(bin: string, status: 'locked' | 'unavailable'): DeliveryError {
  const reason =
    status === 'locked'
      ? 'is locked: it takes no further uploads'
      : 'is expired or deleted: its name is never usable again';
  return new DeliveryError('CONFLICT', `bin ${bin} ${reason}`, {
    hint: (w) => `leave ${w.input('bin')} out, or set another name: a named bin takes one delivery`,
  });
}

/**
 * Decides whether a file may be deleted. A withdrawal is always a later run, and knows only the file at hand.
 *
 * @returns whether the file is there
 * @throws {DeliveryError} `NOT_OURS` for other bytes, and where there is nothing to compare with.
 * @see design 4
 */
export function mayRemove(
  { filename, sha256 }: BinEntry,
  { files }: BinState,
  { bin, overwrite }: BinTarget,
): boolean {
  const named = files.find((file) => file.filename === filename);
  if (named === undefined) return false;
  if (overwrite || (sha256 !== undefined && named.sha256 === sha256)) return true;
  const description =
    sha256 === undefined
      ? 'there is no file at hand to compare it with'
      : 'its bytes are not those of the file at hand';
  throw new DeliveryError('NOT_OURS', `${filename} in bin ${bin} may be somebody else's: ${description}`, {
    hint: (w) =>
      `set ${w.input('file')} to the file as it was delivered, or ${w.input('overwrite', 'true')} to delete whatever has this name`,
  });
}

/** Where a bin comes from. */
interface BinOrigin {
  readonly before: BinState;
  /** Whether the bin's name was made up for this delivery. */
  readonly isNew: boolean;
  /** Whether it held a file of others when one was posted, although it was absent before. */
  readonly wasTaken: boolean;
}

const ANYBODY = 'anybody who knows its name can add to it or replace what it holds';
const NOT_LOCKED = `the bin could not be locked: ${ANYBODY}`;
const FOREIGN = `the bin was not locked, because this delivery did not create it: ${ANYBODY}`;
const TAKEN = `somebody put a file into the bin before one of this delivery, which may have replaced it; ${FOREIGN}`;

/**
 * Locks a bin that this delivery created. One that existed before is never locked: that is for good, and its
 * owner could not add to it any more.
 *
 * @param entries the files of this delivery
 * @returns for UNKNOWN: why anybody may change the bin; nothing where it is locked
 * @see design 4
 */
export async function lockOwnBin(
  location: BinLocation,
  entries: readonly BinEntry[],
  { before, isNew, wasTaken }: BinOrigin,
  ports: Ports,
): Promise<readonly string[]> {
  if (before.status === 'locked') return [];
  if (before.status !== 'absent') return [FOREIGN];
  if (wasTaken) return [TAKEN];
  if (!isNew) {
    // Somebody else may have created it meanwhile.
    const state = await resultOf(() => readBin(location, ports));
    const isOwn = ({ filename, sha256 }: BinFile): boolean =>
      entries.some((entry) => entry.filename === filename && entry.sha256 === sha256);
    if (hasFailed(state) || !state.files.every(isOwn)) return [FOREIGN];
  }
  return (await lockBin(location, ports)) || (await readLock(location, ports)) === true ? [] : [NOT_LOCKED];
}

/**
 * Reads after the proof whether a lock still holds: an upload that was still being stored, ours or another one, writes
 * its own state over it.
 *
 * @returns for UNKNOWN: what is not as it was left
 */
export async function recheckLock(location: BinLocation, ports: Ports): Promise<readonly string[]> {
  const isLocked = await readLock(location, ports);
  if (isLocked === true) return [];
  if (isLocked === null) return ['whether the bin is locked could not be read'];
  await lockBin(location, ports);
  return (await readLock(location, ports)) === true ? [] : [NOT_LOCKED];
}

/** `null` where the host does not say. */
async function readLock(location: BinLocation, ports: Ports): Promise<boolean | null> {
  const state = await resultOf(() => readBin(location, ports));
  return hasFailed(state) ? null : state.status === 'locked';
}
