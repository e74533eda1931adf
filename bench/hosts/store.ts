import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { MEGABYTE } from '../../src/protocol/limits.ts';

/** Bytes that were received to disk. */
export interface StoredFile {
  readonly path: string;
  readonly size: number;
}

export interface BodyStore {
  /** Streams a request's body to disk; fails where the connection was cut. */
  receive(request: IncomingMessage): Promise<StoredFile>;
  keep(bytes: Buffer): Promise<StoredFile>;
  send(stored: StoredFile, response: ServerResponse): Promise<void>;
  cutAfter(bytes: number): void;
  /** Deletes everything that was received. */
  forget(): Promise<void>;
}

export async function createStore(folder: string): Promise<BodyStore> {
  const bodies = join(folder, 'bodies');
  await mkdir(bodies, { recursive: true });
  let count = 0;
  let cut = Number.POSITIVE_INFINITY;
  const next = (): string => {
    count += 1;
    return join(bodies, `${count}`);
  };
  return {
    async receive(request) {
      const path = next();
      const limit = cut;
      cut = Number.POSITIVE_INFINITY;
      let seen = 0;
      if (limit !== Number.POSITIVE_INFINITY) {
        request.on('data', (chunk: Buffer) => {
          seen += chunk.length;
          if (seen >= limit) request.socket.destroy();
        });
      }
      await pipeline(request, createWriteStream(path, { highWaterMark: MEGABYTE }));
      return { path, size: (await stat(path)).size };
    },
    async keep(bytes) {
      const path = next();
      await writeFile(path, bytes);
      return { path, size: bytes.length };
    },
    async send({ path, size }, response) {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
      await pipeline(createReadStream(path, { highWaterMark: MEGABYTE / 4 }), response);
    },
    cutAfter: (bytes) => {
      cut = bytes;
    },
    async forget() {
      for (const name of await readdir(bodies)) await rm(join(bodies, name), { force: true });
    },
  };
}
