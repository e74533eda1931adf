import { createHash } from 'node:crypto';
import { type BigIntStats, closeSync, fstatSync, read, readSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setImmediate as letOthersWork } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DeliveryError } from '../errors.ts';
import { type FileLocation, openFile, withFile } from './open-file.ts';

/** Bytes per read: for a stream that is sent, and for a check. A file with fewer than these is read in one go. */
const STREAM_CHUNK = 65_536;
const CHECK_CHUNK = 262_144;

/** Memory for checks, which is used again and again: what each of thousands of files would take is garbage at once. */
const spare: Buffer[] = [];
const takeBuffer = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(CHECK_CHUNK);

/**
 * A file whose bytes must stay as they were checked. Thousands are known at once, so each keeps only what shows a change.
 */
export class UnchangedFile {
  /** Bytes. */
  readonly size: number;
  /** Lowercase hex; empty until it is known. */
  sha256 = '';
  readonly #location: FileLocation;
  /** What shows that somebody wrote to the file. */
  readonly #written: string;
  /** The bytes of a small file while it is checked. */
  #held: Buffer | null = null;

  constructor(stats: BigIntStats, { path, given, within }: FileLocation) {
    this.size = Number(stats.size);
    this.#location = { path, given, within };
    this.#written = formatWritten(stats);
  }

  read(): Readable {
    return Readable.from(this.#readChecked(), { objectMode: false });
  }

  /** The last bytes follow only once all are those that were checked: without them no host takes the file. */
  async *#readChecked(): AsyncGenerator<Buffer> {
    const allocate = (): Buffer => Buffer.allocUnsafe(Math.min(STREAM_CHUNK, this.size + 1));
    const hash = createHash('sha256');
    let last: Buffer | undefined;
    for await (const chunk of this.#read(STREAM_CHUNK, allocate)) {
      if (last !== undefined) yield last;
      last = chunk;
      hash.update(chunk);
    }
    if (hash.digest('hex') !== this.sha256) throw changedFileError(this.#location.given);
    if (last !== undefined) yield last;
  }

  async *pieces(length = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
    if (this.#held !== null) {
      await takeTurns();
      if (this.size > 0) yield this.#held.subarray(0, length);
      return;
    }
    const buffers = [takeBuffer(), takeBuffer()] as const;
    let turn = 0;
    try {
      // One is filled while the caller reads the other.
      yield* this.#read(CHECK_CHUNK, () => buffers[turn++ % 2 === 0 ? 0 : 1], length);
    } finally {
      spare.push(...buffers);
    }
  }

  release(): void {
    if (this.#held !== null) spare.push(Buffer.from(this.#held.buffer));
    this.#held = null;
  }

  /** Keeps the bytes of a small file until they are released, so that all checks see the same ones. */
  hold(fd: number): void {
    if (this.size < CHECK_CHUNK) this.#held = this.#readAll(fd, takeBuffer());
  }

  /** Synchronous calls take a tenth of the time that promises take. @throws {DeliveryError} for a file that changed */
  #readAll(fd: number, buffer: Buffer): Buffer {
    // One byte more shows that it grew.
    const bytes = buffer.subarray(0, readSync(fd, buffer, 0, this.size + 1, 0));
    if (bytes.length !== this.size) throw changedFileError(this.#location.given);
    this.#refuseWritten(fd);
    return bytes;
  }

  /** Reads chunks of at most `most` bytes, and refuses a file to which somebody wrote since it was checked. */
  async *#read(
    most: number,
    allocate: () => Buffer,
    length = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<Buffer> {
    if (this.size >= most) return yield* this.#readAhead(allocate, length);
    await takeTurns();
    // The file at the path may be another one by now: each read compares it with the one that was checked.
    const bytes = withFile(this.#location, (fd) => this.#readAll(fd, allocate()));
    if (bytes.length > 0) yield bytes.subarray(0, length);
  }

  /** The same of a large file, one chunk ahead of the caller. */
  async *#readAhead(allocate: () => Buffer, length: number): AsyncGenerator<Buffer> {
    const fd = openFile(this.#location);
    const readAt = async (position: number): Promise<Buffer> => {
      // What was written behind the end is seen below.
      if (position >= this.size) return Buffer.alloc(0);
      const buffer = allocate();
      const { bytesRead } = await readPart(
        fd,
        buffer,
        0,
        Math.min(buffer.length, length - position),
        position,
      );
      return buffer.subarray(0, bytesRead);
    };
    let next: Promise<Buffer> | undefined;
    try {
      this.#refuseWritten(fd);
      next = readAt(0);
      for (let position = 0; ; ) {
        const chunk = await next;
        if (chunk.length === 0) break;
        position += chunk.length;
        next = readAt(position);
        yield chunk;
      }
      this.#refuseWritten(fd);
    } finally {
      // A caller that stops early leaves one read open; its failure must not become an unhandled rejection.
      await next?.catch(() => undefined);
      closeSync(fd);
    }
  }

  #refuseWritten(fd: number): void {
    if (formatWritten(fstatSync(fd, { bigint: true })) !== this.#written) {
      throw changedFileError(this.#location.given);
    }
  }
}

const readPart = promisify(read);

const READS_IN_A_ROW = 32;
let smallReads = 0;

/** Small files are read without a pause: after some of them, signals and timers have a turn. */
async function takeTurns(): Promise<void> {
  smallReads += 1;
  if (smallReads % READS_IN_A_ROW === 0) await letOthersWork();
}

const formatWritten = ({ dev, ino, size, mtimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs].join(' ');

export const changedFileError = (given: string): DeliveryError => changedError(`the file ${given}`);

/** @param subject such as `the folder dist` */
export const changedError = (subject: string, findings: readonly string[] = []): DeliveryError =>
  new DeliveryError('BAD_FILE', `${subject} changed while it was delivered`, {
    hint: 'deliver it after what writes it has ended',
    findings,
  });
