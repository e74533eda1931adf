import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { errors } from 'undici';
import type { HttpResponse } from '../../src/ports.ts';
import { EXCHANGE, MEGABYTE, SECOND } from '../../src/protocol/limits.ts';
import type { TestRepository } from '../world/repository.ts';
import type { InjectedFault } from './fault-runner.ts';
import {
  type BufferedResponse,
  createResponse,
  type FaultHandler,
  type FaultyExchange,
} from './recorded-http.ts';

/** A fault that replaces a host's answer. */
export interface SimulatedFault extends InjectedFault {
  readonly respond: (exchange: FaultyExchange, repository: TestRepository) => ReturnType<FaultHandler>;
}

/** Requests to which GitHub's limits and permissions apply. */
const GITHUB = /^\w+ (api|uploads)\.github\.com\//;

/** Files that a page needs. */
const RESOURCES = /^GET cdn\.octo\.dev\//;

const UNICORN = '<!doctype html><title>Unicorn!</title><p>We had issues producing the response.</p>';

/** Every fault of the matrix. In some of them the host does its work, but the answer is lost. */
export const SIMULATED_FAULTS: readonly SimulatedFault[] = [
  transient('connection refused', fails(createNetworkError('ECONNREFUSED'))),
  transient('reset before the request arrived', fails(createNetworkError('ECONNRESET'))),
  transient('reset after the work was done', async ({ callHost }) => {
    await callHost();
    throw new errors.SocketError('other side closed');
  }),
  transient('reset in the middle of the answer', async ({ callHost }) =>
    breakOffBody(await callHost(), fails(new errors.SocketError('other side closed'))),
  ),
  transient('no answer, though the work was done', async ({ callHost, clock, request }) => {
    await callHost();
    await clock.advance(EXCHANGE.headers, request.signal);
    request.signal?.throwIfAborted();
    throw new errors.HeadersTimeoutError();
  }),
  transient('silence in the middle of the answer', async ({ callHost, clock, request }) =>
    breakOffBody(await callHost(), async () => {
      await clock.advance(EXCHANGE.stall, request.signal);
      request.signal?.throwIfAborted();
      throw new errors.BodyTimeoutError();
    }),
  ),
  transient('a slow drip', async (exchange) => sendSlowly(await exchange.callHost(), exchange)),
  transient('truncated', async ({ callHost }) => {
    const { body, ...real } = await callHost();
    return createResponse({ ...real, body: body.subarray(0, body.length / 2) });
  }),
  transient('wrong content length', async ({ callHost }) => {
    const { status, headers, body } = await callHost();
    const longer = { ...headers, 'content-length': String(body.length + 1) };
    const sent = { status, headers: longer, body: Buffer.concat([body, body]) };
    return breakOffBody(sent, fails(new errors.ResponseContentLengthMismatchError()));
  }),
  transient('HTML instead', answersPage(200)),
  transient('HTTP 500', answers(500, 'Server Error')),
  transient('HTTP 502 after the work was done', async (exchange, repository) => {
    await exchange.callHost();
    return answersPage(502)(exchange, repository);
  }),
  transient(
    'HTTP 502 and a half-uploaded asset',
    async (exchange, repository) => {
      const [release] = repository.releases();
      const { searchParams } = exchange.request.url;
      const name = searchParams.get('name') ?? '';
      await repository.addUnfinishedAsset(release?.tag ?? '', name, searchParams.get('label'));
      return answers(502, 'Server Error')(exchange, repository);
    },
    /^POST uploads\./,
  ),
  transient('HTTP 503 with Retry-After', answers(503, 'Busy', { 'retry-after': '7' })),
  transient('HTTP 429', answers(429, 'Too many requests')),
  transient(
    'HTTP 403, secondary limit',
    answers(403, 'You have exceeded a secondary rate limit.', { 'retry-after': '60' }),
    GITHUB,
  ),
  transient(
    'HTTP 403, hourly limit',
    (exchange, repository) => {
      const reset = String(Math.ceil(exchange.clock.date() / SECOND) + 420);
      const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
      return answers(403, 'API rate limit exceeded', headers)(exchange, repository);
    },
    GITHUB,
  ),
  lasting('HTTP 401', answers(401, 'Bad credentials')),
  lasting(
    'HTTP 403, not accessible',
    answers(403, 'Resource not accessible by integration', {
      'x-accepted-github-permissions': 'contents=write',
    }),
    GITHUB,
  ),
  lasting('HTTP 404', answers(404, 'Not Found')),
  lasting('an endless answer', async ({ callHost }) => sendEndlessly(await callHost()), RESOURCES),
  lasting(
    'an answer that grows when decoded',
    async ({ callHost }) => decodeToMuch(await callHost()),
    RESOURCES,
  ),
  lasting('a redirect to a private address', redirects('https://10.0.0.1/latest/meta-data'), RESOURCES),
  lasting('a redirect to this machine', redirects('https://metadata.google.internal/'), RESOURCES),
  lasting('TLS failure', fails(createNetworkError('CERT_HAS_EXPIRED'))),
];

type Respond = SimulatedFault['respond'];

function transient(name: string, respond: Respond, on?: RegExp): SimulatedFault {
  return { name, isTransient: true, respond, ...(on && { on }) };
}

function lasting(name: string, respond: Respond, on?: RegExp): SimulatedFault {
  return { ...transient(name, respond, on), isTransient: false };
}

function fails(error: Error): () => Promise<never> {
  return () => Promise.reject(error);
}

function answers(status: number, message: string, headers: Record<string, string> = {}): Respond {
  const body = Buffer.from(JSON.stringify({ message, status: String(status) }));
  return async () =>
    createResponse({ status, headers: { 'content-type': 'application/json', ...headers }, body });
}

function answersPage(status: number): Respond {
  const headers = { 'content-type': 'text/html' };
  return async () => createResponse({ status, headers, body: Buffer.from(UNICORN) });
}

function redirects(location: string): Respond {
  return async () => createResponse({ status: 302, headers: { location }, body: Buffer.alloc(0) });
}

function sendEndlessly({ body: _, ...head }: BufferedResponse): HttpResponse {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (;;) yield Buffer.alloc(MEGABYTE, 32);
  }
  return { ...head, body: Readable.from(pieces(), { objectMode: false }) };
}

const decodeToMuch = ({ headers, ...head }: BufferedResponse): HttpResponse =>
  createResponse({ ...head, headers: { ...headers, 'content-encoding': 'gzip' }, body: BOMB });

const BOMB = gzipSync(Buffer.alloc(60 * MEGABYTE));

function createNetworkError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Sends the headers and half of the body, then calls `end`; an empty body is sent whole. */
function breakOffBody({ body, ...head }: BufferedResponse, end: () => Promise<void>): HttpResponse {
  async function* half(): AsyncGenerator<Buffer> {
    if (body.length === 0) return;
    yield body.subarray(0, body.length / 2);
    await end();
  }
  return { ...head, body: Readable.from(half(), { objectMode: false }) };
}

/** Sends single bytes with pauses, so that the answer never stalls and never ends in time. */
function sendSlowly({ body, ...head }: BufferedResponse, { clock, request }: FaultyExchange): HttpResponse {
  async function* drops(): AsyncGenerator<Buffer> {
    for (const byte of body) {
      await clock.advance(EXCHANGE.stall - SECOND, request.signal);
      request.signal?.throwIfAborted();
      yield Buffer.from([byte]);
    }
  }
  return { ...head, body: Readable.from(drops(), { objectMode: false }) };
}
