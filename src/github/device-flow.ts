import { isCredential } from '../credentials.ts';
import type { DeliveryError } from '../errors.ts';
import { shortHostMessage } from '../http/response.ts';
import type { Logger, Ports } from '../ports.ts';
import { AUTH } from '../protocol/calls.ts';
import { DEVICE_FLOW, SECOND } from '../protocol/limits.ts';
import { withRetries } from '../retry.ts';
import {
  type DeviceFlowOptions,
  expiredError,
  FLOW_ERRORS,
  findFlowError,
  flowError,
  requestCode,
  requestToken,
} from './device-requests.ts';

/** A device flow that has begun; the device code is a secret. @see protocol 2.2 */
export interface DeviceFlow extends DeviceFlowOptions {
  readonly deviceCode: string;
  /** What a person enters on the page. */
  readonly userCode: string;
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
  if (typeof result !== 'string') throw expiredError();
  return result;
}

/** Asks the host for the codes of a new flow. @throws {DeliveryError} where the host gives none. */
export async function startDeviceFlow(options: DeviceFlowOptions, ports: Ports): Promise<DeviceFlow> {
  const { device_code, user_code, interval, expires_in } = await withRetries(ports, () =>
    requestCode(options, ports),
  );
  if (!isText(user_code, USER_CODE) || !isText(device_code, DEVICE_CODE)) {
    throw flowError('HOST_ERROR', 'the host returned no device code');
  }
  ports.logger.mask(device_code);
  const { leastInterval, longestInterval, lifetime, longestLifetime } = DEVICE_FLOW;
  const pause = toSeconds(interval, DEVICE_FLOW.interval, leastInterval, longestInterval);
  const now = ports.clock.now();
  return {
    ...options,
    deviceCode: device_code,
    userCode: user_code,
    page: `${options.authUrl.origin}${AUTH.user_entry.path}`,
    deadline: now + toSeconds(expires_in, lifetime, 0, longestLifetime),
    nextPoll: now + pause,
    pause,
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
    const { error = '' } = answer;
    if (FLOW_ERRORS[error] !== null) throw findFlowError(error) ?? unknownAnswerError(error);
    ({ failure } = answer);
    // The host checks the rate first: a client that keeps its pause after slow_down never gets the token.
    if (error === 'slow_down') {
      const asked = toSeconds(answer.interval, 0, 0, DEVICE_FLOW.longestInterval);
      pause = Math.max(pause + DEVICE_FLOW.slowDown, asked);
    }
    nextPoll = clock.now() + pause;
  }
  throw expiredError(failure);
}

/** What a person can type and what a form can send; anything else would also damage the log. */
const USER_CODE = /^[A-Za-z0-9-]{1,32}$/;
const DEVICE_CODE = /^[!-~]{1,1024}$/;

const isText = (value: unknown, form: RegExp): value is string =>
  typeof value === 'string' && form.test(value);

/** A host's number of seconds, within bounds. @returns milliseconds */
function toSeconds(given: unknown, usual: number, least: number, most: number): number {
  const seconds = typeof given === 'number' && Number.isFinite(given) ? given : usual;
  return Math.min(Math.max(seconds, least), most) * SECOND;
}

function unknownAnswerError(error: unknown): DeliveryError {
  const text = shortHostMessage(error) || 'an unknown answer';
  return flowError('HOST_ERROR', `the host answered the token poll with ${text}`, 'try again');
}

function acceptToken(token: unknown, scope: unknown, logger: Logger): string {
  if (typeof token !== 'string' || !isCredential(token)) {
    throw flowError('HOST_ERROR', 'the host returned a token that is none');
  }
  logger.mask(token);
  if (typeof scope === 'string' && scope.split(/[\s,]+/).includes(DEVICE_FLOW.scope)) return token;
  throw flowError(
    'NO_PERMISSION',
    `the token was granted without the scope ${DEVICE_FLOW.scope}`,
    'use the client id of an OAuth app, and grant it access to the repository',
  );
}
