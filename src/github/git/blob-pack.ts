import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, crc32, createDeflate } from 'node:zlib';
import { MEGABYTE } from '../../protocol/limits.ts';
import { createBlobHash } from '../../rules/fingerprint.ts';
import { changedFileError } from '../../rules/unchanged-file.ts';
import type { FileWrite } from '../change.ts';

/** Bytes from which on git neither compresses nor compares a blob: `core.bigFileThreshold` of all commands. */
export const LARGE_BLOB = MEGABYTE;

type WriteBytes = (bytes: Buffer) => Promise<void>;

interface PackEntry {
  readonly sha: Buffer;
  readonly crc: number;
  /** Bytes from the beginning of the pack. */
  readonly offset: number;
}

/**
 * Writes large files as blobs into a pack of a bare repository, uncompressed. `fast-import` reads and hashes each
 * of them four times for the same pack, which takes longer than to send it.
 *
 * @throws {DeliveryError} `BAD_FILE` when the bytes are not those that were checked; the signal's reason.
 * @see https://git-scm.com/docs/gitformat-pack
 */
export async function writeBlobPack(
  folder: string,
  writes: readonly FileWrite[],
  signal: AbortSignal,
): Promise<void> {
  if (writes.length === 0) return;
  const files = [...new Map(writes.map((one) => [one.file.blobSha, one])).values()];
  const place = join(folder, 'objects', 'pack');
  // Git does not look at files of another name.
  const [pack, index] = [join(place, 'tmp_blobs.pack'), join(place, 'tmp_blobs.idx')];
  const handle = await open(pack, 'wx');
  const { entries, checksum } = await writePack(handle, files, signal).finally(() => handle.close());
  await writeFile(index, formatIndex(entries, checksum));
  const name = `pack-${checksum.toString('hex')}`;
  await rename(pack, join(place, `${name}.pack`));
  await rename(index, join(place, `${name}.idx`));
}

async function writePack(handle: FileHandle, files: readonly FileWrite[], signal: AbortSignal) {
  const checksum = createHash('sha1');
  const entries: PackEntry[] = [];
  let offset = 0;
  let crc = 0;
  const write: WriteBytes = async (bytes) => {
    signal.throwIfAborted();
    checksum.update(bytes);
    crc = crc32(bytes, crc);
    offset += bytes.length;
    await handle.appendFile(bytes);
  };
  await write(Buffer.concat([Buffer.from('PACK'), uint32(VERSION), uint32(files.length)]));
  for (const one of files) {
    const start = offset;
    crc = 0;
    await writeBlob(one, write);
    entries.push({ sha: Buffer.from(one.file.blobSha, 'hex'), crc, offset: start });
  }
  const digest = checksum.digest();
  await handle.appendFile(digest);
  return { entries, checksum: digest };
}

const VERSION = 2;

/** Writes an object: its kind and size, and a zlib stream that compresses nothing. */
async function writeBlob({ path, file }: FileWrite, write: WriteBytes): Promise<void> {
  const blob = createBlobHash(file.size);
  await write(formatObjectHeader(file.size));
  const hashBytes = async function* (bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of bytes) {
      blob.update(piece);
      yield piece;
    }
  };
  const store = createDeflate({ level: constants.Z_NO_COMPRESSION, chunkSize: STORED_CHUNK });
  await pipeline(file.read(), hashBytes, store, async (stored: AsyncIterable<Buffer>) => {
    for await (const chunk of stored) await write(chunk);
  });
  // What was checked is what is sent, even if nothing showed that the file changed.
  if (blob.digest('hex') !== file.blobSha) throw changedFileError(path);
}

const STORED_CHUNK = 131_072;

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

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
