import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, crc32, createGunzip, deflateRaw, deflateRawSync } from 'node:zlib';
import { extract } from 'tar-stream';

/** A file on its way into the archive of a site, or out of that of a branch. */
export interface ArchivedFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Its bytes, to be read once; a chunk is valid until the next one is asked for. */
  read(): AsyncIterable<Uint8Array>;
}

/** Bytes that are compressed by themselves, and how many such pieces at the same time. */
const PIECE = 1_048_576;
const AT_ONCE = 4;

/**
 * Packs a site as GitHub Pages takes it: a zip archive that holds one plain tar archive, without links. It streams:
 * no more than a few pieces are in memory. Every piece is compressed in a thread of its own, and only where it pays;
 * together they are one deflate stream.
 *
 * @param now milliseconds since the epoch
 * @see https://github.com/actions/upload-pages-artifact#artifact-validation
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
export async function* packSite(
  files: AsyncIterable<ArchivedFile> | Iterable<ArchivedFile>,
  now: number,
): AsyncGenerator<Buffer> {
  const entry = { crc: 0, size: 0, packedSize: 0 };
  const waiting: Promise<Buffer>[] = [];
  const head = zipHeader(LOCAL, entry);
  yield head;
  for await (const piece of cutPieces(writeTar(files, now))) {
    entry.crc = crc32(piece, entry.crc);
    entry.size += piece.length;
    const packing = compress(piece);
    // Awaited in its turn.
    packing.catch(() => undefined);
    waiting.push(packing);
    if (waiting.length < AT_ONCE) continue;
    const packed = (await waiting.shift()) as Buffer;
    entry.packedSize += packed.length;
    yield packed;
  }
  for (const packing of [...waiting, LAST_BLOCK]) {
    const packed = await packing;
    entry.packedSize += packed.length;
    yield packed;
  }
  const sizes = zipSizes(entry);
  const start = head.length + entry.packedSize + 4 + sizes.length;
  const directory = zipHeader(CENTRAL, entry);
  yield Buffer.concat([signature('PK\x07\x08'), sizes, directory, endOfZip(start, directory.length)]);
}

const NAME = Buffer.from('artifact.tar');
const signature = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Where the two headers of the entry differ: what is before the common fields, and after them. */
const LOCAL = { before: signature('PK\x03\x04'), after: 0 };
const CENTRAL = { before: signature('PK\x01\x02\x14\x03'), after: 14 };

interface ZipEntry {
  readonly crc: number;
  readonly size: number;
  readonly packedSize: number;
}

/** Version 2.0, sizes after the data, deflated, 1980-01-01; of a central header also where the local one is: at 0. */
function zipHeader({ before, after }: typeof LOCAL, entry: ZipEntry): Buffer {
  const common = Buffer.alloc(10);
  for (const [at, value] of [20, 8, 8, 0, 0x21].entries()) common.writeUInt16LE(value, at * 2);
  const lengths = Buffer.alloc(4);
  lengths.writeUInt16LE(NAME.length);
  return Buffer.concat([before, common, zipSizes(entry), lengths, Buffer.alloc(after), NAME]);
}

function zipSizes({ crc, packedSize, size }: ZipEntry): Buffer {
  const sizes = Buffer.alloc(12);
  for (const [at, value] of [crc, packedSize, size].entries()) sizes.writeUInt32LE(value, at * 4);
  return sizes;
}

function endOfZip(start: number, size: number): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(start, 16);
  return end;
}

const deflate = promisify(deflateRaw);
/** An empty block that ends a deflate stream. */
const LAST_BLOCK = Promise.resolve(Buffer.from([3, 0]));
const FASTEST = { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_SYNC_FLUSH };
/** Bytes of the longest block of a deflate stream that is stored as it is. @see RFC 1951, 3.2.4 */
const STORED = 65_535;

