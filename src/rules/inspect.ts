import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { DeliveryError } from '../errors.ts';
import { SIZE } from '../protocol/limits.ts';
import { fingerprintBytes } from './fingerprint.ts';
import { type FileLocation, openFile } from './open-file.ts';

/** A file that passed its checks. It stays open until `close`: what was checked is what is sent. */
export interface LocalFile {
  /** The name on disk, without folders. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Lowercase hex. */
  readonly sha256: string;
  /** Its first bytes, as text: enough to tell what kind of file it is. */
  readonly head: string;
  /** Whether it holds a NUL byte, as no text does. */
  readonly binary: boolean;
  /** The identifier git gives to these bytes; empty for a file that no repository takes. */
  readonly blobSha: string;
  /** How often the marker stands in the file; `null` without a marker. */
  readonly markerCount: number | null;
  /** A fresh stream of the bytes, from the first, for whoever passes them on. */
  read(): Readable;
  /** The bytes for whoever looks at them and lets go: each piece is valid until the next is asked for. */
  pieces(): AsyncIterable<Buffer>;
  /** SHA-256 of the first `length` bytes, lowercase hex. */
  headSha256(length: number): Promise<string>;
  close(): Promise<void>;
}

export interface InspectOptions extends FileLocation {
  readonly marker: string | undefined;
  /** Strings that must not stand in the file: our own credentials. */
  readonly secrets: readonly string[];
  /** Throws where so many bytes are too many; asked before they are read. */
  readonly accept?: (size: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * All checks on a file, in one pass over its bytes.
 *
 * @throws {DeliveryError} `BAD_FILE` or `BAD_INPUT` with what to change.
 * @see protocol 1 (file rules), 4.5
 */
export async function inspectFile(asked: InspectOptions): Promise<LocalFile> {
  const handle = await openFile(asked);
  try {
    return await checkContent(handle, asked);
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

async function checkContent(handle: FileHandle, asked: InspectOptions): Promise<LocalFile> {
  const { given, marker, secrets, signal } = asked;
  const stats = await handle.stat();
  if (stats.isDirectory()) {
    throw new DeliveryError('BAD_FILE', `${given} is a folder`, { hint: 'set `file:` to one file in it' });
  }
  if (!stats.isFile()) {
    throw new DeliveryError('BAD_FILE', `${given} is not a regular file`, {
      hint: 'set `file:` to a regular file',
    });
  }
  if (stats.size === 0) {
    throw new DeliveryError('BAD_FILE', `the file ${given} is empty`, {
      hint: 'check the step that writes it; an empty file is never delivered',
    });
  }
  asked.accept?.(stats.size);
  const changed = (): DeliveryError =>
    new DeliveryError('BAD_FILE', `the file ${given} changed while it was delivered`, {
      hint: 'deliver it after the step that writes it has ended',
    });
  const unchanged = async (): Promise<void> => {
    const now = await handle.stat();
    if (now.size !== stats.size || now.mtimeMs !== stats.mtimeMs) throw changed();
  };
  const pieces = (length?: number): AsyncIterable<Buffer> =>
    chunks(handle, { length, room: createTwoBuffers(), unchanged });
  let head = '';
  let binary = false;
  const blob = stats.size > SIZE.repository ? null : createHash('sha1').update(`blob ${stats.size}\0`);
  const needles = [...secrets, ...(marker === undefined ? [] : [marker])].map((text) => Buffer.from(text));
  const { size, sha256, counts } = await fingerprintBytes(pieces(), needles, (chunk) => {
    signal?.throwIfAborted();
    blob?.update(chunk);
    binary ||= chunk.includes(0);
    if (head === '') head = chunk.toString('latin1', 0, HEAD);
  });
  if (size !== stats.size) throw changed();
  if (counts.slice(0, secrets.length).some((count) => count > 0)) {
    throw new DeliveryError('BAD_FILE', `the file ${given} holds a credential of this very job`, {
      hint: 'remove it from the file, and revoke it if the file went anywhere',
    });
  }
  const markerCount = marker === undefined ? null : (counts.at(-1) ?? 0);
  if (markerCount === 0) {
    throw new DeliveryError('BAD_INPUT', `the marker does not stand in the file ${given}`, {
      hint: 'set `marker:` to a text that the file holds letter by letter, or leave it out to compare all bytes',
    });
  }
  return {
    name: basename(given),
    size,
    sha256,
    head,
    binary,
    blobSha: blob?.digest('hex') ?? '',
    markerCount,
    read: () =>
      Readable.from(chunks(handle, { room: () => Buffer.allocUnsafe(CHUNK), unchanged }), {
        objectMode: false,
      }),
    pieces: () => pieces(),
    headSha256: async (length) => (await fingerprintBytes(pieces(length))).sha256,
    close: () => handle.close(),
  };
}

/** Bytes that are read at once: of what is passed on, and of what is only looked at. */
const CHUNK = 65_536;
const PIECE = 262_144;

/** Bytes that tell what kind of file it is. */
const HEAD = 16;

interface ReadOptions {
  /** How many bytes; all of them where absent. */
  readonly length?: number | undefined;
  /** Memory for the next chunk. */
  readonly room: () => Buffer;
  readonly unchanged: () => Promise<void>;
}

/**
 * The first bytes, of the file as it was checked; the next chunk is read while one is looked at. The handle's
 * own streams each leave a listener behind.
 */
async function* chunks(handle: FileHandle, way: ReadOptions): AsyncGenerator<Buffer> {
  const { length = Number.POSITIVE_INFINITY, room, unchanged } = way;
  const read = async (at: number): Promise<Buffer> => {
    const into = room();
    const { bytesRead } = await handle.read(into, 0, Math.min(into.length, length - at), at);
    return into.subarray(0, bytesRead);
  };
  await unchanged();
  let next = read(0);
  try {
    for (let at = 0; ; ) {
      const chunk = await next;
      if (chunk.length === 0) break;
      at += chunk.length;
      next = read(at);
      yield chunk;
    }
  } finally {
    // Whoever stops early leaves a read behind, which nobody waits for.
    await next.catch(() => undefined);
  }
  await unchanged();
}

/** The same two buffers in turn: one is read into while the other is looked at. */
function createTwoBuffers(): () => Buffer {
  const rooms = [Buffer.allocUnsafe(PIECE), Buffer.allocUnsafe(PIECE)] as const;
  let turn = 0;
  return () => {
    turn = 1 - turn;
    return turn === 0 ? rooms[0] : rooms[1];
  };
}
