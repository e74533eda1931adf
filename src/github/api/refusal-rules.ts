import type { ErrorCode } from '../../errors.ts';
import { isPage } from '../../http/response.ts';
import type { CallTemplate } from '../../protocol/calls.ts';
import type { Words } from '../../words.ts';
import {
  CONFLICT_HINT,
  NEWER_ACTION_HINT,
  NOT_FOUND_HINT,
  permissionHint,
  RATE_LIMIT_HINT,
  SHARED_REFUSALS,
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

/** Our own code for any error in an answer of GraphQL, beside the error's type. */
export const GRAPHQL_FAULT = 'GRAPHQL_FAULT';

/** The parts of a call that describe its failure. */
export type RefusedCall = Pick<CallTemplate, 'description' | 'permission'>;

/** A rule matches where everything that it names does. */
interface RefusalRule {
  readonly status?: number | readonly number[];
  readonly text?: RegExp;
  readonly when?: (refusal: ApiRefusal) => boolean;
  readonly code: ErrorCode;
  readonly hint?: string | ((w: Words, refusal: ApiRefusal, call: RefusedCall) => string);
  /** What it means, where the answer itself does not say it. */
  readonly meaning?: string;
  readonly retryable?: boolean;
}

/** What a refusal means; the first rule that matches counts. */
export const findRule = (refusal: ApiRefusal): RefusalRule | undefined =>
  REFUSAL_RULES.find((rule) => matches(rule, refusal));

const matches = ({ status, text, when }: RefusalRule, refusal: ApiRefusal): boolean =>
  (status === undefined || [status].flat().includes(refusal.status)) &&
  (text === undefined || text.test(refusal.message)) &&
  (when === undefined || when(refusal));

/** GitHub's own words for too many requests; Enterprise Server has older ones, and comments have some of their own. */
const LIMIT_TEXT = /secondary rate|abuse detection|submitted too quickly/i;

/** Whether GitHub refuses only for a while, because it received too many requests. */
export const isRateLimited = ({ status, headers, message, codes }: ApiRefusal): boolean =>
  status === 429 ||
  codes.includes('RATE_LIMITED') ||
  (codes.includes(GRAPHQL_FAULT) && /rate limit/i.test(message)) ||
  ([403, 422].includes(status) && LIMIT_TEXT.test(message)) ||
  (status === 403 && (hasNoneLeft(headers, message) || headers['retry-after'] !== undefined));

/** The last request of the hour may be refused for another reason, which GitHub then says. */
const hasNoneLeft = (headers: ApiRefusal['headers'], message: string): boolean =>
  headers['x-ratelimit-remaining'] === '0' && !/not accessible/i.test(message);

/** Statuses that say something of the token or the repository; a page with 413 or 408 means the same as without it. */
const ABOUT_REPOSITORY = [401, 403, 404, 410, 422, 451];

/** Statuses of a refused write: an answer to a read says nothing about the branch's rules. */
const WRITE_REFUSED = [403, 409, 422];

const NO_COMMIT = 'the repository has no commit yet: push a first one, such as a README';

/** The meaning of each refusal; the first rule that matches counts. */
const REFUSAL_RULES: readonly RefusalRule[] = [
  { when: isRateLimited, code: 'RATE_LIMITED', retryable: true, hint: RATE_LIMIT_HINT },
  // GitHub's API never answers so with a page: it says nothing of the repository, such as that something is absent.
  {
    status: ABOUT_REPOSITORY,
    when: isPage,
    code: 'HOST_ERROR',
    meaning: "a page came instead of an answer of GitHub's API",
    hint: (w) => `check ${w.input('api-url')} and the proxy (\`https_proxy\`), or ${w.use('K3')}`,
  },
  // Of a Pages deployment.
  {
    status: 400,
    text: /in progress deployment/i,
    code: 'CONFLICT',
    hint: 'wait for the other deployment of the site (Settings → Environments → github-pages), and try again',
  },
  {
    status: 400,
    text: /environment protection rules|only allowed from|not allowed to deploy/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: 'let the branch of this run deploy under Settings → Environments → github-pages → Deployment branches',
  },
  {
    status: 400,
    text: /environment/i,
    code: 'NO_PERMISSION',
    hint: 'give the job the environment github-pages (`jobs.<id>.environment`)',
  },
  { status: 400, text: /api-version.*not a supported/i, code: 'HOST_ERROR', hint: NEWER_ACTION_HINT },
  { when: ({ codes }) => codes.includes('NOT_FOUND'), code: 'NOT_FOUND', hint: NOT_FOUND_HINT },
  {
    when: ({ codes }) => codes.includes('FORBIDDEN') || codes.includes('INSUFFICIENT_SCOPES'),
    code: 'NO_PERMISSION',
    hint: TOKEN_HINT,
  },
  // GraphQL's faults have HTTP 200.
  {
    text: /something went wrong|time(d )?out|try again/i,
    when: ({ codes }) => codes.includes(GRAPHQL_FAULT),
    code: 'HOST_ERROR',
    retryable: true,
  },
  { status: 401, code: 'BAD_TOKEN', hint: TOKEN_HINT },
  { status: WRITE_REFUSED, ...SHARED_REFUSALS.archived },
  {
    status: 403,
    text: /(issue|conversation|pull request) is locked/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: (w) => `unlock the conversation of the pull request, or set ${w.input('comment', 'false')}`,
  },
  // Before the permissions, which do not help: the token is refused for every repository of the organization.
  {
    status: 403,
    when: ({ headers, message }) =>
      headers['x-github-sso'] !== undefined || SHARED_REFUSALS.singleSignOn.text.test(message),
    code: SHARED_REFUSALS.singleSignOn.code,
    hint: SHARED_REFUSALS.singleSignOn.hint,
  },
  {
    status: 403,
    text: /IP (address )?allow list/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: (w) => `run it on a machine of the organization's IP allow list, or ${w.use('K3')}`,
  },
  { status: WRITE_REFUSED, ...SHARED_REFUSALS.secret },
  { status: WRITE_REFUSED, ...SHARED_REFUSALS.pushRule },
  { status: WRITE_REFUSED, ...SHARED_REFUSALS.signature },
  { status: WRITE_REFUSED, ...SHARED_REFUSALS.branchRule },
  { status: 403, code: 'NO_PERMISSION', hint: createPermissionHint },
  {
    status: 410,
    text: /issues/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: (w) => `switch issues on under Settings → General, or set ${w.input('comment', 'false')}`,
  },
  {
    status: 410,
    code: 'HOST_ERROR',
    meaning: 'GitHub does not offer this any more',
    hint: NEWER_ACTION_HINT,
  },
  {
    status: 451,
    code: 'FORBIDDEN_BY_RULE',
    meaning: 'access to the repository is blocked for legal reasons',
    hint: (w) => `set ${w.input('repository')} to another one, or ${w.use('K3')}`,
  },
  {
    status: 404,
    text: /branch \S+ not found/i,
    code: 'NOT_FOUND',
    hint: (w) => `set ${w.input('branch')} to one that exists, or leave it out, or ${w.use('K2')}`,
  },
  { status: 404, code: 'NOT_FOUND', hint: NOT_FOUND_HINT },
  {
    text: /tag_name was used by an immutable release/i,
    code: 'TAG_USED_UP',
    hint: (w) => `a deleted immutable release had this tag: set ${w.input('tag')} to another one`,
  },
  {
    text: /immutable release/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: (w) =>
      `a published release stays as it is: set ${w.input('tag')} to another one, or ${w.use('K3')}`,
  },
  {
    status: 422,
    text: /file_count|assets per release/i,
    code: 'TOO_LARGE',
    hint: (w) => `the release is full: set ${w.input('tag')} to another one, or ${w.use('K3')}`,
  },
  {
    status: 422,
    text: /size must be less than/i,
    code: 'TOO_LARGE',
    hint: (w) => `GitHub takes assets below 2 GiB only: ${w.use('K3')}`,
  },
  { status: 422, text: /reference does not exist/i, code: 'NOT_FOUND', hint: NOT_FOUND_HINT },
  {
    when: ({ status, message }) => status === 413 || (status === 422 && /too large/i.test(message)),
    code: 'TOO_LARGE',
    hint: SIZE_HINT,
  },
  {
    status: 409,
    text: /repository is empty/i,
    code: 'NOT_FOUND',
    hint: (w) => `${NO_COMMIT}, or set ${w.input('setup', 'true')}, or ${w.use('K3')}`,
  },
  {
    status: 422,
    text: /repository is empty/i,
    code: 'NOT_FOUND',
    hint: (w) => `${NO_COMMIT}, or ${w.use('K3')}`,
  },
  { when: isConflict, code: 'CONFLICT', retryable: true, hint: CONFLICT_HINT },
  // Nothing was asked for on the condition that it has changed: a cache between this machine and GitHub answers 304.
  { status: [304, 408, 409], code: 'HOST_ERROR', retryable: true },
  { when: ({ status }) => status >= 500, code: 'HOST_ERROR', retryable: true },
];

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
 * Names what the call needs. `X-Accepted-GitHub-Permissions` lists alternatives; ours is preferred, because not
 * all of them work everywhere: with `issues: write` alone, GitHub refuses comments on pull requests.
 */
function createPermissionHint(w: Words, { headers }: ApiRefusal, { permission }: RefusedCall): string {
  const accepted = String(headers['x-accepted-github-permissions'] ?? '')
    .replaceAll('_', '-')
    .replace(/\s*=\s*/g, ': ')
    .replace(/\s*,\s*/g, ', ')
    .split(/\s*;\s*/)
    .filter((alternative) => alternative !== '');
  const [first] = accepted;
  const needed =
    permission !== undefined && accepted.includes(permission) ? permission : (first ?? permission);
  return (needed === undefined ? TOKEN_HINT : permissionHint(needed))(w);
}
