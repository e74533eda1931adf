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
interface StickyKind<Item, Result> {
  /** An HTML comment: the first line of the body, by which it is found again. */
  readonly marker: string;
  list(author: string): Promise<readonly Item[]>;
  /** Absent where none may be made. */
  readonly create?: (() => Promise<Item>) | undefined;
  /** Brings the one that is kept up to date, unless it was just made. */
  update(oldest: Item): Promise<Result>;
  drop(other: Item): Promise<unknown>;
}

/**
 * Keeps one comment or issue on a subject, made where there is none. Jobs that do this at the same moment all keep the
 * oldest, and drop the others.
 *
 * @returns the one that is kept, and `none` where there is none, and none may be made
 * @throws {DeliveryError} `NO_PERMISSION` or `NOT_FOUND` when the token may not write there.
 */
export async function keepOldest<Item extends StickyItem, Result>(
  github: GitHubClient,
  { marker, list, create, update, drop }: StickyKind<Item, Result>,
  ports: Ports,
): Promise<{ readonly item: Item | null; readonly result: Result | 'created' | 'none' }> {
  const { login: author } = await getTokenOwner(github);
  const listOwn = async (): Promise<readonly Item[]> => filterOwn(await list(author), marker, author);
  return withRetries(ports, async () => {
    let own = await listOwn();
    const made = own.length === 0 ? await create?.() : undefined;
    // Another job may have made one since the list was read, which may not have ours yet.
    if (made !== undefined) own = sortById([...(await listOwn()).filter(({ id }) => id !== made.id), made]);
    const [oldest, ...others] = own;
    if (oldest === undefined) return { item: null, result: 'none' };
    for (const other of others) await drop(other);
    const result = oldest === made ? 'created' : await update(oldest);
    return { item: oldest, result: made === undefined ? result : 'created' };
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
