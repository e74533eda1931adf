import { DeliveryError, type ErrorCode, type ErrorDetails } from '../../errors.ts';
import { getHostTime, parseRetryAfter } from '../../http/response.ts';
import type { CallTemplate } from '../../protocol/calls.ts';
import { SECOND } from '../../protocol/limits.ts';
import {
  ALLOW_LIST_HINT,
  CONFLICT_HINT,
  formatPermissionHint,
  MOVED_HINT,
  NEWER_ACTION_HINT,
  NOT_FOUND_HINT,
  PAGE_HINT,
  RATE_LIMIT_HINT,
  RETRY_HINT,
  SIZE_HINT,
  TOKEN_HINT,
} from '../hints.ts';
import { SHARED_REFUSALS } from '../host-messages.ts';
import { type ApiRefusal, GRAPHQL_FAULT, GRAPHQL_LIMIT, isPage, parseRefusal } from './refusal.ts';

/** The parts of a call that describe its failure. */
type RefusedCall = Pick<CallTemplate, 'description' | 'permission'>;

interface RefusalRule {
  readonly when: (refusal: ApiRefusal) => boolean;
  readonly code: ErrorCode;
  readonly hint?: string | ((refusal: ApiRefusal, call: RefusedCall) => string);
  /** What it means, where the answer itself does not say it. */
  readonly meaning?: string;
  readonly retryable?: boolean;
}

/** GitHub's own words for too many requests; Enterprise Server has older ones, and comments have some of their own. */
const LIMIT_TEXT = /secondary rate|abuse detection|submitted too quickly/i;

/** Whether GitHub refuses only for a while, because it received too many requests. */
export const isRateLimited = ({
  status,
  headers,
  message,
  codes = [],
}: Omit<ApiRefusal, 'codes'> & Partial<ApiRefusal>): boolean =>
  status === 429 ||
  codes.includes(GRAPHQL_LIMIT) ||
  ([403, 422].includes(status) && LIMIT_TEXT.test(message)) ||
  (status === 403 && (hasNoneLeft(headers, message) || headers['retry-after'] !== undefined));

/** The last request of the hour may be refused for another reason, which GitHub then says. */
const hasNoneLeft = (headers: ApiRefusal['headers'], message: string): boolean =>
  headers['x-ratelimit-remaining'] === '0' && !/not accessible/i.test(message);

/** Statuses that say something of the token or the repository; a page with 413 or 408 means the same as without it. */
const ABOUT_REPOSITORY = [401, 403, 404, 410, 422, 451];

/** The meaning of each refusal; the first rule that matches counts. */
const REFUSAL_RULES: readonly RefusalRule[] = [
  { when: isRateLimited, code: 'RATE_LIMITED', retryable: true, hint: RATE_LIMIT_HINT },
  // GitHub's API never answers so with a page: it says nothing of the repository, such as that something is absent.
  {
    when: (refusal) => ABOUT_REPOSITORY.includes(refusal.status) && isPage(refusal),
    code: 'HOST_ERROR',
    meaning: "a page came instead of an answer of GitHub's API",
    hint: PAGE_HINT,
  },
  {
    when: ({ status, message }) => status === 400 && /api-version.*not a supported version/i.test(message),
    code: 'HOST_ERROR',
    hint: NEWER_ACTION_HINT,
  },
  { when: ({ codes }) => codes.includes('NOT_FOUND'), code: 'NOT_FOUND', hint: NOT_FOUND_HINT },
  {
    when: ({ codes }) => codes.includes('FORBIDDEN') || codes.includes('INSUFFICIENT_SCOPES'),
    code: 'NO_PERMISSION',
    hint: TOKEN_HINT,
  },
  {
    when: ({ codes, message }) =>
      codes.includes(GRAPHQL_FAULT) && !/something went wrong|time(d )?out|try again/i.test(message),
    code: 'HOST_ERROR',
    hint: RETRY_HINT,
  },
  { when: ({ status }) => status === 401, code: 'BAD_TOKEN', hint: TOKEN_HINT },
  asRefusedWrite(SHARED_REFUSALS.archived),
  {
    when: ({ status, message }) =>
      status === 403 && /(issue|conversation|pull request) is locked/i.test(message),
    code: 'FORBIDDEN_BY_RULE',
    hint: 'unlock the conversation of the pull request, or set `comment: false`',
  },
  // Before the permissions, which do not help: the token is refused for every repository of the organization.
  {
    when: ({ status, headers, message }) =>
      status === 403 &&
      (headers['x-github-sso'] !== undefined || SHARED_REFUSALS.singleSignOn.text.test(message)),
    code: SHARED_REFUSALS.singleSignOn.code,
    hint: SHARED_REFUSALS.singleSignOn.hint,
  },
  {
    when: ({ status, message }) => status === 403 && /IP (address )?allow list/i.test(message),
    code: 'FORBIDDEN_BY_RULE',
    hint: ALLOW_LIST_HINT,
  },
  asRefusedWrite(SHARED_REFUSALS.secret),
  asRefusedWrite(SHARED_REFUSALS.pushRule),
  asRefusedWrite(SHARED_REFUSALS.signature),
  asRefusedWrite(SHARED_REFUSALS.branchRule),
  { when: ({ status }) => status === 403, code: 'NO_PERMISSION', hint: createPermissionHint },
  {
    when: ({ status, message }) => status === 410 && /issues/i.test(message),
    code: 'FORBIDDEN_BY_RULE',
    hint: 'switch issues on under Settings → General → Features, or set `comment: false`',
  },
  {
    when: ({ status }) => status === 410,
    code: 'HOST_ERROR',
    meaning: 'GitHub does not offer this any more',
    hint: NEWER_ACTION_HINT,
  },
  {
    when: ({ status }) => status === 451,
    code: 'FORBIDDEN_BY_RULE',
    meaning: 'access to the repository is blocked for legal reasons',
    hint: 'set `repository:` to another one, or use channel: K3',
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
    when: ({ status, message }) => status === 422 && /file_count|assets per release/i.test(message),
    code: 'TOO_LARGE',
    hint: 'the release is full: set `tag:` to another one, or use channel: K3',
  },
  {
    when: ({ status, message }) => status === 422 && /size must be less than/i.test(message),
    code: 'TOO_LARGE',
    hint: 'GitHub takes assets below 2 GiB only: use channel: K3',
  },
  {
    when: ({ status, message }) => status === 422 && /reference does not exist/i.test(message),
    code: 'NOT_FOUND',
    hint: NOT_FOUND_HINT,
  },
  {
    when: ({ status, message }) => status === 413 || (status === 422 && /too large/i.test(message)),
    code: 'TOO_LARGE',
    hint: SIZE_HINT,
  },
  {
    when: ({ status, message }) => status === 409 && /repository is empty/i.test(message),
    code: 'NOT_FOUND',
    hint: 'the repository has no commit yet: push a first one, such as a README, or set `setup: true`, or use channel: K3',
  },
  {
    when: ({ status, message }) => status === 422 && /repository is empty/i.test(message),
    code: 'NOT_FOUND',
    hint: 'the repository has no commit yet: push a first one, such as a README, or use channel: K3',
  },
  { when: isConflict, code: 'CONFLICT', retryable: true, hint: CONFLICT_HINT },
  // Nothing was asked for on the condition that it has changed: a cache between this machine and GitHub answers.
  { when: ({ status }) => status === 304, code: 'HOST_ERROR', retryable: true },
  { when: ({ status }) => status >= 300 && status < 400, code: 'NOT_FOUND', hint: MOVED_HINT },
  // A proxy between this machine and GitHub may answer 200 with a page of its own.
  {
    when: ({ status }) => status < 300 || status === 408 || status === 409 || status >= 500,
    code: 'HOST_ERROR',
    retryable: true,
  },
];

