import type { LocalFiles, PageToView } from '../../browser/screen-view.ts';
import type { ServedFile } from '../../channels/channel.ts';
import { withoutSpace } from '../../plain-text.ts';
import { MEGABYTE, SCREEN } from '../../protocol/limits.ts';
import type { DeliveryRequest } from '../../request/parse-request.ts';
import { loadPageRules } from '../../rules/load-page-rules.ts';
import { isImage } from '../../rules/media-type.ts';
import { decodeText, isHtml, joinText } from '../../rules/page/page-file.ts';
import { type Delivery, shownTask } from '../delivery.ts';

/** What a browser is to open, and what it must show. */
export async function pageToView(
  url: URL,
  delivery: Delivery,
  { marker }: Pick<DeliveryRequest, 'marker'>,
  local?: LocalFiles,
): Promise<PageToView> {
  const file = delivery.site?.entry;
  const isSought = marker !== undefined && marker.length <= SCREEN.marker;
  const page = { url: url.href, local, picture: true };
  // Of a link only the marker is known.
  if (file === undefined) return { ...page, marker: isSought && !/[<>]/.test(marker) ? marker : undefined };
  if (!isHtml(file.name) || file.size > SCREEN.markedPage) return page;
  const { readVisibleText } = await loadPageRules();
  const shown = readVisibleText(await joinText(decodeText(file.read())));
  // It may as well be in a comment, or a part of a script.
  const isVisible = isSought && shown.includes(withoutSpace(marker));
  return { ...page, marker: isVisible ? marker : undefined, ownText: shown.slice(0, SCREEN.text) };
}

/** Something that a delivery shows on the screen. */
export interface ScreenPage {
  /** Whether it is a page, and not a file that is shown as it is. */
  readonly isPage: boolean;
  /** Why no browser opens it, for UNKNOWN; empty where one does. */
  readonly unopened: string;
}

/** What K1 will show on the screen, or K4 shows of a folder; `undefined` where a browser would download the file. */
export function findServedPage(
  delivery: Delivery,
): (ScreenPage & { readonly served: ServedFile }) | undefined {
  const served = shownTask(delivery)?.served;
  if (served === undefined || served.display === 'none') return undefined;
  const unopened = findObstacle(served, delivery.site?.entry.size ?? 0);
  return { served, isPage: served.display === 'page', unopened };
}

function findObstacle({ display, url }: ServedFile, size: number): string {
  if (display === 'viewer') return 'a file that needs a viewer or a player is not opened in one';
  if (display === 'page') return '';
  const most = isImage(url.pathname) ? SCREEN.largestImage : SCREEN.largestText;
  return size > most ? `a file of this kind above ${most / MEGABYTE} MB is not opened in one` : '';
}

/** What a step shows, of which no more than `SCREEN.pages` are opened: pages come before files shown as they are. */
export function listScreenPages<Page extends ScreenPage>(
  deliveries: readonly Delivery[],
  isOff: boolean,
  find: (delivery: Delivery) => Page | undefined,
): ReadonlyMap<Delivery, Page> {
  const found = deliveries.flatMap((delivery) => {
    const page = find(delivery);
    return page === undefined ? [] : [[delivery, page] as const];
  });
  const openable = found.filter(([, { unopened }]) => unopened === '');
  openable.sort(([, one], [, other]) => Number(other.isPage) - Number(one.isPage));
  const tooMany = `of ${openable.length} pages ${SCREEN.pages} were opened in one, and ${openable.length - SCREEN.pages} were not`;
  const closed = isOff ? found : openable.slice(SCREEN.pages);
  const unopened = isOff ? 'it was not opened in one, as asked' : tooMany;
  return new Map([...found, ...closed.map(([delivery, page]) => [delivery, { ...page, unopened }] as const)]);
}
