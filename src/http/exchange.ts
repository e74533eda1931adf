import { Readable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import { hasFailed } from '../errors.ts';
import type { HttpRequest, HttpResponse } from '../ports.ts';
import { EXCHANGE } from '../protocol/limits.ts';

/**
 * Sends a request once. `request` of undici looks at the signal only once it has a connection, and does not tell when the
 * host took a piece of the body.
 *
 * @throws the signal's reason if it has aborted already, or if it is a failure and nothing was sent; Node's `AbortError`
 * for another abort; what undici reports
 */
export function exchange(dispatcher: Dispatcher, request: HttpRequest): Promise<HttpResponse> {
  const { signal, headersTimeout = EXCHANGE.headers } = request;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const received = new ReceivedBody(signal && { signal });
    // A later reader sees a failure as well; where nobody does, it ends no process.
    received.on('error', (error) => {
      const { reason } = signal ?? {};
      // Without a controller there is no connection yet, so nothing was sent.
      reject(!received.controller && hasFailed(reason) ? reason.withLeftBehind([]) : error);
    });
    // When a piece of the request's body was taken last: as a whole it may take as long as it needs.
    let takenAt = performance.now();
    const take = (): void => {
      takenAt = performance.now();
    };
    dispatcher.dispatch(formatOptions(request, headersTimeout), {
      onRequestStart(controller) {
        received.controller = controller;
        if (received.destroyed) controller.abort(signal?.reason);
      },
      onBodySent: take,
      onRequestSent: take,
      onResponseStart(_controller, status, responseHeaders) {
        if (status >= 200) resolve({ status, headers: responseHeaders, body: received });
        // It only announces the answer, such as 103, and undici starts its own limit anew.
        else if (performance.now() - takenAt > headersTimeout)
          received.destroy(new errors.HeadersTimeoutError());
      },
      onResponseData(controller, chunk) {
        if (!received.push(chunk)) controller.pause();
      },
      onResponseEnd: () => received.push(null),
      onResponseError: (_controller, error) => received.destroy(error),
    });
  });
}

const formatOptions = (
  { url, method, headers = {}, body }: HttpRequest,
  headersTimeout: number,
): Dispatcher.DispatchOptions => ({
  origin: url.origin,
  path: url.pathname + url.search,
  method: method as Dispatcher.HttpMethod,
  headers,
  body: body?.() ?? null,
  headersTimeout,
});

/** The body of a response, from the request on. If it is destroyed before its end, undici closes its connection. */
class ReceivedBody extends Readable {
  controller: Dispatcher.DispatchController | undefined;

  override _read(): void {
    this.controller?.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.controller?.abort(error ?? new Error('the body is not read further'));
    callback(error);
  }
}
