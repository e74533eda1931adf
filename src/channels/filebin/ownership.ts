import { DeliveryError } from '../../errors.ts';
import type { BinFile, BinState } from './bin-client.ts';

/** Whose a file in a bin is, is told by its bytes alone: anybody may write to a bin and delete from it. */

/** A name in a bin, and the bytes that belong there. */
export interface BinEntry {
  readonly filename: string;
  /** Lowercase hex; `undefined` where there is no file to compare with. */
  readonly sha256: string | undefined;
}

/** The bin, and whether the user allows to touch files of others. */
export interface BinAccess {
  readonly bin: string;
  readonly overwrite: boolean;
}

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
  { bin, overwrite }: BinAccess,
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
  { bin, overwrite }: BinAccess,
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

/** Whether the bin holds nothing but these files. */
export function holdsOnly({ files }: BinState, entries: readonly BinEntry[]): boolean {
  return files.every(({ filename, sha256 }) =>
    entries.some((entry) => entry.filename === filename && entry.sha256 === sha256),
  );
}
