import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
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
  { url, method, headers = {}, body, signal, headersTimeout }: HttpRequest,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    let controller: Dispatcher.DispatchController | undefined;
    let received: ReceivedBody | undefined;
    const letGo = (): void => signal?.removeEventListener('abort', stop);
    const fail = (error: Error): void => {
      letGo();
      if (received === undefined) reject(error);
      else received.destroy(error);
    };
    const stop = (): void => {
      fail(signal?.reason);
      controller?.abort(signal?.reason);
    };
    signal?.addEventListener('abort', stop);
    const options: Dispatcher.DispatchOptions = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: method as Dispatcher.HttpMethod,
      headers,
      body: body?.() ?? null,
      headersTimeout: headersTimeout ?? EXCHANGE.headers,
    };
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        controller = started;
        if (signal?.aborted) started.abort(signal.reason);
      },
      onResponseStart(started, status, responseHeaders) {
        // Such as 103, which announces the response.
        if (status < 200) return;
        received = new ReceivedBody(started, letGo);
        resolve({ status, headers: responseHeaders, body: received });
      },
      onResponseData(started, chunk) {
        if (received?.push(chunk) === false) started.pause();
      },
      onResponseEnd: () => received?.finish(),
      onResponseError: (_controller, error) => fail(error),
    });
  });
}

/** The body of a response. Where it is destroyed before its end, its connection is closed. */
class ReceivedBody extends Readable {
  readonly #controller: Dispatcher.DispatchController;
  readonly #letGo: () => void;
  #isComplete = false;

  constructor(controller: Dispatcher.DispatchController, letGo: () => void) {
    super();
    this.#controller = controller;
    this.#letGo = letGo;
    // Whoever reads it sees a failure; where nobody does, it ends no process.
    this.on('error', () => undefined);
  }

  finish(): void {
    this.#isComplete = true;
    this.push(null);
  }

  override _read(): void {
    this.#controller.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#letGo();
    if (!this.#isComplete) this.#controller.abort(error ?? new Error('the body is not read further'));
    callback(error);
  }
}
