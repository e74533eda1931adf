import type { LocalFiles, PageToView } from '../../browser/screen-view.ts';
import { SCREEN } from '../../protocol/limits.ts';
import type { DeliveryRequest } from '../../request/parse-request.ts';
import { loadPageRules } from '../../rules/load-page-rules.ts';
import { decodeText, isHtml, readBytes } from '../../rules/page/page-file.ts';
import type { Delivery } from '../delivery.ts';

/** What a browser is to open, and what it must show. */
export async function pageToView(
  url: URL,
  delivery: Delivery,
  { marker }: Pick<DeliveryRequest, 'marker'>,
  local?: LocalFiles,
): Promise<PageToView> {
  const isVisible = marker !== undefined && (await canBeSeen(marker, delivery));
  return { url: url.href, marker: isVisible ? marker : undefined, local, picture: true };
}

/** Whether the marker is text that the page shows: it may as well be a comment, or a part of a script. */
async function canBeSeen(marker: string, { file }: Delivery): Promise<boolean> {
  if (marker.length > SCREEN.marker) return false;
  // Of a link only the marker is known.
  if (file === null) return !/[<>]/.test(marker);
  if (!isHtml(file.name) || file.size > SCREEN.markedPage) return false;
  const { hasVisibleText } = await loadPageRules();
  return hasVisibleText(decodeText(await readBytes(file)), marker);
}
