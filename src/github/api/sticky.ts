import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import { type GitHubClient, listAll } from './client.ts';
import { getTokenOwner } from './token-owner.ts';

/** What the one issue of this tool on a subject says. */
export interface IssueText {
  readonly title: string;
  readonly body: string;
  /** Whether it is needed; one that is not is closed, and never opened. */
  readonly isOpen: boolean;
}

/**
 * Keeps one issue on a subject: open while it is needed, closed when it is not. Others are closed, since no issue can be
 * deleted.
 *
 * @param compose makes its text from the body of the open issue; empty for none: who closes it by hand has dealt with it
 * @returns what was done, and with which issue; `none` where it needs no word
 * @throws {DeliveryError} as `keepOldest`.
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
  // What was well before, and is, needs no word.
  if (wasClosed && !isOpen) return { result: 'none', number };
  const text = { ...repository, issue_number: number, title, body };
  await rest.issues.update({ ...text, state: isOpen ? 'open' : 'closed' });
  const opened = wasClosed ? 'opened' : 'updated';
  return { result: isOpen ? opened : 'closed', number };
}

export interface StickyItem {
  /** The older one has the smaller. */
  readonly id: number;
  readonly body?: string | null;
  readonly user?: { readonly login: string } | null;
}

interface StickyKind<Item> {
  /** How the body begins, by which it is found again. */
  readonly mark: string;
  list(author: string): Promise<readonly Item[]>;
  /** `null` where none may be made. */
  readonly create: (() => Promise<Item>) | null;
  drop(duplicate: Item): Promise<unknown>;
}

/**
 * Finds the one comment or issue on a subject, or makes it. Jobs that do this at the same moment all keep the oldest,
 * and drop the others.
 *
 * @returns the one that is kept; `undefined` where there is none, and none may be made
 * @throws {DeliveryError} `NO_PERMISSION` or `NOT_FOUND` when the token may not write there.
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
    // Another job may have made one since the list was read, which may not have ours yet.
    if (made !== undefined)
      found = sortById([...(await listCreated()).filter(({ id }) => id !== made.id), made]);
    const [oldest, ...duplicates] = found;
    for (const duplicate of duplicates) await drop(duplicate);
    return { item: oldest, isNew: oldest !== undefined && oldest === made };
  });
}

/** Our own, the oldest first, by mark at the start and author: anybody can write a mark, and may quote one. */
export const filterCreated = <Item extends StickyItem>(
  items: readonly Item[],
  mark: string,
  author: string,
): readonly Item[] =>
  sortById(items.filter(({ user, body }) => user?.login === author && body?.startsWith(mark)));

const sortById = <Item extends StickyItem>(items: readonly Item[]): readonly Item[] =>
  items.toSorted((a, b) => a.id - b.id);
