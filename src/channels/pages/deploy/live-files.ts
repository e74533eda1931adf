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

export type LiveFiles = ReturnType<typeof createLiveFiles>;

/** Files of the live site by git id. Small ones stay in memory, others in a folder. */
export function createLiveFiles(folder: string) {
  /** Bytes, or the path of a file. */
  const kept = new Map<string, Buffer | string>();
  let inMemory = 0;
  async function keep(bytes: Bytes, { sha, size }: GitBlob): Promise<void> {
    if (size <= RECEIPT.smallFile && inMemory + size <= RECEIPT.inMemory) {
      inMemory += size;
      kept.set(sha, Buffer.concat(await Readable.from(bytes).toArray()));
      return;
    }
    const path = join(folder, sha);
    await pipeline(bytes, createWriteStream(path));
    kept.set(sha, path);
  }
  return {
    /** Fetches what isn't kept yet. */
    fetch(files: ReadonlyMap<string, GitBlob>, root: URL, ports: Ports): Promise<unknown> {
      const bySha = new Map([...files].map((file) => [file[1].sha, file]));
      const missing = [...bySha.values()].filter(([, { sha }]) => !kept.has(sha));
      return fetchLiveFiles(missing, root, ports, keep);
    },
    read(sha: string): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
      const found = kept.get(sha) ?? [];
      return typeof found === 'string' ? createReadStream(found) : [found].flat();
    },
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
