import { Readable } from 'node:stream';
import { connectionError } from '../../src/http/client.ts';
import type { HttpRequest, HttpResponse, SendHttp } from '../../src/ports.ts';
import { collect, type Incoming } from '../world/front/http.ts';
import type { World } from '../world/world.ts';
import type { MovingClock } from './moving-clock.ts';

/** A request of the product, and what it was for. */
export interface Asked {
  /** `METHOD host/path`, without what differs from run to run. */
  readonly name: string;
  /** How many of that name were sent before. */
  readonly nth: number;
  readonly request: HttpRequest;
  /** All that was sent, as one text. */
  readonly sent: string;
}

/** An answer in memory. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** One exchange that goes wrong. */
export interface Exchange extends Asked {
  readonly clock: MovingClock;
  /** Lets the host do its work, and gives its own answer. */
  readonly ask: () => Promise<Answered>;
}

/** What happens to an exchange; thrown network errors become what the real door makes of them. */
export type Play = (exchange: Exchange) => Promise<HttpResponse>;

/** A door to the network, and what went through it. */
export interface Doorway {
  readonly http: SendHttp;
  readonly asked: readonly Asked[];
  /** The bodies that arrived whole at those who sent no credential along. */
  readonly shown: readonly Buffer[];
}

/** Stands at a door and takes note. */
class Porter {
  readonly asked: Asked[] = [];
  readonly shown: Buffer[] = [];

  enters(request: HttpRequest, sent: string): Asked {
    const name = nameOf(request.method, request.url);
    const nth = this.asked.filter((earlier) => earlier.name === name).length;
    const one = { name, nth, request, sent };
    this.asked.push(one);
    return one;
  }

  leaves({ headers }: HttpRequest, answer: HttpResponse): HttpResponse {
    if (headers?.authorization !== undefined) return answer;
    const { shown } = this;
    async function* passing(): AsyncGenerator<Buffer> {
      const chunks: Buffer[] = [];
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        yield chunk;
      }
      shown.push(Buffer.concat(chunks));
    }
    return { ...answer, body: Readable.from(passing(), { objectMode: false }) };
  }
}

/**
 * A door that opens straight onto the world's hosts.
 *
 * @param meddle what happens instead of the host's own answer, where something does
 */
export function openDoorway(
  world: World,
  clock: MovingClock,
  meddle: (asked: Asked) => Play | undefined = () => undefined,
): Doorway {
  const porter = new Porter();
  const http: SendHttp = async (request) => {
    try {
      request.signal?.throwIfAborted();
      const incoming = await incomingOf(request);
      const one = porter.enters(request, textOf(incoming));
      const ask = (): Promise<Answered> => answerOf(world, incoming);
      const play = meddle(one);
      const answer = play === undefined ? response(await ask()) : await play({ ...one, clock, ask });
      return porter.leaves(request, answer);
    } catch (thrown) {
      throw connectionError(thrown, request);
    }
  };
  return { http, asked: porter.asked, shown: porter.shown };
}

/** The product's own door, watched; of what is sent only addresses and headers are seen here. */
export function watchDoor(door: SendHttp): Doorway {
  const porter = new Porter();
  const http: SendHttp = async (request) => {
    porter.enters(request, `${request.url.href}\n${JSON.stringify(request.headers)}`);
    return porter.leaves(request, await door(request));
  };
  return { http, asked: porter.asked, shown: porter.shown };
}

/** An answer as it comes over the wire. */
export function response({ status, headers, body }: Answered): HttpResponse {
  return { status, headers, body: Readable.from([body], { objectMode: false }) };
}

interface Received extends Incoming {
  readonly bytes: Buffer;
}

async function incomingOf({ method, url, headers = {}, body }: HttpRequest): Promise<Received> {
  const made = body?.() ?? '';
  const bytes = typeof made === 'string' ? Buffer.from(made) : await collect(made.map(Buffer.from));
  const length: Record<string, string> = made === '' ? {} : { 'content-length': String(bytes.length) };
  return {
    method,
    url: url.href,
    host: url.host,
    path: url.pathname,
    query: url.searchParams,
    headers: { 'user-agent': 'screen-delivery', ...length, ...headers },
    body: Readable.from([bytes], { objectMode: false }),
    bytes,
  };
}

const textOf = ({ url, headers, bytes }: Received): string =>
  [url, JSON.stringify(headers), bytes.toString('latin1')].join('\n');

async function answerOf(world: World, incoming: Incoming): Promise<Answered> {
  const { status, headers = {}, body = '' } = await world.ask(incoming);
  const bytes = body instanceof Readable ? await collect(body) : Buffer.from(body);
  return { status, headers, body: bytes };
}

/** What a request is called in the table: shas, numbers, signatures and the cell's own names left out. */
export function nameOf(method: string, url: URL): string {
  const path = url.pathname
    .replace(/[^/]*cell-\d+(\.git)?/, '…')
    .replace(/[0-9a-f]{40,64}/g, '{sha}')
    .replace(/\/\d+(?=\/|$)/g, '/{id}');
  const stamp = url.searchParams.get('v')?.replace(/\d+/, '{time}');
  const query = stamp === undefined ? '' : `?v=${stamp}`;
  return `${method} ${url.host}${path}${query}`;
}
