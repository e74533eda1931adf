import { addAbortSignal, Readable } from 'node:stream';
import type { Clock, Progress, SendHttp } from '../ports.ts';
import { EXCHANGE } from '../protocol/limits.ts';
import { connectionError } from './client.ts';
import { parseJson, readText } from './response.ts';

export interface UploadRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Exact length of the body in bytes. */
  readonly length: number;
  /** A fresh stream of the body. */
  readonly body: () => Readable;
  /** Begins to show how far an attempt is. */
  readonly meter?: () => Progress;
  readonly signal: AbortSignal;
  /** Measures how long the answer may take once the body is sent. */
  readonly clock: Pick<Clock, 'timeout'>;
}

/** The answer to an upload, its body read as JSON where it is JSON. */
export interface UploadResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly json: unknown;
}

/**
 * Streams a body with its Content-Length, once. The answer is read whatever its status.
 *
 * @throws {DeliveryError} `CONNECTION` when the exchange broke off: what has arrived is then unknown.
 */
export async function sendUpload(http: SendHttp, asked: UploadRequest): Promise<UploadResponse> {
  const answer = await http({
    method: asked.method,
    url: asked.url,
    headers: { ...asked.headers, 'content-length': String(asked.length) },
    body: () => withProgress(asked),
    signal: asked.signal,
  });
  // An answer that only drips would never stall.
  addAbortSignal(asked.clock.timeout(EXCHANGE.api), answer.body);
  let text: string;
  try {
    text = await readText(answer.body, EXCHANGE.apiBody);
  } catch (thrown) {
    throw connectionError(thrown, asked);
  }
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [
      name,
      value === undefined ? undefined : String(value),
    ]),
  );
  return { status: answer.status, headers, text, json: parseJson(text) };
}

function withProgress({ body, meter }: UploadRequest): Readable {
  if (meter === undefined) return body();
  const shown = meter();
  return Readable.from(
    (async function* () {
      try {
        for await (const chunk of body() as AsyncIterable<Buffer | string>) {
          shown.advance(chunk.length);
          yield chunk;
        }
      } finally {
        shown.end();
      }
    })(),
    { objectMode: false },
  );
}

/** Bytes as base64, in bounded memory. */
export async function* base64(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const piece = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = piece.length - (piece.length % 3);
    yield piece.toString('base64', 0, whole);
    rest = Buffer.from(piece.subarray(whole));
  }
  yield rest.toString('base64');
}

/** Characters that so many bytes take as base64. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;
