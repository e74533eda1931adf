import { DeliveryError, type FailureCode, type FailureDetails } from '../errors.ts';
import { retryAfter } from '../http/headers.ts';
import { hostMessage } from '../http/host-message.ts';
import type { Call } from '../protocol/calls.ts';
import { SECOND } from '../protocol/limits.ts';

/** What is known of a refused call. */
export interface Refusal {
  readonly status: number;
  /** The host's own words, in one line, shortened. */
  readonly message: string;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** `errors[].code` of a validation failure. */
  readonly codes: readonly string[];
}

interface Verdict {
  readonly when: (refusal: Refusal) => boolean;
  readonly code: FailureCode;
  readonly hint?: (refusal: Refusal) => string;
  readonly passing?: boolean;
}

/** Where nothing has to be changed: the host's own trouble passes, and the bin needs no GitHub. */
export const AGAIN = 'run the step again, or use channel: K3';

/** Whether the host refuses for a while only, because too much was asked of it. */
export const isLimit = ({ status, headers, message }: Omit<Refusal, 'codes'>): boolean =>
  status === 429 ||
  (status === 403 &&
    (headers['x-ratelimit-remaining'] === '0' ||
      headers['retry-after'] !== undefined ||
      /secondary rate/i.test(message)));

/** How an answer of the API is understood; the first row that fits counts. */
const VERDICTS: readonly Verdict[] = [
  {
    when: isLimit,
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
  { when: isRace, code: 'CONFLICT', passing: true, hint: () => `another job writes here too: ${AGAIN}` },
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
function isRace({ status, message, codes }: Refusal): boolean {
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
export function apiFailure(thrown: unknown, call: Call, now: number): DeliveryError {
  const known = failureWithin(thrown);
  if (known !== undefined) return known;
  const refusal = refusalFrom(thrown);
  if (refusal === undefined) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new DeliveryError('CONNECTION', `${call.does} broke off: ${message}`, {
      passing: true,
      hint: AGAIN,
      cause: thrown,
    });
  }
  return refusalFailure(refusal, call.does, now, thrown);
}

/** A refused call as a failure; `what` names the call. */
export function refusalFailure(refusal: Refusal, what: string, now: number, cause?: unknown): DeliveryError {
  const verdict = VERDICTS.find((row) => row.when(refusal));
  const details: FailureDetails = {
    httpCode: refusal.status,
    hint: verdict?.hint?.(refusal) ?? AGAIN,
    passing: verdict?.passing,
    retryAfter: verdict?.code === 'RATE_LIMITED' ? limitPause(refusal, now) : retryAfter(refusal, now),
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

function refusalFrom(thrown: unknown): Refusal | undefined {
  if (!(thrown instanceof Error) || !('response' in thrown)) return undefined;
  const response = thrown.response as
    | { status: number; data: unknown; headers: Refusal['headers'] }
    | undefined;
  if (response === undefined) return undefined;
  return { status: response.status, headers: response.headers, ...refusalBody(response.data) };
}

/** The message and codes of an error body; anything that is not GitHub's JSON gives none. */
export function refusalBody(data: unknown): Pick<Refusal, 'message' | 'codes'> {
  if (typeof data !== 'object' || data === null) return { message: '', codes: [] };
  const { message, errors } = data as { message?: unknown; errors?: unknown };
  const list: unknown[] = Array.isArray(errors) ? errors : [];
  const all = (field: 'code' | 'message'): string[] =>
    list.flatMap((error) => {
      const text = (error as Record<string, unknown> | null)?.[field];
      return text === undefined ? [] : [String(text)];
    });
  return { message: hostMessage([message, ...all('message')].join('; ')), codes: all('code') };
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
function limitPause(refusal: Refusal, now: number): number | undefined {
  const asked = retryAfter(refusal, now);
  if (asked !== undefined) return asked;
  const reset = Number(refusal.headers['x-ratelimit-reset']);
  if (refusal.headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) {
    return Math.max(reset * SECOND - now, 0) + SECOND;
  }
  return undefined;
}
