import { DeliveryError, type ErrorCode, type ErrorDetails } from '../../errors.ts';
import { parseRetryAfter, shortHostMessage } from '../../http/response.ts';
import type { CallTemplate } from '../../protocol/calls.ts';
import { SECOND } from '../../protocol/limits.ts';
import {
  CONFLICT_HINT,
  formatPermissionHint,
  MOVED_HINT,
  NOT_FOUND_HINT,
  RATE_LIMIT_HINT,
  RETRY_HINT,
  RULE_HINT,
  SIZE_HINT,
  TOKEN_HINT,
} from '../hints.ts';

/** A call's answer that is not a success. */
export interface ApiRefusal {
  readonly status: number;
  /** GitHub's own message, in one line, shortened. */
  readonly message: string;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** `errors[].code` of a validation failure. */
  readonly codes: readonly string[];
}

interface RefusalRule {
  readonly when: (refusal: ApiRefusal) => boolean;
  readonly code: ErrorCode;
  readonly hint?: string | ((refusal: ApiRefusal) => string);
  readonly retryable?: boolean;
}

/** Whether GitHub refuses only for a while, because it received too many requests. */
export const isRateLimited = ({ status, headers, message }: Omit<ApiRefusal, 'codes'>): boolean =>
  status === 429 ||
  (status === 403 &&
    (headers['x-ratelimit-remaining'] === '0' ||
      headers['retry-after'] !== undefined ||
      /secondary rate/i.test(message)));

/** The meaning of each refusal; the first rule that matches counts. */
const REFUSAL_RULES: readonly RefusalRule[] = [
  { when: isRateLimited, code: 'RATE_LIMITED', retryable: true, hint: RATE_LIMIT_HINT },
  { when: ({ status }) => status === 401, code: 'BAD_TOKEN', hint: TOKEN_HINT },
  {
    when: ({ status }) => status === 403,
    code: 'NO_PERMISSION',
    hint: ({ headers }) => formatPermissionHint(parsePermissions(headers['x-accepted-github-permissions'])),
  },
  {
    when: ({ status, message }) => status === 404 && /branch \S+ not found/i.test(message),
    code: 'NOT_FOUND',
    hint: 'set `branch:` to one that exists, or leave it out, or use channel: K2',
  },
  { when: ({ status }) => status === 404, code: 'NOT_FOUND', hint: NOT_FOUND_HINT },
  {
    when: ({ message }) => /tag_name was used by an immutable release/i.test(message),
    code: 'TAG_USED_UP',
    hint: 'a deleted immutable release had this tag: set `tag:` to another one',
  },
  {
    when: ({ message }) => /immutable release/i.test(message),
    code: 'FORBIDDEN_BY_RULE',
    hint: 'a published release cannot be changed here: set `tag:` to another one, or use channel: K3',
  },
  {
    when: ({ message }) =>
      /rule violations|protected branch|changes must be made through a pull request/i.test(message),
    code: 'FORBIDDEN_BY_RULE',
    hint: RULE_HINT,
  },
  {
    when: ({ status, message }) => status === 413 || (status === 422 && /too large/i.test(message)),
    code: 'TOO_LARGE',
    hint: SIZE_HINT,
  },
  {
    when: ({ status, message }) => (status === 409 || status === 422) && /repository is empty/i.test(message),
    code: 'NOT_FOUND',
    hint: 'the repository has no commit yet: push a first one, such as a README, or use channel: K3',
  },
  { when: isConflict, code: 'CONFLICT', retryable: true, hint: CONFLICT_HINT },
  { when: ({ status }) => status >= 300 && status < 400, code: 'NOT_FOUND', hint: MOVED_HINT },
  // A proxy between this machine and GitHub may answer 200 with a page of its own.
  {
    when: ({ status }) => status < 300 || status === 408 || status >= 500,
    code: 'HOST_ERROR',
    retryable: true,
  },
];

