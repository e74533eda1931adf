import { DeliveryError, type ErrorCode } from '../../errors.ts';
import { shortHostMessage } from '../../http/host-message.ts';
import { createRedactor } from '../../redact.ts';
import { RETRY_HINT } from '../hints.ts';
import type { GitResult } from './process.ts';

interface GitRule {
  readonly when: RegExp;
  readonly code: ErrorCode;
  /** The HTTP code that git translated into words of its own. */
  readonly status?: number;
  readonly hint?: string;
  readonly passing?: boolean;
}

/** How git's words are understood, its own as well as those it passes on; the first row that fits counts. */
const GIT_RULES: readonly GitRule[] = [
  {
    when: /could not read (username|password)|authentication failed|(returned error:|HTTP) 401/i,
    code: 'BAD_TOKEN',
    status: 401,
    hint: "set `token:` to a valid token, or leave it out for the job's own ${{ github.token }}, or use channel: K3",
  },
  {
    when: /(returned error:|HTTP) 429|rate limit/i,
    code: 'RATE_LIMITED',
    hint: 'GitHub limits this token for a while: run fewer deliveries at once, or later, or use channel: K3',
    passing: true,
  },
  {
    when: /without `?workflows?`? (permission|scope)/i,
    code: 'NO_PERMISSION',
    hint: 'set `path:` to a place outside .github/workflows',
  },
  {
    when: /(returned error:|HTTP) 403|permission to \S+ denied|write access to repository not granted/i,
    code: 'NO_PERMISSION',
    hint: 'add `permissions: { contents: write }` to the job; a pull request from a fork gets a read-only token whatever is asked: use channel: K3 there',
  },
  {
    when: /couldn't find remote ref|repository .*not found|returned error: (404|30\d)|redirect/i,
    code: 'NOT_FOUND',
    hint: 'check that `repository:` and `branch:` exist, and that `token:` may write there, or use channel: K3',
  },
  {
    when: /GH001\b|exceeds .*size limit|maximum allowed size|(returned error:|HTTP) 413/i,
    code: 'TOO_LARGE',
    hint: 'use channel: K2 for a file of this size',
  },
  {
    when: /GH0(06|13)\b|rule violations|protected branch|through a pull request|hook declined|push declined/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: 'let the workflow bypass the rule, set `branch:` to one without it, or use channel: K2',
  },
  {
    when: /\[rejected\]|cannot lock ref|failed to update ref|incorrect old value|reference already exists/i,
    code: 'CONFLICT',
    passing: true,
  },
  {
    when: /certificate|SSL CA/i,
    code: 'CONNECTION',
    hint: "add the proxy's certificate to NODE_EXTRA_CA_CERTS",
  },
  {
    when: /could not resolve|failed to connect|couldn't connect|connection refused|from proxy|CONNECT tunnel/i,
    code: 'NO_NETWORK',
    hint: 'check the network of the job, and its https_proxy and no_proxy variables',
    passing: true,
  },
  { when: /(returned error:|HTTP) (408|5\d\d)|internal server error/i, code: 'HOST_ERROR', passing: true },
  {
    when: /(unable to|cannot) access|could not read from remote|RPC failed|hung up|early EOF|disconnect|empty reply|curl \d|expected flush/i,
    code: 'CONNECTION',
    passing: true,
  },
];

/** Lines that tell nothing about a failure. */
const IDLE =
  /^(hint:|error: failed to push some refs|To https:|Done$|Everything up-to-date|(remote: )?\w+ objects: |(remote: )?Total \d)/;

/** A git that ended with a failure, as a failure of the delivery. Its words are bounded, and hold no secret. */
export function gitError(
  does: string,
  { exitCode, out, err }: GitResult,
  { online, secrets }: { readonly online: boolean; readonly secrets: readonly string[] },
): DeliveryError {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.addSecret(secret);
  const lines = `${err}\n${out}`.split(/[\r\n]+/).map((line) => line.trim());
  const words = redactor.redact(lines.filter((line) => line !== '' && !IDLE.test(line)).join('; '));
  const message = `${does} failed: ${shortHostMessage(words) || `git ended with ${exitCode}`}`;
  if (/appears as both a file and as a directory/.test(words)) {
    return new DeliveryError('NOT_OURS', message, { hint: 'set `path:` to a place of its own' });
  }
  // What goes wrong on this machine alone is nobody's refusal.
  if (!online) return new DeliveryError('INTERNAL', message);
  const verdict = GIT_RULES.find(({ when }) => when.test(words));
  const [, status] = /(?:returned error:|HTTP) (\d{3})/.exec(words) ?? [];
  return new DeliveryError(verdict?.code ?? 'HOST_ERROR', message, {
    httpCode: status === undefined ? verdict?.status : Number(status),
    hint: verdict?.hint ?? RETRY_HINT,
    retryable: verdict?.passing,
  });
}

/** There is no git here, or none that is new enough. */
export function noGitError(cause?: unknown): DeliveryError {
  return new DeliveryError(
    'BAD_INPUT',
    'a file of this size can only be committed by git, and no git (2.31 or later) is installed here',
    { hint: 'install git, or use channel: K2', cause },
  );
}
