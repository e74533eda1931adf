import { type FetchedContent, LINK_HEAD_SIZE } from '../http/fetch-back.ts';
import { isPartOfAddress } from '../rules/address-echo.ts';
import { loadPageRules } from '../rules/load-page-rules.ts';
import { decodePage } from '../rules/page-encoding.ts';

/**
 * Whether the marker says nothing of the content: a page has it that repeats its address, or has it only where
 * nothing of it is shown, as a page that hides the content names it.
 *
 * @param isPart whether the body may have been read only as far as its first marker
 * @see design 5 (K4)
 */
export async function isEcho(
  { addresses, fingerprint, head, isShown }: FetchedContent,
  { file, marker }: { readonly file: unknown; readonly marker: string | undefined },
  isPart: boolean,
): Promise<boolean> {
  if (marker === undefined) return false;
  if (isPartOfAddress(marker, addresses)) return true;
  const { size = 0, counts: [count = 0] = [] } = fingerprint ?? {};
  // A long page that is not read to its end may have it again further down.
  // A site's build may put the marker of a file anywhere.
  if (file !== null || !isShown || (isPart && size >= LINK_HEAD_SIZE)) return false;
  const page = decodePage(head);
  if (count > page.split(marker).length - 1) return false;
  return !(await loadPageRules()).mayShowText(page, marker);
}
