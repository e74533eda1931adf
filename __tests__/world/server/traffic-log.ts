import type { IncomingHttpHeaders } from 'node:http';
import { Transform } from 'node:stream';

const HEAD_BYTES = 64 * 1024;

/** One request that a client sent through the proxy, and its status. */
export interface HttpExchange {
  readonly method: string;
  readonly url: string;
  readonly host: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: BodyRecord;
  /** Null until the answer is sent; stays null when the connection was cut first. */
  status: number | null;
  /** The local GitHub's own JSON answer, before a test changed it; null without JSON. */
  answer: { readonly status: number; readonly body: unknown } | null;
}

export interface BodyRecord {
  /** Whether the whole body has been seen. */
  isWhole: boolean;
  size: number;
  /** About the first 64 KB as text, and all of a JSON body. */
  text: string;
}

/** Where a watched text was found. */
export interface FoundText {
  readonly needle: string;
  readonly host: string;
  readonly url: string;
  /** `url`, `header <name>` or `body`. */
  readonly place: string;
}

/** All requests of clients, in the order of arrival. */
export class TrafficLog {
  #exchanges: HttpExchange[] = [];
  #needles: string[] = [];
  #sightings: FoundText[] = [];

  /** The recorded requests; with a pattern, those whose `METHOD url` matches it. */
  exchanges(pattern?: RegExp): readonly HttpExchange[] {
    return this.#exchanges.filter(({ method, url }) => pattern?.test(`${method} ${url}`) ?? true);
  }

  /** The requests as `METHOD url status` lines: good for snapshots and failure messages. */
  lines(pattern?: RegExp): string[] {
    return this.exchanges(pattern).map(({ method, url, status }) => `${method} ${url} ${status ?? 'cut'}`);
  }

  /** Clears the recorded requests; watched texts stay watched. */
  clear(): void {
    this.#exchanges = [];
    this.#sightings = [];
  }

  /** Searches later requests for this text: addresses, headers and whole bodies, across chunk borders. */
  watchFor(needle: string): void {
    if (needle === '') throw new Error('An empty text can not be watched.');
    this.#needles.push(needle);
  }

  /** Finds the watched texts, or only the given one. */
  found(needle?: string): readonly FoundText[] {
    return this.#sightings.filter((sighting) => needle === undefined || sighting.needle === needle);
  }

  /** Records a request, and returns the stream through which its body must be piped. */
  record(request: Omit<HttpExchange, 'body' | 'status' | 'answer'>): {
    exchange: HttpExchange;
    tap: Transform;
  } {
    const body = { isWhole: false, size: 0, text: '' };
    const exchange: HttpExchange = { ...request, body, status: null, answer: null };
    this.#exchanges.push(exchange);
    this.#inspect(exchange, 'url', exchange.url);
    for (const [name, value] of Object.entries(exchange.headers)) {
      this.#inspect(exchange, `header ${name}`, String(value));
    }
    return { exchange, tap: this.#tap(exchange) };
  }

  #inspect(exchange: HttpExchange, place: string, content: string | Buffer): void {
    for (const needle of this.#needles) {
      const known = this.#sightings.some(
        (seen) => seen.needle === needle && seen.url === exchange.url && seen.place === place,
      );
      if (known || !content.includes(needle)) continue;
      this.#sightings.push({ needle, host: exchange.host, url: exchange.url, place });
    }
  }

  #tap(exchange: HttpExchange): Transform {
    const { body, headers } = exchange;
    const isJson = /json/.test(headers['content-type'] ?? '');
    const overlap = Math.max(0, ...this.#needles.map((needle) => Buffer.byteLength(needle) - 1));
    const kept: Buffer[] = [];
    let tail: Buffer = Buffer.alloc(0);
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        if (isJson || body.size < HEAD_BYTES) kept.push(chunk);
        body.size += chunk.length;
        if (this.#needles.length > 0) {
          const seen = Buffer.concat([tail, chunk]);
          this.#inspect(exchange, 'body', seen);
          // A watched text may cross the chunk border: the last bytes are checked again with the next chunk.
          tail = Buffer.from(seen.subarray(Math.max(0, seen.length - overlap)));
        }
        done(null, chunk);
      },
      flush: (done) => {
        Object.assign(body, { isWhole: true, text: Buffer.concat(kept).toString() });
        done();
      },
    });
  }
}
