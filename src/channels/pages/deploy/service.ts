import { DeliveryError } from '../../../errors.ts';
import { parseRetryAfter, shortHostMessage } from '../../../http/response.ts';
import { sendRequest, type TextAnswer, type TextRequest } from '../../../http/send-request.ts';
import { toFields } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { withRetries } from '../../../retry.ts';

/** A request to a service of the job's runner. */
interface ServiceRequest extends TextRequest {
  /** Such as `creating the artifact`. */
  readonly description: string;
  /** The only status that counts as success. */
  readonly expects: number;
}

/**
 * Sends a request until it succeeds. Its address and its answer may hold credentials: neither is ever quoted, but for
 * the words of a refusal.
 *
 * @throws {DeliveryError} for an answer that is no success; as `sendRequest`.
 */
export const askService = (request: ServiceRequest, ports: Ports): Promise<TextAnswer> =>
  withRetries(ports, () => askOnce(request, ports));

/** The same, once. */
export async function askOnce(request: ServiceRequest, ports: Ports): Promise<TextAnswer> {
  const answer = await sendRequest(request, ports);
  if (answer.status === request.expects) return answer;
  throw refusedError(request.description, answer, ports.clock.now());
}

function refusedError(description: string, answer: TextAnswer, now: number): DeliveryError {
  const { status, json } = answer;
  const { msg, message = msg } = toFields(json);
  const said = typeof message === 'string' ? `: ${shortHostMessage(message)}` : '';
  const isLimited = status === 429;
  const isRefused = status === 401 || status === 403;
  return new DeliveryError(
    isLimited ? 'RATE_LIMITED' : isRefused ? 'NO_PERMISSION' : 'HOST_ERROR',
    `${description} answered HTTP ${status}${said}`,
    {
      httpCode: status,
      hint: isRefused
        ? 'run the job again: what the runner gives to a job is valid for a few hours; and check the storage for artifacts (Settings → Billing)'
        : 'look at https://www.githubstatus.com, and try again',
      retryable: isLimited || status < 300 || status >= 500 || status === 408,
      retryAfter: parseRetryAfter(answer, now),
    },
  );
}

/** What a success should have held. */
export const unusableError = (description: string): DeliveryError =>
  new DeliveryError('HOST_ERROR', `${description} returned something that can't be used`, {
    hint: 'look at https://www.githubstatus.com, and try again',
    retryable: true,
  });
