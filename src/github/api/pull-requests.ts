import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { Ports } from '../../ports.ts';
import { COMMENTS, LIST_PAGE } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { type GitHubClient, listAll } from './client.ts';
import { dataOrNull } from './failures.ts';
import { filterOwn, keepOldest } from './sticky.ts';
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
 * Creates or updates the comment on the pull request.
 *
 * @throws {DeliveryError} as `keepOldest`.
 */
export async function updateStickyComment(
  github: GitHubClient,
  { number, marker, compose, mayCreate }: StickyComment,
  ports: Ports,
): Promise<StickyResult> {
  const { rest, repository } = github;
  const { result } = await keepOldest(
    github,
    {
      marker,
      list: () => listComments(github, number),
      ...(mayCreate && {
        create: async () => {
          const comment = { ...repository, issue_number: number, body: compose('') };
          return (await rest.issues.createComment(comment)).data;
        },
      }),
      // Another job may have deleted it already.
      drop: ({ id }) => dataOrNull(rest.issues.deleteComment({ ...repository, comment_id: id })),
      update: async (oldest): Promise<StickyResult> => {
        const body = compose(oldest.body ?? '');
        if (oldest.body === body) return 'unchanged';
        await rest.issues.updateComment({ ...repository, comment_id: oldest.id, body });
        return 'updated';
      },
    },
    ports,
  );
  return result;
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
 * @throws {DeliveryError} as `keepOldest`.
 */
export async function rewriteOwnComments(
  github: GitHubClient,
  { number, marker, except, rewrite }: CommentRewrite,
  ports: Ports,
): Promise<number> {
  const { login: author } = await getTokenOwner(github);
  const existing = filterOwn(await listComments(github, number), marker, author);
  const changes = existing.flatMap(({ id, body = '' }) => {
    const changed = body.startsWith(except) ? null : rewrite(body);
    return changed === null ? [] : [{ comment_id: id, body: changed }];
  });
  for (const change of changes.slice(0, COMMENTS.rewrites)) {
    await withRetries(ports, () => github.rest.issues.updateComment({ ...github.repository, ...change }));
  }
  return Math.min(changes.length, COMMENTS.rewrites);
}

const listComments = ({ rest, repository }: GitHubClient, number: number): Promise<IssueComment[]> =>
  listAll(COMMENTS, (page) => rest.issues.listComments({ ...repository, issue_number: number, ...page }));
