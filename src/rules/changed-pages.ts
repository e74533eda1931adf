import { hash } from 'node:crypto';
import { shorten } from '../plain-text.ts';

/** The visible text of a page. */
export interface PageText {
  readonly title: string;
  /** Each with single spaces. */
  readonly blocks: readonly string[];
}

/** A page that is edited all over needs no more to count as changed. */
const MOST = { blocks: 1_000, length: 200, named: 80 } as const;

/** At least this many pages must have a difference that is not their own. */
const FEWEST_ALIKE = 3;

/** Compares two versions of each page. Keeps a number for each different block, because the texts of a site are large. */
export class PageComparison {
  /** The differences of each page: positive for a new block, negative for a removed block. */
  readonly pages = new Map<string, readonly number[]>();
  readonly #counts = new Map<number, number>();
  /** The texts of differences that several pages have. */
  readonly #examples = new Map<number, string>();

  /** Compares the blocks in any order. */
  add(path: string, before: PageText, after: PageText): void {
    const counts = new Map<string, number>();
    for (const block of after.blocks) counts.set(block, (counts.get(block) ?? 0) + 1);
    for (const block of before.blocks) counts.set(block, (counts.get(block) ?? 0) - 1);
    const different = [...counts].filter(([, count]) => count !== 0).slice(0, MOST.blocks);
    const own = new Set<number>();
    for (const [block, count] of different) {
      const start = block.slice(0, MOST.length);
      // A stamp may have another time or number on each page.
      const number = toNumber(start.replace(/\d+/g, '0'));
      own.add(Math.sign(count) * number);
      const isKnown = [number, -number].some((difference) => this.#counts.has(difference));
      // A copy, because a part of a text keeps the whole page in memory.
      if (isKnown && !this.#examples.has(number)) this.#examples.set(number, Buffer.from(start).toString());
    }
    for (const difference of own) this.#counts.set(difference, (this.#counts.get(difference) ?? 0) + 1);
    this.pages.set(path, [...own]);
  }

  /**
   * Finds pages with a difference of their own. What differs on half of the pages is navigation or a build's stamp.
   *
   * @param count how many pages are in both folders
   * @returns the paths of changed pages, and examples of what was ignored
   */
  findChanged(count: number): { readonly changed: readonly string[]; readonly ignored: readonly string[] } {
    const most = Math.max(FEWEST_ALIKE, count / 2);
    const isShared = (difference: number): boolean => (this.#counts.get(difference) ?? 0) >= most;
    const changed = [...this.pages].flatMap(([path, all]) => (all.every(isShared) ? [] : path)).toSorted();
    const shared = [...this.#examples].filter(([block]) => isShared(block) || isShared(-block));
    return { changed, ignored: shared.map(([, text]) => shorten(text, MOST.named)) };
  }
}

/** 48 bits of a hash. */
const toNumber = (text: string): number => Number.parseInt(hash('sha1', text).slice(0, 12), 16);
