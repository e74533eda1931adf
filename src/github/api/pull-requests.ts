import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { Ports } from '../../ports.ts';
import { COMMENTS, LIST_PAGE } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { type GitHubClient, listAll } from './client.ts';
import { nullIfNotFound } from './failures.ts';
import { getTokenOwner } from './token-owner.ts';

type PullRequests = RestEndpointMethodTypes['pulls']['list']['response']['data'];

/** The newest pull requests of one branch, open and closed. @param head `<owner>:<branch>` */
export async function listPullRequests(
  { rest, repository }: GitHubClient,
  head: string,
): Promise<PullRequests> {
  return (await rest.pulls.list({ ...repository, head, state: 'all', per_page: LIST_PAGE })).data;
}

type IssueComment = RestEndpointMethodTypes['issues']['listComments']['response']['data'][number];

/** The one comment of this tool on a pull request. */
export interface StickyComment {
  readonly number: number;
  /** An HTML comment: the first line of the body, by which the comment is found again. */
  readonly marker: string;
  /** The body, which begins with the marker, from that of the comment as it is; empty where there is none. */
  readonly compose: (earlier: string) => string;
  /** Whether the comment is created where there is none yet. */
  readonly mayCreate: boolean;
}

/** What was done; `none` where there was no comment and none may be created. */
type StickyResult = 'created' | 'updated' | 'unchanged' | 'none';

/**
 * Creates or updates the comment on the pull request. Our own comments are found by marker and author both,
 * since anybody can write a marker. Jobs that create one at the same moment all keep the oldest comment and
 * delete the others.
 *
 * @throws {DeliveryError} `NO_PERMISSION` or `NOT_FOUND` when the token may not comment there.
 */
export async function updateStickyComment(
  github: GitHubClient,
  sticky: StickyComment,
  ports: Ports,
): Promise<StickyResult> {
  const { login: author } = await getTokenOwner(github);
  return withRetries(ports, async () => {
    const existing = await listOwnComments(github, sticky, author);
    if (existing.length > 0) return keepOldest(github, sticky, existing);
    if (!sticky.mayCreate) return 'none';
    const comment = { issue_number: sticky.number, body: sticky.compose('') };
    await github.rest.issues.createComment({ ...github.repository, ...comment });
    // Another job may have created one since the list was read.
    await keepOldest(github, sticky, await listOwnComments(github, sticky, author));
    return 'created';
  });
}

/** Which of our other comments on a pull request are changed, and how. */
interface CommentRewrite {
  readonly number: number;
  /** How the bodies of all our comments begin. */
  readonly marker: string;
  /** How the body of the comment begins that is left alone. */
  readonly except: string;
  /** The new body; `null` where it stays. */
  readonly rewrite: (body: string) => string | null;
}

/**
 * Changes our own comments that say something of a delivery that is gone.
 *
 * @returns how many were changed
 * @throws {DeliveryError} as `updateStickyComment`.
 */
export async function rewriteOwnComments(
  github: GitHubClient,
  { number, marker, except, rewrite }: CommentRewrite,
  ports: Ports,
): Promise<number> {
  const { login: author } = await getTokenOwner(github);
  const existing = await listOwnComments(github, { number, marker }, author);
  const changes = existing.flatMap(({ id, body = '' }) => {
    const changed = body.startsWith(except) ? null : rewrite(body);
    return changed === null ? [] : [{ comment_id: id, body: changed }];
  });
  for (const change of changes.slice(0, COMMENTS.rewrites)) {
    await withRetries(ports, () => github.rest.issues.updateComment({ ...github.repository, ...change }));
  }
  return Math.min(changes.length, COMMENTS.rewrites);
}

/** Our own comments, the oldest first. A quoted marker is not at the start of the body, so it does not count. */
async function listOwnComments(
  { rest, repository }: GitHubClient,
  { number, marker }: Pick<StickyComment, 'number' | 'marker'>,
  author: string,
): Promise<IssueComment[]> {
  const comments = await listAll(COMMENTS, (query) =>
    rest.issues.listComments({ ...repository, issue_number: number, ...query }),
  );
  return comments
    .filter(({ user, body }) => user?.login === author && body?.startsWith(marker))
    .sort((one, other) => one.id - other.id);
}

/** Updates the oldest comment and deletes the others: jobs that do this at once keep the same one. */
async function keepOldest(
  github: GitHubClient,
  { compose }: StickyComment,
  [oldest, ...others]: readonly IssueComment[],
): Promise<StickyResult> {
  const { rest, repository } = github;
  // The list may not contain yet what was just written.
  const body = compose(oldest?.body ?? '');
  const isCurrent = oldest === undefined || oldest.body === body;
  if (!isCurrent) await rest.issues.updateComment({ ...repository, comment_id: oldest.id, body });
  for (const { id } of others) {
    // Another job may have deleted it already.
    await nullIfNotFound(() => rest.issues.deleteComment({ ...repository, comment_id: id }));
  }
  return isCurrent ? 'unchanged' : 'updated';
}
