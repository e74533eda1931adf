import { isCredential } from '../credentials.ts';
import { DeliveryError, type ErrorCode, type ErrorDetails, hasFailed, resultOf } from '../errors.ts';
import { shortHostMessage } from '../http/response.ts';
import { sendRequest } from '../http/send-request.ts';
import type { Ports } from '../ports.ts';
import { AUTH, type CallTemplate } from '../protocol/calls.ts';
import { DEVICE_FLOW, SECOND } from '../protocol/limits.ts';
import { withRetries } from '../retry.ts';
import type { Text, Words } from '../words.ts';
import { refusedCallError } from './api/failures.ts';

export interface DeviceFlowOptions {
  readonly authUrl: URL;
  readonly clientId: string;
}

export type DeviceFlow = Awaited<ReturnType<typeof startDeviceFlow>>;

/**
 * Gets a token after the user enters a code; it stays in memory. @throws {DeliveryError} `NOT_AUTHORIZED`. @see
 * protocol 4.1
 */
export async function authorizeDevice(options: DeviceFlowOptions, ports: Ports): Promise<string> {
  const flow = await startDeviceFlow(options, ports);
  // A job's log folds the lines of a section, which would hide the code.
  ports.logger.endSection();
  ports.logger.info(`Open ${flow.page} and enter the code ${flow.userCode}`);
  return pollForToken(flow, ports);
}

/** Requests the codes of a new flow. @throws {DeliveryError} if the host returns none */
export async function startDeviceFlow(options: DeviceFlowOptions, ports: Ports) {
  const answer = await withRetries(ports, () =>
    postForm(AUTH.device_code, options, { scope: DEVICE_FLOW.scope }, ports),
  );
  const [deviceCode, userCode] = [String(answer.device_code ?? ''), String(answer.user_code ?? '')];
  if (!USER_CODE.test(userCode) || !DEVICE_CODE.test(deviceCode)) {
    throw flowError('HOST_ERROR', 'the host returned no device code');
  }
  ports.logger.mask(deviceCode);
  return {
    ...options,
    deviceCode,
    userCode,
    page: `${options.authUrl.origin}${AUTH.user_entry.path}`,
    /** When the codes expire, by `Clock.now`. */
    deadline: ports.clock.now() + toMilliseconds(answer.expires_in, DEVICE_FLOW.lifetime),
    pause: toMilliseconds(answer.interval, DEVICE_FLOW.interval),
  };
}

/**
 * Polls for the token; `null` if undecided at `until`. @throws {DeliveryError} `NOT_AUTHORIZED` if refused or expired
 */
export async function pollForToken(flow: DeviceFlow, ports: Ports): Promise<string>;
export async function pollForToken(flow: DeviceFlow, ports: Ports, until: number): Promise<string | null>;
export async function pollForToken(flow: DeviceFlow, ports: Ports, until = flow.deadline) {
  const { clock, logger, signal } = ports;
  const form = { device_code: flow.deviceCode, grant_type: DEVICE_FLOW.grantType };
  let failure: string | undefined;
  while (clock.now() + flow.pause < Math.min(until, flow.deadline)) {
    await clock.sleep(flow.pause, signal);
    const answer = await resultOf(() => postForm(AUTH.token, flow, form, ports));
    if (hasFailed(answer)) {
      if (!answer.retryable) throw answer;
      const isLimited = answer.code === 'RATE_LIMITED';
      if (isLimited) flow.pause = slowDown(flow.pause, (answer.retryAfter ?? 0) / SECOND);
      failure = answer.message;
      continue;
    }
    failure = undefined;
    if (answer.error === undefined) {
      const { access_token: token } = answer;
      if (typeof token !== 'string' || !isCredential(token)) {
        throw flowError('HOST_ERROR', 'the host returned no token');
      }
      logger.mask(token);
      return token;
    }
    if (answer.error === 'slow_down') flow.pause = slowDown(flow.pause, answer.interval);
  }
  if (clock.now() + flow.pause < flow.deadline) return null;
  throw flowError('NOT_AUTHORIZED', failure === undefined ? EXPIRED : `${EXPIRED}: ${failure}`);
}

