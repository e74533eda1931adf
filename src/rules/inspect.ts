import { createHash, hash } from 'node:crypto';
import { type BigIntStats, fstatSync } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { OwnCredential } from '../credentials.ts';
import { DeliveryError } from '../errors.ts';
import { SIZE } from '../protocol/limits.ts';
import {
  type ContentFingerprint,
  createBlobHash,
  createCredentialSearch,
  createFingerprint,
} from './fingerprint.ts';
import { type FileLocation, withFile } from './open-file.ts';
import { UnchangedFile } from './unchanged-file.ts';

/** A checked file. Each later read opens it again, and fails if its bytes changed. */
export interface LocalFile extends ContentFingerprint {
  /** The file name without folders, or the path in a folder that is delivered as a site. */
  readonly name: string;
  /** The first 16 bytes as Latin-1 text. */
  readonly firstBytes: string;
  readonly binary: boolean;
  /** The git object id; empty if the file is too large for a repository. */
  readonly blobSha: string;
  read(): Readable;
  /** Reads the bytes for further checks, without the comparison that `read` makes at the end. */
  pieces(): AsyncIterable<Buffer>;
  prefixSha256(length: number): Promise<string>;
}

export interface InspectOptions extends FileLocation {
  readonly marker: string | undefined;
  readonly secrets: readonly OwnCredential[];
  readonly accept?: (size: number) => void;
  /** Whether an empty file is accepted: in a site it may have a meaning. */
  readonly mayBeEmpty?: boolean;
  readonly name?: string;
  readonly signal?: AbortSignal;
}

/**
 * Opens a file and reads it once: computes its hashes, counts the marker, and refuses a credential of this job.
 *
 * @param check further checks; the bytes of a small file stay in memory for them
 * @throws {DeliveryError} `BAD_FILE` or `BAD_INPUT` with what to change. @see protocol 1 (file rules), 4.5
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
    opened.keepBytes(fd);
    return opened;
  });
  try {
    await file.scan(options);
    await check(file);
    return file;
  } finally {
    file.releaseBytes();
  }
}

export const EMPTY_HINT = 'check the program that writes it: an empty file is never delivered';

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
    refuse(`the file ${given} is empty`, EMPTY_HINT);
  }
}

const HEAD_LENGTH = 16;

class CheckedFile extends UnchangedFile implements LocalFile {
  readonly name: string;
  firstBytes = '';
  binary = false;
  blobSha = '';
  markerCount: number | null = null;

  constructor(stats: BigIntStats, options: InspectOptions) {
    super(stats, options);
    this.name = options.name ?? basename(options.given);
  }

  async scan({ given, marker, secrets, signal }: InspectOptions): Promise<void> {
    const blob = this.size > SIZE.repository ? null : createBlobHash(this.size);
    const findCredential = createCredentialSearch(secrets);
    const fingerprint = createFingerprint(marker);
    let leaked: string | undefined;
    for await (const chunk of this.pieces()) {
      signal?.throwIfAborted();
      leaked ??= findCredential(chunk);
      blob?.update(chunk);
      this.binary ||= chunk.includes(0);
      this.firstBytes ||= chunk.toString('latin1', 0, HEAD_LENGTH);
      fingerprint.add(chunk);
    }
    refuseCredential(given, leaked);
    const { sha256, markerCount } = fingerprint.end();
    this.sha256 = sha256;
    this.markerCount = markerCount;
    this.blobSha = blob?.digest('hex') ?? '';
  }

  async prefixSha256(length: number): Promise<string> {
    const hash = createHash('sha256');
    for await (const chunk of this.pieces(length)) hash.update(chunk);
    return hash.digest('hex');
  }
}

/** @param leaked the name of the credential that was found in the file, if any */
export function refuseCredential(given: string, leaked: string | undefined): void {
  if (leaked === undefined) return;
  const what = `a credential of this environment (${leaked})`;
  throw new DeliveryError('BAD_FILE', `the file ${given} contains ${what}`, {
    hint: 'remove it from the file, and revoke it if the file was published anywhere',
  });
}

/** A file made of bytes in memory, such as a picture of the page. */
export function createMemoryFile(name: string, content: Uint8Array): LocalFile {
  const bytes = Buffer.from(content);
  const read = (): Readable => Readable.from(bytes.length === 0 ? [] : [bytes], { objectMode: false });
  return {
    name,
    size: bytes.length,
    sha256: hash('sha256', bytes),
    firstBytes: bytes.toString('latin1', 0, HEAD_LENGTH),
    binary: bytes.includes(0),
    blobSha: createBlobHash(bytes.length).update(bytes).digest('hex'),
    markerCount: null,
    read,
    pieces: read,
    prefixSha256: async (length) => hash('sha256', bytes.subarray(0, length)),
  };
}
