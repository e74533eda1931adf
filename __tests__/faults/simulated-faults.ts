import { Readable } from 'node:stream';
import { errors } from 'undici';
import type { HttpResponse } from '../../src/ports.ts';
import { EXCHANGE, SECOND } from '../../src/protocol/limits.ts';
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

const UNICORN = '<!doctype html><title>Unicorn!</title><p>We had issues producing the response.</p>';

/** Every fault of the matrix. In some of them the host does its work, but the answer is lost. */
export const SIMULATED_FAULTS: readonly SimulatedFault[] = [
  createTransientFault('connection refused', async () => {
    throw createNetworkError('ECONNREFUSED');
  }),
  createTransientFault('reset before the request arrived', async () => {
    throw createNetworkError('ECONNRESET');
  }),
  createTransientFault('reset after the work was done', async ({ callHost: ask }) => {
    await ask();
    throw new errors.SocketError('other side closed');
  }),
  createTransientFault('reset in the middle of the answer', async (exchange) =>
    breakOffBody(await exchange.callHost(), async () => {
      throw new errors.SocketError('other side closed');
    }),
  ),
  createTransientFault('no answer, though the work was done', async ({ callHost: ask, clock, request }) => {
    await ask();
    await clock.advance(EXCHANGE.headers, request.signal);
    request.signal?.throwIfAborted();
    throw new errors.HeadersTimeoutError();
  }),
  createTransientFault('silence in the middle of the answer', async (exchange) =>
    breakOffBody(await exchange.callHost(), async () => {
      await exchange.clock.advance(EXCHANGE.stall, exchange.request.signal);
      exchange.request.signal?.throwIfAborted();
      throw new errors.BodyTimeoutError();
    }),
  ),
  createTransientFault('a slow drip', async (exchange) => sendSlowly(await exchange.callHost(), exchange)),
  createTransientFault('truncated', async ({ callHost: ask }) => {
    const { body, ...real } = await ask();
    return createResponse({ ...real, body: body.subarray(0, body.length / 2) });
  }),
  createTransientFault('wrong content length', async ({ callHost: ask }) => {
    const { headers, ...real } = await ask();
    const longer = { ...headers, 'content-length': String(real.body.length + 1) };
    return breakOffBody(
      { ...real, headers: longer, body: Buffer.concat([real.body, real.body]) },
      async () => {
        throw new errors.ResponseContentLengthMismatchError();
      },
    );
  }),
  createTransientFault('HTML instead', async () =>
    createResponse({ status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from(UNICORN) }),
  ),
  createTransientFault('HTTP 500', async () => createErrorResponse(500, 'Server Error')),
  createTransientFault('HTTP 502 after the work was done', async ({ callHost: ask }) => {
    await ask();
    return createResponse({
      status: 502,
      headers: { 'content-type': 'text/html' },
      body: Buffer.from(UNICORN),
    });
  }),
  {
    ...createTransientFault('HTTP 502 and a half-uploaded asset', async ({ request }, repository) => {
      const [release] = repository.releases();
      await repository.addUnfinishedAsset(release?.tag ?? '', request.url.searchParams.get('name') ?? '');
      return createErrorResponse(502, 'Server Error');
    }),
    on: /^POST uploads\./,
  },
  createTransientFault('HTTP 503 with Retry-After', async () =>
    createErrorResponse(503, 'Busy', { 'retry-after': '7' }),
  ),
  createTransientFault('HTTP 429', async () => createErrorResponse(429, 'Too many requests')),
  {
    ...createTransientFault('HTTP 403, secondary limit', async () =>
      createErrorResponse(403, 'You have exceeded a secondary rate limit.', { 'retry-after': '60' }),
    ),
    on: GITHUB,
  },
  {
    ...createTransientFault('HTTP 403, hourly limit', async ({ clock }) =>
      createErrorResponse(403, 'API rate limit exceeded', {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.ceil(clock.now() / SECOND) + 420),
      }),
    ),
    on: GITHUB,
  },
  createLastingFault('HTTP 401', async () => createErrorResponse(401, 'Bad credentials')),
  {
    ...createLastingFault('HTTP 403, not accessible', async () =>
      createErrorResponse(403, 'Resource not accessible by integration', {
        'x-accepted-github-permissions': 'contents=write',
      }),
    ),
    on: GITHUB,
  },
  createLastingFault('HTTP 404', async () => createErrorResponse(404, 'Not Found')),
  createLastingFault('TLS failure', async () => {
    throw createNetworkError('CERT_HAS_EXPIRED');
  }),
];

function createTransientFault(name: string, play: SimulatedFault['respond']): SimulatedFault {
  return { name, isTransient: true, respond: play };
}

function createLastingFault(name: string, play: SimulatedFault['respond']): SimulatedFault {
  return { name, isTransient: false, respond: play };
}

function createErrorResponse(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): HttpResponse {
  const body = Buffer.from(JSON.stringify({ message, status: String(status) }));
  return createResponse({ status, headers: { 'content-type': 'application/json', ...headers }, body });
}

const createNetworkError = (code: string): Error => Object.assign(new Error(code), { code });

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
