import { isCredential } from '../credentials.ts';
import { DeliveryError, type ErrorCode } from '../errors.ts';
import { shortHostMessage } from '../http/response.ts';
import type { Logger, Ports } from '../ports.ts';
import { AUTH } from '../protocol/calls.ts';
import { DEVICE_FLOW, SECOND } from '../protocol/limits.ts';
import { withRetries } from '../retry.ts';
import {
  ALTERNATIVE_HINT,
  type DeviceFlowOptions,
  requestCode,
  requestToken,
  type TokenAnswer,
} from './device-flow-calls.ts';

interface FlowFailure {
  readonly next: 'fail';
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

/** What to do after a token poll; `longer` lengthens the pause before the next one. */
type PollAnswer = { readonly next: 'poll'; readonly longer: boolean } | FlowFailure;

const flowFailure = (code: ErrorCode, message: string, hint: string): FlowFailure => ({
  next: 'fail',
  code,
  message,
  hint,
});

const EXPIRED = flowFailure('NOT_AUTHORIZED', 'the code expired before it was entered', ALTERNATIVE_HINT);

/**
 * The flow's error codes. The first two are not failures.
 *
 * @see protocol 3.3, 7
 */
export const POLL_ANSWERS: Readonly<Record<string, PollAnswer>> = {
  authorization_pending: { next: 'poll', longer: false },
  slow_down: { next: 'poll', longer: true },
  access_denied: flowFailure('NOT_AUTHORIZED', 'the authorization was refused', ALTERNATIVE_HINT),
  expired_token: EXPIRED,
  device_flow_disabled: flowFailure(
    'BAD_INPUT',
    'the OAuth app does not allow the device flow',
    `switch on *Enable Device Flow* in the app's settings, set \`client-id:\` to another app, or ${ALTERNATIVE_HINT}`,
  ),
  incorrect_client_credentials: flowFailure(
    'BAD_INPUT',
    'the client id is unknown',
    'set `client-id:` to that of an OAuth app',
  ),
  incorrect_device_code: flowFailure(
    'HOST_ERROR',
    'the host does not accept its own device code',
    'run the step again',
  ),
  unsupported_grant_type: flowFailure(
    'HOST_ERROR',
    'the host does not offer the device flow',
    ALTERNATIVE_HINT,
  ),
};

/** A device flow that has begun; the device code is a secret. @see protocol 2.2 */
export interface DeviceFlow extends DeviceFlowOptions {
  readonly deviceCode: string;
  /** What a person enters on the page. */
  readonly userCode: string;
  /** Address of the host's own page. */
  readonly page: string;
  /** When the codes expire: milliseconds since the epoch. */
  readonly deadline: number;
  /** When the host may be polled next, and the pause after that. Milliseconds. */
  readonly nextPoll: number;
  readonly pause: number;
}

/**
 * Gets a token by the device flow: the user enters a short code on the host's own page. Only that code and
 * the page's address are shown; the token is kept in memory only.
 *
 * @throws {DeliveryError} `NOT_AUTHORIZED` when the user refused, or entered no code in time.
 * @see protocol 4.1, 5
 */
export async function authorizeDevice(options: DeviceFlowOptions, ports: Ports): Promise<string> {
  const flow = await startDeviceFlow(options, ports);
  // In the log of a job, the lines of a section are folded.
  ports.logger.endSection();
  ports.logger.info(`Open ${flow.page} and enter the code ${flow.userCode}`);
  const result = await pollForToken(flow, flow.deadline, ports);
  if (typeof result !== 'string') throw flowError(EXPIRED);
  return result;
}

/**
 * Asks the host for the codes of a new flow.
 *
 * @throws {DeliveryError} where the host gives none.
 */
export async function startDeviceFlow(options: DeviceFlowOptions, ports: Ports): Promise<DeviceFlow> {
  const code = await withRetries(ports, () => getDeviceCode(options, ports));
  ports.logger.mask(code.deviceCode);
  const now = ports.clock.now();
  return {
    ...options,
    deviceCode: code.deviceCode,
    userCode: code.userCode,
    page: `${options.authUrl.origin}${AUTH.user_entry.path}`,
    deadline: now + code.lifetime,
    nextPoll: now + code.interval,
    pause: code.interval,
  };
}

/**
 * Polls until the user has entered the code.
 *
 * @param until milliseconds since the epoch; no poll starts later
 * @returns the token, or the flow to go on with where the user has not decided yet
 * @throws {DeliveryError} `NOT_AUTHORIZED` when the user refused, or the code expired.
 */
export async function pollForToken(
  flow: DeviceFlow,
  until: number,
  { clock, ...ports }: Ports,
): Promise<string | DeviceFlow> {
  let { nextPoll, pause } = flow;
  let failure: string | undefined;
  while (nextPoll < flow.deadline) {
    if (nextPoll > until) return { ...flow, nextPoll, pause };
    await clock.sleep(Math.max(nextPoll - clock.now(), 0), ports.signal);
    const answer = await requestToken(flow, flow.deviceCode, { clock, ...ports });
    if (answer.access_token !== undefined) {
      return acceptToken(answer.access_token, answer.scope, ports.logger);
    }
    ({ failure } = answer);
    const poll = getPollAnswer(answer.error) ?? unknownAnswer(answer);
    if (poll.next === 'fail') throw flowError(poll);
    // The host checks the rate first: a client that keeps its pause after slow_down never gets the token.
    if (poll.longer) {
      const asked = toSeconds(answer.interval, 0, 0, DEVICE_FLOW.longestInterval);
      pause = Math.max(pause + DEVICE_FLOW.slowDown, asked);
    }
    nextPoll = clock.now() + pause;
  }
  throw flowError(
    failure === undefined ? EXPIRED : { ...EXPIRED, message: `${EXPIRED.message}: ${failure}` },
  );
}

/** @see protocol 2.2 */
interface DeviceCode {
  readonly deviceCode: string;
  readonly userCode: string;
  /** Milliseconds. */
  readonly interval: number;
  /** Milliseconds. */
  readonly lifetime: number;
}

async function getDeviceCode(options: DeviceFlowOptions, ports: Ports): Promise<DeviceCode> {
  const { device_code, user_code, interval, expires_in, error } = await requestCode(options, ports);
  const poll = getPollAnswer(error);
  if (poll?.next === 'fail') throw flowError(poll);
  if (typeof device_code !== 'string' || typeof user_code !== 'string') {
    throw flowError(flowFailure('HOST_ERROR', 'the host returned no device code', ALTERNATIVE_HINT));
  }
  if (!USER_CODE.test(user_code) || !DEVICE_CODE.test(device_code)) {
    throw flowError(flowFailure('HOST_ERROR', 'the host returned a code that is none', ALTERNATIVE_HINT));
  }
  return {
    deviceCode: device_code,
    userCode: user_code,
    interval: toSeconds(
      interval,
      DEVICE_FLOW.interval,
      DEVICE_FLOW.leastInterval,
      DEVICE_FLOW.longestInterval,
    ),
    lifetime: toSeconds(expires_in, DEVICE_FLOW.lifetime, 0, DEVICE_FLOW.longestLifetime),
  };
}

/** What a person can type and what a form can send; anything else would also damage the log. */
const USER_CODE = /^[A-Za-z0-9-]{1,32}$/;
const DEVICE_CODE = /^[!-~]{1,1024}$/;

/** A host's number of seconds, within bounds. @returns milliseconds */
function toSeconds(given: unknown, usual: number, least: number, most: number): number {
  const seconds = typeof given === 'number' && Number.isFinite(given) ? given : usual;
  return Math.min(Math.max(seconds, least), most) * SECOND;
}

function getPollAnswer(error = ''): PollAnswer | undefined {
  return Object.hasOwn(POLL_ANSWERS, error) ? POLL_ANSWERS[error] : undefined;
}

function unknownAnswer({ error }: TokenAnswer): FlowFailure {
  const text = shortHostMessage(error) || 'an unknown answer';
  return flowFailure('HOST_ERROR', `the host answered the token poll with ${text}`, 'run the step again');
}

function acceptToken(token: unknown, scope: unknown, logger: Logger): string {
  if (typeof token !== 'string' || !isCredential(token)) {
    throw flowError(flowFailure('HOST_ERROR', 'the host returned a token that is none', ALTERNATIVE_HINT));
  }
  logger.mask(token);
  if (typeof scope === 'string' && scope.split(/[\s,]+/).includes(DEVICE_FLOW.scope)) return token;
  throw new DeliveryError('NO_PERMISSION', `the token was granted without the scope ${DEVICE_FLOW.scope}`, {
    step: 'authorize',
    hint: 'use the client id of an OAuth app, and grant it access to the repository',
  });
}

function flowError({ code, message, hint }: FlowFailure): DeliveryError {
  return new DeliveryError(code, message, { step: 'authorize', hint });
}
