import { type Dispatcher, errors } from 'undici';
import { untilAborted } from '../async.ts';
import type { HttpRequest, HttpResponse } from '../ports.ts';
import { EXCHANGE } from '../protocol/limits.ts';

/** Sends a request once. @throws the signal's reason, or undici's error */
export async function exchange(dispatcher: Dispatcher, request: HttpRequest): Promise<HttpResponse> {
  const { url, method, headers = {}, body, signal, headersTimeout = EXCHANGE.headers } = request;
  signal?.throwIfAborted();
  const limit = new AbortController();
  const either = AbortSignal.any([limit.signal, signal ?? limit.signal]);
  let announcedAt = 0;
  const sent = dispatcher.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: method as Dispatcher.HttpMethod,
    headers,
    body: body?.() ?? null,
    headersTimeout,
    signal: either,
    onInfo() {
      // Each informational response, such as 103, restarts undici's own limit.
      announcedAt ||= performance.now();
      if (performance.now() - announcedAt > headersTimeout) limit.abort(new errors.HeadersTimeoutError());
    },
  });
  // undici checks the signal only once it has a connection.
  const answer = await untilAborted(either, sent);
  // A later reader still sees the error. Without a reader it must not end the process.
  answer.body.on('error', () => undefined);
  return { status: answer.statusCode, headers: answer.headers, body: answer.body };
}
