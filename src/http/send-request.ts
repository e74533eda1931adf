import { addAbortSignal, Readable } from 'node:stream';
import { unsentError } from '../errors.ts';
import { parseJson } from '../plain-text.ts';
import type { HttpRequest, Ports, Progress } from '../ports.ts';
import { EXCHANGE, MEGABYTE } from '../protocol/limits.ts';
import { connectionError } from './client.ts';
import { readText } from './response.ts';

export interface TextRequest extends Pick<HttpRequest, 'method' | 'url' | 'headersTimeout'> {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: HttpRequest['body'] | undefined;
  /** The exact length in bytes of a streamed body. */
  readonly length?: number | undefined;
  readonly startProgress?: (() => Progress) | undefined;
}

export type TextAnswer = Awaited<ReturnType<typeof sendRequest>>;

/** The time limit of a whole exchange, by the bytes sent. Very small pieces would never reach the limit of silence. */
export const transferTime = (bytes = 0): number => EXCHANGE.api + (bytes / MEGABYTE) * EXCHANGE.perMegabyte;

/** Sends a request once and reads any answer. @throws {DeliveryError} `CONNECTION` if it is unknown what arrived */
export async function sendRequest(
  request: TextRequest,
  { http, clock, signal }: Pick<Ports, 'http' | 'clock' | 'signal'>,
) {
  if (signal.aborted) throw unsentError(signal);
  const { method, url, headers, length, headersTimeout } = request;
  const limit = clock.timeout(transferTime(length) + (headersTimeout ?? 0));
  try {
    const response = await http({
      method,
      url,
      headers: { ...headers, ...(length === undefined ? {} : { 'content-length': String(length) }) },
      ...(request.body === undefined ? {} : { body: () => withProgress(request) }),
      signal: AbortSignal.any([signal, limit]),
      headersTimeout,
    });
    addAbortSignal(limit, response.body);
    const text = await readText(response, EXCHANGE.apiBody);
    const received = Object.entries(response.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    );
    return { status: response.status, headers: Object.fromEntries(received), text, json: parseJson(text) };
  } catch (thrown) {
    throw connectionError(thrown, { ...request, signal });
  }
}

function withProgress({ body = () => '', startProgress }: TextRequest): Readable | Buffer | string {
  const bytes = body();
  if (startProgress === undefined || !(bytes instanceof Readable)) return bytes;
  return Readable.from(advance(bytes, startProgress()), { objectMode: false });
}

async function* advance(bytes: AsyncIterable<Buffer | string>, progress: Progress) {
  try {
    for await (const chunk of bytes) {
      progress.advance(chunk.length);
      yield chunk;
    }
  } finally {
    progress.end();
  }
}
