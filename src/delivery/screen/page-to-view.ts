import { untilAborted } from '../../async.ts';
import {
  createUncheckedView,
  type LocalFiles,
  type PageToView,
  type Screen,
  type ScreenView,
} from '../../browser/screen-view.ts';
import type { ServedFile } from '../../channels/channel.ts';
import { toDeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
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
  const file = delivery.site?.entry.file;
  const isSought = marker !== undefined && marker.length <= SCREEN.marker;
  const page = { url: url.href, local, picture: true };
  // Of a link only the marker is known.
  if (file === undefined) return { ...page, marker: isSought && !/[<>]/.test(marker) ? marker : undefined };
  if (!isHtml(file.name) || file.size > SCREEN.markedPage) return page;
  const { readVisibleText, hasVisibleText } = await loadPageRules();
  const html = await joinText(decodeText(file.read()));
  // It may as well be in a comment, or a part of a script.
  const isVisible = isSought && hasVisibleText(html, marker);
  return { ...page, marker: isVisible ? marker : undefined, isScripted: readVisibleText(html) === '' };
}

/** Whether something that is shown on the screen is opened in a browser. */
export interface ScreenChoice {
  /** Whether it is a page, and not a file that is shown as it is. */
  readonly isPage: boolean;
  /** Why no browser opens it, for UNKNOWN; empty where one does. */
  readonly unopened: string;
}

/** What K1 will show on the screen, or K4 shows of a folder. */
interface ScreenPage extends ScreenChoice {
  readonly served: ServedFile;
}

/** What will be shown of a delivery; absent where that is nothing, because a browser downloads the file. */
export function findScreenPage(delivery: Delivery): ScreenPage | undefined {
  const served = shownTask(delivery)?.served;
  if (served === undefined || served.display === 'none') return undefined;
  return {
    served,
    isPage: served.display === 'page',
    unopened: findObstacle(served, delivery.site?.entry.file.size ?? 0),
  };
}

function findObstacle({ display, url }: ServedFile, size: number): string {
  if (display === 'viewer') return 'a file that needs a viewer or a player is not opened in one';
  if (display === 'page') return '';
  const most = isImage(url.pathname) ? SCREEN.largestImage : SCREEN.largestText;
  return size > most ? `a file of this kind above ${most / MEGABYTE} MB is not opened in one` : '';
}

/** The first of a step, as many as are opened: pages come before files that are shown as they are. */
export function chooseFirst(found: readonly (ScreenChoice | undefined)[]): ReadonlySet<ScreenChoice> {
  const opened = found.filter((one) => one !== undefined).filter(({ unopened }) => unopened === '');
  opened.sort((one, other) => Number(other.isPage) - Number(one.isPage));
  return new Set(opened.slice(0, SCREEN.pages));
}

/** Opens a page. A browser that fails is a view that says so. @throws where the delivery is stopped */
export type PageOpener = (page: PageToView) => Promise<ScreenView>;

/** Opens pages one by one, each in its time, and all in what a step may lose to a silent browser. */
export function createPageOpener(
  screen: Screen,
  { clock, signal }: Pick<Ports, 'clock' | 'signal'>,
): PageOpener {
  let lost = 0;
  return async (page) => {
    const left = SCREEN.lost - lost;
    if (left <= 0) return createUncheckedView('the browser did not open earlier pages of this step');
    const over = AbortSignal.any([signal, clock.timeout(left)]);
    const begun = clock.now();
    // A browser that does not even notice its deadline must not hold up the delivery.
    const view = await untilAborted(over, screen.view(page, over)).catch((thrown) => {
      signal.throwIfAborted();
      return createUncheckedView(
        over.aborted
          ? 'the browser did not answer in time'
          : `the browser can't be used: ${toDeliveryError(thrown).message}`,
      );
    });
    if (view.verdict === 'not-checked') lost += clock.now() - begun;
    return view;
  };
}
