import { describe, expect, test } from '@jest/globals';
import { listAll } from '../../../src/github/api/client.ts';

const NEXT = '<https://api.github.com/x?page=2>; rel="next", <https://api.github.com/x?page=9>; rel="last"';
const LAST = '<https://api.github.com/x?page=1>; rel="prev", <https://api.github.com/x?page=1>; rel="first"';

/** Lists pages of at most 3 items, up to 9 items in total, and counts the requests. */
async function list(...pages: readonly { readonly size: number; readonly link?: string }[]) {
  let requests = 0;
  const items = await listAll(
    async ({ page, per_page: perPage }) => {
      requests += 1;
      const { size = 0, link } = pages[page - 1] ?? {};
      expect(perPage).toBe(3);
      return { data: Array.from({ length: size }, (_, nth) => `${page}.${nth}`), headers: { link } };
    },
    { page: 3, total: 9 },
  );
  return { items, requests };
}

describe('listAll', () => {
  test('goes on after a page that the host made shorter, as long as it names a next one', async () => {
    const { items, requests } = await list(
      { size: 1, link: NEXT },
      { size: 0, link: NEXT },
      { size: 2, link: LAST },
    );
    expect(items).toEqual(['1.0', '3.0', '3.1']);
    expect(requests).toBe(3);
  });

  test('ends with the page that the host calls the last, however full it is', async () => {
    expect((await list({ size: 3, link: NEXT }, { size: 3, link: LAST })).requests).toBe(2);
  });

  test('ends with a page that is not full if the host sends no link header', async () => {
    expect((await list({ size: 3 }, { size: 2 })).requests).toBe(2);
    expect((await list({ size: 0 })).requests).toBe(1);
  });

  test('reads no more than all pages together can have', async () => {
    const full = { size: 3, link: NEXT };
    expect((await list(full, full, full, full)).requests).toBe(3);
  });
});
