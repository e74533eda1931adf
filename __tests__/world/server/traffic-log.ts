import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Transform } from 'node:stream';

const HEAD_BYTES = 64 * 1024;
/** A JSON body above this is recorded without its middle, which is part of one long text: a file's content. */
const JSON_BYTES = 4 * 1024 * 1024;

/** One request that a client sent through the proxy, and its status. */
export interface HttpExchange {
  readonly method: string;
  readonly url: string;
  readonly host: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: BodyRecord;
  /** Null until the answer is sent; stays null when the connection was cut first. */
  status: number | null;
  /** The JSON that the local GitHub itself answered, before any test changed it; null where there is none. */
  answer: { readonly status: number; readonly body: unknown } | null;
}

/** What is recorded of a request's body; grows while the body arrives. */
export interface BodyRecord {
  /** Hex; empty until the whole body has been seen. */
  sha256: string;
  size: number;
  /** The first 64 KB as text. */
  head: string;
  /** A whole JSON body; one above 4 MB lacks a part of its middle. */
  json: string;
}

/** A place where a watched text was found. */
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

  /** Where the watched texts were found; with an argument, only that text. */
  found(needle?: string): readonly FoundText[] {
    return this.#sightings.filter((sighting) => needle === undefined || sighting.needle === needle);
  }

  /** Records a request, and returns the stream through which its body must be piped. */
  record(request: Omit<HttpExchange, 'body' | 'status' | 'answer'>): {
    exchange: HttpExchange;
    tap: Transform;
  } {
    const body = { sha256: '', size: 0, head: '', json: '' };
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
    const hash = createHash('sha256');
    const overlap = Math.max(0, ...this.#needles.map((needle) => Buffer.byteLength(needle) - 1));
    let tail: Buffer = Buffer.alloc(0);
    let head: Buffer = Buffer.alloc(0);
    const json = /json/.test(exchange.headers['content-type'] ?? '') ? new JsonRecord() : null;
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        hash.update(chunk);
        exchange.body.size += chunk.length;
        json?.add(chunk);
        if (head.length < HEAD_BYTES) {
          head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
          exchange.body.head = head.toString();
        }
        if (this.#needles.length > 0) {
          const seen = Buffer.concat([tail, chunk]);
          this.#inspect(exchange, 'body', seen);
          // A watched text may cross the chunk border: the last bytes are checked again with the next chunk.
          tail = Buffer.from(seen.subarray(Math.max(0, seen.length - overlap)));
        }
        done(null, chunk);
      },
      flush: (done) => {
        exchange.body.json = json?.toString() ?? '';
        exchange.body.sha256 = hash.digest('hex');
        done();
      },
    });
  }
}

/** The start and the end of a JSON body. */
class JsonRecord {
  readonly #start: Buffer[] = [];
  #size = 0;
  #end: Buffer = Buffer.alloc(0);

  add(chunk: Buffer): void {
    const room = Math.max(0, JSON_BYTES - this.#size);
    this.#size += chunk.length;
    if (room > 0) this.#start.push(chunk.subarray(0, room));
    const rest = chunk.subarray(room);
    if (rest.length > 0) this.#end = Buffer.concat([this.#end, rest]).subarray(-HEAD_BYTES);
  }

  toString(): string {
    return Buffer.concat([...this.#start, this.#end]).toString();
  }
}
