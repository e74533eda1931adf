import type { Ports } from '../../ports.ts';
import { COMMENTS } from '../../protocol/limits.ts';
import { type GitHubClient, listAll } from './client.ts';
import { dataOrNull } from './failures.ts';
import { filterCreated, keepOldest, type StickyItem } from './sticky.ts';
import { getTokenOwner } from './token-owner.ts';

export interface StickyComment {
  readonly number: number;
  /** How the body begins, by which the comment is found again. */
  readonly mark: string;
  /** The body, from that of the comment as it is, or from an empty one where there is none; `null` to leave it so. */
  readonly compose: (previous: string) => string | null;
}

/**
 * Creates or updates the comment on the pull request.
 *
 * @returns what was done; `none` where there was no comment and none was created
 */
export async function updateStickyComment(
  github: GitHubClient,
  { number, mark, compose }: StickyComment,
  ports: Ports,
): Promise<'created' | 'updated' | 'unchanged' | 'none'> {
  const { rest, repository } = github;
  const body = compose('');
  const comment = { ...repository, issue_number: number };
  const create = async (text: string) => (await rest.issues.createComment({ ...comment, body: text })).data;
  const list = () => listComments(github, number);
  // Another job may have deleted it already.
  const drop = ({ id }: StickyItem) =>
    dataOrNull(rest.issues.deleteComment({ ...repository, comment_id: id }));
  const kind = { mark, list, create: body === null ? null : () => create(body), drop };
  const { item: existing, isNew } = await keepOldest(github, kind, ports);
  if (existing === undefined) return 'none';
  if (isNew) return 'created';
  const changed = compose(existing.body ?? '');
  if (changed === null || existing.body === changed) return 'unchanged';
  await rest.issues.updateComment({ ...repository, comment_id: existing.id, body: changed });
  return 'updated';
}

/**
 * Changes our own comments that say something of a delivery that is gone. @returns how many
 *
 * @param mark how the bodies of all our comments begin
 * @param rewrite makes the new body of a comment; `null` where it stays
 */
export async function rewriteOwnComments(
  github: GitHubClient,
  number: number,
  mark: string,
  rewrite: (body: string) => string | null,
): Promise<number> {
  const { login } = await getTokenOwner(github);
  const comments = filterCreated(await listComments(github, number), mark, login);
  const changes = comments.flatMap(({ id, body = '' }) => {
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
