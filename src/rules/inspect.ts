import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { DeliveryError } from '../errors.ts';
import { SIZE } from '../protocol/limits.ts';
import { createCredentialSearch } from './credential-search.ts';
import { fingerprintBytes } from './fingerprint.ts';
import { type FileLocation, openFile } from './open-file.ts';

/** An open file whose bytes were read once. It stays open until `close`, so that the checked bytes are the bytes sent. */
export interface LocalFile {
  /** The file name without folders. */
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
  /** What the file must not contain, in any encoding: the credentials of this job. */
  readonly secrets: readonly string[];
  /** Throws if the file has too many bytes; called before they are read. */
  readonly accept?: (size: number) => void;
  /** Whether a file without a byte is accepted: within a site it may have a meaning. */
  readonly mayBeEmpty?: boolean;
  /** Whether the file is closed between two reads: a site has more files than a process may keep open. */
  readonly closesBetweenReads?: boolean;
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
  let isKept = false;
  try {
    const file = await inspectContent(handle, options);
    isKept = options.closesBetweenReads !== true;
    return file;
  } finally {
    if (!isKept) await handle.close();
  }
}

async function inspectContent(handle: FileHandle, options: InspectOptions): Promise<LocalFile> {
  const { given, closesBetweenReads = false } = options;
  const stats = await handle.stat({ bigint: true });
  const size = Number(stats.size);
  refuseUnsuitable(stats, options);
  options.accept?.(size);
  const file: OpenedFile = { stats, given, sha256: null, useHandle: async () => keepOpen(handle) };
  const pieces = (length?: number): AsyncIterable<Buffer> =>
    readChunks(file, { length, allocate: createTwoBuffers(Math.min(CHECK_CHUNK, size + 1)) });
  const scanned = await scanBytes(pieces(), size, options);
  file.sha256 = scanned.sha256;
  if (closesBetweenReads) file.useHandle = () => openAgain(options);
  return {
    name: basename(given),
    ...scanned,
    read: () =>
      Readable.from(
        readChunks(file, { allocate: () => Buffer.allocUnsafe(Math.min(STREAM_CHUNK, size + 1)) }),
        { objectMode: false },
      ),
    pieces: () => pieces(),
    headSha256: async (length) => (await fingerprintBytes(pieces(length))).sha256,
    close: async () => (closesBetweenReads ? undefined : handle.close()),
  };
}

/** A handle for one read, and what ends its use. */
interface LentHandle {
  readonly handle: FileHandle;
  giveBack(): Promise<void>;
}

const keepOpen = (handle: FileHandle): LentHandle => ({ handle, giveBack: async () => undefined });

/** The file at the path may be another one by now: each read compares it with the one that was checked. */
async function openAgain(location: FileLocation): Promise<LentHandle> {
  const handle = await openFile(location);
  return { handle, giveBack: () => handle.close() };
}

function refuseUnsuitable(
  stats: BigIntStats,
  { given, mayBeEmpty = false }: Pick<InspectOptions, 'given' | 'mayBeEmpty'>,
): void {
  if (stats.isDirectory()) {
    throw new DeliveryError('BAD_FILE', `${given} is a folder`, { hint: 'set `file:` to one file in it' });
  }
  if (!stats.isFile()) {
    throw new DeliveryError('BAD_FILE', `${given} is not a regular file`, {
      hint: 'set `file:` to a regular file',
    });
  }
  if (stats.size === 0n && !mayBeEmpty) {
    throw new DeliveryError('BAD_FILE', `the file ${given} is empty`, {
      hint: 'check the step that writes it; an empty file is never delivered',
    });
  }
}

type ScannedContent = Pick<LocalFile, 'size' | 'sha256' | 'head' | 'binary' | 'blobSha' | 'markerCount'>;