/** The host checks the rate first, so a client that keeps its pause never gets the token. @param interval in seconds */
const slowDown = (pause: number, interval: unknown): number =>
  Math.max(pause + DEVICE_FLOW.slowDown, toMilliseconds(interval, DEVICE_FLOW.interval));

/** What a person can type and a form can send. Anything else could also damage the log. */
const USER_CODE = /^[A-Za-z0-9-]{1,32}$/;
const DEVICE_CODE = /^[!-~]{1,1024}$/;

function toMilliseconds(
  sent: unknown,
  { fallback, min, max }: { fallback: number; min: number; max: number },
) {
  const seconds = typeof sent === 'number' && Number.isFinite(sent) ? sent : fallback;
  return Math.min(Math.max(seconds, min), max) * SECOND;
}

/** Every field is optional; `error` says why there is no token yet. @see protocol 2.2, 2.3 */
type FlowAnswer = Readonly<Record<string, unknown>>;

/** Sends a form. @throws {DeliveryError} if the flow ends; retryable if the host may answer later. @see protocol 4.1 */
async function postForm(
  call: CallTemplate,
  { authUrl, clientId }: DeviceFlowOptions,
  form: Record<string, string>,
  ports: Ports,
): Promise<FlowAnswer> {
  const request = {
    method: call.method,
    url: new URL(call.path, authUrl),
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: () => new URLSearchParams({ client_id: clientId, ...form }).toString(),
  };
  const answer = await sendRequest(request, ports);
  const { status: httpCode } = answer;
  const isUnknownApp = httpCode === 404 && call === AUTH.device_code;
  const json = isUnknownApp ? { error: 'incorrect_client_credentials' } : answer.json;
  if ((isUnknownApp || httpCode === 200 || httpCode === 400) && typeof json === 'object' && json !== null) {
    const fields: FlowAnswer = { ...json };
    const error = String(fields.error ?? '');
    if (['', 'authorization_pending', 'slow_down'].includes(error)) return fields;
    const unknownError = `${call.description} failed: ${shortHostMessage(error)}`;
    const { code, message, hint } = FINAL_ERRORS[error] ?? { code: 'HOST_ERROR', message: unknownError };
    throw flowError(code, message, { hint });
  }
  const { code, message, retryable, retryAfter } = refusedCallError(answer, call, ports.clock.date());
  const hint: Text = (w) => `check ${w.input('auth-url')}, or set ${w.input('token')}`;
  const details = { httpCode, retryable, retryAfter, hint };
  throw flowError(code === 'RATE_LIMITED' ? code : 'HOST_ERROR', message, details);
}

const ALTERNATIVE_HINT = (w: Words): string => `set ${w.input('token')}${w.orUse('K3')}`;

const flowError = (code: ErrorCode, message: string, details: ErrorDetails = {}): DeliveryError =>
  new DeliveryError(code, message, { ...details, step: 'authorize', hint: details.hint ?? ALTERNATIVE_HINT });

const EXPIRED = 'the code expired before it was entered';

/** Errors that end the flow. Any other error is the host's. */
const FINAL_ERRORS: Readonly<Record<string, { code: ErrorCode; message: string; hint?: Text }>> = {
  access_denied: { code: 'NOT_AUTHORIZED', message: 'the authorization was refused' },
  expired_token: { code: 'NOT_AUTHORIZED', message: EXPIRED },
  device_flow_disabled: {
    code: 'BAD_INPUT',
    message: 'the OAuth app does not allow the device flow',
    hint: (w) => `switch on *Enable Device Flow* in the app's settings, or set ${w.input('token')}`,
  },
  incorrect_client_credentials: {
    code: 'BAD_INPUT',
    message: 'the host has no OAuth app with this client ID',
    hint: (w) =>
      `set ${w.input('client-id')} to the client ID of an OAuth app on this host, or set ${w.input('token')}`,
  },
};
