import { isCredential } from '../credentials.ts';
import { DeliveryError, type ErrorCode, type ErrorDetails } from '../errors.ts';
import { parseRetryAfter, shortHostMessage } from '../http/response.ts';
import { sendRequest, type TextAnswer } from '../http/send-request.ts';
import type { Logger, Ports } from '../ports.ts';
import { AUTH, type CallTemplate } from '../protocol/calls.ts';
import { DEVICE_FLOW, SECOND } from '../protocol/limits.ts';
import { withRetries } from '../retry.ts';
import type { Text, Words } from '../words.ts';
import { readRefusal } from './api/failures.ts';
import { isRateLimited } from './refusals.ts';

export interface DeviceFlowOptions {
  /** Such as `https://github.com`. */
  readonly authUrl: URL;
  readonly clientId: string;
}

/** A device flow that has begun; the device code is a secret. @see protocol 2.2 */
export interface DeviceFlow extends DeviceFlowOptions {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly page: string;
  /** When the codes expire: milliseconds since the epoch. */
  readonly deadline: number;
  /** Milliseconds before each poll. */
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
  return pollForToken(flow, ports);
}

/** Asks the host for the codes of a new flow. @throws {DeliveryError} where the host gives none. */
export async function startDeviceFlow(options: DeviceFlowOptions, ports: Ports): Promise<DeviceFlow> {
  const { device_code, user_code, interval, expires_in } = await withRetries(ports, () =>
    postForm(AUTH.device_code, options, { scope: DEVICE_FLOW.scope }, ports),
  );
  if (!isText(user_code, USER_CODE) || !isText(device_code, DEVICE_CODE)) {
    throw flowError('HOST_ERROR', 'the host returned no device code');
  }
  ports.logger.mask(device_code);
  const { leastInterval, longestInterval, lifetime, longestLifetime } = DEVICE_FLOW;
  return {
    ...options,
    deviceCode: device_code,
    userCode: user_code,
    page: `${options.authUrl.origin}${AUTH.user_entry.path}`,
    deadline: ports.clock.now() + toSeconds(expires_in, lifetime, 0, longestLifetime),
    pause: toSeconds(interval, DEVICE_FLOW.interval, leastInterval, longestInterval),
  };
}

/**
 * Polls until the user has entered the code.
 *
 * @throws {DeliveryError} `NOT_AUTHORIZED` when the user refused, or the code expired.
 */
export async function pollForToken(flow: DeviceFlow, ports: Ports): Promise<string> {
  const { clock, logger, signal } = ports;
  let { pause } = flow;
  let failure: string | undefined;
  while (clock.now() + pause < flow.deadline) {
    await clock.sleep(pause, signal);
    const answer = await requestToken(flow, ports);
    if (answer.error === undefined) return acceptToken(answer, logger);
    ({ failure } = answer);
    // The host checks the rate first: a client that keeps its pause after slow_down never gets the token.
    if (answer.error === 'slow_down') {
      const asked = toSeconds(answer.interval, 0, 0, DEVICE_FLOW.longestInterval);
      pause = Math.max(pause + DEVICE_FLOW.slowDown, asked);
    }
  }
  throw flowError('NOT_AUTHORIZED', failure === undefined ? EXPIRED : `${EXPIRED}: ${failure}`);
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

function acceptToken({ access_token: token, scope }: FlowAnswer, logger: Logger): string {
  if (typeof token !== 'string' || !isCredential(token)) {
    throw flowError('HOST_ERROR', 'the host returned no token');
  }
  logger.mask(token);
  if (typeof scope === 'string' && scope.split(/[\s,]+/).includes(DEVICE_FLOW.scope)) return token;
  throw flowError('NO_PERMISSION', `the token was granted without the scope ${DEVICE_FLOW.scope}`, {
    hint: 'use the client id of an OAuth app, and grant it access to the repository',
  });
}

/** The answer to the request for a code, or to a token poll; a host may leave out any field. @see protocol 2.2, 2.3 */
interface FlowAnswer {
  readonly device_code?: unknown;
  readonly user_code?: unknown;
  readonly access_token?: unknown;
  readonly scope?: unknown;
  /** Why there is no token yet: `authorization_pending` or `slow_down`. */
  readonly error?: string;
  /** Seconds, as the next one. */
  readonly interval?: unknown;
  readonly expires_in?: unknown;
  /** Why the poll got no answer of the flow. */
  readonly failure?: string;
}

/** Polls once. A failure that may pass counts as an answer: the next poll asks again, later where the rate is limited. */
async function requestToken(flow: DeviceFlow, ports: Ports): Promise<FlowAnswer> {
  const form = { device_code: flow.deviceCode, grant_type: DEVICE_FLOW.grantType };
  try {
    return await postForm(AUTH.token, flow, form, ports);
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || !thrown.retryable) throw thrown;
    const { code, message: failure, retryAfter = 0 } = thrown;
    if (code !== 'RATE_LIMITED') return { error: 'authorization_pending', failure };
    return { error: 'slow_down', interval: retryAfter / SECOND, failure };
  }
}

