import { addAbortSignal, Readable } from 'node:stream';
import type { Clock, Progress, SendHttp } from '../ports.ts';
import { EXCHANGE } from '../protocol/limits.ts';
import { connectionError } from './client.ts';
import { parseJson, readText } from './response.ts';

export interface UploadRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact length of the body in bytes. */
  readonly length: number;
  /** Opens a new stream of the body. */
  readonly body: () => Readable;
  /** Milliseconds until the response must begin once the body was sent; `EXCHANGE.headers` by default. */
  readonly headersTimeout?: number;
  /** Starts to show the progress of an attempt. */
  readonly startProgress?: () => Progress;
  readonly signal: AbortSignal;
  /** Limits the time for the response after the body was sent. */
  readonly clock: Pick<Clock, 'timeout'>;
}

/** The response to an upload. */
export interface UploadResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The parsed text; `undefined` if it is not JSON. */
  readonly json: unknown;
}

/**
 * Sends a body as a stream with its Content-Length, once. The response is read whatever its status is.
 *
 * @throws {DeliveryError} `CONNECTION` when the request fails: it is then unknown what has arrived.
 */
export async function sendUpload(http: SendHttp, upload: UploadRequest): Promise<UploadResponse> {
  const response = await http({
    method: upload.method,
    url: upload.url,
    headers: { ...upload.headers, 'content-length': String(upload.length) },
    body: () => withProgress(upload),
    signal: upload.signal,
    headersTimeout: upload.headersTimeout,
  });
  // A response that arrives in very small pieces would never reach the stall limit.
  addAbortSignal(upload.clock.timeout(EXCHANGE.api), response.body);
  let text: string;
  try {
    text = await readText(response.body, EXCHANGE.apiBody);
  } catch (thrown) {
    throw connectionError(thrown, upload);
  }
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [
      name,
      value === undefined ? undefined : String(value),
    ]),
  );
  return { status: response.status, headers, text, json: parseJson(text) };
}

function withProgress({ body, startProgress }: UploadRequest): Readable {
  if (startProgress === undefined) return body();
  const progress = startProgress();
  return Readable.from(
    (async function* () {
      try {
        for await (const chunk of body() as AsyncIterable<Buffer | string>) {
          progress.advance(chunk.length);
          yield chunk;
        }
      } finally {
        progress.end();
      }
    })(),
    { objectMode: false },
  );
}

/** Encodes a stream of bytes as base64, chunk by chunk. */
export async function* base64(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const bytesToEncode = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    // Three bytes become four characters; the others wait for the next chunk.
    const end = bytesToEncode.length - (bytesToEncode.length % 3);
    yield bytesToEncode.toString('base64', 0, end);
    // Copied, because the source may reuse its buffer.
    rest = Buffer.from(bytesToEncode.subarray(end));
  }
  yield rest.toString('base64');
}

/** How many base64 characters this number of bytes becomes. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;
