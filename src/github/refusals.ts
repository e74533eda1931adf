import { DeliveryError, type ErrorCode } from '../errors.ts';
import { CERTIFICATE_HINT, NETWORK_HINT } from '../http/client.ts';
import { isPage } from '../http/response.ts';
import type { Words } from '../words.ts';

export const RETRY_HINT = (w: Words) => `try again${w.orUse('K3')}`;
export const STATUS_HINT = 'check https://www.githubstatus.com, then try again';
export const CONFLICT_HINT = (w: Words) => `another job wrote at the same time: ${RETRY_HINT(w)}`;
export const OTHER_PATH_HINT = (w: Words) => `set ${w.input('path')} to a path that nothing else uses`;
export const OTHER_BRANCH_HINT = (w: Words) =>
  `set ${w.input('branch')} to a branch without this rule, and build the site from that branch (Settings → Pages)${w.orUse('K2', ', which pushes nothing')}`;
const TOKEN_HINT = (w: Words) => `set ${w.input('token')} to a valid token${w.ownToken}${w.orUse('K3')}`;

export interface GitHubRefusal {
  /** The status of the REST API; for GraphQL its REST equivalent; 0 for git, which has only a message. */
  readonly status: number;
  readonly httpCode?: number | undefined;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly permission?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly path?: string | undefined;
}

interface RefusalRule {
  readonly status?: number | readonly number[];
  readonly text?: RegExp;
  readonly when?: (refusal: GitHubRefusal) => boolean;
  readonly code: ErrorCode;
  readonly hint?: string | ((w: Words, refusal: GitHubRefusal) => string);
  readonly retryable?: boolean;
}

/** The failure that a refusal means: the first matching rule decides, otherwise it is `HOST_ERROR`. */
export function refusalError(message: string, refusal: GitHubRefusal): DeliveryError {
  const rule = REFUSAL_RULES.find((candidate) => meetsRule(candidate, refusal));
  const { code = 'HOST_ERROR', hint = RETRY_HINT, retryable } = rule ?? {};
  const { status, httpCode = status, retryAfter } = refusal;
  return new DeliveryError(code, message, {
    httpCode: httpCode || undefined,
    hint: typeof hint === 'string' ? hint : (w) => hint(w, refusal),
    retryable,
    retryAfter,
  });
}

const meetsRule = ({ status, text, when }: RefusalRule, refusal: GitHubRefusal): boolean =>
  (status === undefined || [status].flat().includes(refusal.status)) &&
  (text === undefined || text.test(refusal.message)) &&
  (when === undefined || when(refusal));

/** GitHub's rate-limit messages, also from old Enterprise Server versions and for comments. */
const LIMIT_TEXT = /rate limit|abuse detection|submitted too quickly/i;

const isRateLimited = ({ status, headers = {}, message }: GitHubRefusal): boolean =>
  status === 429 ||
  ([0, 403, 422].includes(status) && LIMIT_TEXT.test(message)) ||
  (status === 403 && (headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined));

/** Statuses that concern the token or the repository, unless the answer is a web page. */
const ABOUT_REPOSITORY = [401, 403, 404, 410, 422];

/** Only writes are subject to the branch's rules. */
const WRITE_REFUSED = [0, 403, 409, 422];

/** It limits names and sizes on every branch, so no other branch helps. */
const PUSH_RULE = /(rule violation|GH013).*\b(file (path|extension|size|name)|path length|extension)s?\b/is;

/** It refuses the same write every time, so it is never a race. Classic protection names only the missing condition. */
const BRANCH_RULE = anyOf(
  /GH0(06|13)\b|rule violation|protected (branch|ref)|branch is protected|(hook|push) declined/,
  /must be made through|status check|review |conversations? must|merge commits|required (deploy|work)/,
  /not (authorized|allowed) to (push|update|create|delete|force-push)|being restricted/,
  /cannot (force-push to|update|delete|create|change) (this )?(locked |protected )?(branch|ref|tag)/,
);

