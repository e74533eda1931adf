import type { CommitPerson } from '../git/git-store.ts';
import { getUserId, LOGINS } from '../tokens.ts';
import type { ApiCall } from './call.ts';
import { fail } from './errors.ts';

export function decodeBase64(content: string): Buffer {
  const bytes = Buffer.from(content, 'base64');
  const expected = Math.floor((content.replace(/[\s=]/g, '').length * 3) / 4);
  return bytes.length === expected ? bytes : fail(422, 'content is not valid Base64');
}

export interface CommitAuthors {
  readonly author: CommitPerson;
  readonly committer: CommitPerson;
  readonly signed: boolean;
}

/** The authors of a commit: the token's owner. GitHub itself commits, and signs, what a bot sends without any names. */
export function createAuthors({ repository, body, login }: ApiCall): CommitAuthors {
  const date = repository.now().toISOString();
  const name = login ?? LOGINS.workflow;
  const author = { name, email: `${getUserId(name)}+${name}@users.noreply.github.com`, date };
  const signed = name.endsWith('[bot]') && body.author === undefined && body.committer === undefined;
  const committer = signed ? { name: 'GitHub', email: 'noreply@github.com', date } : author;
  return { author, committer, signed };
}
