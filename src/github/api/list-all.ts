/** GitHub's limits of a list: items in one page, and in all pages together. */
export interface ListLimits {
  readonly page: number;
  readonly total: number;
}

/** Reads a list page by page, until a page is not full. */
export async function listAll<T>(
  { page: perPage, total }: ListLimits,
  getPage: (query: { page: number; per_page: number }) => Promise<{ readonly data: readonly T[] }>,
): Promise<T[]> {
  const items: T[] = [];
  for (let page = 1; page <= total / perPage; page += 1) {
    const { data } = await getPage({ page, per_page: perPage });
    items.push(...data);
    if (data.length < perPage) break;
  }
  return items;
}
