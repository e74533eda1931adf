import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { mapConcurrently } from '../../../async.ts';
import { DeliveryError } from '../../../errors.ts';
import { connectionError } from '../../../http/client.ts';
import { decodeBody, discard } from '../../../http/response.ts';
import { transferTime } from '../../../http/send-request.ts';
import type { Ports } from '../../../ports.ts';
import { RECEIPT, SITE } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import { createBlobHash, type GitBlob } from '../../../rules/fingerprint.ts';
import { requestLive } from './deploy-record.ts';

type Bytes = AsyncIterable<Buffer>;

/**
 * Fetches files of the live site, and checks each while `take` reads it.
 * @throws {DeliveryError} `HOST_ERROR` that names a file that differs
 */
export const fetchLiveFiles = (
  files: readonly (readonly [path: string, blob: GitBlob])[],
  root: URL,
  ports: Ports,
  take: (bytes: Bytes, blob: GitBlob) => Promise<void>,
): Promise<unknown> =>
  mapConcurrently(files, SITE.probes, ([path, blob]) =>
    // An edge of a CDN may have an old file for a moment.
    withRetries(ports, async () => {
      const { response, url } = await requestLive(root, path, transferTime(blob.size), ports);
      const { status } = response;
      if (status !== 200) discard(response);
      if (status !== 200) throw differsError(path, `answers HTTP ${status}`, status);
      await take(checkBytes(path, blob, decodeBody(response)), blob).catch((thrown: unknown) => {
        throw connectionError(thrown, { url, signal: ports.signal });
      });
    }),
  );

/** Files of the live site by git id. Small ones stay in memory, others in a temporary folder. */
export class LiveFiles {
  /** Bytes, or the path of a file. */
  readonly #kept = new Map<string, Buffer | string>();
  readonly #folder: string;
  #inMemory = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Fetches what it doesn't have yet. */
  async fetch(files: ReadonlyMap<string, GitBlob>, root: URL, ports: Ports): Promise<void> {
    const missing = new Map([...files].map((file) => [file[1].sha, file]));
    for (const sha of this.#kept.keys()) missing.delete(sha);
    await fetchLiveFiles([...missing.values()], root, ports, this.#keep);
  }

  read(sha: string): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
    const kept = this.#kept.get(sha) ?? [];
    return typeof kept === 'string' ? createReadStream(kept) : [kept].flat();
  }

  #keep = async (bytes: Bytes, { sha, size }: GitBlob): Promise<void> => {
    if (size <= RECEIPT.smallFile && this.#inMemory + size <= RECEIPT.inMemory) {
      this.#inMemory += size;
      this.#kept.set(sha, Buffer.concat(await Readable.from(bytes).toArray()));
      return;
    }
    const path = join(this.#folder, sha);
    await pipeline(bytes, createWriteStream(path));
    this.#kept.set(sha, path);
  };
}

export async function readToEnd(bytes: Bytes): Promise<void> {
  for await (const _ of bytes);
}

async function* checkBytes(path: string, { sha, size }: GitBlob, bytes: Bytes) {
  const hash = createBlobHash(size);
  let rest = size;
  for await (const chunk of bytes) {
    rest -= chunk.length;
    if (rest < 0) break;
    hash.update(chunk);
    yield chunk;
  }
  if (rest !== 0 || hash.digest('hex') !== sha) throw differsError(path, 'has other content', 200);
}

const differsError = (path: string, problem: string, httpCode: number): DeliveryError =>
  new DeliveryError('HOST_ERROR', `the live site ${problem} at ${path}, which its receipt lists`, {
    httpCode,
    hint: (w) => `deliver ${path} again with ${w.input('overwrite', 'true')}, or withdraw it`,
    retryable: true,
    leftBehind: [],
  });
