import { hasFailed, resultOf } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { type BinLocation, type BinState, createBinClient } from './bin-client.ts';
import { type BinEntry, holdsOnly } from './ownership.ts';

/** Where a bin comes from. */
export interface BinOrigin {
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
  const client = createBinClient(location, ports);
  if (before.status === 'locked') return [];
  if (before.status !== 'absent') return [FOREIGN];
  if (wasTaken) return [TAKEN];
  if (!isNew) {
    // Somebody else may have created it meanwhile.
    const state = await resultOf(client.read);
    if (hasFailed(state) || !holdsOnly(state, entries)) return [FOREIGN];
  }
  return (await client.lock()) || (await readLock(location, ports)) === true ? [] : [NOT_LOCKED];
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
  await createBinClient(location, ports).lock();
  return (await readLock(location, ports)) === true ? [] : [NOT_LOCKED];
}

/** `null` where the host does not say. */
async function readLock(location: BinLocation, ports: Ports): Promise<boolean | null> {
  const state = await resultOf(createBinClient(location, ports).read);
  return hasFailed(state) ? null : state.status === 'locked';
}
