import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { DeliveryError } from '../errors.ts';
import { type FileLocation, openFile } from './open-file.ts';

/** Bytes per read: for a stream that is sent, and for a check. */
const STREAM_CHUNK = 65_536;
const CHECK_CHUNK = 262_144;

/**
 * A file whose bytes must stay those that were checked. Of thousands of files all are known at once, so nothing is
 * kept of one that is not needed: no handle, no function, and of what the system knows only what shows a change.
 */
export class OpenedFile {
  /** Bytes. */
  readonly size: number;
  readonly #location: FileLocation;
  /** What shows that somebody wrote to the file. */
  readonly #written: string;
  /** When the inode changed; taken again after the bytes were compared. Nanoseconds since the epoch. */
  #changedAt: bigint;
  /** Of the checked bytes; `null` until they are checked. */
  #sha256: string | null = null;
  /** `null` where the file is opened again for each read. */
  #handle: FileHandle | null;

  constructor(handle: FileHandle, stats: BigIntStats, location: FileLocation) {
    const { path, given, allowedRoots = [], allowsFullPaths = false } = location;
    this.#location = { path, given, allowedRoots, allowsFullPaths };
    this.#handle = handle;
    this.size = Number(stats.size);
    this.#written = formatWritten(stats);
    this.#changedAt = stats.ctimeNs;
  }

  /** @param staysOpen whether the handle is kept; else the caller closes it */
  setChecked(sha256: string, staysOpen: boolean): void {
    this.#sha256 = sha256;
    if (!staysOpen) this.#handle = null;
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }

  /** The bytes in chunks that may be kept. */
  chunks(): AsyncIterable<Buffer> {
    return this.#read(() => Buffer.allocUnsafe(Math.min(STREAM_CHUNK, this.size + 1)));
  }

  /**
   * The bytes in pieces; each is valid only until the next one is requested.
   *
   * @param length how many bytes to read; all if absent
   */
  pieces(length?: number): AsyncIterable<Buffer> {
    return this.#read(createTwoBuffers(Math.min(CHECK_CHUNK, this.size + 1)), length);
  }

  /**
   * Reads from the first byte on, one chunk ahead of the caller, and refuses a file that changed since it was
   * opened. The streams of the handle itself are not used, because each leaves a listener on the handle.
   *
   * @param allocate returns the memory for the next chunk
   */
  async *#read(allocate: () => Buffer, length = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
    // The file at the path may be another one by now: each read compares it with the one that was checked.
    const handle = this.#handle ?? (await openFile(this.#location));
    const readAt = async (position: number): Promise<Buffer> => {
      const buffer = allocate();
      const wanted = Math.min(buffer.length, length - position);
      const { bytesRead } = await handle.read(buffer, 0, wanted, position);
      return buffer.subarray(0, bytesRead);
    };
    try {
      await this.#refuseChanged(handle);
      let next = readAt(0);
      try {
        for (let position = 0; ; ) {
          const chunk = await next;
          if (chunk.length === 0) break;
          position += chunk.length;
          next = readAt(position);
          yield chunk;
        }
      } finally {
        // A caller that stops early leaves one read open; its failure must not become an unhandled rejection.
        await next.catch(() => undefined);
      }
      await this.#refuseChanged(handle);
    } finally {
      if (handle !== this.#handle) await handle.close();
    }
  }

  async #refuseChanged(handle: FileHandle): Promise<void> {
    const now = await handle.stat({ bigint: true });
    if (formatWritten(now) !== this.#written) throw changedFileError(this.#location.given);
    if (now.ctimeNs !== this.#changedAt) await this.#compareAgain(handle, now);
  }

  /**
   * Only the time of the inode's change is another: the file was renamed or replaced, which leaves its bytes, or
   * it was written to and the time of the write was set back. The bytes decide.
   */
  async #compareAgain(handle: FileHandle, now: BigIntStats): Promise<void> {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(STREAM_CHUNK);
    for (let position = 0; position < now.size; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      position += bytesRead;
    }
    const isSame = this.#sha256 !== null && hash.digest('hex') === this.#sha256;
    if (!isSame) throw changedFileError(this.#location.given);
    this.#changedAt = now.ctimeNs;
  }
}

const formatWritten = ({ dev, ino, size, mtimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs].join(' ');

/** The bytes at hand are not those that were checked. */
export function changedFileError(given: string): DeliveryError {
  return new DeliveryError('BAD_FILE', `the file ${given} changed while it was delivered`, {
    hint: 'deliver it after what writes it has ended',
  });
}

/** Returns two buffers in turn: one is filled while the caller reads the other. @param length bytes of each */
function createTwoBuffers(length: number): () => Buffer {
  const buffers = [Buffer.allocUnsafe(length), Buffer.allocUnsafe(length)] as const;
  let turn = 0;
  return () => {
    turn = 1 - turn;
    return turn === 0 ? buffers[0] : buffers[1];
  };
}
