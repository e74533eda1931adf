import { shorten } from '../plain-text.ts';

/** The visible text of a page. */
export interface PageText {
  readonly title: string;
  /** Each with single spaces. */
  readonly blocks: readonly string[];
}

/** How two versions of a page differ: an example for each difference. Equal keys mean the same difference. */
export type PageDifference = ReadonlyMap<string, string>;

/** A page that is edited all over needs no more to count as changed. */
const MOST = { blocks: 1_000, length: 200, named: 80 } as const;

/** At least this many pages must have a difference that is not their own. */
const FEWEST_ALIKE = 3;

/** Compares two versions of a page by their blocks, in any order. */
export function comparePageTexts(before: PageText, after: PageText): PageDifference {
  const counts = new Map<string, number>();
  for (const block of after.blocks) counts.set(block, (counts.get(block) ?? 0) + 1);
  for (const block of before.blocks) counts.set(block, (counts.get(block) ?? 0) - 1);
  const different = [...counts].filter(([, count]) => count !== 0).slice(0, MOST.blocks);
  return new Map(
    different.map(([block, count]) => {
      // A copy, because a part of a text keeps the whole page in memory.
      const start = Buffer.from(block.slice(0, MOST.length)).toString();
      // A stamp may have another time or number on each page.
      return [`${Math.sign(count)} ${start.replace(/\d+/g, '0')}`, shorten(start, MOST.named)];
    }),
  );
}

/**
 * Finds pages with a difference of their own. What differs on half of the pages is navigation or a build's stamp.
 *
 * @param count how many pages are in both folders
 * @returns the paths of changed pages, and examples of what was ignored
 */
export function findChangedPages(
  differences: ReadonlyMap<string, PageDifference>,
  count: number,
): { readonly changed: readonly string[]; readonly ignored: readonly string[] } {
  const pages = new Map<string, number>();
  for (const key of [...differences.values()].flatMap((all) => [...all.keys()])) {
    pages.set(key, (pages.get(key) ?? 0) + 1);
  }
  const most = Math.max(FEWEST_ALIKE, count / 2);
  const isShared = (key: string): boolean => (pages.get(key) ?? 0) >= most;
  const changed = [...differences].flatMap(([path, difference]) =>
    [...difference.keys()].every(isShared) ? [] : path,
  );
  const ignored = new Map<string, string>();
  for (const [key, example] of [...differences.values()].flatMap((all) => [...all])) {
    const text = key.replace(/^\S+ /, '');
    if (isShared(key) && !ignored.has(text)) ignored.set(text, example);
  }
  return { changed, ignored: [...ignored.values()] };
}