/** Whether another writer was first: the branch moved, or a file or name was added or removed since it was read. */
function isConflict({ status, message, codes }: ApiRefusal): boolean {
  if (status === 409) return true;
  return (
    status === 422 &&
    (/"sha" wasn't supplied|fast.?forward|BadObjectState/i.test(message) || codes.includes('already_exists'))
  );
}

/**
 * Turns what Octokit threw into a `DeliveryError`.
 *
 * @param now milliseconds since the epoch: the reset time of a rate limit is measured from it
 */
export function apiError(thrown: unknown, call: CallTemplate, now: number): DeliveryError {
  const own = findDeliveryError(thrown);
  if (own !== undefined) return own;
  const refusal = parseRefusal(thrown);
  if (refusal !== undefined) return refusalError(refusal, call.description, now, thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new DeliveryError('CONNECTION', `${call.description} broke off: ${message}`, {
    retryable: true,
    hint: RETRY_HINT,
    cause: thrown,
  });
}

/** @param description of the refused call */
export function refusalError(
  refusal: ApiRefusal,
  description: string,
  now: number,
  cause?: unknown,
): DeliveryError {
  const rule = REFUSAL_RULES.find(({ when }) => when(refusal));
  const hint = typeof rule?.hint === 'function' ? rule.hint(refusal) : rule?.hint;
  const details: ErrorDetails = {
    httpCode: refusal.status,
    hint: hint ?? RETRY_HINT,
    retryable: rule?.retryable,
    retryAfter: rule?.code === 'RATE_LIMITED' ? getLimitPause(refusal, now) : parseRetryAfter(refusal, now),
    cause,
  };
  return new DeliveryError(
    rule?.code ?? 'HOST_ERROR',
    `${description} answered HTTP ${refusal.status}${refusal.message === '' ? '' : `: ${refusal.message}`}`,
    details,
  );
}

/** Our own error, where Octokit wrapped it as a cause. */
function findDeliveryError(thrown: unknown): DeliveryError | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof DeliveryError) return error;
  }
  return undefined;
}

function parseRefusal(thrown: unknown): ApiRefusal | undefined {
  if (!(thrown instanceof Error) || !('response' in thrown)) return undefined;
  const response = thrown.response as
    | { status: number; data: unknown; headers: ApiRefusal['headers'] }
    | undefined;
  if (response === undefined) return undefined;
  return { status: response.status, headers: response.headers, ...parseErrorBody(response.data) };
}

/** The message and codes of an error body; empty where it is not GitHub's JSON. */
export function parseErrorBody(data: unknown): Pick<ApiRefusal, 'message' | 'codes'> {
  if (typeof data !== 'object' || data === null) return { message: '', codes: [] };
  const { message, errors } = data as { message?: unknown; errors?: unknown };
  const list: unknown[] = Array.isArray(errors) ? errors : [];
  const getAll = (field: 'code' | 'message'): string[] =>
    list.flatMap((error) => {
      const text = (error as Record<string, unknown> | null)?.[field];
      return text === undefined ? [] : [String(text)];
    });
  return {
    message: shortHostMessage([message, ...getAll('message')].join('; ')),
    codes: getAll('code'),
  };
}

/** The first alternative of `X-Accepted-GitHub-Permissions` as YAML: `pull-requests: write`. */
function parsePermissions(accepted: string | number | undefined): string {
  const [first = ''] = String(accepted ?? 'contents=write')
    .replace(/_/g, '-')
    .split(';');
  const pairs = first.split(',').map((pair) => pair.trim().replace('=', ': '));
  return pairs.join(', ');
}

/** Milliseconds that a rate limit lasts: by Retry-After, else until the reset; `undefined` where neither is given. */
function getLimitPause(refusal: ApiRefusal, now: number): number | undefined {
  const retryAfter = parseRetryAfter(refusal, now);
  if (retryAfter !== undefined) return retryAfter;
  const reset = Number(refusal.headers['x-ratelimit-reset']);
  if (refusal.headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) {
    return Math.max(reset * SECOND - now, 0) + SECOND;
  }
  return undefined;
}

/** The result of `work`, or `null` where what it asked for does not exist. */
export async function nullIfNotFound<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'NOT_FOUND') return null;
    throw thrown;
  }
}
