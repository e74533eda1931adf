import { DeliveryError, type ErrorCode } from '../../errors.ts';
import { getHostTime, parseRetryAfter, shortHostMessage } from '../../http/response.ts';
import { SECOND } from '../../protocol/limits.ts';
import { RETRY_HINT } from '../hints.ts';
import { type ApiRefusal, findRule, GRAPHQL_FAULT, type RefusedCall } from './refusal-rules.ts';

/**
 * The failure that a refusal means for the call.
 *
 * @param now milliseconds since the epoch: the reset time of a rate limit is measured from it
 */
export function refusalError(refusal: ApiRefusal, call: RefusedCall, now: number): DeliveryError {
  const rule = findRule(refusal);
  const { code = 'HOST_ERROR', hint = RETRY_HINT } = rule ?? {};
  const meaning = refusal.message || (rule?.meaning ?? '');
  return new DeliveryError(
    code,
    `${call.description} answered HTTP ${refusal.status}${meaning === '' ? '' : `: ${meaning}`}`,
    {
      httpCode: refusal.status,
      hint: typeof hint === 'string' ? hint : (w) => hint(w, refusal, call),
      retryable: rule?.retryable,
      retryAfter: code === 'RATE_LIMITED' ? getLimitPause(refusal, now) : parseRetryAfter(refusal, now),
    },
  );
}

/** The message and codes of an answer that tells of errors; empty where it is not GitHub's JSON. */
export function parseErrorBody(data: unknown): Pick<ApiRefusal, 'message' | 'codes'> {
  const { message, errors } = Object(data) as { readonly message?: unknown; readonly errors?: unknown };
  const list = [errors ?? []]
    .flat()
    .map(
      (error): Readonly<Record<string, unknown>> =>
        typeof error === 'string' ? { message: error } : Object(error),
    );
  const messages = [message, ...list.map((error) => error.message)].filter((one) => one !== undefined);
  const codes = list.map(({ code, type }) => code ?? type).filter((one) => one !== undefined);
  return { message: shortHostMessage([...new Set(messages)].join('; ')), codes: codes.map(String) };
}

/**
 * What a success of GraphQL refuses, which it does with HTTP 200. An answer with `errors` may have a part of its
 * `data`, in which what is missing is not absent: so none of it counts.
 *
 * @see https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
 */
export function findGraphqlRefusal(data: unknown): Pick<ApiRefusal, 'message' | 'codes'> | undefined {
  const { errors } = Object(data) as { readonly errors?: unknown };
  if (!Array.isArray(errors) || errors.length === 0) return undefined;
  const { message, codes } = parseErrorBody(data);
  return { message, codes: [...codes, GRAPHQL_FAULT] };
}

/** Milliseconds that a rate limit lasts: by Retry-After, else until the reset; `undefined` where neither is given. */
function getLimitPause(refusal: ApiRefusal, now: number): number | undefined {
  const retryAfter = parseRetryAfter(refusal, now);
  if (retryAfter !== undefined) return retryAfter;
  const reset = Number(refusal.headers['x-ratelimit-reset']);
  if (refusal.headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) {
    return Math.max(reset * SECOND - getHostTime(refusal, now), 0) + SECOND;
  }
  return undefined;
}

/** Whether GitHub says that what was asked for does not exist; a redirect to another name does not. */
export const isNotFound = (thrown: unknown): boolean => failedWith(thrown, 'NOT_FOUND', 404);

/** Whether GitHub says that the repository has no commit, and so neither branches nor files. */
export const isEmptyRepository = (thrown: unknown): boolean => failedWith(thrown, 'NOT_FOUND', 409);

const failedWith = (thrown: unknown, code: ErrorCode, status: number): boolean =>
  thrown instanceof DeliveryError && thrown.code === code && thrown.httpCode === status;

/** The result of `work`, or `null` where what it asked for does not exist. */
export async function nullIfNotFound<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (thrown) {
    if (isNotFound(thrown)) return null;
    throw thrown;
  }
}
