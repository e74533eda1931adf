import { setTimeout as sleep } from 'node:timers/promises';
import { transferTime } from '../../src/http/send-request.ts';
import type { HttpRequest } from '../../src/ports.ts';
import { EXCHANGE, SECOND } from '../../src/protocol/limits.ts';
import type { ActiveInterception, InterceptedReply } from '../world/server/interceptions.ts';
import type { ConnectionMode } from '../world/server/proxy.ts';
import type { GitHubWorld } from '../world/world.ts';
import { LARGE_CONTENT } from './delivery-kinds.ts';
import { type InjectedFault, isTargetRequest, type MatrixCell } from './fault-runner.ts';
import { formatRequestName } from './recorded-http.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** A fault of a real connection: made by the world's server, or on the way to it. */
export interface SocketFault extends InjectedFault {
  readonly createReply?: (waiting: PendingRequest) => InterceptedReply;
  readonly connectionMode?: ConnectionMode;
}

/** The product while it waits for the failing answer. */
export interface PendingRequest {
  readonly clock: SimulatedClock;
  /** The request, until the product sends another one or ends. */
  readonly getRequest: () => Pick<HttpRequest, 'signal'> | undefined;
}

const UNICORN = '<!doctype html><title>Unicorn!</title>';
const createErrorReply = (status: number, headers: Record<string, string> = {}): InterceptedReply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ message: 'Server Error', status: String(status) }),
});

/** On other hosts the socket's own timer measures silence, and no test can move it. */
const API = /^\w+ api\./;

/** Lets time pass while the product waits for this request. */
async function advance({ clock, getRequest }: PendingRequest, ms: number): Promise<void> {
  const request = getRequest();
  if (request !== undefined) await clock.advance(ms, request.signal);
  // The other end notices it through real sockets.
  await sleep(5);
}

/** A fault that the world's server plays, after which the delivery must succeed. */
const replies = (name: string, createReply: SocketFault['createReply'] & object): SocketFault => ({
  name,
  isTransient: true,
  createReply,
});

export const SOCKET_FAULTS: readonly SocketFault[] = [
  { name: 'connection refused', isTransient: true, connectionMode: 'refused' },
  { name: 'TLS failure', isTransient: false, connectionMode: 'impostor' },
  replies('reset before the request arrived', () => ({ fault: 'reset-before' })),
  replies('reset after the work was done', () => ({ fault: 'reset-after' })),
  replies('reset in the middle of the answer', () => ({ fault: 'reset-midway' })),
  replies('wrong content length', () => ({ fault: 'short' })),
  {
    ...replies('no answer', (one) => ({ fault: 'hang', meanwhile: () => advance(one, EXCHANGE.api) })),
    on: API,
  },
  replies('a slow drip', (one) => ({ fault: 'drip', pause: () => advance(one, EXCHANGE.stall - SECOND) })),
  replies('HTTP 502', () => createErrorReply(502)),
  replies('HTTP 503 with Retry-After', () => createErrorReply(503, { 'retry-after': '7' })),
  replies('HTML instead', () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: UNICORN })),
  replies('truncated', () => ({
    alter: (real) => ({ ...real, body: real.body.subarray(0, real.body.length / 2) }),
  })),
];

const LONGEST_PUSH = transferTime(Buffer.byteLength(LARGE_CONTENT));

/** Faults of git's own requests, without silence, which git measures itself; few, since each runs a dozen processes. */
export const GIT_FAULTS: readonly SocketFault[] = [
  ...SOCKET_FAULTS.filter(({ name }) => /^(reset (before|after)|HTTP 503|HTML)/.test(name)),
  replies('truncated', ({ clock, getRequest }) => ({
    alter: (real, { path }) => {
      // Before a large push, git sends an empty push as a probe; its report is empty too.
      const isReport = path.endsWith('/git-receive-pack') && real.body.length > 0;
      // After half a report git waits forever.
      if (isReport) void advance({ clock, getRequest }, LONGEST_PUSH);
      return { ...real, body: real.body.subarray(0, real.body.length / 2) };
    },
  })),
  {
    name: 'HTTP 401',
    isTransient: false,
    createReply: () => createErrorReply(401, { 'www-authenticate': 'Basic realm="GitHub"' }),
  },
];

/** Replaces the reply to the requests of a cell on the server of the local GitHub. */
export function interceptCell(
  world: GitHubWorld,
  cell: MatrixCell,
  reply: InterceptedReply,
): ActiveInterception {
  const [method = ''] = cell.request.name.split(' ');
  let nth = -1;
  const isTarget = (address: string): boolean => {
    const name = formatRequestName(method, new URL(address));
    if (name === cell.request.name) nth += 1;
    return isTargetRequest(cell, { name, nth });
  };
  return world.intercept({ method, url: isTarget, times: cell.isPermanent ? 1_000 : 1 }, reply);
}
