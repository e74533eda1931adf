import { Readable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import { hasFailed } from '../errors.ts';
import type { HttpRequest, HttpResponse } from '../ports.ts';
import { EXCHANGE } from '../protocol/limits.ts';

/**
 * Sends a request once. `request` of undici does so with a quarter more work, and looks at the signal only once it has a
 * connection.
 *
 * @throws the reason of the signal, or what undici reports
 */
export function exchange(
  dispatcher: Dispatcher,
  { url, method, headers = {}, body, signal, headersTimeout = EXCHANGE.headers }: HttpRequest,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    // A later reader sees a failure as well; where nobody does, it ends no process.
    const received = new ReceivedBody(signal).on('error', reject);
    // When a piece of the request's body was taken last: as a whole it may take as long as it needs.
    let takenAt = performance.now();
    const take = (): void => {
      takenAt = performance.now();
    };
    const options: Dispatcher.DispatchOptions = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: method as Dispatcher.HttpMethod,
      headers,
      body: body?.() ?? null,
      headersTimeout,
    };
    dispatcher.dispatch(options, {
      onRequestStart: (controller) => received.start(controller),
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
      onResponseEnd: () => received.finish(),
      onResponseError: (_controller, error) => received.destroy(error),
    });
  });
}

/** The body of a response, from the request on. Where it is destroyed before its end, its connection is closed. */
class ReceivedBody extends Readable {
  readonly #signal: AbortSignal | undefined;
  readonly #stop = (): unknown => {
    const reason = this.#signal?.reason;
    // Without a controller there is no connection yet, so nothing was sent.
    return this.destroy(!this.#controller && hasFailed(reason) ? reason.withLeftBehind([]) : reason);
  };
  #controller: Dispatcher.DispatchController | undefined;
  #isComplete = false;

  constructor(signal: AbortSignal | undefined) {
    super();
    this.#signal = signal;
    signal?.addEventListener('abort', this.#stop);
  }

  start(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.destroyed) controller.abort(this.#signal?.reason);
  }

  finish(): void {
    this.#isComplete = true;
    this.push(null);
  }

  override _read(): void {
    this.#controller?.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#signal?.removeEventListener('abort', this.#stop);
    if (!this.#isComplete) this.#controller?.abort(error ?? new Error('the body is not read further'));
    callback(error);
  }
}
