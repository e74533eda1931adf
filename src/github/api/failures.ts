import { DeliveryError, type ErrorCode, type ErrorDetails } from '../../errors.ts';
import { parseRetryAfter, shortHostMessage } from '../../http/response.ts';
import type { CallTemplate } from '../../protocol/calls.ts';
import { SECOND } from '../../protocol/limits.ts';

/** What is known of a refused call. */
export interface ApiRefusal {
  readonly status: number;
  /** The host's own words, in one line, shortened. */
  readonly message: string;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** `errors[].code` of a validation failure. */
  readonly codes: readonly string[];
}

interface RefusalRule {
  readonly when: (refusal: ApiRefusal) => boolean;
  readonly code: ErrorCode;
  readonly hint?: (refusal: ApiRefusal) => string;
  readonly passing?: boolean;
}

/** Where nothing has to be changed: the host's own trouble passes, and the bin needs no GitHub. */
export const RETRY_HINT = 'run the step again, or use channel: K3';

/** Whether the host refuses for a while only, because too much was asked of it. */
export const isRateLimited = ({ status, headers, message }: Omit<ApiRefusal, 'codes'>): boolean =>
  status === 429 ||
  (status === 403 &&
    (headers['x-ratelimit-remaining'] === '0' ||
      headers['retry-after'] !== undefined ||
      /secondary rate/i.test(message)));

/** How an answer of the API is understood; the first row that fits counts. */
const REFUSAL_RULES: readonly RefusalRule[] = [
  {
    when: isRateLimited,
    code: 'RATE_LIMITED',
    passing: true,
    hint: () =>
      'GitHub limits this token for a while: run fewer deliveries at once, or later, or use channel: K3',
  },
  {
    when: ({ status }) => status === 401,
    code: 'BAD_TOKEN',
    hint: () =>
      "set `token:` to a valid token, or leave it out for the job's own ${{ github.token }}, or use channel: K3",
  },
  {
    when: ({ status }) => status === 403,
    code: 'NO_PERMISSION',
    hint: ({ headers }) => permissionHint(headers['x-accepted-github-permissions']),
  },
  {
    when: ({ status, message }) => status === 404 && /branch \S+ not found/i.test(message),
    code: 'NOT_FOUND',
    hint: () => 'set `branch:` to one that exists, or leave it out, or use channel: K2',
  },
  {
    when: ({ status }) => status === 404,
    code: 'NOT_FOUND',
    hint: () =>
      'check that `repository:` and `branch:` exist, and that `token:` may write there, or use channel: K3',
  },
  {
    when: ({ message }) => /immutable release/i.test(message),
    code: 'FORBIDDEN_BY_RULE',
    hint: () => 'a published release is closed for good here: set `tag:` to another one, or use channel: K3',
  },
  {
    when: ({ message }) =>
      /rule violations|protected branch|changes must be made through a pull request/i.test(message),
    code: 'FORBIDDEN_BY_RULE',
    hint: () => 'let the workflow bypass the rule, set `branch:` to one without it, or use channel: K2',
  },
  {
    when: ({ status, message }) => status === 413 || (status === 422 && /too large/i.test(message)),
    code: 'TOO_LARGE',
    hint: () => 'use channel: K2 for a file of this size',
  },
  {
    when: ({ status, message }) => (status === 409 || status === 422) && /repository is empty/i.test(message),
    code: 'NOT_FOUND',
    hint: () => 'the repository has no commit yet: push a first one, such as a README, or use channel: K3',
  },
  { when: isRace, code: 'CONFLICT', passing: true, hint: () => `another job writes here too: ${RETRY_HINT}` },
  {
    when: ({ status }) => status >= 300 && status < 400,
    code: 'NOT_FOUND',
    hint: () => 'the repository has moved: set `repository:` to its present name',
  },
  // What stands between us and the host may answer 200 with a page of its own.
  {
    when: ({ status }) => status < 300 || status === 408 || status >= 500,
    code: 'HOST_ERROR',
    passing: true,
  },
];

