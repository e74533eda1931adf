import { Readable } from 'node:stream';
import { DeliveryError } from '../errors.ts';
import { parseRetryAfter } from '../http/response.ts';
import { sendUpload } from '../http/upload.ts';
import type { Ports } from '../ports.ts';
import { AUTH, type CallTemplate } from '../protocol/calls.ts';
import { DEVICE_FLOW, SECOND } from '../protocol/limits.ts';
import { isRateLimited } from './api/failures.ts';
import { parseErrorBody } from './api/refusal.ts';

export interface DeviceFlowOptions {
  /** Such as `https://github.com`. */
  readonly authUrl: URL;
  readonly clientId: string;
}

/** The answer to the request for a code; a host may leave out any field. Times are seconds. @see protocol 2.2 */
export interface CodeAnswer {
  readonly device_code?: string | null;
  readonly user_code?: string | null;
  readonly interval?: number | null;
  readonly expires_in?: number | null;
  readonly error?: string;
}

/** The answer to a token poll. @see protocol 2.3 */
export interface TokenAnswer {
  readonly access_token?: string;
  readonly scope?: string;
  readonly error?: string;
  /** Seconds. */
  readonly interval?: number;
  /** Why the poll got no answer of the flow. */
  readonly failure?: string;
}

export const ALTERNATIVE_HINT = 'use channel: K3, or give a token';

/** @throws {DeliveryError} retryable where the host may answer later. @see protocol 4.1 */
export function requestCode({ authUrl, clientId }: DeviceFlowOptions, ports: Ports): Promise<CodeAnswer> {
  const form = { client_id: clientId, scope: DEVICE_FLOW.scope };
  return postForm<CodeAnswer>(AUTH.device_code, authUrl, form, ports);
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
      hint: `check \`auth-url:\`, or ${ALTERNATIVE_HINT}`,
    },
  );
}

function unknownClientError({ host }: URL): DeliveryError {
  return new DeliveryError('BAD_INPUT', `${host} knows no OAuth app with this client id`, {
    step: 'authorize',
    httpCode: 404,
    hint: `set \`client-id:\` to that of an OAuth app of ${host}, check \`auth-url:\`, or ${ALTERNATIVE_HINT}`,
  });
}
