import { DeliveryError, hasFailed, type Result, resultOf } from '../errors.ts';
import { firstFew, nameFew } from '../plain-text.ts';
import { createCredentialSearch } from '../rules/fingerprint.ts';
import { createMemoryFile, type LocalFile, refuseCredential } from '../rules/inspect.ts';
import { nameSecret } from '../rules/secrets/rule-keywords.ts';
import { findSecretsInText, refuseSecrets } from '../rules/secrets/secrets.ts';
import { createSecretPattern } from '../secret-pattern.ts';
import type { RequestContext } from './delivery-context.ts';

/**
 * Checks the content of a file without a host, secrets first.
 *
 * @param given the file as messages name it
 * @see protocol 1 (file rules), 7 (prohibition 3), 8
 */
export async function findProblems(
  file: LocalFile,
  given: string,
  run: RequestContext,
): Promise<FileProblems> {
  const secrets = await resultOf(() => refuseSecrets(file, run.request.allowSecret, run));
  const pointer = await resultOf(() => refuseLfsPointer(file, given));
  return { secrets, others: [pointer, await resultOf(async () => refuseMissingMarker(file, given))] };
}

/** Checks a content in memory. @returns how many findings were allowed @throws {DeliveryError} the first problem */
export async function checkContent(
  content: string | Buffer,
  name: string,
  run: RequestContext,
): Promise<number> {
  const bytes = Buffer.from(content);
  refuseCredential(name, createCredentialSearch(run.request.ownSecrets)(bytes));
  const file = createMemoryFile(name, bytes);
  // A text that was made from a file has other lines.
  const searched = typeof content === 'string' ? { ...file, binary: true } : file;
  const { secrets, others } = await findProblems(searched, name, run);
  for (const result of [secrets, ...others]) if (hasFailed(result)) throw result;
  return secrets as number;
}

export interface FileProblems {
  /** How many findings were allowed; a failure if any was not. */
  readonly secrets: Result<number>;
  readonly others: readonly Result<void>[];
}

/** @throws {DeliveryError} `BAD_INPUT` if the marker was not found */
export function refuseMissingMarker({ markerCount }: Pick<LocalFile, 'markerCount'>, given: string): void {
  if (markerCount !== 0) return;
  throw new DeliveryError('BAD_INPUT', `the expected text was not found in the file ${given}`, {
    hint: (w) => `set ${w.input('marker')} to a text of the file, or leave it out to compare all bytes`,
  });
}

/** @param names the files that have allowed findings */
export const describeAllowed = (names: readonly string[]): readonly string[] =>
  names.length === 0
    ? []
    : [`whether allowed findings that look like secrets are harmless: ${nameFew(names)}`];

/** Joins all problems of a file or folder in one error. */
export function describeProblems(about: string, results: readonly Result<unknown>[]): DeliveryError {
  const problems = results.filter(hasFailed);
  const stopped = problems.find(({ code }) => code === 'ABORTED');
  const [only, ...others] = problems;
  if (stopped !== undefined) return stopped;
  if (only !== undefined && others.length === 0) return only;
  const found = problems.flatMap(({ findings, about }) => (findings.length > 0 ? findings : [about]));
  const ways = problems.filter(
    ({ hint }, at) => problems.findIndex((problem) => problem.hint === hint) === at,
  );
  return new DeliveryError('BAD_FILE', about, {
    hint: (w) =>
      ways.length > 2 ? 'correct what writes it' : ways.map(({ advice = '' }) => w.say(advice)).join('; '),
    leftBehind: [],
    findings: firstFew(found),
  });
}

/** Names appear in URLs, commits, reports and logs. @see protocol 7 (prohibition 3) */
export async function refuseSecretNames(
  names: readonly string[],
  { request, logger }: Pick<RequestContext, 'request' | 'logger'>,
): Promise<void> {
  const { ownSecrets, allowSecret } = request;
  const text = names.join('\n');
  const own = ownSecrets.find(({ value }) => createSecretPattern(value).isIn(text));
  const found = (await findSecretsInText(text)).find(({ fingerprint }) => !allowSecret.includes(fingerprint));
  if (own === undefined && found === undefined) return;
  if (found !== undefined) logger.mask(found.secret);
  const what = own
    ? `a credential of this environment (${own.name})`
    : `what looks like a secret: ${nameSecret(found?.rule ?? '')}`;
  throw new DeliveryError('BAD_FILE', `the name of a file contains ${what}`, {
    hint: 'rename the file, and revoke the secret',
  });
}

/** git-lfs doesn't read a pointer above this size. */
const LARGEST = 1_024;

const POINTER =
  /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\/v1\n(?:ext-\S+ \S+\n)*oid sha256:[0-9a-f]{64}\nsize \d+\n?$/;

/** A checkout without Git LFS leaves pointers. @see https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md */
async function refuseLfsPointer(file: LocalFile, given: string): Promise<void> {
  if (file.size > LARGEST || !file.firstBytes.startsWith('version https://')) return;
  let text = '';
  for await (const piece of file.pieces()) text += piece.toString('latin1');
  if (!POINTER.test(text.replaceAll('\r\n', '\n'))) return;
  throw new DeliveryError('BAD_FILE', `the file ${given} is a Git LFS pointer, not the file itself`, {
    hint: 'set `lfs: true` in the step with actions/checkout, or run `git lfs pull` before',
  });
}
