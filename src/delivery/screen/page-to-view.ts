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
  const text = await readOwnText(delivery);
  const isVisible = marker !== undefined && marker.length <= SCREEN.marker && text.has(marker);
  const isScripted = text.isEmpty;
  return { url: url.href, marker: isVisible ? marker : undefined, isScripted, local, picture: true };
}

/** What a page says by itself, before a script has run. */
interface OwnText {
  /** Whether it says nothing. */
  readonly isEmpty: boolean;
  /** Whether it shows this text: a marker may as well be in a comment, or a part of a script. */
  has(text: string): boolean;
}

async function readOwnText({ file }: Delivery): Promise<OwnText> {
  // Of a link only the marker is known.
  if (file === null) return { isEmpty: false, has: (text) => !/[<>]/.test(text) };
  if (!isHtml(file.name) || file.size > SCREEN.markedPage) return { isEmpty: false, has: () => false };
  const { readVisibleText, hasVisibleText } = await loadPageRules();
  const html = decodeText(await readBytes(file));
  return { isEmpty: readVisibleText(html) === '', has: (text) => hasVisibleText(html, text) };
}
