import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
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
import { createTemporaryFolder } from '../../../system.ts';
import { requestLive } from './deploy-record.ts';

/** Files of the live site by git id. Small ones stay in memory, others in a temporary folder. */
export class LiveFiles {
  /** Bytes, or the path of a file. */
  readonly #kept = new Map<string, Buffer | string>();
  #inMemory = 0;
  #folder: Promise<string> | undefined;

  /** Fetches what it doesn't have yet. @throws {DeliveryError} `HOST_ERROR` that names a file that differs */
  async fetch(files: ReadonlyMap<string, GitBlob>, root: URL, ports: Ports): Promise<void> {
    const missing = new Map([...files].map(([path, blob]) => [blob.sha, { path, blob }]));
    for (const sha of this.#kept.keys()) missing.delete(sha);
    await mapConcurrently([...missing.values()], SITE.probes, ({ path, blob }) =>
      // An edge of a CDN may have an old file for a moment.
      withRetries(ports, async () => {
        const { response, url } = await requestLive(root, path, transferTime(blob.size), ports);
        const { status } = response;
        if (status !== 200) discard(response);
        if (status !== 200) throw differsError(path, `answers HTTP ${status}`, status);
        const bytes = checkBytes(path, blob, decodeBody(response));
        await this.#keep(blob, bytes, ports.tempFolder).catch((thrown: unknown) => {
          throw connectionError(thrown, { url, signal: ports.signal });
        });
      }),
    );
  }

  read(sha: string): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
    const kept = this.#kept.get(sha) ?? [];
    return typeof kept === 'string' ? createReadStream(kept) : [kept].flat();
  }

  /** A leftover folder doesn't undo the delivery. */
  async remove(): Promise<void> {
    if (this.#folder) await rm(await this.#folder, { recursive: true, force: true }).catch(() => undefined);
  }

  async #keep({ sha, size }: GitBlob, bytes: AsyncIterable<Buffer>, parent: string): Promise<void> {
    if (size <= RECEIPT.smallFile && this.#inMemory + size <= RECEIPT.inMemory) {
      this.#inMemory += size;
      this.#kept.set(sha, Buffer.concat(await Readable.from(bytes).toArray()));
      return;
    }
    this.#folder ??= createTemporaryFolder(parent, 'site-');
    const path = join(await this.#folder, sha);
    await pipeline(bytes, createWriteStream(path));
    this.#kept.set(sha, path);
  }
}

async function* checkBytes(path: string, { sha, size }: GitBlob, bytes: AsyncIterable<Buffer>) {
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
