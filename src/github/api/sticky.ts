import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { GitHubClient } from './client.ts';
import { getTokenOwner } from './token-owner.ts';

/** A comment or an issue. */
export interface StickyItem {
  /** The older one has the smaller. */
  readonly id: number;
  readonly body?: string | null;
  readonly user?: { readonly login: string } | null;
}

/** How the one comment or issue on a subject is kept. */
interface StickyKind<Item> {
  /** An HTML comment: the first line of the body, by which it is found again. */
  readonly marker: string;
  list(author: string): Promise<readonly Item[]>;
  /** `null` where none may be made. */
  readonly create: (() => Promise<Item>) | null;
  drop(other: Item): Promise<unknown>;
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
  { marker, list, create, drop }: StickyKind<Item>,
  ports: Ports,
): Promise<{ readonly kept: Item | undefined; readonly isNew: boolean }> {
  const { login } = await getTokenOwner(github);
  const listOwn = async (): Promise<readonly Item[]> => filterOwn(await list(login), marker, login);
  return withRetries(ports, async () => {
    let own = await listOwn();
    const made = own.length === 0 ? await create?.() : undefined;
    // Another job may have made one since the list was read, which may not have ours yet.
    if (made !== undefined) own = sortById([...(await listOwn()).filter(({ id }) => id !== made.id), made]);
    const [kept, ...others] = own;
    for (const other of others) await drop(other);
    return { kept, isNew: kept !== undefined && kept === made };
  });
}

/**
 * Our own, the oldest first: found by marker and author both, since anybody can write a marker. A quoted one is not at
 * the start of the body.
 */
export const filterOwn = <Item extends StickyItem>(
  items: readonly Item[],
  marker: string,
  author: string,
): readonly Item[] =>
  sortById(items.filter(({ user, body }) => user?.login === author && body?.startsWith(marker)));

const sortById = <Item extends StickyItem>(items: readonly Item[]): readonly Item[] =>
  items.toSorted((one, other) => one.id - other.id);
