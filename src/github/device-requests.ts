import { DeliveryError, type ErrorCode } from '../errors.ts';
import { parseRetryAfter } from '../http/response.ts';
import { sendRequest } from '../http/send-request.ts';
import type { Ports } from '../ports.ts';
import { AUTH, type CallTemplate } from '../protocol/calls.ts';
import { DEVICE_FLOW, SECOND } from '../protocol/limits.ts';
import type { Text, Words } from '../words.ts';
import { parseErrorBody } from './api/failures.ts';
import { isRateLimited } from './api/refusal-rules.ts';

export interface DeviceFlowOptions {
  /** Such as `https://github.com`. */
  readonly authUrl: URL;
  readonly clientId: string;
}

const ALTERNATIVE_HINT = (w: Words): string => `${w.use('K3')}, or set ${w.input('token')}`;

/** A failure of the authorization. */
export const flowError = (code: ErrorCode, message: string, hint: Text = ALTERNATIVE_HINT): DeliveryError =>
  new DeliveryError(code, message, { step: 'authorize', hint });

const EXPIRED = 'the code expired before it was entered';

export const expiredError = (failure?: string): DeliveryError =>
  flowError('NOT_AUTHORIZED', failure === undefined ? EXPIRED : `${EXPIRED}: ${failure}`);

/** What the flow's error codes mean; after `null` the poll is repeated. @see protocol 3.3, 7 */
export const FLOW_ERRORS: Readonly<Record<string, Parameters<typeof flowError> | null>> = {
  authorization_pending: null,
  slow_down: null,
  access_denied: ['NOT_AUTHORIZED', 'the authorization was refused'],
  expired_token: ['NOT_AUTHORIZED', EXPIRED],
  device_flow_disabled: [
    'BAD_INPUT',
    'the OAuth app does not allow the device flow',
    (w) =>
      `switch on *Enable Device Flow* in the app's settings, set ${w.input('client-id')} to another app, or ${ALTERNATIVE_HINT(w)}`,
  ],
  incorrect_client_credentials: [
    'BAD_INPUT',
    'the client id is unknown',
    (w) => `set ${w.input('client-id')} to that of an OAuth app`,
  ],
  incorrect_device_code: ['HOST_ERROR', 'the host does not accept its own device code', 'try again'],
  unsupported_grant_type: ['HOST_ERROR', 'the host does not offer the device flow'],
};

/** The failure of an error code; `undefined` for one that is none, or is unknown. */
export function findFlowError(error = ''): DeliveryError | undefined {
  const known = Object.hasOwn(FLOW_ERRORS, error) ? FLOW_ERRORS[error] : null;
  return known ? flowError(...known) : undefined;
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
export async function requestCode(
  { authUrl, clientId }: DeviceFlowOptions,
  ports: Ports,
): Promise<CodeAnswer> {
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
export async function requestToken(
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