/** Whether somebody else was quicker: the branch moved, or a file or name came or went since it was looked for. */
function isRace({ status, message, codes }: ApiRefusal): boolean {
  if (status === 409) return true;
  return (
    status === 422 &&
    (/"sha" wasn't supplied|fast.?forward|BadObjectState/i.test(message) || codes.includes('already_exists'))
  );
}

/**
 * What Octokit threw, as a failure of the delivery.
 *
 * @param now milliseconds since the epoch, against which a limit's reset is measured
 */
export function apiError(thrown: unknown, call: CallTemplate, now: number): DeliveryError {
  const known = failureWithin(thrown);
  if (known !== undefined) return known;
  const refusal = refusalFrom(thrown);
  if (refusal === undefined) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new DeliveryError('CONNECTION', `${call.description} broke off: ${message}`, {
      retryable: true,
      hint: RETRY_HINT,
      cause: thrown,
    });
  }
  return refusalError(refusal, call.description, now, thrown);
}

/** A refused call as a failure; `what` names the call. */
export function refusalError(refusal: ApiRefusal, what: string, now: number, cause?: unknown): DeliveryError {
  const verdict = REFUSAL_RULES.find((row) => row.when(refusal));
  const details: ErrorDetails = {
    httpCode: refusal.status,
    hint: verdict?.hint?.(refusal) ?? RETRY_HINT,
    retryable: verdict?.passing,
    retryAfter: verdict?.code === 'RATE_LIMITED' ? limitPause(refusal, now) : parseRetryAfter(refusal, now),
    cause,
  };
  return new DeliveryError(
    verdict?.code ?? 'HOST_ERROR',
    `${what} answered HTTP ${refusal.status}${refusal.message === '' ? '' : `: ${refusal.message}`}`,
    details,
  );
}

/** Our own failure, where it travelled through Octokit as a cause. */
function failureWithin(thrown: unknown): DeliveryError | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof DeliveryError) return error;
  }
  return undefined;
}

function refusalFrom(thrown: unknown): ApiRefusal | undefined {
  if (!(thrown instanceof Error) || !('response' in thrown)) return undefined;
  const response = thrown.response as
    | { status: number; data: unknown; headers: ApiRefusal['headers'] }
    | undefined;
  if (response === undefined) return undefined;
  return { status: response.status, headers: response.headers, ...parseErrorBody(response.data) };
}

/** The message and codes of an error body; anything that is not GitHub's JSON gives none. */
export function parseErrorBody(data: unknown): Pick<ApiRefusal, 'message' | 'codes'> {
  if (typeof data !== 'object' || data === null) return { message: '', codes: [] };
  const { message, errors } = data as { message?: unknown; errors?: unknown };
  const list: unknown[] = Array.isArray(errors) ? errors : [];
  const all = (field: 'code' | 'message'): string[] =>
    list.flatMap((error) => {
      const text = (error as Record<string, unknown> | null)?.[field];
      return text === undefined ? [] : [String(text)];
    });
  return { message: shortHostMessage([message, ...all('message')].join('; ')), codes: all('code') };
}

function permissionHint(accepted: string | number | undefined): string {
  const wanted = String(accepted ?? 'contents=write').replace(/_/g, '-');
  const lines = wanted
    .split(';')[0]
    ?.split(',')
    .map((pair) => pair.trim().replace('=', ': '))
    .join(', ');
  return `add \`permissions: { ${lines} }\` to the job; a pull request from a fork gets a read-only token whatever is asked: use channel: K3 there`;
}

/** How long a limit lasts: as the host says, else until the window's reset; `undefined` where neither is named. */
function limitPause(refusal: ApiRefusal, now: number): number | undefined {
  const asked = parseRetryAfter(refusal, now);
  if (asked !== undefined) return asked;
  const reset = Number(refusal.headers['x-ratelimit-reset']);
  if (refusal.headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) {
    return Math.max(reset * SECOND - now, 0) + SECOND;
  }
  return undefined;
}
