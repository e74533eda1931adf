import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { MEGABYTE } from '../../protocol/limits.ts';
import { changedFileError, type LocalFile } from '../../rules/inspect.ts';

/** A file that a commit writes. */
export interface PushedFile {
  /** Path in the branch. */
  readonly path: string;
  readonly file: Pick<LocalFile, 'size' | 'blobSha' | 'read' | 'pieces'>;
}

/** Bytes from which on git neither compresses nor compares a blob: `core.bigFileThreshold` of all commands. */
export const LARGE_BLOB = MEGABYTE;

/** What the index of a pack says of one object. */
interface PackEntry {
  /** The object id. */
  readonly sha: Buffer;
  readonly crc: number;
  /** Bytes from the beginning of the pack. */
  readonly offset: number;
}

/**
 * Writes large files as blobs into a pack of a bare repository, uncompressed. `fast-import` reads and hashes each
 * of them four times for the same pack, which takes longer than to send it.
 *
 * @param files at least one, and no two of the same bytes
 * @throws {DeliveryError} `BAD_FILE` when the bytes are not those that were checked; the signal's reason.
 * @see https://git-scm.com/docs/gitformat-pack
 */
export async function writeBlobPack(
  folder: string,
  files: readonly PushedFile[],
  signal: AbortSignal,
): Promise<void> {
  const place = join(folder, 'objects', 'pack');
  // Git does not look at files of another name.
  const [pack, index] = [join(place, 'tmp_blobs.pack'), join(place, 'tmp_blobs.idx')];
  const handle = await open(pack, 'wx');
  let written: { readonly entries: readonly PackEntry[]; readonly checksum: Buffer };
  try {
    written = await writePack(handle, files, signal);
  } finally {
    await handle.close();
  }
  await writeFile(index, formatIndex(written.entries, written.checksum));
  const name = `pack-${written.checksum.toString('hex')}`;
  await rename(pack, join(place, `${name}.pack`));
  await rename(index, join(place, `${name}.idx`));
}

async function writePack(
  handle: FileHandle,
  files: readonly PushedFile[],
  signal: AbortSignal,
): Promise<{ readonly entries: readonly PackEntry[]; readonly checksum: Buffer }> {
  const checksum = createHash('sha1');
  const entries: PackEntry[] = [];
  let offset = 0;
  let crc = 0;
  const write = async (parts: readonly Buffer[]): Promise<void> => {
    signal.throwIfAborted();
    for (const part of parts) {
      checksum.update(part);
      crc = crc32(part, crc);
      offset += part.length;
    }
    await handle.writev(parts);
  };
  await write([Buffer.from('PACK'), uint32(VERSION), uint32(files.length)]);
  for (const one of files) {
    const start = offset;
    crc = 0;
    await writeBlob(one, write);
    entries.push({ sha: Buffer.from(one.file.blobSha, 'hex'), crc, offset: start });
  }
  const digest = checksum.digest();
  await handle.writev([digest]);
  return { entries, checksum: digest };
}

/** Of the pack and of its index. */
const VERSION = 2;

/** Writes an object: its kind and size, and a zlib stream that compresses nothing. */
async function writeBlob(
  { path, file }: PushedFile,
  write: (parts: readonly Buffer[]) => Promise<void>,
): Promise<void> {
  const blob = createHash('sha1').update(`blob ${file.size}\0`);
  let sum: Adler32 = { low: 1, high: 0 };
  await write([formatObjectHeader(file.size), ZLIB_HEADER]);
  for await (const piece of file.pieces()) {
    blob.update(piece);
    sum = addToAdler32(sum, piece);
    await write(formatStoredBlocks(piece));
  }
  await write([LAST_BLOCK, uint32(sum.high * 0x10000 + sum.low)]);
  // What was checked is what is sent, even if nothing showed that the file changed.
  if (blob.digest('hex') !== file.blobSha) throw changedFileError(path);
}

const BLOB_TYPE = 3;

/** The kind and the size: 4 bits of it in the first byte, 7 in each further one, the lowest first. */
function formatObjectHeader(size: number): Buffer {
  const bytes = [(BLOB_TYPE << 4) | (size & 0xf)];
  for (let rest = Math.floor(size / 0x10); rest > 0; rest = Math.floor(rest / 0x80)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest & 0x7f);
  }
  return Buffer.from(bytes);
}

const ZLIB_HEADER = Buffer.from([0x78, 0x01]);

/** Bytes of the longest block. @see RFC 1951, 3.2.4 */
const STORED_BLOCK = 65_535;

/** An empty block that ends the stream. */
const LAST_BLOCK = Buffer.from([1, 0, 0, 0xff, 0xff]);

/** Blocks that are stored as they are: each has its length before it, twice. */
function formatStoredBlocks(piece: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  for (let start = 0; start < piece.length; start += STORED_BLOCK) {
    const block = piece.subarray(start, start + STORED_BLOCK);
    const header = Buffer.alloc(LAST_BLOCK.length);
    header.writeUInt16LE(block.length, 1);
    header.writeUInt16LE(block.length ^ 0xffff, 3);
    blocks.push(header, block);
  }
  return blocks;
}

/** The two sums of the checksum at the end of a zlib stream. @see RFC 1950, 8.2 */
interface Adler32 {
  readonly low: number;
  readonly high: number;
}

const ADLER_MODULUS = 65_521;

/** Bytes after which the sums may no longer fit into 31 bits, in which numbers are added fastest. */
const ADLER_RUN = 3_800;

function addToAdler32(sum: Adler32, bytes: Buffer): Adler32 {
  let { low, high } = sum;
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(at + ADLER_RUN, bytes.length);
    for (; at < end; at += 1) {
      low += bytes[at] ?? 0;
      high += low;
    }
    low %= ADLER_MODULUS;
    high %= ADLER_MODULUS;
  }
  return { low, high };
}

/** Where each object is: counts by first byte, ids in order, checksums, offsets, and two checksums of the whole. */
function formatIndex(unsorted: readonly PackEntry[], packChecksum: Buffer): Buffer {
  const entries = unsorted.toSorted((one, other) => one.sha.compare(other.sha));
  const counts = Array.from({ length: 256 }, (_, byte) =>
    uint32(entries.filter(({ sha }) => (sha[0] ?? 0) <= byte).length),
  );
  const bytes = Buffer.concat([
    Buffer.from([0xff, 0x74, 0x4f, 0x63]),
    uint32(VERSION),
    ...counts,
    ...entries.map(({ sha }) => sha),
    ...entries.map(({ crc }) => uint32(crc)),
    ...entries.map(({ offset }) => uint32(offset)),
    packChecksum,
  ]);
  return Buffer.concat([bytes, createHash('sha1').update(bytes).digest()]);
}

/** Four bytes, the highest first. */
function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
