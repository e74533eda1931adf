import { DeliveryError, type ErrorCode } from '../../errors.ts';
import { getHostTime, isPage, parseRetryAfter, shortHostMessage } from '../../http/response.ts';
import type { TextAnswer } from '../../http/send-request.ts';
import { toFields, toText } from '../../plain-text.ts';
import type { CallTemplate } from '../../protocol/calls.ts';
import { SECOND } from '../../protocol/limits.ts';
import { type GitHubRefusal, refusalError } from '../refusals.ts';

type RefusedAnswer = Omit<TextAnswer, 'text'>;

/** The failure of a call that GitHub refused. @param now from which the reset time of a rate limit is measured */
export function refusedCallError(
  answer: RefusedAnswer,
  { description, permission, path }: Pick<CallTemplate, 'description' | 'permission'> & Partial<CallTemplate>,
  now: number,
): DeliveryError {
  const refusal = readRefusal(answer);
  const reason = refusal.message === '' ? '' : `: ${refusal.message}`;
  const message = `${description} answered HTTP ${answer.status}${reason}`;
  return refusalError(message, { ...refusal, permission, path, retryAfter: getPause(answer, now) });
}

/** What an answer that is no success says of the reason, whatever shape it has. */
function readRefusal(answer: RefusedAnswer): GitHubRefusal {
  const { status, headers, json } = answer;
  const { message, errors } = toFields(json);
  const list = [errors ?? []].flat();
  const texts = list.map(
    (error) => toText(error) ?? toText(toFields(error).message) ?? toText(toFields(error).code),
  );
  const reason = shortHostMessage([...new Set([toText(message), ...texts])].filter(Boolean).join('; '));
  return {
    status: status === 200 ? (GRAPHQL_STATUSES[toText(toFields(list[0]).type) ?? ''] ?? 502) : status,
    httpCode: status,
    message: reason === '' && isPage(answer) ? "a page came instead of an answer of GitHub's API" : reason,
    headers,
  };
}

/** The type of an error of GraphQL, which answers HTTP 200, as REST's status; any other is a fault of the host. */
const GRAPHQL_STATUSES: Readonly<Record<string, number>> = {
  NOT_FOUND: 404,
  FORBIDDEN: 403,
  INSUFFICIENT_SCOPES: 403,
  RATE_LIMITED: 429,
};

/** Milliseconds that the host asks to wait: by Retry-After, else until the rate limit is reset. */
function getPause(answer: RefusedAnswer, now: number): number | undefined {
  const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset } = answer.headers;
  const untilReset =
    remaining === '0' && reset !== undefined
      ? Math.max(Number(reset) * SECOND - getHostTime(answer, now), 0) + SECOND
      : undefined;
  return parseRetryAfter(answer, now) ?? untilReset;
}

/** Whether GitHub says that what was asked for does not exist; a redirect to another name does not. */
export const isNotFound = (thrown: unknown): boolean => failedWith(thrown, 'NOT_FOUND', 404);

/** What is missing where a branch could not be read: the branch, all of the repository's commits, or neither. */
export function findAbsence(thrown: unknown): 'branch' | 'commits' | null {
  if (isNotFound(thrown)) return 'branch';
  return failedWith(thrown, 'NOT_FOUND', 409) ? 'commits' : null;
}

const failedWith = (thrown: unknown, code: ErrorCode, status: number): boolean =>
  thrown instanceof DeliveryError && thrown.code === code && thrown.httpCode === status;

/** The data of a call, or `null` where what it asked for does not exist. */
export async function dataOrNull<T>(answer: Promise<{ readonly data: T }>): Promise<T | null> {
  try {
    return (await answer).data;
  } catch (thrown) {
    if (isNotFound(thrown)) return null;
    throw thrown;
  }
}
