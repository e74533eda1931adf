import { isCredential } from '../credentials.ts';
import { DeliveryError, type ErrorCode } from '../errors.ts';
import { parseRetryAfter, shortHostMessage } from '../http/response.ts';
import { sendRequest } from '../http/send-request.ts';
import type { Logger, Ports } from '../ports.ts';
import { AUTH, type CallTemplate } from '../protocol/calls.ts';
import { DEVICE_FLOW, SECOND } from '../protocol/limits.ts';
import { withRetries } from '../retry.ts';
import type { Text, Words } from '../words.ts';
import { isRateLimited, parseErrorBody } from './api/failures.ts';

export interface DeviceFlowOptions {
  /** Such as `https://github.com`. */
  readonly authUrl: URL;
  readonly clientId: string;
}

const ALTERNATIVE_HINT = (w: Words) => `${w.use('K3')}, or set ${w.input('token')}`;

/** A failure of the authorization. */
const flowError = (code: ErrorCode, message: string, hint: Text = ALTERNATIVE_HINT): DeliveryError =>
  new DeliveryError(code, message, { step: 'authorize', hint });

const expiredError = (failure?: string): DeliveryError => {
  const message = 'the code expired before it was entered';
  return flowError('NOT_AUTHORIZED', failure === undefined ? message : `${message}: ${failure}`);
};

/**
 * The flow's error codes; after `null` the poll is repeated.
 *
 * @see protocol 3.3, 7
 */
export const FLOW_ERRORS: Readonly<Record<string, (() => DeliveryError) | null>> = {
  authorization_pending: null,
  slow_down: null,
  access_denied: () => flowError('NOT_AUTHORIZED', 'the authorization was refused'),
  expired_token: expiredError,
  device_flow_disabled: () =>
    flowError(
      'BAD_INPUT',
      'the OAuth app does not allow the device flow',
      (w) =>
        `switch on *Enable Device Flow* in the app's settings, set ${w.input('client-id')} to another app, or ${ALTERNATIVE_HINT(w)}`,
    ),
  incorrect_client_credentials: () =>
    flowError('BAD_INPUT', 'the client id is unknown', 'use that of an OAuth app'),
  incorrect_device_code: () =>
    flowError('HOST_ERROR', 'the host does not accept its own device code', 'try again'),
  unsupported_grant_type: () => flowError('HOST_ERROR', 'the host does not offer the device flow'),
};

/** The failure of an error code; `undefined` for one that is none, or is unknown. */
const findFlowError = (error = ''): DeliveryError | undefined =>
  Object.hasOwn(FLOW_ERRORS, error) ? FLOW_ERRORS[error]?.() : undefined;

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
  if (typeof result !== 'string') throw expiredError();
  return result;
}

/**
 * Asks the host for the codes of a new flow.
 *
 * @throws {DeliveryError} where the host gives none.
 */
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

/** The answer to the request for a code; a host may leave out any field. Times are seconds. @see protocol 2.2 */
interface CodeAnswer {
  readonly device_code?: string | null;
  readonly user_code?: string | null;
  readonly interval?: number | null;
  readonly expires_in?: number | null;
  readonly error?: string;
}

/** The answer to a token poll. @see protocol 2.3 */
interface TokenAnswer {
  readonly access_token?: string;
  readonly scope?: string;
  readonly error?: string;
  /** Seconds. */
  readonly interval?: number;
  /** Why the poll got no answer of the flow. */
  readonly failure?: string;
}

/** @throws {DeliveryError} retryable where the host may answer later. @see protocol 4.1 */
async function requestCode({ authUrl, clientId }: DeviceFlowOptions, ports: Ports): Promise<CodeAnswer> {
  const form = { client_id: clientId, scope: DEVICE_FLOW.scope };
  const answer = await postForm<CodeAnswer>(AUTH.device_code, authUrl, form, ports);
  const failure = findFlowError(answer.error);
  if (failure !== undefined) throw failure;
  return answer;
}

/**
 * Polls for the token once. A failure that may pass counts as an answer: the next poll asks again, after a
 * longer pause where the host limits the rate.
 *
 * @see protocol 4.1
 */
async function requestToken(
  { authUrl, clientId }: DeviceFlowOptions,
  deviceCode: string,
  ports: Ports,
): Promise<TokenAnswer> {
  const form = { client_id: clientId, device_code: deviceCode, grant_type: DEVICE_FLOW.grantType };
  try {
    return await postForm<TokenAnswer>(AUTH.token, authUrl, form, ports);
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || !thrown.retryable) throw thrown;
    const { code, message: failure, retryAfter = 0 } = thrown;
    if (code !== 'RATE_LIMITED') return { error: 'authorization_pending', failure };
    return { error: 'slow_down', interval: retryAfter / SECOND, failure };
  }
}

async function postForm<T extends object>(
  call: CallTemplate,
  authUrl: URL,
  form: Record<string, string>,
  ports: Ports,
): Promise<T> {
  const body = new URLSearchParams(form).toString();
  const request = {
    method: call.method,
    url: new URL(call.path, authUrl),
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: () => body,
  };
  const answer = await sendRequest(request, ports);
  const { status, headers, json } = answer;
  // The flow's own errors have HTTP 200 or 400.
  const isOfFlow = status === 200 || (status < 500 && status !== 404 && Object.hasOwn(Object(json), 'error'));
  if (typeof json === 'object' && json !== null && isOfFlow) return json as T;
  // GitHub answers 404 for an app that it does not know.
  if (status === 404 && call === AUTH.device_code) throw unknownClientError(authUrl);
  const limited = isRateLimited({ status, headers, ...parseErrorBody(json) });
  const result = status === 200 ? 'something that is not JSON' : `HTTP ${status}`;
  throw new DeliveryError(
    limited ? 'RATE_LIMITED' : 'HOST_ERROR',
    `${call.description} was answered with ${result}`,
    {
      httpCode: status,
      retryable: limited || status === 200 || status >= 500,
      retryAfter: parseRetryAfter(answer, ports.clock.now()),
      hint: (w) => `check ${w.input('auth-url')}, or ${ALTERNATIVE_HINT(w)}`,
    },
  );
}

function unknownClientError({ host }: URL): DeliveryError {
  return new DeliveryError('BAD_INPUT', `${host} knows no OAuth app with this client id`, {
    step: 'authorize',
    httpCode: 404,
    hint: (w) =>
      `set ${w.input('client-id')} to that of an OAuth app of ${host}, check ${w.input('auth-url')}, or ${ALTERNATIVE_HINT(w)}`,
  });
}