/** Texts of a write that another writer prevented. Any other 409 is not reported as a race. */
const RACE = anyOf(
  /does not match|is at \S+ but expected|"sha" wasn't supplied|BadObjectState|^conflict$/,
  /fast.?forward|\[rejected\]|already.exists|reference does not exist|cannot lock ref|incorrect old value/,
);

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i');
}

/** A permission as the settings of a token show it: `Contents: Read and write` for `contents: write`. */
const nameInSettings = (permission: string): string =>
  permission
    .split(', ')
    .map((part) => {
      const [name = '', level] = part.replace('-', ' ').split(': ');
      return `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${level === 'write' ? 'Read and write' : 'Read-only'}`;
    })
    .join(' and ');

const SIZE_HINT = (w: Words) => `${w.use('K2')} for a file of this size`;

const REFUSAL_RULES: readonly RefusalRule[] = [
  {
    when: isRateLimited,
    code: 'RATE_LIMITED',
    retryable: true,
    hint: (w) =>
      `GitHub's rate limit was reached: try again later, with fewer deliveries at once${w.orUse('K3')}`,
  },
  // GitHub's API never answers these with a web page, so the answer says nothing about the repository.
  {
    status: ABOUT_REPOSITORY,
    when: ({ headers = {} }) => isPage({ headers }),
    code: 'HOST_ERROR',
    hint: (w) => `check ${w.input('api-url')} and the proxy (\`https_proxy\`)${w.orUse('K3')}`,
  },
  {
    status: [301, 302, 307, 308],
    code: 'NOT_FOUND',
    hint: (w) => `the repository has moved: set ${w.input('repository')} to its new name`,
  },
  // The next three: a Pages deployment.
  {
    status: 400,
    text: /in progress deployment/i,
    code: 'CONFLICT',
    hint: 'wait for the other deployment of the site (Settings → Environments → github-pages), then try again',
  },
  {
    status: 400,
    text: /environment protection rules|only allowed from|not allowed to deploy/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: 'allow the branch of this run under Settings → Environments → github-pages → Deployment branches',
  },
  {
    status: 400,
    text: /environment/i,
    code: 'NO_PERMISSION',
    hint: 'run the job in the environment of GitHub Pages: `jobs.<id>.environment: github-pages`',
  },
  { status: 401, code: 'BAD_TOKEN', hint: TOKEN_HINT },
  {
    status: WRITE_REFUSED,
    text: /(was|is|has been) archived/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: (w) =>
      `unarchive the repository under Settings → General, or set ${w.input('repository')} to another repository`,
  },
  {
    status: [403, 410],
    text: /(issue|conversation|pull request) is locked|issues has been disabled/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: (w, { message }) =>
      `${/locked/i.test(message) ? 'unlock the conversation' : 'switch issues on under Settings → General'}, or set ${w.input('comment', 'false')}`,
  },
  // Before the permissions, which don't help: the organization refuses the token for all its repositories.
  {
    status: 403,
    text: /\bSAML\b|single sign-on|\bSSO\b/i,
    code: 'BAD_TOKEN',
    hint: (w) =>
      `authorize the token for the organization's single sign-on (Settings → Developer settings → Configure SSO), or set ${w.input('token')} to another token${w.ownToken}`,
  },
  {
    status: 403,
    text: /IP (address )?allow list/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: (w) => `run it on a machine in the organization's IP allow list${w.orUse('K3')}`,
  },
  {
    status: WRITE_REFUSED,
    text: /cannot contain secrets|secrets? (was |were )?detected/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: 'remove the secret from the file and revoke it: push protection of the repository found it',
  },
  {
    status: WRITE_REFUSED,
    text: PUSH_RULE,
    code: 'FORBIDDEN_BY_RULE',
    hint: (w) =>
      `a push rule of the repository forbids this name or size: set ${w.input('path')} to a name that the rule allows${w.orUse('K2', ', which pushes nothing')}`,
  },
  // GitHub signs commits that its API creates. @see https://docs.github.com/authentication/managing-commit-signature-verification
  {
    status: WRITE_REFUSED,
    text: /must have (a )?(verified|valid) signatures?|commits? (must|need to) be signed/i,
    code: 'NEEDS_SIGNATURE',
    hint: OTHER_BRANCH_HINT,
  },
  {
    status: WRITE_REFUSED,
    text: /without `?workflows?`? (permission|scope)/i,
    code: 'NO_PERMISSION',
    hint: (w) => `set ${w.input('path')} to a path outside .github/workflows`,
  },
  {
    status: WRITE_REFUSED,
    text: /too large|GH001\b|exceeds .*size limit/i,
    code: 'TOO_LARGE',
    hint: SIZE_HINT,
  },
  { status: 413, code: 'TOO_LARGE', hint: SIZE_HINT },
  // Publishing a release creates its tag.
  {
    status: WRITE_REFUSED,
    text: BRANCH_RULE,
    when: ({ path = '' }) => path.includes('/releases'),
    code: 'FORBIDDEN_BY_RULE',
    hint: (w) =>
      `a ruleset forbids this tag (Settings → Rules → Rulesets): set ${w.input('tag')} to an allowed name, or push the tag first as somebody who may bypass it`,
  },
  { status: WRITE_REFUSED, text: BRANCH_RULE, code: 'FORBIDDEN_BY_RULE', hint: OTHER_BRANCH_HINT },
  // A personal token has permissions of its own. The first text comes from the API, the second from git.
  {
    status: 403,
    text: /accessible by personal access token|denied to (?!github-actions\b)/i,
    code: 'NO_PERMISSION',
    hint: (w, { permission = 'contents: write' }) =>
      `${w.person(`give the token ${nameInSettings(permission)} for this repository (Settings → Developer settings → Personal access tokens; an organization may have to approve it)`)}${w.orUse('K3')}`,
  },
  {
    status: 403,
    code: 'NO_PERMISSION',
    hint: (w, { permission }) => (permission === undefined ? TOKEN_HINT(w) : w.grant(permission)),
  },
  {
    status: [400, 410],
    code: 'HOST_ERROR',
    hint: (w) => `update to the newest version of this tool${w.orUse('K3')}`,
  },
  // A replica may not have the commit yet, so retry.
  { status: 404, text: /^No commit found for the ref [0-9a-f]{40}/, code: 'HOST_ERROR', retryable: true },
  {
    status: 404,
    code: 'NOT_FOUND',
    hint: (w) =>
      `check that ${w.input('repository')} and ${w.input('branch')} exist, and that ${w.input('token')} may write there${w.orUse('K3')}`,
  },
  {
    status: 422,
    text: /tag_name was used by an immutable release/i,
    code: 'TAG_USED_UP',
    hint: (w) => `a deleted immutable release had this tag: set ${w.input('tag')} to another tag`,
  },
  {
    status: 422,
    text: /immutable release|file_count|assets per release/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: (w) => `the release accepts no more files: set ${w.input('tag')} to another tag${w.orUse('K3')}`,
  },
  {
    status: [409, 422],
    text: /repository is empty/i,
    code: 'NOT_FOUND',
    hint: (w) => `push a first commit, such as a README${w.orUse('K3')}`,
  },
  // The branch moved, or a file or name was added or removed since it was read.
  { status: WRITE_REFUSED, text: RACE, code: 'CONFLICT', retryable: true, hint: CONFLICT_HINT },
  // This tool sends no conditional requests, so a 304 comes from a cache on the way to GitHub.
  {
    when: ({ status }) => [304, 408, 409].includes(status) || status >= 500,
    code: 'HOST_ERROR',
    retryable: true,
  },
  // git could not reach the host.
  { status: 0, text: /certificate|SSL CA/i, code: 'CONNECTION', hint: CERTIFICATE_HINT },
  {
    status: 0,
    text: /could not resolve|failed to connect|couldn't connect|connection refused|from proxy|CONNECT tunnel/i,
    code: 'NO_NETWORK',
    hint: NETWORK_HINT,
    retryable: true,
  },
  {
    status: 0,
    text: /(unable to|cannot) access|could not read from remote|RPC failed|hung up|early EOF|disconnect|empty reply|curl \d|expected flush/i,
    code: 'CONNECTION',
    retryable: true,
  },
];
