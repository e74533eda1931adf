import { Readable } from 'node:stream';
import { errors } from 'undici';
import type { HttpResponse } from '../../src/ports.ts';
import { EXCHANGE, SECOND } from '../../src/protocol/limits.ts';
import type { Repository } from '../world/repository.ts';
import type { Fault } from './cells.ts';
import { type Answered, type Exchange, type Play, response } from './doorway.ts';

/** A fault that is played in the place of a host's answer. */
export interface PlayedFault extends Fault {
  readonly play: (exchange: Exchange, repository: Repository) => ReturnType<Play>;
}

/** Where GitHub's own limits and rights are looked at. */
const GITHUB = /^\w+ (api|uploads)\.github\.com\//;

const UNICORN = '<!doctype html><title>Unicorn!</title><p>We had issues producing the response.</p>';

/** Every fault of the matrix. Where it matters, the host has done its work, and nobody is told. */
export const FAULTS: readonly PlayedFault[] = [
  passing('connection refused', async () => {
    throw networkError('ECONNREFUSED');
  }),
  passing('reset before the request arrived', async () => {
    throw networkError('ECONNRESET');
  }),
  passing('reset after the work was done', async ({ ask }) => {
    await ask();
    throw new errors.SocketError('other side closed');
  }),
  passing('reset in the middle of the answer', async (exchange) =>
    halfOf(await exchange.ask(), async () => {
      throw new errors.SocketError('other side closed');
    }),
  ),
  passing('no answer, though the work was done', async ({ ask, clock, request }) => {
    await ask();
    await clock.pass(EXCHANGE.headers, request.signal);
    request.signal?.throwIfAborted();
    throw new errors.HeadersTimeoutError();
  }),
  passing('silence in the middle of the answer', async (exchange) =>
    halfOf(await exchange.ask(), async () => {
      await exchange.clock.pass(EXCHANGE.stall, exchange.request.signal);
      exchange.request.signal?.throwIfAborted();
      throw new errors.BodyTimeoutError();
    }),
  ),
  passing('a slow drip', async (exchange) => drip(await exchange.ask(), exchange)),
  passing('truncated', async ({ ask }) => {
    const { body, ...real } = await ask();
    return response({ ...real, body: body.subarray(0, body.length / 2) });
  }),
  passing('wrong content length', async ({ ask }) => {
    const { headers, ...real } = await ask();
    const longer = { ...headers, 'content-length': String(real.body.length + 1) };
    return halfOf({ ...real, headers: longer, body: Buffer.concat([real.body, real.body]) }, async () => {
      throw new errors.ResponseContentLengthMismatchError();
    });
  }),
  passing('HTML instead', async () =>
    response({ status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from(UNICORN) }),
  ),
  passing('HTTP 500', async () => refusal(500, 'Server Error')),
  passing('HTTP 502 after the work was done', async ({ ask }) => {
    await ask();
    return response({ status: 502, headers: { 'content-type': 'text/html' }, body: Buffer.from(UNICORN) });
  }),
  {
    ...passing('HTTP 502 and a half-uploaded asset', async ({ request }, repository) => {
      const [release] = repository.releases();
      await repository.plantStarter(release?.tag ?? '', request.url.searchParams.get('name') ?? '');
      return refusal(502, 'Server Error');
    }),
    on: /^POST uploads\./,
  },
  passing('HTTP 503 with Retry-After', async () => refusal(503, 'Busy', { 'retry-after': '7' })),
  passing('HTTP 429', async () => refusal(429, 'Too many requests')),
  {
    ...passing('HTTP 403, secondary limit', async () =>
      refusal(403, 'You have exceeded a secondary rate limit.', { 'retry-after': '60' }),
    ),
    on: GITHUB,
  },
  {
    ...passing('HTTP 403, hourly limit', async ({ clock }) =>
      refusal(403, 'API rate limit exceeded', {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.ceil(clock.now() / SECOND) + 420),
      }),
    ),
    on: GITHUB,
  },
  lasting('HTTP 401', async () => refusal(401, 'Bad credentials')),
  {
    ...lasting('HTTP 403, not accessible', async () =>
      refusal(403, 'Resource not accessible by integration', {
        'x-accepted-github-permissions': 'contents=write',
      }),
    ),
    on: GITHUB,
  },
  lasting('HTTP 404', async () => refusal(404, 'Not Found')),
  lasting('TLS failure', async () => {
    throw networkError('CERT_HAS_EXPIRED');
  }),
];

function passing(name: string, play: PlayedFault['play']): PlayedFault {
  return { name, passes: true, play };
}

function lasting(name: string, play: PlayedFault['play']): PlayedFault {
  return { name, passes: false, play };
}

function refusal(status: number, message: string, headers: Record<string, string> = {}): HttpResponse {
  const body = Buffer.from(JSON.stringify({ message, status: String(status) }));
  return response({ status, headers: { 'content-type': 'application/json', ...headers }, body });
}

const networkError = (code: string): Error => Object.assign(new Error(code), { code });

/** The headers and half of the body, and then whatever `end` does; an answer without a body has no middle. */
function halfOf({ body, ...head }: Answered, end: () => Promise<void>): HttpResponse {
  async function* half(): AsyncGenerator<Buffer> {
    if (body.length === 0) return;
    yield body.subarray(0, body.length / 2);
    await end();
  }
  return { ...head, body: Readable.from(half(), { objectMode: false }) };
}

/** A byte now and then, so that the answer never stalls and never ends in time. */
function drip({ body, ...head }: Answered, { clock, request }: Exchange): HttpResponse {
  async function* drops(): AsyncGenerator<Buffer> {
    for (const byte of body) {
      await clock.pass(EXCHANGE.stall - SECOND, request.signal);
      request.signal?.throwIfAborted();
      yield Buffer.from([byte]);
    }
  }
  return { ...head, body: Readable.from(drops(), { objectMode: false }) };
}
