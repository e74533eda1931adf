import type { CommitPerson } from '../git/git-store.ts';
import { getUserId, LOGINS } from '../tokens.ts';
import type { ApiCall } from './call.ts';
import { fail } from './errors.ts';

/** Files above this are refused by the contents and the blobs API; the protocol's 95 MB is never reached. */
const FILE_LIMIT = 37.5 * 1024 * 1024;

/** Whether a path has a part that git refuses, or `..`. */
export function isMalformedPath(path: string): boolean {
  return path.split('/').some((part) => part === '' || /^(\.|\.\.|\.git)$/i.test(part));
}

export function assertValidPath(path: string): void {
  if (path.startsWith('/')) fail(422, 'path cannot start with a slash');
  if (isMalformedPath(path)) fail(422, 'path contains a malformed path component');
}

export function decodeBase64(content: string): Buffer {
  const bytes = Buffer.from(content, 'base64');
  const expected = Math.floor((content.replace(/[\s=]/g, '').length * 3) / 4);
  if (bytes.length !== expected) fail(422, 'content is not valid Base64');
  if (bytes.length > FILE_LIMIT) failInputTooLarge();
  return bytes;
}

function failInputTooLarge(): never {
  fail(
    422,
    'Sorry, your input was too large to process. Consider creating the blob in a local clone of the repository and then pushing it to GitHub.',
  );
}

export interface CommitAuthors {
  readonly author: CommitPerson;
  readonly committer: CommitPerson;
  readonly signed: boolean;
}

/**
 * The authors of a commit: the token's owner unless the request names others. GitHub itself commits, and signs,
 * what a bot sends without any names.
 */
export function createAuthors({ repository, body, login }: ApiCall): CommitAuthors {
  const date = repository.now().toISOString();
  const name = login ?? LOGINS.workflow;
  const owner = { name, email: `${getUserId(name)}+${name}@users.noreply.github.com`, date };
  const author = parsePerson(body.author, owner);
  const signed = name.endsWith('[bot]') && body.author === undefined && body.committer === undefined;
  if (signed) return { author, committer: { name: 'GitHub', email: 'noreply@github.com', date }, signed };
  return { author, committer: parsePerson(body.committer, author), signed };
}

function parsePerson(value: unknown, otherwise: CommitPerson): CommitPerson {
  if (typeof value !== 'object' || value === null) return otherwise;
  return { ...otherwise, ...(value as Partial<CommitPerson>) };
}
