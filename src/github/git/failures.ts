import { createRedactor } from '../../credentials.ts';
import { DeliveryError, type ErrorCode } from '../../errors.ts';
import { CERTIFICATE_HINT, NETWORK_HINT } from '../../http/client.ts';
import { shortHostMessage } from '../../http/response.ts';
import type { Text } from '../../words.ts';
import {
  MOVED_HINT,
  NOT_FOUND_HINT,
  OTHER_PATH_HINT,
  permissionHint,
  RATE_LIMIT_HINT,
  RETRY_HINT,
  SHARED_REFUSALS,
  SIZE_HINT,
  TOKEN_HINT,
} from '../hints.ts';
import type { GitResult } from './process.ts';

interface GitRule {
  readonly text: RegExp;
  readonly code: ErrorCode;
  /** The HTTP code that git replaced by a message of its own. */
  readonly status?: number;
  readonly hint?: Text;
  readonly retryable?: boolean;
}

/** The meaning of git's messages and of those that it passes on; the first rule that matches counts. */
const GIT_RULES: readonly GitRule[] = [
  { ...SHARED_REFUSALS.archived, status: 403 },
  { ...SHARED_REFUSALS.singleSignOn, status: 403 },
  SHARED_REFUSALS.secret,
  SHARED_REFUSALS.pushRule,
  SHARED_REFUSALS.signature,
  {
    text: /could not read (username|password)|authentication failed|(returned error:|HTTP) 401/i,
    code: 'BAD_TOKEN',
    status: 401,
    hint: TOKEN_HINT,
  },
  {
    text: /(returned error:|HTTP) 429|rate limit/i,
    code: 'RATE_LIMITED',
    hint: RATE_LIMIT_HINT,
    retryable: true,
  },
  {
    text: /without `?workflows?`? (permission|scope)/i,
    code: 'NO_PERMISSION',
    hint: (w) => `set ${w.input('path')} to a place outside .github/workflows`,
  },
  {
    text: /(returned error:|HTTP) 403|permission to \S+ denied|write access to repository not granted/i,
    code: 'NO_PERMISSION',
    hint: permissionHint('contents: write'),
  },
  { text: /returned error: 30\d|redirect/i, code: 'NOT_FOUND', hint: MOVED_HINT },
  {
    text: /couldn't find remote ref/i,
    code: 'NOT_FOUND',
    hint: (w) =>
      `set ${w.input('branch')} to one that exists; a repository without a commit has none: push a first one, such as a README, or ${w.use('K3')}`,
  },
  { text: /repository .*not found|returned error: 404/i, code: 'NOT_FOUND', hint: NOT_FOUND_HINT },
  {
    text: /GH001\b|exceeds .*size limit|maximum allowed size|(returned error:|HTTP) 413/i,
    code: 'TOO_LARGE',
    hint: SIZE_HINT,
  },
  SHARED_REFUSALS.branchRule,
  {
    text: /\[rejected\]|cannot lock ref|failed to update ref|incorrect old value|reference already exists/i,
    code: 'CONFLICT',
    retryable: true,
  },
  {
    text: /certificate|SSL CA/i,
    code: 'CONNECTION',
    hint: CERTIFICATE_HINT,
  },
  {
    text: /could not resolve|failed to connect|couldn't connect|connection refused|from proxy|CONNECT tunnel/i,
    code: 'NO_NETWORK',
    hint: NETWORK_HINT,
    retryable: true,
  },
  { text: /(returned error:|HTTP) (408|5\d\d)|internal server error/i, code: 'HOST_ERROR', retryable: true },
  {
    text: /(unable to|cannot) access|could not read from remote|RPC failed|hung up|early EOF|disconnect|empty reply|curl \d|expected flush/i,
    code: 'CONNECTION',
    retryable: true,
  },
];

/** Lines of output that do not describe a failure. */
const IRRELEVANT_LINE =
  /^(hint:|error: failed to push some refs|To https:|Done$|Everything up-to-date|\w+ objects: |Total \d)/;

/** What git puts before each line that the host says. */
const HOST_PREFIX = /^remote:\s*(error:\s*)?/;

/**
 * The failure of a git command. Its message is limited and contains no secret.
 *
 * @param options.online whether the command talked to the host; otherwise the failure is one of this machine
 */
export function gitError(
  description: string,
  { exitCode, out, err }: GitResult,
  { online, secrets }: { readonly online: boolean; readonly secrets: readonly string[] },
): DeliveryError {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.addSecret(secret);
  const lines = `${err}\n${out}`.split(/[\r\n]+/).map((line) => line.trim());
  const join = (some: readonly string[]): string =>
    redactor.redact(
      some
        .map((line) => line.replace(HOST_PREFIX, ''))
        .filter((line) => line !== '' && !IRRELEVANT_LINE.test(line))
        .join('; '),
    );
  const output = join(lines);
  // What the host says is told alone: git adds its own form of the same.
  const said = join(lines.filter((line) => HOST_PREFIX.test(line))) || output;
  const message = `${description} failed: ${shortHostMessage(said) || `git ended with ${exitCode}`}`;
  if (/appears as both a file and as a directory/.test(output)) {
    return new DeliveryError('NOT_OURS', message, { hint: OTHER_PATH_HINT });
  }
  if (!online) return new DeliveryError('INTERNAL', message);
  const rule = GIT_RULES.find(({ text }) => text.test(output));
  const [, status] = /(?:returned error:|HTTP) (\d{3})/.exec(output) ?? [];
  return new DeliveryError(rule?.code ?? 'HOST_ERROR', message, {
    httpCode: status === undefined ? rule?.status : Number(status),
    hint: rule?.hint ?? RETRY_HINT,
    retryable: rule?.retryable,
  });
}

/** No git is installed, or none that is new enough. */
export function noGitError(cause?: unknown): DeliveryError {
  return new DeliveryError(
    'BAD_INPUT',
    'a file of this size can only be committed by git, and no git (2.31 or later) is installed here',
    { hint: (w) => `install git, or ${w.use('K2')}`, cause },
  );
}
