import { Readable } from 'node:stream';
import { connectionError } from '../../src/http/client.ts';
import type { HttpRequest, HttpResponse, SendHttp } from '../../src/ports.ts';
import { collectBytes, type HostRequest } from '../world/server/messages.ts';
import type { GitHubWorld } from '../world/world.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** A request of the product. */
export interface RecordedRequest {
  /** `METHOD host/path`, without what differs from run to run. */
  readonly name: string;
  /** How many requests of that name were sent before. */
  readonly nth: number;
  readonly request: HttpRequest;
  /** The whole request as one text. */
  readonly sent: string;
}

/** An answer in memory. */
export interface BufferedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** One exchange that fails. */
export interface FaultyExchange extends RecordedRequest {
  readonly clock: SimulatedClock;
  /** Calls the host and returns its real answer. */
  readonly callHost: () => Promise<BufferedResponse>;
}

/** Handles a failing exchange; thrown network errors are converted as in the real HTTP client. */
export type FaultHandler = (exchange: FaultyExchange) => Promise<HttpResponse>;

/** An HTTP client, and the record of its requests. */
export interface RecordedHttp {
  readonly http: SendHttp;
  readonly requests: readonly RecordedRequest[];
  /** Complete response bodies of requests without credentials. */
  readonly publicBodies: readonly Buffer[];
}

/** Records requests and response bodies. */
class RequestRecorder {
  readonly requests: RecordedRequest[] = [];
  readonly publicBodies: Buffer[] = [];

  recordRequest(request: HttpRequest, sent: string): RecordedRequest {
    const name = formatRequestName(request.method, request.url);
    const nth = this.requests.filter((earlier) => earlier.name === name).length;
    const one = { name, nth, request, sent };
    this.requests.push(one);
    return one;
  }

  recordResponse({ headers }: HttpRequest, answer: HttpResponse): HttpResponse {
    if (headers?.authorization !== undefined) return answer;
    const { publicBodies } = this;
    async function* copyBody(): AsyncGenerator<Buffer> {
      const chunks: Buffer[] = [];
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        yield chunk;
      }
      publicBodies.push(Buffer.concat(chunks));
    }
    return { ...answer, body: Readable.from(copyBody(), { objectMode: false }) };
  }
}

/** Calls the local GitHub without sockets. @param interfere returns the handler for a request that must fail */
export function createWorldHttp(
  world: GitHubWorld,
  clock: SimulatedClock,
  interfere: (request: RecordedRequest) => FaultHandler | undefined = () => undefined,
): RecordedHttp {
  const recorder = new RequestRecorder();
  const http: SendHttp = async (request) => {
    try {
      request.signal?.throwIfAborted();
      const incoming = await toHostRequest(request);
      const one = recorder.recordRequest(request, formatRequest(incoming));
      const ask = (): Promise<BufferedResponse> => callWorld(world, incoming);
      const play = interfere(one);
      const answer =
        play === undefined ? createResponse(await ask()) : await play({ ...one, clock, callHost: ask });
      return recorder.recordResponse(request, answer);
    } catch (thrown) {
      throw connectionError(thrown, request);
    }
  };
  return { http, requests: recorder.requests, publicBodies: recorder.publicBodies };
}

/** Records the requests of the product's own HTTP client; only addresses and headers are recorded. */
export function recordHttp(door: SendHttp): RecordedHttp {
  const recorder = new RequestRecorder();
  const http: SendHttp = async (request) => {
    recorder.recordRequest(request, `${request.url.href}\n${JSON.stringify(request.headers)}`);
    return recorder.recordResponse(request, await door(request));
  };
  return { http, requests: recorder.requests, publicBodies: recorder.publicBodies };
}

/** Creates a streamed response. */
export function createResponse({ status, headers, body }: BufferedResponse): HttpResponse {
  return { status, headers, body: Readable.from([body], { objectMode: false }) };
}

interface ReceivedRequest extends HostRequest {
  readonly bytes: Buffer;
}

async function toHostRequest({
  method,
  url,
  headers = {},
  body,
  connections = 0,
}: HttpRequest): Promise<ReceivedRequest> {
  const made = body?.() ?? '';
  const bytes = made instanceof Readable ? await collectBytes(made.map(Buffer.from)) : Buffer.from(made);
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
    connection: connections,
  };
}

const formatRequest = ({ url, headers, bytes }: ReceivedRequest): string =>
  [url, JSON.stringify(headers), bytes.toString('latin1')].join('\n');

async function callWorld(world: GitHubWorld, incoming: HostRequest): Promise<BufferedResponse> {
  const { status, headers = {}, body = '' } = await world.ask(incoming);
  const bytes = body instanceof Readable ? await collectBytes(body) : Buffer.from(body);
  return { status, headers, body: bytes };
}

/** The name of a request in the matrix, without SHAs, numbers, signatures and repository names. */
export function formatRequestName(method: string, url: URL): string {
  const path = url.pathname
    .replace(/[^/]*cell-\d+(\.git)?/, '…')
    .replace(/[0-9a-f]{40,64}/g, '{sha}')
    .replace(/screen-delivery-[a-z0-9]+$/, '{artifact}')
    .replace(/\/\d+(?=\/|$)/g, '/{id}');
  const stamp = url.searchParams.get('v')?.replace(/\d+/, '{time}');
  const query = stamp === undefined ? '' : `?v=${stamp}`;
  return `${method} ${url.host}${path}${query}`;
}
