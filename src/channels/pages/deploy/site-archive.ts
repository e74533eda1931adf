import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';

/** A file on its way into the archive of a site, or out of that of a branch. */
export interface ArchivedFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Its bytes, to be read once. A chunk is valid only until the next one is requested. */
  read(): AsyncIterable<Uint8Array>;
}

/**
 * Packs a site as GitHub Pages takes it: a zip archive that holds one plain tar archive, without links. It compresses
 * nothing: that took more time than the bytes that it saved. Libraries took ten times as long, most of it for streams.
 *
 * @param now milliseconds since the epoch
 * @returns its bytes in chunks, each valid only until the next one is requested
 * @see https://github.com/actions/upload-pages-artifact#artifact-validation
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
export async function* packSite(
  files: AsyncIterable<ArchivedFile> | Iterable<ArchivedFile>,
  now: number,
): AsyncGenerator<Uint8Array> {
  const name = Buffer.from('artifact.tar');
  let size = 0;
  let crc = 0;
  yield formatFields([0x04034b50, 4], ...describeZipEntry(now, 0, 0), [name.length, 2], [0, 2]);
  yield name;
  for await (const chunk of packTar(files, now)) {
    size += chunk.length;
    crc = crc32(chunk, crc);
    yield chunk;
  }
  const descriptor = formatFields([0x08074b50, 4], [crc, 4], [size, 4], [size, 4]);
  const entry = [[0x02014b50, 4], [0x031e, 2], ...describeZipEntry(now, crc, size)] as const;
  const place = [
    [name.length, 2],
    [0, 4],
    [0, 4],
    [0o100644 * 0x1_0000, 4],
    [0, 4],
  ] as const;
  const directory = Buffer.concat([formatFields(...entry, ...place), name]);
  const start = LOCAL_HEADER + name.length + size + descriptor.length;
  yield Buffer.concat([
    descriptor,
    directory,
    formatFields([0x06054b50, 4], [0, 4], [1, 2], [1, 2], [directory.length, 4], [start, 4], [0, 2]),
  ]);
}

/** Bytes of a zip archive before the name of its first file. */
const LOCAL_HEADER = 30;

/** A number, and how many bytes it takes, the lowest first. */
type Field = readonly [value: number, length: number];

/** Version 2.0; stored; checksum and size follow the bytes. */
function describeZipEntry(now: number, crc: number, size: number): readonly Field[] {
  const date = new Date(now);
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  const day = ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate();
  return [
    [20, 2],
    [0x08, 2],
    [0, 2],
    [time, 2],
    [day, 2],
    [crc, 4],
    [size, 4],
    [size, 4],
  ];
}

function formatFields(...fields: readonly Field[]): Buffer {
  const bytes = Buffer.alloc(fields.reduce((sum, [, length]) => sum + length, 0));
  let at = 0;
  for (const [value, length] of fields) at = bytes.writeUIntLE(value, at, length);
  return bytes;
}

const TAR_BLOCK = 512;
const PADDING = Buffer.alloc(2 * TAR_BLOCK);

async function* packTar(
  files: AsyncIterable<ArchivedFile> | Iterable<ArchivedFile>,
  now: number,
): AsyncGenerator<Uint8Array> {
  for await (const { path, size, read } of files) {
    yield formatTarHeader(path, size, now);
    let left = size;
    for await (const chunk of read()) {
      left -= chunk.length;
      yield chunk;
    }
    if (left !== 0) throw new Error(`${path} has not the ${size} bytes that it had before`);
    yield padding(size);
  }
  yield PADDING;
}

/** What is missing to a whole number of blocks. */
const padding = (size: number): Buffer => PADDING.subarray(0, -size & (TAR_BLOCK - 1));

/** The header of a file; before it one with its path, where that is long or not ASCII. GNU tar names a folder's files so. */
function formatTarHeader(path: string, size: number, now: number): Buffer {
  const name = `./${path}`;
  if (/^[ -~]{1,100}$/.test(name)) return formatTarBlock(name, size, '0', now);
  const record = formatPaxRecord('path', name);
  const pax = formatTarBlock('PaxHeader', record.length, 'x', now);
  return Buffer.concat([pax, record, padding(record.length), formatTarBlock('long', size, '0', now)]);
}

/** Its length counts its own digits. */
function formatPaxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  const digits = String(rest + String(rest).length).length;
  return Buffer.from(`${rest + digits} ${key}=${value}\n`);
}

/** @see https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html (ustar) */
function formatTarBlock(name: string, size: number, type: string, now: number): Buffer {
  const block = Buffer.alloc(TAR_BLOCK);
  const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
  block.write(name, 0);
  block.write(octal(0o644, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(Math.floor(now / 1000), 11), 136);
  // The checksum is computed with spaces in its place.
  block.fill(' ', 148, 156);
  block.write(type, 156);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0`, 148);
  return block;
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
