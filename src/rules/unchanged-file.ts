import { createHash } from 'node:crypto';
import { type BigIntStats, createReadStream, fstatSync, readSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setImmediate as letOthersWork } from 'node:timers/promises';
import { DeliveryError } from '../errors.ts';
import { CHANGED_HINT, type FileLocation, openFile, withFile } from './open-file.ts';

/** Bytes per read. A file with fewer is read in one go. */
const CHUNK = 262_144;

/** A file that must not change after its check. There may be thousands, so each keeps only what shows a change. */
export class UnchangedFile {
  readonly size: number;
  /** Lowercase hex; empty until it is known. */
  sha256 = '';
  readonly #location: FileLocation;
  readonly #writeStamp: string;
  #checkedBytes: Buffer | null = null;

  constructor(stats: BigIntStats, { path, given, within }: FileLocation) {
    this.size = Number(stats.size);
    this.#location = { path, given, within };
    this.#writeStamp = formatWriteStamp(stats);
  }

  read(): Readable {
    return Readable.from(this.#readChecked(), { objectMode: false });
  }

  /** Yields the last chunk only if all bytes are unchanged: without it no host accepts the file. */
  async *#readChecked(): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    let last: Buffer | undefined;
    for await (const chunk of this.pieces()) {
      if (last !== undefined) yield last;
      last = chunk;
      hash.update(chunk);
    }
    if (hash.digest('hex') !== this.sha256) throw changedFileError(this.#location.given);
    if (last !== undefined) yield last;
  }

  async *pieces(length = this.size): AsyncGenerator<Buffer> {
    if (this.size >= CHUNK) return yield* this.#readAhead(length);
    await takeTurns();
    // The path may lead to another file now, so each read compares it with the checked one.
    const bytes = this.#checkedBytes ?? withFile(this.#location, (fd) => this.#readAll(fd));
    if (bytes.length > 0) yield bytes.subarray(0, length);
  }

  /** Keeps the bytes of a small file, so that all checks see the same bytes. */
  keepBytes(fd: number): void {
    if (this.size < CHUNK) this.#checkedBytes = this.#readAll(fd);
  }

  releaseBytes(): void {
    this.#checkedBytes = null;
  }

  /** Synchronous, because promises take ten times as long. @throws {DeliveryError} if the file changed */
  #readAll(fd: number): Buffer {
    // One more byte shows whether the file grew.
    const buffer = Buffer.allocUnsafe(this.size + 1);
    const bytes = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, 0));
    if (bytes.length !== this.size) throw changedFileError(this.#location.given);
    this.#refuseChanged(fd);
    return bytes;
  }

  async *#readAhead(length: number): AsyncGenerator<Buffer> {
    const fd = openFile(this.#location);
    const end = Math.min(length, this.size) - 1;
    const stream = createReadStream('', { fd, autoClose: false, start: 0, end, highWaterMark: CHUNK });
    try {
      this.#refuseChanged(fd);
      yield* stream;
      this.#refuseChanged(fd);
    } finally {
      stream.destroy();
      if (!stream.closed) await new Promise<void>((closed) => stream.once('close', closed));
    }
  }

  #refuseChanged(fd: number): void {
    if (formatWriteStamp(fstatSync(fd, { bigint: true })) !== this.#writeStamp) {
      throw changedFileError(this.#location.given);
    }
  }
}

const READS_IN_A_ROW = 32;
let smallReads = 0;

/** Lets signals and timers run after some synchronous reads. */
async function takeTurns(): Promise<void> {
  smallReads += 1;
  if (smallReads % READS_IN_A_ROW === 0) await letOthersWork();
}

const formatWriteStamp = ({ dev, ino, size, mtimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs].join(' ');

export const changedFileError = (given: string): DeliveryError => changedError(`the file ${given}`);

export const changedError = (subject: string, findings: readonly string[] = []): DeliveryError =>
  new DeliveryError('BAD_FILE', `${subject} changed while it was delivered`, {
    hint: CHANGED_HINT,
    findings,
  });
