import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';

/** A file that goes into a site's archive, or comes out of a branch's archive. */
export interface ArchivedFile {
  readonly path: string;
  readonly size: number;
  /** Reads the bytes once. A chunk is valid only until the next one is requested. */
  read(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Files of a site; read each to its end before the next one. */
export type ArchivedFiles = AsyncIterable<ArchivedFile> | Iterable<ArchivedFile>;

/**
 * Packs a site for GitHub Pages: a zip with one plain tar, without links. Compressing took longer than it saved, and
 * libraries were ten times slower.
 * @returns chunks, each valid only until the next one is requested
 * @see https://github.com/actions/upload-pages-artifact#artifact-validation
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
export async function* packSite(files: ArchivedFiles, now: number): AsyncGenerator<Uint8Array> {
  const name = Buffer.from('artifact.tar');
  const date = new Date(now);
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  const day = ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate();
  // Version 2.0; checksum and size follow the stored bytes.
  const about = [20, 0x08, 0, time, day];
  let size = 0;
  let crc = 0;
  const header = formatNumbers('4 22222 444 22', 0x04034b50, ...about, 0, 0, 0, name.length, 0);
  yield header;
  yield name;
  for await (const chunk of packTar(files, now)) {
    size += chunk.length;
    crc = crc32(chunk, crc);
    yield chunk;
  }
  const sums = [crc, size, size];
  const descriptor = formatNumbers('4 444', 0x08074b50, ...sums);
  const mode = 0o100644 * 0x1_0000;
  const entry = [0x031e, ...about, ...sums, name.length, 0, 0, mode, 0];
  const directory = Buffer.concat([formatNumbers('4 2 22222 444 2 44 44', 0x02014b50, ...entry), name]);
  const start = header.length + name.length + size + descriptor.length;
  const end = formatNumbers('4 4 22 44 2', 0x06054b50, 0, 1, 1, directory.length, start, 0);
  yield Buffer.concat([descriptor, directory, end]);
}

/** Writes numbers in little-endian order. @param lengths each one's length in bytes, as digits */
function formatNumbers(lengths: string, ...values: readonly number[]): Buffer {
  const sizes = [...lengths.replaceAll(' ', '')].map(Number);
  const bytes = Buffer.alloc(sizes.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const [nth, length] of sizes.entries()) at = bytes.writeUIntLE(values[nth] ?? 0, at, length);
  return bytes;
}

const TAR_BLOCK = 512;
const PADDING = Buffer.alloc(2 * TAR_BLOCK);

async function* packTar(files: ArchivedFiles, now: number): AsyncGenerator<Uint8Array> {
  for await (const { path, size, read } of files) {
    yield formatTarHeader(path, size, now);
    let remaining = size;
    for await (const chunk of read()) {
      remaining -= chunk.length;
      yield chunk;
    }
    if (remaining !== 0) throw new Error(`${path} no longer has ${size} bytes`);
    yield padding(size);
  }
  yield PADDING;
}

const padding = (size: number): Buffer => PADDING.subarray(0, -size & (TAR_BLOCK - 1));

/** Long or non-ASCII paths need a header of their own. GNU tar names folders' files the same way. */
function formatTarHeader(path: string, size: number, now: number): Buffer {
  const name = `./${path}`;
  if (/^[ -~]{1,100}$/.test(name)) return formatTarBlock(name, size, '0', now);
  const record = formatPaxRecord('path', name);
  const pax = formatTarBlock('PaxHeader', record.length, 'x', now);
  return Buffer.concat([pax, record, padding(record.length), formatTarBlock('long', size, '0', now)]);
}

/** The length includes its own digits. */
function formatPaxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  const digits = String(rest + String(rest).length).length;
  return Buffer.from(`${rest + digits} ${key}=${value}\n`);
}

/** @see https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html (ustar) */
function formatTarBlock(name: string, size: number, type: string, now: number): Buffer {
  const block = Buffer.alloc(TAR_BLOCK);
  const octal = (value: number, digits = 7): string => `${value.toString(8).padStart(digits, '0')}\0`;
  const about = `${octal(0o644)}${octal(0)}${octal(0)}${octal(size, 11)}${octal(Math.floor(now / 1000), 11)}`;
  block.write(name);
  // The checksum is computed with spaces in its field.
  block.write(`${about}${' '.repeat(8)}${type}`, 100);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(octal(sum, 6), 148);
  return block;
}

/** Reads the files of a packed tar archive in order; read each to its end. */
export async function* readArchive(packed: Readable): AsyncGenerator<ArchivedFile> {
  const tar = extract();
  const done = pipeline(packed, createGunzip(), tar);
  done.catch(() => undefined);
  for await (const entry of tar) {
    const { name, size = 0, type } = entry.header;
    if (type === 'file') {
      // GitHub puts everything into a folder named after the commit.
      yield { path: name.slice(name.indexOf('/') + 1), size, read: () => entry as AsyncIterable<Uint8Array> };
    }
    entry.resume();
  }
  await done;
}