async function compress(piece: Buffer): Promise<Buffer> {
  if (paysOff(piece)) return deflate(piece, FASTEST);
  const blocks: Buffer[] = [];
  for (let at = 0; at < piece.length; at += STORED) {
    const bytes = piece.subarray(at, at + STORED);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(bytes.length, 1);
    head.writeUInt16LE(STORED - bytes.length, 3);
    blocks.push(head, bytes);
  }
  return Buffer.concat(blocks);
}

const SAMPLES = { count: 16, bytes: 512 };

/** Whether compressing some samples saves a tenth: pictures, fonts and archives are compressed already. */
function paysOff(piece: Buffer): boolean {
  const { count, bytes } = SAMPLES;
  const step = Math.floor(piece.length / count);
  const samples = Array.from({ length: count }, (_, nth) => piece.subarray(nth * step, nth * step + bytes));
  const sample = Buffer.concat(samples);
  return deflateRawSync(sample, FASTEST).length < sample.length * 0.9;
}

/** Pieces of the same size, and the rest. A piece is packed by the time that its buffer is filled again. */
async function* cutPieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const buffers: Buffer[] = [];
  let piece: Buffer = Buffer.alloc(0);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      if (filled === piece.length) {
        if (filled > 0) yield piece;
        piece = buffers.length < AT_ONCE ? Buffer.allocUnsafeSlow(PIECE) : (buffers.shift() as Buffer);
        buffers.push(piece);
        filled = 0;
      }
      const part = chunk.subarray(at, at + PIECE - filled);
      piece.set(part, filled);
      at += part.length;
      filled += part.length;
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
}

const TAR_BLOCK = 512;
const padding = (size: number): Buffer => Buffer.alloc(-size & (TAR_BLOCK - 1));

async function* writeTar(
  files: AsyncIterable<ArchivedFile> | Iterable<ArchivedFile>,
  now: number,
): AsyncGenerator<Uint8Array> {
  for await (const { path, size, read } of files) {
    // GNU tar names the files of a folder in this way.
    const name = `./${path}`;
    if (!/^[ -~]{1,100}$/.test(name)) {
      const record = paxRecord(name);
      yield Buffer.concat([tarHeader('PaxHeader', record.length, now, 'x'), record, padding(record.length)]);
    }
    yield tarHeader(name, size, now, '0');
    let left = size;
    for await (const bytes of read()) {
      left -= bytes.length;
      yield bytes;
    }
    if (left !== 0) throw new Error(`${path} has another size than before`);
    yield padding(size);
  }
  yield Buffer.alloc(2 * TAR_BLOCK);
}

/** @see https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html (ustar Interchange Format) */
function tarHeader(name: string, size: number, now: number, type: string): Buffer {
  const header = Buffer.alloc(TAR_BLOCK);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  header.write(name, 0, 100, 'latin1');
  header.write(octal(0o644, 7) + octal(0, 7) + octal(0, 7), 100);
  header.write(octal(size, 11) + octal(Math.floor(now / 1_000), 11), 124);
  header.write(`        ${type}`, 148);
  header.write('ustar\x0000', 257);
  header.write(
    octal(
      header.reduce((sum, byte) => sum + byte, 0),
      6,
    ),
    148,
  );
  return header;
}

/** A name that is too long for a header, or no ASCII; its length counts its own digits. */
function paxRecord(name: string): Buffer {
  const text = ` path=${name}\n`;
  const length = Buffer.byteLength(text);
  const digits = String(length + String(length).length).length;
  return Buffer.from(`${length + digits}${text}`);
}

/** Reads the files of a packed tar archive, one after the other; each must be read to its end. */
export async function* readArchive(packed: Readable): AsyncGenerator<ArchivedFile> {
  const tar = extract();
  const done = pipeline(packed, createGunzip(), tar);
  done.catch(() => undefined);
  for await (const entry of tar) {
    const { name, size = 0, type } = entry.header;
    if (type === 'file') {
      // Everything is below a folder that is named after the commit.
      yield { path: name.slice(name.indexOf('/') + 1), size, read: () => entry as AsyncIterable<Uint8Array> };
    }
    entry.resume();
  }
  await done;
}
