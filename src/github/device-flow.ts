import { Readable } from 'node:stream';
import { DeliveryError, type ErrorCode } from '../errors.ts';
import { parseRetryAfter, shortHostMessage } from '../http/response.ts';
import { sendUpload } from '../http/upload.ts';
import type { Logger, Ports } from '../ports.ts';
import { AUTH, type CallTemplate } from '../protocol/calls.ts';
import { DEVICE_FLOW, SECOND } from '../protocol/limits.ts';
import { withRetries } from '../retry.ts';
import { isRateLimited, parseErrorBody } from './api/failures.ts';

export interface DeviceFlowOptions {
  readonly authUrl: URL;
  readonly clientId: string;
}

/** @see protocol 2.2 */
interface DeviceCode {
  readonly device_code: string;
  readonly user_code: string;
  readonly interval: number;
  readonly expires_in: number;
}

/** @see protocol 2.3 */
interface TokenAnswer {
  readonly access_token?: string;
  readonly scope?: string;
  readonly error?: string;
  readonly interval?: number;
  /** Why there was no answer, where a poll found the host in trouble. */
  readonly trouble?: string;
}

interface FailedAnswer {
  readonly next: 'failed';
  readonly code: ErrorCode;
  readonly says: string;
  readonly hint: string;
}

type PollAnswer = { readonly next: 'waiting'; readonly lengthen: boolean } | FailedAnswer;

const failedAnswer = (code: ErrorCode, says: string, hint: string): FailedAnswer => ({
  next: 'failed',
  code,
  says,
  hint,
});
const OTHERWISE = 'use channel: K3, or give a token';
const EXPIRED = failedAnswer('NOT_AUTHORIZED', 'the code expired before it was entered', OTHERWISE);

/**
 * What each answer to a token poll means, beside the token itself.
 *
 * @see protocol 3.3, 7
 */
export const POLL_ANSWERS: Readonly<Record<string, PollAnswer>> = {
  authorization_pending: { next: 'waiting', lengthen: false },
  slow_down: { next: 'waiting', lengthen: true },
  access_denied: failedAnswer('NOT_AUTHORIZED', 'the authorization was refused', OTHERWISE),
  expired_token: EXPIRED,
  device_flow_disabled: failedAnswer(
    'BAD_INPUT',
    'the OAuth app does not allow the device flow',
    "switch on *Enable Device Flow* in the app's settings",
  ),
  incorrect_client_credentials: failedAnswer(
    'BAD_INPUT',
    'the client id is unknown',
    'set `client-id:` to that of an OAuth app',
  ),
  incorrect_device_code: failedAnswer(
    'HOST_ERROR',
    'the host does not know its own device code',
    'run the step again',
  ),
  unsupported_grant_type: failedAnswer('HOST_ERROR', 'the host does not offer the device flow', OTHERWISE),
};

/**
 * The official device flow: a human enters a short code on the host's own page, and a token comes back.
 * Shown are only that code and where to enter it. The token lives in memory only.
 *
 * @throws {DeliveryError} `NOT_AUTHORIZED` when the human refused or the time ran out: nobody is pressed.
 * @see protocol 4.1, 5
 */
export async function authorizeDevice(options: DeviceFlowOptions, ports: Ports): Promise<string> {
  const { authUrl, clientId } = options;
  const { clock, logger, signal } = ports;
  const code = await withRetries(ports, () => askForCode(authUrl, clientId, ports));
  logger.mask(code.device_code);
  logger.info(`Open ${authUrl.origin}${AUTH.user_entry.path} and enter the code ${code.user_code}`);

  const deadline = clock.now() + code.expires_in * SECOND;
  let pause = Math.max(code.interval, DEVICE_FLOW.leastInterval) * SECOND;
  let trouble: string | undefined;
  while (clock.now() + pause < deadline) {
    await clock.sleep(pause, signal);
    const answer = await askForToken(authUrl, clientId, code.device_code, ports);
    if (answer.access_token !== undefined) return acceptToken(answer.access_token, answer.scope, logger);
    ({ trouble } = answer);
    const turn =
      POLL_ANSWERS[answer.error ?? ''] ??
      failedAnswer('HOST_ERROR', unknownAnswer(answer), 'run the step again');
    if (turn.next === 'failed') throw answerError(turn);
    // The rate is checked before the authorization: whoever stays too quick is told slow_down for ever.
    if (turn.lengthen) pause = Math.max(pause + DEVICE_FLOW.slowDown, (answer.interval ?? 0) * SECOND);
  }
  throw answerError(trouble === undefined ? EXPIRED : { ...EXPIRED, says: `${EXPIRED.says}: ${trouble}` });
}

