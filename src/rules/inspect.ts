import { createHash } from 'node:crypto';
import { type BigIntStats, fstatSync, readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate as letOthersWork } from 'node:timers/promises';
import { DeliveryError } from '../errors.ts';
import { SIZE } from '../protocol/limits.ts';
import { createBlobHash, createCredentialSearch, fingerprintBytes } from './fingerprint.ts';
import { type FileLocation, openFile, withFile } from './open-file.ts';

/** A file whose bytes were read once. Each later read opens it again, and refuses other bytes than the checked ones. */
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
 * @param check further checks, for which the bytes of a small file are kept in memory
 * @throws {DeliveryError} `BAD_FILE` or `BAD_INPUT` with what to change.
 * @see protocol 1 (file rules), 4.5
 */
export async function inspectFile(
  options: InspectOptions,
  check: (file: LocalFile) => Promise<void> = async () => undefined,
): Promise<LocalFile> {
  const file = withFile(options, (fd) => {
    const stats = fstatSync(fd, { bigint: true });
    refuseUnsuitable(stats, options);
    options.accept?.(Number(stats.size));
    const opened = new CheckedFile(stats, options);
    opened.hold(fd);
    return opened;
  });
  try {
    await file.scan(options);
    await check(file);
    return file;
  } finally {
    file.release();
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

/** Bytes per read: for a stream that is sent, and for a check. A file with fewer than these is read in one go. */
const STREAM_CHUNK = 65_536;
const CHECK_CHUNK = 262_144;

/** Memory for checks, which is used again and again: what each of thousands of files would take is garbage at once. */
const spare: Buffer[] = [];
const takeBuffer = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(CHECK_CHUNK);

/**
 * A file whose bytes must stay those that were checked. Of thousands of files all are known at once, so nothing is
 * kept of one that is not needed: no handle, no function, and of what the system knows only what shows a change.
 */
class CheckedFile implements LocalFile {
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
  /** The bytes of a small file while it is checked. */
  #held: Buffer | null = null;

  constructor(stats: BigIntStats, options: InspectOptions) {
    const { path, given, allowedRoots = [], allowsFullPaths = false, name = basename(given) } = options;
    this.name = name;
    this.size = Number(stats.size);
    this.#location = { path, given, allowedRoots, allowsFullPaths };
    this.#written = formatWritten(stats);
    this.#changedAt = stats.ctimeNs;
  }

  /** Reads all bytes once: computes the hashes, counts the marker and refuses a file with a credential. */
  async scan({ given, marker, secrets, signal }: InspectOptions): Promise<void> {
    const blob = this.size > SIZE.repository ? null : createBlobHash(this.size);
    const hasCredential = createCredentialSearch(secrets);
    let leaks = false;
    if (this.#held !== null) await takeTurns();
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
    return Readable.from(this.#read(STREAM_CHUNK, allocate), { objectMode: false });
  }

  async *pieces(length = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
    if (this.#held !== null) {
      if (this.size > 0) yield this.#held.subarray(0, length);
      return;
    }
    const buffers = [takeBuffer(), takeBuffer()] as const;
    let turn = 0;
    try {
      // One is filled while the caller reads the other.
      yield* this.#read(CHECK_CHUNK, () => buffers[turn++ % 2 === 0 ? 0 : 1], length);
    } finally {
      spare.push(...buffers);
    }
  }

  async headSha256(length: number): Promise<string> {
    return (await fingerprintBytes(this.pieces(length))).sha256;
  }

  release(): void {
    if (this.#held !== null) spare.push(Buffer.from(this.#held.buffer));
    this.#held = null;
  }

  /** Keeps the bytes of a small file until they are released, so that all checks see the same ones. */
  hold(fd: number): void {
    if (this.size >= CHECK_CHUNK) return;
    const buffer = takeBuffer();
    try {
      this.#held = this.#readAll(fd, buffer);
    } finally {
      if (this.#held === null) spare.push(buffer);
    }
  }

  /** Synchronous calls take a tenth of the time that promises take. @throws {DeliveryError} for a file that changed */
  #readAll(fd: number, buffer: Buffer): Buffer {
    // One byte more shows that it grew.
    const bytes = buffer.subarray(0, readSync(fd, buffer, 0, this.size + 1, 0));
    const now = fstatSync(fd, { bigint: true });
    const isSame = now.ctimeNs === this.#changedAt || sha256Of(bytes) === this.sha256;
    if (bytes.length !== this.size || formatWritten(now) !== this.#written || !isSame) {
      throw changedFileError(this.#location.given);
    }
    this.#changedAt = now.ctimeNs;
    return bytes;
  }

  /**
   * Reads from the first byte on, and refuses a file that changed since it was opened. The streams of the handle itself
   * are not used, because each leaves a listener on the handle.
   *
   * @param most bytes of a chunk
   * @param allocate returns the memory for the next one
   */
  async *#read(
    most: number,
    allocate: () => Buffer,
    length = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<Buffer> {
    if (this.size >= most) return yield* this.#readAhead(allocate, length);
    await takeTurns();
    // The file at the path may be another one by now: each read compares it with the one that was checked.
    const bytes = withFile(this.#location, (fd) => this.#readAll(fd, allocate()));
    if (bytes.length > 0) yield bytes.subarray(0, length);
  }

  /** The same of a large file, one chunk ahead of the caller. */
  async *#readAhead(allocate: () => Buffer, length: number): AsyncGenerator<Buffer> {
    const handle = await openFile(this.#location);
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
      await handle.close();
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

const READS_IN_A_ROW = 32;
let smallReads = 0;

/** Small files are read without a pause: after some of them, signals and timers have a turn. */
async function takeTurns(): Promise<void> {
  smallReads += 1;
  if (smallReads % READS_IN_A_ROW === 0) await letOthersWork();
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const formatWritten = ({ dev, ino, size, mtimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs].join(' ');

export function changedFileError(given: string): DeliveryError {
  return new DeliveryError('BAD_FILE', `the file ${given} changed while it was delivered`, {
    hint: 'deliver it after what writes it has ended',
  });
}
