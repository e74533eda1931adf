import type { Ports } from '../../ports.ts';
import { COMMENTS } from '../../protocol/limits.ts';
import { type GitHubClient, listAll } from './client.ts';
import { dataOrNull } from './failures.ts';
import { filterOwn, keepOldest, type StickyItem } from './sticky.ts';
import { getTokenOwner } from './token-owner.ts';

export interface StickyComment {
  readonly number: number;
  /** An HTML comment: the first line of the body, by which the comment is found again. */
  readonly marker: string;
  /** The body, which begins with the marker, from that of the comment as it is; empty where there is none. */
  readonly compose: (earlier: string) => string;
  /** Whether the comment is created where there is none yet. */
  readonly mayCreate: boolean;
}

/**
 * Creates or updates the comment on the pull request.
 *
 * @returns what was done; `none` where there was no comment and none may be created
 */
export async function updateStickyComment(
  github: GitHubClient,
  { number, marker, compose, mayCreate }: StickyComment,
  ports: Ports,
): Promise<'created' | 'updated' | 'unchanged' | 'none'> {
  const { rest, repository } = github;
  const create = async () => {
    const comment = { ...repository, issue_number: number, body: compose('') };
    return (await rest.issues.createComment(comment)).data;
  };
  const list = () => listComments(github, number);
  // Another job may have deleted it already.
  const drop = ({ id }: StickyItem) =>
    dataOrNull(rest.issues.deleteComment({ ...repository, comment_id: id }));
  const kind = { marker, list, create: mayCreate ? create : null, drop };
  const { kept, isNew } = await keepOldest(github, kind, ports);
  if (kept === undefined) return 'none';
  if (isNew) return 'created';
  const body = compose(kept.body ?? '');
  if (kept.body === body) return 'unchanged';
  await rest.issues.updateComment({ ...repository, comment_id: kept.id, body });
  return 'updated';
}

/**
 * Changes our own comments that say something of a delivery that is gone. @returns how many
 *
 * @param marker how the bodies of all our comments begin
 * @param rewrite makes the new body of a comment; `null` where it stays
 */
export async function rewriteOwnComments(
  github: GitHubClient,
  number: number,
  marker: string,
  rewrite: (body: string) => string | null,
): Promise<number> {
  const { login } = await getTokenOwner(github);
  const own = filterOwn(await listComments(github, number), marker, login);
  const changes = own.flatMap(({ id, body = '' }) => {
    const changed = rewrite(body);
    return changed === null ? [] : [{ comment_id: id, body: changed }];
  });
  const allowed = changes.slice(0, COMMENTS.rewrites);
  for (const change of allowed) {
    await github.rest.issues.updateComment({ ...github.repository, ...change });
  }
  return allowed.length;
}

const listComments = ({ rest, repository }: GitHubClient, number: number) =>
  listAll((page) => rest.issues.listComments({ ...repository, issue_number: number, ...page }));
