import { createHash } from 'node:crypto';
import { type BigIntStats, fstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { DeliveryError } from '../errors.ts';
import { SIZE } from '../protocol/limits.ts';
import { createBlobHash, createCredentialSearch, fingerprintBytes } from './fingerprint.ts';
import { type FileLocation, openFile } from './open-file.ts';

/** An open file whose bytes were read once. It stays open until `close`, so that the checked bytes are the bytes sent. */
export interface LocalFile {
  /** The file name without folders; of a file in a folder that is delivered as one, its path there. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Lowercase hex. */
  readonly sha256: string;
  /** The first 16 bytes as Latin-1 text: enough to tell the kind of file. */
  readonly head: string;
  /** Whether the file contains a NUL byte, which no text does. */
  readonly binary: boolean;
  /** The object id that git gives to these bytes; empty for a file that is too large for a repository. */
  readonly blobSha: string;
  /** How often the marker occurs in the file; `null` without a marker. */
  readonly markerCount: number | null;
  /** Creates a new stream of all bytes. Its chunks may be kept. */
  read(): Readable;
  /** Reads all bytes in pieces, for checks. A piece is valid only until the next one is requested. */
  pieces(): AsyncIterable<Buffer>;
  /** SHA-256 of the first `length` bytes, lowercase hex. */
  headSha256(length: number): Promise<string>;
  close(): Promise<void>;
}

export interface InspectOptions extends FileLocation {
  readonly marker: string | undefined;
  /** What the file must not contain, as any ordinary program writes it: the credentials of this job. */
  readonly secrets: readonly string[];
  /** Throws if the file has too many bytes; called before they are read. */
  readonly accept?: (size: number) => void;
  /** Whether a file without a byte is accepted: within a site it may have a meaning. */
  readonly mayBeEmpty?: boolean;
  /** How the file is called; the last part of its path where absent. */
  readonly name?: string;
  readonly signal?: AbortSignal;
}

/**
 * Opens a file and reads it once: its hashes, its marker, and whether it holds a credential of this job. Secrets of
 * others and what a page loads are looked for by steps of their own.
 *
 * @throws {DeliveryError} `BAD_FILE` or `BAD_INPUT` with what to change.
 * @see protocol 1 (file rules), 4.5
 */
export async function inspectFile(options: InspectOptions): Promise<LocalFile> {
  const handle = await openFile(options);
  try {
    const stats = fstatSync(handle.fd, { bigint: true });
    refuseUnsuitable(stats, options);
    const file = new OpenedFile(handle, stats, options);
    options.accept?.(file.size);
    await file.scan(options);
    return file;
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

function refuseUnsuitable(
  stats: BigIntStats,
  { given, mayBeEmpty = false }: Pick<InspectOptions, 'given' | 'mayBeEmpty'>,
): void {
  const refuse = (message: string, hint: string): never => {
    throw new DeliveryError('BAD_FILE', message, { hint });
  };
  if (stats.isDirectory()) refuse(`${given} is a folder`, 'name one file in it');
  if (!stats.isFile()) refuse(`${given} is not a regular file`, 'name a regular file');
  if (stats.size === 0n && !mayBeEmpty) {
    refuse(`the file ${given} is empty`, 'check what writes it; an empty file is never delivered');
  }
}

/** Bytes that tell the kind of file. */
const HEAD_LENGTH = 16;

/** Bytes per read: for a stream that is sent, and for a check. */
const STREAM_CHUNK = 65_536;
const CHECK_CHUNK = 262_144;

/**
 * A file whose bytes must stay those that were checked. Of thousands of files all are known at once, so nothing is
 * kept of one that is not needed: no handle, no function, and of what the system knows only what shows a change.
 */
class OpenedFile implements LocalFile {
  readonly name: string;
  readonly size: number;
  sha256 = '';
  head = '';
  binary = false;
  blobSha = '';
  markerCount: number | null = null;
  readonly #location: FileLocation;
  /** What shows that somebody wrote to the file. */
  readonly #written: string;
  /** When the inode changed; taken again after the bytes were compared. Nanoseconds since the epoch. */
  #changedAt: bigint;
  /** `null` where the file is opened again for each read. */
  #handle: FileHandle | null;

  constructor(handle: FileHandle, stats: BigIntStats, options: InspectOptions) {
    const { path, given, allowedRoots = [], allowsFullPaths = false, name = basename(given) } = options;
    this.name = name;
    this.size = Number(stats.size);
    this.#location = { path, given, allowedRoots, allowsFullPaths };
    this.#written = formatWritten(stats);
    this.#changedAt = stats.ctimeNs;
    this.#handle = handle;
  }

  /** Reads all bytes once: computes the hashes, counts the marker and refuses a file with a credential. */
  async scan({ given, marker, secrets, signal }: InspectOptions): Promise<void> {
    const blob = this.size > SIZE.repository ? null : createBlobHash(this.size);
    const hasCredential = createCredentialSearch(secrets);
    let leaks = false;
    const needles = marker === undefined ? [] : [Buffer.from(marker)];
    const { size, sha256, counts } = await fingerprintBytes(this.pieces(), needles, (chunk) => {
      signal?.throwIfAborted();
      leaks ||= hasCredential(chunk);
      blob?.update(chunk);
      this.binary ||= chunk.includes(0);
      this.head ||= chunk.toString('latin1', 0, HEAD_LENGTH);
    });
    if (size !== this.size) throw changedFileError(given);
    if (leaks) {
      throw new DeliveryError('BAD_FILE', `the file ${given} contains a credential of this environment`, {
        hint: 'remove it from the file, and revoke it if the file was published anywhere',
      });
    }
    this.sha256 = sha256;
    this.blobSha = blob?.digest('hex') ?? '';
    this.markerCount = counts[0] ?? null;
  }

  read(): Readable {
    const allocate = (): Buffer => Buffer.allocUnsafe(Math.min(STREAM_CHUNK, this.size + 1));
    return Readable.from(this.#read(allocate), { objectMode: false });
  }

  pieces(length?: number): AsyncIterable<Buffer> {
    return this.#read(createTwoBuffers(Math.min(CHECK_CHUNK, this.size + 1)), length);
  }

  async headSha256(length: number): Promise<string> {
    return (await fingerprintBytes(this.pieces(length))).sha256;
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
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
      // What was written behind the end is seen below.
      if (position > 0 && position >= this.size) return Buffer.alloc(0);
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
    const now = fstatSync(handle.fd, { bigint: true });
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
    const isSame = hash.digest('hex') === this.sha256;
    if (!isSame) throw changedFileError(this.#location.given);
    this.#changedAt = now.ctimeNs;
  }
}

const formatWritten = ({ dev, ino, size, mtimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs].join(' ');

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