/** @throws {DeliveryError} for an error that ends the flow; retryable where the host may answer later. @see protocol 4.1 */
async function postForm(
  call: CallTemplate,
  { authUrl, clientId }: DeviceFlowOptions,
  form: Record<string, string>,
  ports: Ports,
): Promise<FlowAnswer> {
  const body = new URLSearchParams({ client_id: clientId, ...form }).toString();
  const request = {
    method: call.method,
    url: new URL(call.path, authUrl),
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: () => body,
  };
  const answer = await sendRequest(request, ports);
  const { status: httpCode, json } = answer;
  // The flow's own errors have HTTP 200 or 400.
  if ((httpCode === 200 || httpCode === 400) && typeof json === 'object' && json !== null) {
    const { error } = json as FlowAnswer;
    if (error === undefined || PENDING.includes(error)) return json;
    const said = `${call.description} was answered with ${shortHostMessage(error)}`;
    const [code, message, hint] = FINAL_ERRORS.get(error) ?? ['HOST_ERROR', said];
    throw flowError(code, message, { hint });
  }
  throw refusedError(call, authUrl, answer, ports.clock.now());
}

/** The failure of an answer that is none of the flow. */
function refusedError(call: CallTemplate, { host }: URL, answer: TextAnswer, now: number): DeliveryError {
  const { status: httpCode } = answer;
  if (httpCode === 404 && call === AUTH.device_code) {
    return flowError('BAD_INPUT', `${host} knows no OAuth app with this client id`, {
      httpCode,
      hint: (w) =>
        `set ${w.input('client-id')} to that of an OAuth app of ${host}, check ${w.input('auth-url')}, or ${ALTERNATIVE_HINT(w)}`,
    });
  }
  const isLimited = isRateLimited(readRefusal(answer));
  const result = httpCode === 200 ? 'something that is not JSON' : `HTTP ${httpCode}`;
  const message = `${call.description} was answered with ${result}`;
  return flowError(isLimited ? 'RATE_LIMITED' : 'HOST_ERROR', message, {
    httpCode,
    retryable: isLimited || httpCode === 200 || httpCode >= 500,
    retryAfter: parseRetryAfter(answer, now),
    hint: (w) => `check ${w.input('auth-url')}, or ${ALTERNATIVE_HINT(w)}`,
  });
}

const ALTERNATIVE_HINT = (w: Words): string => `set ${w.input('token')}${w.orUse('K3')}`;

const flowError = (code: ErrorCode, message: string, details: ErrorDetails = {}): DeliveryError =>
  new DeliveryError(code, message, {
    ...details,
    step: 'authorize',
    hint: details.hint ?? ALTERNATIVE_HINT,
  });

const EXPIRED = 'the code expired before it was entered';

/** The poll is repeated. @see protocol 3.3, 7 */
const PENDING: readonly string[] = ['authorization_pending', 'slow_down'];

/** What ends the flow; any other error is one of the host. */
const FINAL_ERRORS = new Map<string, readonly [ErrorCode, string, Text?]>([
  ['access_denied', ['NOT_AUTHORIZED', 'the authorization was refused']],
  ['expired_token', ['NOT_AUTHORIZED', EXPIRED]],
  [
    'device_flow_disabled',
    [
      'BAD_INPUT',
      'the OAuth app does not allow the device flow',
      (w) =>
        `switch on *Enable Device Flow* in the app's settings, set ${w.input('client-id')} to another app, or ${ALTERNATIVE_HINT(w)}`,
    ],
  ],
  [
    'incorrect_client_credentials',
    ['BAD_INPUT', 'the client id is unknown', (w) => `set ${w.input('client-id')} to that of an OAuth app`],
  ],
]);