/** The rule for a refused write: an answer to a read says nothing about the branch's rules. */
function asRefusedWrite({
  text,
  code,
  hint,
}: (typeof SHARED_REFUSALS)[keyof typeof SHARED_REFUSALS]): RefusalRule {
  const when = ({ status, message }: ApiRefusal): boolean =>
    [403, 409, 422].includes(status) && text.test(message);
  return { when, code, hint };
}

/** Words of a 409 that another writer caused; any other reason is not said to be one. */
const RACE = /does not match|is at \S+ but expected|fast.?forward|already exists|^(conflict)?$/i;

/** Whether another writer was first: the branch moved, or a file or name was added or removed since it was read. */
function isConflict({ status, message, codes }: ApiRefusal): boolean {
  if (status === 409) return RACE.test(message) || codes.includes('already_exists');
  return (
    status === 422 &&
    (/"sha" wasn't supplied|fast.?forward|BadObjectState|reference already exists/i.test(message) ||
      codes.includes('already_exists'))
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
  if (refusal !== undefined) return refusalError(refusal, call, now, thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new DeliveryError('CONNECTION', `${call.description} broke off: ${message}`, {
    retryable: true,
    hint: RETRY_HINT,
    cause: thrown,
  });
}

/** The failure that a refusal means for the call. */
export function refusalError(
  refusal: ApiRefusal,
  call: RefusedCall,
  now: number,
  cause?: unknown,
): DeliveryError {
  const rule = REFUSAL_RULES.find(({ when }) => when(refusal));
  const hint = typeof rule?.hint === 'function' ? rule.hint(refusal, call) : rule?.hint;
  const meaning = refusal.message || (rule?.meaning ?? '');
  const details: ErrorDetails = {
    httpCode: refusal.status,
    hint: hint ?? RETRY_HINT,
    retryable: rule?.retryable,
    retryAfter: rule?.code === 'RATE_LIMITED' ? getLimitPause(refusal, now) : parseRetryAfter(refusal, now),
    cause,
  };
  return new DeliveryError(
    rule?.code ?? 'HOST_ERROR',
    `${call.description} answered HTTP ${refusal.status}${meaning === '' ? '' : `: ${meaning}`}`,
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

/**
 * Names what the call needs. `X-Accepted-GitHub-Permissions` lists alternatives; ours is preferred, because not
 * all of them work everywhere: with `issues: write` alone, GitHub refuses comments on pull requests.
 */
function createPermissionHint({ headers }: ApiRefusal, { permission }: RefusedCall): string {
  const accepted = String(headers['x-accepted-github-permissions'] ?? '')
    .split(';')
    .map((alternative) =>
      alternative
        .replace(/_/g, '-')
        .trim()
        .replace(/\s*=\s*/g, ': ')
        .replace(/\s*,\s*/g, ', '),
    )
    .filter((alternative) => alternative !== '');
  const [first] = accepted;
  const needed =
    permission !== undefined && accepted.includes(permission) ? permission : (first ?? permission);
  return needed === undefined ? TOKEN_HINT : formatPermissionHint(needed);
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
export const isNotFound = (thrown: unknown): boolean => isFailure(thrown, 'NOT_FOUND', 404);

/** Whether GitHub says that the repository has no commit, and so neither branches nor files. */
export const isEmptyRepository = (thrown: unknown): boolean => isFailure(thrown, 'NOT_FOUND', 409);

const isFailure = (thrown: unknown, code: ErrorCode, status: number): boolean =>
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
