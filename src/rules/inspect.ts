import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { DeliveryError } from '../errors.ts';
import { SIZE } from '../protocol/limits.ts';
import { createCredentialSearch, fingerprintBytes } from './fingerprint.ts';
import { type FileLocation, openFile } from './open-file.ts';
import { changedFileError, OpenedFile } from './opened-file.ts';

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
  const stats = await handle.stat({ bigint: true });
  refuseUnsuitable(stats, options);
  const opened = new OpenedFile(handle, stats, options);
  options.accept?.(opened.size);
  const file = new CheckedFile(options.name ?? basename(options.given), opened);
  await file.scan(options);
  opened.setChecked(file.sha256, options.closesBetweenReads !== true);
  return file;
}

/** Has no function of its own: a site has thousands of them. */
class CheckedFile implements LocalFile {
  readonly name: string;
  readonly size: number;
  sha256 = '';
  head = '';
  binary = false;
  blobSha = '';
  markerCount: number | null = null;
  readonly #opened: OpenedFile;

  constructor(name: string, opened: OpenedFile) {
    this.name = name;
    this.size = opened.size;
    this.#opened = opened;
  }

  /** Reads all bytes once: computes the hashes, counts the marker and refuses a file with a credential. */
  async scan({ given, marker, secrets, signal }: InspectOptions): Promise<void> {
    const blob = this.size > SIZE.repository ? null : createHash('sha1').update(`blob ${this.size}\0`);
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
    return Readable.from(this.#opened.chunks(), { objectMode: false });
  }

  pieces(): AsyncIterable<Buffer> {
    return this.#opened.pieces();
  }

  async headSha256(length: number): Promise<string> {
    return (await fingerprintBytes(this.#opened.pieces(length))).sha256;
  }

  close(): Promise<void> {
    return this.#opened.close();
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
