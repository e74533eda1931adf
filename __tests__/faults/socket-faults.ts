import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpRequest } from '../../src/ports.ts';
import { EXCHANGE, SECOND } from '../../src/protocol/limits.ts';
import type { Answer } from '../world/front/interceptions.ts';
import type { Fault } from './cells.ts';
import type { Passage } from './gate.ts';
import type { MovingClock } from './moving-clock.ts';

/** A fault of a real connection: made by the world's server, or on the way to it. */
export interface SocketFault extends Fault {
  readonly answer?: (waiting: Waiting) => Answer;
  readonly passage?: Passage;
}

/** The product, as it waits for the answer that fails. */
export interface Waiting {
  readonly clock: MovingClock;
  /** The request, for as long as nothing is asked after it. */
  readonly underWay: () => HttpRequest | undefined;
}

const UNICORN = '<!doctype html><title>Unicorn!</title>';
const refusal = (status: number, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ message: 'Server Error', status: String(status) }),
});

/** Elsewhere silence is measured by the socket's own timer, which no test moves. */
const API = /^\w+ api\./;

/** Lets time pass by a host's doing, unless nobody waits for that host any more. */
async function pass({ clock, underWay }: Waiting, ms: number): Promise<void> {
  const request = underWay();
  if (request !== undefined) await clock.pass(ms, request.signal);
  // The other end hears of it through real sockets.
  await sleep(5);
}

export const SOCKET_FAULTS: readonly SocketFault[] = [
  { name: 'connection refused', passes: true, passage: 'refused' },
  { name: 'TLS failure', passes: false, passage: 'impostor' },
  { name: 'reset before the request arrived', passes: true, answer: () => ({ fault: 'reset-before' }) },
  { name: 'reset after the work was done', passes: true, answer: () => ({ fault: 'reset-after' }) },
  { name: 'reset in the middle of the answer', passes: true, answer: () => ({ fault: 'reset-midway' }) },
  { name: 'wrong content length', passes: true, answer: () => ({ fault: 'short' }) },
  {
    name: 'no answer',
    passes: true,
    on: API,
    answer: (waiting) => ({ fault: 'hang', meanwhile: () => pass(waiting, EXCHANGE.api) }),
  },
  {
    name: 'a slow drip',
    passes: true,
    answer: (waiting) => ({ fault: 'drip', pause: () => pass(waiting, EXCHANGE.stall - SECOND) }),
  },
  { name: 'HTTP 502', passes: true, answer: () => refusal(502) },
  { name: 'HTTP 503 with Retry-After', passes: true, answer: () => refusal(503, { 'retry-after': '7' }) },
  {
    name: 'HTML instead',
    passes: true,
    answer: () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: UNICORN }),
  },
  {
    name: 'truncated',
    passes: true,
    answer: () => ({ alter: (real) => ({ ...real, body: real.body.subarray(0, real.body.length / 2) }) }),
  },
];

/**
 * What git meets on its own way to the hosts. It measures a silent connection by its own clock, so that is
 * not played; and only these few are, since it runs a dozen processes a delivery.
 */
export const GIT_FAULTS: readonly SocketFault[] = [
  ...SOCKET_FAULTS.filter(({ name }) => /^(reset (before|after)|HTTP 503|HTML)/.test(name)),
  {
    name: 'truncated',
    passes: true,
    // After half a report git waits for the other half for ever, so time is what passes.
    answer: ({ clock }) => ({
      alter: (real, { path }) => {
        if (path.endsWith('/git-receive-pack')) setTimeout(() => clock.pass(EXCHANGE.git), 300);
        return { ...real, body: real.body.subarray(0, real.body.length / 2) };
      },
    }),
  },
  {
    name: 'HTTP 401',
    passes: false,
    answer: () => refusal(401, { 'www-authenticate': 'Basic realm="GitHub"' }),
  },
];
