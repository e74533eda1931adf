import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import { type GitHubClient, listAll } from './client.ts';
import { getTokenOwner } from './token-owner.ts';

export interface IssueText {
  readonly title: string;
  readonly body: string;
  /** Whether the issue is needed. Otherwise it is closed, or not created. */
  readonly isOpen: boolean;
}

/**
 * Keeps one issue on a subject, open while needed. It closes duplicates, since no issue can be deleted.
 * @param compose gets the open issue's body; for a new or closed issue an empty text. @throws {DeliveryError} as
 * `keepOldest`
 */
export async function updateStickyIssue(
  github: GitHubClient,
  { mark, compose }: { readonly mark: string; readonly compose: (previous: string) => IssueText },
  ports: Ports,
) {
  const { rest, repository } = github;
  const first = compose('');
  const query = { ...repository, state: 'all' } as const;
  const create = async () => {
    const { title, body } = first;
    return (await rest.issues.create({ ...repository, title, body })).data;
  };
  const list = async (creator: string) => {
    const issues = await listAll((page) => rest.issues.listForRepo({ ...query, creator, ...page }));
    return issues.filter((found) => !found.pull_request);
  };
  const drop = async ({ number, state }: Awaited<ReturnType<typeof list>>[number]) => {
    if (state === 'closed') return;
    const closed = { state: 'closed', state_reason: 'not_planned' } as const;
    await rest.issues.update({ ...repository, issue_number: number, ...closed });
  };
  const kind = { mark, list, create: first.isOpen ? create : null, drop };
  const { item: issue, isNew } = await keepOldest(github, kind, ports);
  if (issue === undefined) return { result: 'none', number: null };
  const { number } = issue;
  if (isNew) return { result: 'opened', number };
  const wasClosed = issue.state === 'closed';
  const { title, body, isOpen } = wasClosed ? first : compose(issue.body ?? '');
  if (wasClosed && !isOpen) return { result: 'none', number };
  const text = { ...repository, issue_number: number, title, body };
  await rest.issues.update({ ...text, state: isOpen ? 'open' : 'closed' });
  const opened = wasClosed ? 'opened' : 'updated';
  return { result: isOpen ? opened : 'closed', number };
}

export interface StickyItem {
  readonly id: number;
  readonly body?: string | null;
  readonly user?: { readonly login: string } | null;
}

interface StickyKind<Item> {
  readonly mark: string;
  list(author: string): Promise<readonly Item[]>;
  readonly create: (() => Promise<Item>) | null;
  drop(duplicate: Item): Promise<unknown>;
}

/**
 * Finds or creates the one item on a subject. Simultaneous jobs all keep the oldest item and drop the rest.
 * @throws {DeliveryError} `NO_PERMISSION` or `NOT_FOUND` if the token isn't allowed to write
 */
export async function keepOldest<Item extends StickyItem>(
  github: GitHubClient,
  { mark, list, create, drop }: StickyKind<Item>,
  ports: Ports,
): Promise<{ readonly item: Item | undefined; readonly isNew: boolean }> {
  const { login } = await getTokenOwner(github);
  const listCreated = async (): Promise<readonly Item[]> => filterCreated(await list(login), mark, login);
  return withRetries(ports, async () => {
    let found = await listCreated();
    const made = found.length === 0 ? await create?.() : undefined;
    // Another job may have created an item since. The list may not have ours yet.
    if (made !== undefined)
      found = sortById([...(await listCreated()).filter(({ id }) => id !== made.id), made]);
    const [oldest, ...duplicates] = found;
    for (const duplicate of duplicates) await drop(duplicate);
    return { item: oldest, isNew: oldest !== undefined && oldest === made };
  });
}

/** This tool's items, oldest first. The author counts too, since anybody can write or quote a mark. */
export const filterCreated = <Item extends StickyItem>(
  items: readonly Item[],
  mark: string,
  author: string,
): readonly Item[] =>
  sortById(items.filter(({ user, body }) => user?.login === author && body?.startsWith(mark)));

const sortById = <Item extends StickyItem>(items: readonly Item[]): readonly Item[] =>
  items.toSorted((a, b) => a.id - b.id);
