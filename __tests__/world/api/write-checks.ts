import type { CommitPerson } from '../git/bare-repository.ts';
import type { HostedRepository } from '../repository.ts';
import { fail } from './errors.ts';

/** Files above this are refused by the contents and the blobs API; the protocol's 95 MB is never reached. */
const FILE_LIMIT = 37.5 * 1024 * 1024;
const RULE = 'Repository rule violations found\n\nChanges must be made through a pull request.';

/** Whether a path has a part that git refuses, or `..`. */
export function isMalformedPath(path: string): boolean {
  return path.split('/').some((part) => part === '' || /^(\.|\.\.|\.git)$/i.test(part));
}

/** Ends the request when the path can't be one of a file. */
export function assertValidPath(path: string): void {
  if (path.startsWith('/')) fail(422, 'path cannot start with a slash');
  if (isMalformedPath(path)) fail(422, 'path contains a malformed path component');
}

/** Ends the request when the repository's rules forbid direct changes. */
export function assertUnprotected(repository: HostedRepository, status: 409 | 422): void {
  if (repository.isProtected) fail(status, RULE);
}

/** The bytes of a base64 text. */
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

/**
 * The authors of a commit: the workflow's bot and GitHub itself (so it counts as verified) unless the request names
 * another author.
 */
export function createAuthors(body: Record<string, unknown>): {
  author: CommitPerson;
  committer: CommitPerson;
} {
  const date = new Date().toISOString();
  const bot = {
    name: 'github-actions[bot]',
    email: '41898282+github-actions[bot]@users.noreply.github.com',
    date,
  };
  const author = parsePerson(body.author, bot);
  const committer =
    body.author === undefined && body.committer === undefined
      ? { name: 'GitHub', email: 'noreply@github.com', date }
      : parsePerson(body.committer, author);
  return { author, committer };
}

function parsePerson(value: unknown, otherwise: CommitPerson): CommitPerson {
  if (typeof value !== 'object' || value === null) return otherwise;
  return { ...otherwise, ...(value as Partial<CommitPerson>) };
}
