import { createRedactor } from '../../credentials.ts';
import { DeliveryError } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import { refusalError } from '../refusals.ts';
import type { GitResult } from './process.ts';

/** The HTTP codes that git replaces by words of its own. */
const STATUSES: readonly (readonly [RegExp, number])[] = [
  [/could not read (username|password)|authentication failed/i, 401],
  [/permission to \S+ denied|write access to repository not granted/i, 403],
  [/couldn't find remote ref|repository .*not found/i, 404],
  [/redirect/i, 301],
  [/internal server error/i, 500],
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
  if (!online) return new DeliveryError('INTERNAL', message);
  const [, told] = /(?:returned error:|HTTP) (\d{3})/.exec(output) ?? [];
  const status = Number(told ?? STATUSES.find(([text]) => text.test(output))?.[1] ?? 0);
  return refusalError(message, { status, message: output, permission: 'contents: write' });
}

export function noGitError(): DeliveryError {
  return new DeliveryError(
    'BAD_INPUT',
    'a file of this size can only be committed by git, and no git (2.31 or later) is installed here',
    { hint: (w) => `install git${w.orUse('K2')}` },
  );
}
