import { Readable } from 'node:stream';
import type { Browser, CDPSession, Protocol } from '#puppeteer';
import { toDeliveryError } from '../errors.ts';
import { BROWSER_ENCODINGS } from '../http/response.ts';
import type { HttpResponse, SendHttp } from '../ports.ts';
import { MEGABYTE } from '../protocol/limits.ts';
import { getReach } from '../rules/external-address.ts';
import { answerLocally, readAnswer } from './answers.ts';
import type { PageEvents } from './page-events.ts';
import type { PageToView } from './screen-view.ts';

/** Limits of one page. A message to the browser has at most 100 MB, and base64 adds a third. */
const MOST = {
  requests: 2_000,
  atOnce: 32,
  localAtOnce: 2,
  body: 64 * MEGABYTE,
  bytes: 256 * MEGABYTE,
};

interface AnswerOptions {
  readonly page: PageToView;
  readonly events: PageEvents;
  readonly http: SendHttp;
}

/**
 * Answers every request of a browser, for documents, frames and workers. Other requests fail, because the
 * browser can't reach the network.
 */
export async function openNetwork(browser: Browser, options: AnswerOptions): Promise<PageNetwork> {
  const session = await browser.target().createCDPSession();
  const network = new PageNetwork(session, options);
  session.on('Fetch.requestPaused', (paused) => void network.answer(paused));
  // A page's own session doesn't see requests of shared and service workers.
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
  return network;
}

export class PageNetwork {
  readonly #session: CDPSession;
  readonly #options: AnswerOptions;
  readonly #origin: string;
  readonly #over = new AbortController();
  /** Limited, because answers stay in memory until the browser has them. */
  readonly #turns = { local: createTurns(MOST.localAtOnce), sent: createTurns(MOST.atOnce) };
  #requests = 0;
  #bytes = 0;

  constructor(session: CDPSession, options: AnswerOptions) {
    this.#session = session;
    this.#options = options;
    this.#origin = new URL(options.page.url).origin;
  }

  async answer({ requestId, request, resourceType }: Protocol.Fetch.RequestPausedEvent): Promise<void> {
    const url = new URL(request.url);
    const { page, events } = this.#options;
    // A prefetch is for another page.
    if (request.headers['Sec-Purpose'] === undefined) events.addHost(url);
    if (resourceType === 'EventSource') return this.noteStream(url, 'a stream of events');
    const files = url.origin === this.#origin ? page.local : undefined;
    try {
      this.#requests += 1;
      if (this.#requests > MOST.requests) throw this.#tooMuchError(`${MOST.requests} files`);
      await this.#turns[files === undefined ? 'sent' : 'local'](async () => {
        const response = files === undefined ? await this.#send(url, request) : answerLocally(files, url);
        const answer = await readAnswer(response, request.method === 'HEAD', this.#count);
        await this.#session.send('Fetch.fulfillRequest', { requestId, ...answer });
      });
    } catch {
      const errorReason = events.refused.has(url.href) ? 'BlockedByClient' : 'ConnectionFailed';
      await this.#session.send('Fetch.failRequest', { requestId, errorReason }).catch(() => undefined);
    }
  }

  /** Notes a stream, which gets no answer because it doesn't end. */
  noteStream(url: URL, kind: string): void {
    if (!this.#isRefused(url)) this.#options.events.missing ||= kind;
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#session.detach().catch(() => undefined);
  }

  async #send(
    url: URL,
    { method, headers, hasPostData = false, postDataEntries = [] }: Protocol.Network.Request,
  ): Promise<HttpResponse> {
    if (this.#isRefused(url) || url.protocol !== 'https:') {
      throw new Error('only public https URLs are answered');
    }
    const body = Buffer.concat(postDataEntries.map(({ bytes = '' }) => Buffer.from(bytes, 'base64')));
    try {
      return await this.#options.http({
        method,
        url,
        headers: {
          'accept-language': 'en-US,en;q=0.9',
          ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
          'accept-encoding': BROWSER_ENCODINGS,
          ...(hasPostData && { 'content-length': String(body.length) }),
        },
        ...(hasPostData && { body: () => Readable.from([body]) }),
        signal: this.#over.signal,
        publicOnly: !this.#isPrivatePage(url),
      });
    } catch (thrown) {
      // The host's name resolves to an internal address.
      const { code, message } = toDeliveryError(thrown);
      if (code === 'NOT_EXTERNAL') this.#options.events.addRefused(url, message);
      throw thrown;
    }
  }

  /** Whether the host is internal. Only the page's own host may be, if the page was verified there. */
  #isRefused(url: URL): boolean {
    const { reach, why } = getReach(url);
    // A URL like `cid:a.png` has no host.
    const isInternal = url.hostname !== '' && reach !== 'anywhere';
    const isRefused = isInternal && (reach === 'machine' || !this.#isPrivatePage(url));
    if (isRefused) this.#options.events.addRefused(url, why);
    return isRefused;
  }

  #isPrivatePage({ origin }: URL): boolean {
    return this.#options.page.isPrivateHost === true && origin === this.#origin;
  }

  readonly #count = (piece: number, size: number): void => {
    this.#bytes += piece;
    if (size > MOST.body) throw this.#tooMuchError(`${MOST.body / MEGABYTE} MB in one file`);
    if (this.#bytes > MOST.bytes) throw this.#tooMuchError(`${MOST.bytes / MEGABYTE} MB`);
  };

  #tooMuchError(amount: string): Error {
    this.#options.events.missing ||= `more than ${amount}`;
    return new Error(`the page requests more than ${amount}`);
  }
}

function createTurns(atOnce: number): (work: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = [];
  let active = 0;
  return async (work) => {
    while (active >= atOnce) await new Promise<void>((next) => waiting.push(next));
    active += 1;
    try {
      await work();
    } finally {
      active -= 1;
      waiting.shift()?.();
    }
  };
}
