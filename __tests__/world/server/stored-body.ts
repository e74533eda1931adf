import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Received bytes on disk. */
export interface StoredBody {
  readonly path: string;
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** The first bytes, to detect the content type. */
  readonly head: Buffer;
}

/** Streams a body to a file and measures it on the way. */
export async function storeBody(body: Readable, path: string): Promise<StoredBody> {
  const sha256 = createHash('sha256');
  let size = 0;
  let head: Buffer = Buffer.alloc(0);
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sha256.update(chunk);
      if (size === 0) head = Buffer.from(chunk.subarray(0, 512));
      size += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(body, measure, createWriteStream(path));
  return { path, size, sha256: sha256.digest('hex'), head };
}
