import { DeliveryError, type ErrorCode } from '../../errors.ts';
import { getHostTime, isPage, parseRetryAfter, shortHostMessage } from '../../http/response.ts';
import type { TextAnswer } from '../../http/send-request.ts';
import { toFields, toText } from '../../plain-text.ts';
import type { CallTemplate } from '../../protocol/calls.ts';
import { SECOND } from '../../protocol/limits.ts';
import { type GitHubRefusal, refusalError } from '../refusals.ts';

type RefusedAnswer = Omit<TextAnswer, 'text'>;

/** The error of a call that GitHub refused. @param now to compute when a rate limit is reset */
export function refusedCallError(
  answer: RefusedAnswer,
  { description, permission, path }: Pick<CallTemplate, 'description' | 'permission'> & Partial<CallTemplate>,
  now: number,
): DeliveryError {
  const refusal = readRefusal(answer);
  const reason = refusal.message === '' ? '' : `: ${refusal.message}`;
  const message = `${description} failed with HTTP ${answer.status}${reason}`;
  return refusalError(message, { ...refusal, permission, path, retryAfter: getPause(answer, now) });
}

/** GitHub's reason from an error response of any shape. */
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
    message: reason === '' && isPage(answer) ? 'a web page came instead of an API response' : reason,
    headers,
  };
}

/** GraphQL answers HTTP 200 even for errors. These are the equivalent REST statuses of its error types. */
const GRAPHQL_STATUSES: Readonly<Record<string, number>> = {
  NOT_FOUND: 404,
  FORBIDDEN: 403,
  INSUFFICIENT_SCOPES: 403,
  RATE_LIMITED: 429,
};

/** Milliseconds that GitHub asks us to wait: by Retry-After, otherwise until the rate limit is reset. */
function getPause(answer: RefusedAnswer, now: number): number | undefined {
  const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset } = answer.headers;
  const untilReset =
    remaining === '0' && reset !== undefined
      ? Math.max(Number(reset) * SECOND - getHostTime(answer, now), 0) + SECOND
      : undefined;
  return parseRetryAfter(answer, now) ?? untilReset;
}

/** Whether GitHub answered that something doesn't exist. A redirect to a new name doesn't count. */
export const isNotFound = (thrown: unknown): boolean => failedWith(thrown, 'NOT_FOUND', 404);

/** What is missing if a branch can't be read: the branch, all commits of the repository, or nothing. */
export function findAbsence(thrown: unknown): 'branch' | 'commits' | null {
  if (isNotFound(thrown)) return 'branch';
  return failedWith(thrown, 'NOT_FOUND', 409) ? 'commits' : null;
}

const failedWith = (thrown: unknown, code: ErrorCode, status: number): boolean =>
  thrown instanceof DeliveryError && thrown.code === code && thrown.httpCode === status;

/** The data of a call, or `null` if what it asks for doesn't exist. */
export async function dataOrNull<T>(answer: Promise<{ readonly data: T }>): Promise<T | null> {
  try {
    return (await answer).data;
  } catch (thrown) {
    if (isNotFound(thrown)) return null;
    throw thrown;
  }
}
