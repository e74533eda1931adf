import { DeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { API } from '../../protocol/calls.ts';
import { COMMENTS } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import type { GitHubClient } from './client.ts';

/** The part of a comment that is looked at. */
interface Comment {
  readonly id: number;
  readonly body?: string | null;
  /** `null` for an account that is gone. */
  readonly user: { readonly login: string } | null;
}

/** A comment of which there is one a pull request. */
export interface StickyComment {
  /** The pull request's number. */
  readonly number: number;
  /** An HTML comment: the body's first line, by which it is known again. */
  readonly marker: string;
  /** Begins with the marker. */
  readonly body: string;
  /** Whether it is written where there is none yet. */
  readonly mayCreate: boolean;
}

/** What became of it; `none` where there was no comment, and none was wanted. */
export type StickyResult = 'created' | 'updated' | 'unchanged' | 'none';

/**
 * Keeps one comment on the pull request. One's own is known by marker and author both: anybody can plant a
 * marker. Runs that create at the same moment all keep the oldest comment and delete the others.
 *
 * @throws {DeliveryError} `NO_PERMISSION` or `NOT_FOUND` when the token may not comment there.
 */
export async function updateStickyComment(
  github: GitHubClient,
  sticky: StickyComment,
  ports: Ports,
): Promise<StickyResult> {
  const author = await tokenOwner(github);
  return withRetries(ports, async () => {
    const standing = await ownComments(github, sticky, author);
    if (standing.length > 0) return keepOldest(github, sticky, standing);
    if (!sticky.mayCreate) return 'none';
    const { number, body } = sticky;
    await github.callOnce(API.create_comment, { number, body });
    // Another run may have done the same since the look.
    await keepOldest(github, sticky, await ownComments(github, sticky, author));
    return 'created';
  });
}

/**
 * The login of whoever the token speaks for. REST has no such call for the job's own token.
 *
 * @see https://docs.github.com/graphql/reference/queries#viewer
 */
async function tokenOwner(github: GitHubClient): Promise<string> {
  // GitHub Enterprise Server: REST below /api/v3, GraphQL at /api/graphql.
  const graphql = `${github.apiUrl.href.replace(/\/$/, '').replace(/\/v3$/, '')}/graphql`;
  const query = 'query { viewer { login } }';
  const answer = await github.call<{ data?: { viewer?: { login?: unknown } | null } | null }>(API.viewer, {
    graphql,
    query,
  });
  const login = answer.data?.viewer?.login;
  if (typeof login === 'string' && login !== '') return login;
  throw new DeliveryError('NO_PERMISSION', `${API.viewer.description} named nobody`, {
    hint: 'use the `token:` of the job, of an app or of a user',
  });
}

/** One's own comments, the oldest first. A quoted marker doesn't begin the body, so it doesn't count. */
async function ownComments(
  github: GitHubClient,
  { number, marker }: StickyComment,
  author: string,
): Promise<Comment[]> {
  const own: Comment[] = [];
  for (let page = 1; page <= COMMENTS.total / COMMENTS.page; page += 1) {
    const parameters = { number, per_page: COMMENTS.page, page };
    const comments = await github.call<Comment[]>(API.list_comments, parameters);
    own.push(
      ...comments.filter(({ user, body }) => user?.login === author && (body ?? '').startsWith(marker)),
    );
    if (comments.length < COMMENTS.page) break;
  }
  return own.sort((one, other) => one.id - other.id);
}

/** The oldest comment is made current, the others go: runs that do this at once agree on which stays. */
async function keepOldest(
  github: GitHubClient,
  { body }: StickyComment,
  [oldest, ...others]: readonly Comment[],
): Promise<StickyResult> {
  // A list may lag behind what was just written.
  const isCurrent = oldest === undefined || oldest.body === body;
  if (!isCurrent) await github.callOnce(API.update_comment, { id: oldest.id, body });
  for (const { id } of others) await deleteComment(github, id);
  return isCurrent ? 'unchanged' : 'updated';
}

/** A comment that is gone already is no failure: another run deletes the same. */
async function deleteComment(github: GitHubClient, id: number): Promise<void> {
  try {
    await github.callOnce(API.delete_comment, { id });
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || thrown.code !== 'NOT_FOUND') throw thrown;
  }
}
