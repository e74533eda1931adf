/** GitHub's limits of a list: items in one page, and in all pages together. */
export interface ListLimits {
  readonly page: number;
  readonly total: number;
}

/** One page of a list, as Octokit returns it. */
export interface ListedPage<T> {
  readonly data: readonly T[];
  readonly headers: { readonly link?: string | undefined };
}

/** Reads a list page by page, to its last one. */
export async function listAll<T>(
  { page: perPage, total }: ListLimits,
  getPage: (query: { page: number; per_page: number }) => Promise<ListedPage<T>>,
): Promise<T[]> {
  const items: T[] = [];
  for (let page = 1; page <= total / perPage; page += 1) {
    const answer = await getPage({ page, per_page: perPage });
    items.push(...answer.data);
    if (isLastPage(answer, perPage)) break;
  }
  return items;
}

/**
 * Whether no page follows. The host's word counts: what it hides, such as comments of accounts that it has blocked,
 * makes a page shorter than it was asked for.
 *
 * @see https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
 */
export const isLastPage = ({ data, headers: { link } }: ListedPage<unknown>, perPage: number): boolean =>
  link === undefined ? data.length < perPage : !/\brel="?next\b/.test(link);