/** Reads all bytes once: computes the hashes, counts the marker and refuses a file with a credential. */
async function scanBytes(
  pieces: AsyncIterable<Buffer>,
  expectedSize: number,
  { given, marker, secrets, signal }: InspectOptions,
): Promise<ScannedContent> {
  let head = '';
  let binary = false;
  const blob = expectedSize > SIZE.repository ? null : createHash('sha1').update(`blob ${expectedSize}\0`);
  const hasCredential = createCredentialSearch(secrets);
  let leaks = false;
  const needles = marker === undefined ? [] : [Buffer.from(marker)];
  const { size, sha256, counts } = await fingerprintBytes(pieces, needles, (chunk) => {
    signal?.throwIfAborted();
    leaks ||= hasCredential(chunk);
    blob?.update(chunk);
    binary ||= chunk.includes(0);
    if (head === '') head = chunk.toString('latin1', 0, HEAD_LENGTH);
  });
  if (size !== expectedSize) throw changedFileError(given);
  if (leaks) {
    throw new DeliveryError('BAD_FILE', `the file ${given} contains a credential of this job`, {
      hint: 'remove it from the file, and revoke it if the file was published anywhere',
    });
  }
  const markerCount = marker === undefined ? null : (counts[0] ?? 0);
  if (markerCount === 0) {
    throw new DeliveryError('BAD_INPUT', `the marker was not found in the file ${given}`, {
      hint: 'set `marker:` to a text that the file contains exactly, or remove it to compare all bytes',
    });
  }
  return { size, sha256, head, binary, blobSha: blob?.digest('hex') ?? '', markerCount };
}

/** Bytes per read: for a stream that is sent, and for a check. */
const STREAM_CHUNK = 65_536;
const CHECK_CHUNK = 262_144;

/** Bytes that tell the kind of file. */
const HEAD_LENGTH = 16;

interface OpenedFile {
  /** Lends the handle that stays open, or a new one. */
  useHandle: () => Promise<LentHandle>;
  /** Taken when the file was opened, and again after its bytes were compared. */
  stats: BigIntStats;
  readonly given: string;
  /** Of the checked bytes; `null` until they are checked. */
  sha256: string | null;
}

interface ReadOptions {
  /** How many bytes to read; all if absent. */
  readonly length?: number | undefined;
  /** Returns the memory for the next chunk. */
  readonly allocate: () => Buffer;
}

/**
 * Reads from the first byte on, one chunk ahead of the caller, and refuses a file that changed since it was
 * opened. The streams of the handle itself are not used, because each leaves a listener on the handle.
 */
async function* readChunks(file: OpenedFile, options: ReadOptions): AsyncGenerator<Buffer> {
  const { length = Number.POSITIVE_INFINITY, allocate } = options;
  const { handle, giveBack } = await file.useHandle();
  const readAt = async (position: number): Promise<Buffer> => {
    const buffer = allocate();
    const wanted = Math.min(buffer.length, length - position);
    const { bytesRead } = await handle.read(buffer, 0, wanted, position);
    return buffer.subarray(0, bytesRead);
  };
  try {
    await refuseChanged(file, handle);
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
    await refuseChanged(file, handle);
  } finally {
    await giveBack();
  }
}

async function refuseChanged(file: OpenedFile, handle: FileHandle): Promise<void> {
  const now = await handle.stat({ bigint: true });
  if (BYTES_CHANGED.some((field) => now[field] !== file.stats[field])) throw changedFileError(file.given);
  if (now.ctimeNs !== file.stats.ctimeNs) await compareAgain(file, handle, now);
}

/** What shows that somebody wrote to the file. */
const BYTES_CHANGED = ['dev', 'ino', 'size', 'mtimeNs'] as const;

/**
 * Only the time of the inode's change is another: the file was renamed or replaced, which leaves its bytes, or
 * it was written to and the time of the write was set back. The bytes decide.
 */
async function compareAgain(file: OpenedFile, handle: FileHandle, now: BigIntStats): Promise<void> {
  const { sha256 } = file;
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(STREAM_CHUNK);
  for (let position = 0; position < now.size; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  if (sha256 === null || hash.digest('hex') !== sha256) throw changedFileError(file.given);
  file.stats = now;
}

/** The bytes at hand are not those that were checked. */
export function changedFileError(given: string): DeliveryError {
  return new DeliveryError('BAD_FILE', `the file ${given} changed while it was delivered`, {
    hint: 'deliver it after the step that writes it has ended',
  });
}

/**
 * Returns two buffers in turn: one is filled while the caller reads the other.
 *
 * @param length bytes of each
 */
function createTwoBuffers(length: number): () => Buffer {
  const buffers = [Buffer.allocUnsafe(length), Buffer.allocUnsafe(length)] as const;
  let turn = 0;
  return () => {
    turn = 1 - turn;
    return turn === 0 ? buffers[0] : buffers[1];
  };
}