function acceptToken(token: string, scope: string | undefined, logger: Logger): string {
  logger.mask(token);
  if (scope?.split(/[\s,]+/).includes(DEVICE_FLOW.scope)) return token;
  throw new DeliveryError('NO_PERMISSION', `the token was granted without the scope ${DEVICE_FLOW.scope}`, {
    step: 'authorize',
    hint: 'use the client id of an OAuth app, and grant it access to the repository',
  });
}

function answerError({ code, says, hint }: FailedAnswer): DeliveryError {
  return new DeliveryError(code, says, { step: 'authorize', hint });
}

const turnOf = ({ error = '' }: TokenAnswer): PollAnswer | undefined =>
  Object.hasOwn(POLL_ANSWERS, error) ? POLL_ANSWERS[error] : undefined;

const unknownAnswer = ({ error }: TokenAnswer): string =>
  `the host answered the token poll with ${shortHostMessage(error) || 'nothing usable'}`;

async function askForCode(authUrl: URL, clientId: string, ports: Ports): Promise<DeviceCode> {
  const answer = await post<Partial<DeviceCode> & TokenAnswer>(
    AUTH.device_code,
    authUrl,
    { client_id: clientId, scope: DEVICE_FLOW.scope },
    ports,
  );
  const turn = turnOf(answer);
  if (turn?.next === 'failed') throw answerError(turn);
  const {
    device_code,
    user_code,
    interval = DEVICE_FLOW.interval,
    expires_in = DEVICE_FLOW.lifetime,
  } = answer;
  if (typeof device_code !== 'string' || typeof user_code !== 'string') {
    throw answerError({
      next: 'failed',
      code: 'HOST_ERROR',
      says: 'the host gave no device code',
      hint: OTHERWISE,
    });
  }
  return {
    device_code,
    user_code,
    interval: interval ?? DEVICE_FLOW.interval,
    expires_in: expires_in ?? DEVICE_FLOW.lifetime,
  };
}

/** A poll that broke off or hit a busy host is no answer: the next one asks again, later where the host is pressed. */
async function askForToken(
  authUrl: URL,
  clientId: string,
  deviceCode: string,
  ports: Ports,
): Promise<TokenAnswer> {
  const form = { client_id: clientId, device_code: deviceCode, grant_type: DEVICE_FLOW.grantType };
  try {
    return await post<TokenAnswer>(AUTH.token, authUrl, form, ports);
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || !thrown.retryable) throw thrown;
    const { code, message: trouble, retryAfter: asked = 0 } = thrown;
    if (code !== 'RATE_LIMITED') return { error: 'authorization_pending', trouble };
    return { error: 'slow_down', interval: asked / SECOND, trouble };
  }
}

async function post<T extends object>(
  call: CallTemplate,
  authUrl: URL,
  form: Record<string, string>,
  ports: Ports,
): Promise<T> {
  const body = new URLSearchParams(form).toString();
  const answer = await sendUpload(ports.http, {
    method: call.method,
    url: new URL(call.path, authUrl),
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    length: Buffer.byteLength(body),
    body: () => Readable.from([Buffer.from(body)]),
    signal: ports.signal,
    clock: ports.clock,
  });
  const { status, headers, json } = answer;
  // The flow's own errors arrive with 200, some hosts send them with 400.
  const spoken = status === 200 || (status < 500 && Object.hasOwn(Object(json), 'error'));
  if (typeof json === 'object' && json !== null && spoken) return json as T;
  const limited = isRateLimited({ status, headers, ...parseErrorBody(json) });
  const what = status === 200 ? 'something that is not JSON' : `HTTP ${status}`;
  throw new DeliveryError(
    limited ? 'RATE_LIMITED' : 'HOST_ERROR',
    `${call.description} was answered with ${what}`,
    {
      httpCode: status,
      retryable: limited || status === 200 || status >= 500,
      retryAfter: parseRetryAfter(answer, ports.clock.now()),
      hint: `check \`auth-url:\`, or ${OTHERWISE}`,
    },
  );
}
