import type { Ports } from '../../ports.ts';
import { COMMENTS, LIST_PAGE, LIST_TOTAL } from '../../protocol/limits.ts';
import { type Deliverer, repositoryOf } from '../workflow-run.ts';
import { type GitHubClient, listAll } from './client.ts';
import { dataOrNull } from './failures.ts';
import { filterCreated, keepOldest, type StickyItem } from './sticky.ts';
import { getTokenOwner } from './token-owner.ts';

export interface StickyComment {
  readonly number: number;
  /** The beginning of the body, which identifies the comment. */
  readonly mark: string;
  /** Makes the new body from the previous body (empty if there is no comment); `null` changes nothing. */
  readonly compose: (previous: string) => string | null;
}

/** Creates or updates the comment on a pull request. @returns what was done; `none` if nothing exists or was created */
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

/** Rewrites this tool's comments and returns how many changed. @param rewrite returns the new body, or `null` */
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

/** The repository whose pull requests a deliverer means. */
export const findPullHome = (
  { repository: { owner, repo } }: GitHubClient,
  deliverer: Deliverer | undefined,
): string => repositoryOf(deliverer) ?? `${owner}/${repo}`.toLowerCase();

/** When a pull request was closed, in milliseconds since the epoch; `none` if no pull request has the number. */
export type PullState = 'open' | 'none' | number;

/** The states of pull requests by number, among the newest `LIST_TOTAL`. A number that is missing is unknown. */
export async function readPullStates(
  github: GitHubClient,
  numbers: readonly number[],
  deliverer: Deliverer | undefined,
): Promise<ReadonlyMap<number, PullState>> {
  const oldest = Math.min(...numbers);
  const [owner = '', repo = ''] = findPullHome(github, deliverer).split('/');
  const getPage = (page: object) => github.rest.pulls.list({ owner, repo, state: 'all', ...page });
  const isEnough = (last: { readonly number: number }): boolean => last.number <= oldest;
  const pulls = await listAll(getPage, undefined, isEnough);
  // Hidden pull requests make the last page shorter.
  const isWhole = pulls.length <= LIST_TOTAL - LIST_PAGE;
  const first = isWhole ? 0 : (pulls.at(-1)?.number ?? 0);
  const states = new Map<number, PullState>();
  for (const number of numbers) if (number > first) states.set(number, 'none');
  for (const { number, state, closed_at: closedAt } of pulls)
    states.set(number, state === 'open' ? state : Date.parse(closedAt ?? ''));
  return states;
}

const listComments = ({ rest, repository }: GitHubClient, number: number) =>
  listAll((page) => rest.issues.listComments({ ...repository, issue_number: number, ...page }));
