import type { ScreenView } from '../../browser/screen-view.ts';
import { hasFailed, resultOf } from '../../errors.ts';
import type { DeliveryRequest } from '../../request/parse-request.ts';
import type { Delivery } from '../delivery.ts';
import { listLocalFiles } from './local-files.ts';
import type { PageOpener } from './open-pages.ts';
import { pageToView } from './page-to-view.ts';

/**
 * Opens a page that may have a router at the root of its host too, from the local files: a router that was built for
 * the root takes the path of the folder for the name of a page, and shows none, or its words for a missing one.
 *
 * @param view what a browser saw below the folder's path
 * @returns what to set where the page shows something else at the root; `null` where it does not, or nobody knows
 */
export async function findRouterProblem(
  view: ScreenView,
  delivery: Delivery,
  page: URL,
  { request, open }: { readonly request: Pick<DeliveryRequest, 'marker'>; readonly open: PageOpener },
): Promise<string | null> {
  const { routerSetting, tasks } = delivery;
  const sitePath = tasks.get('K1')?.servedAt?.sitePath;
  if (routerSetting === null || sitePath === undefined || view.verdict === 'not-checked') return null;
  const local = listLocalFiles([delivery], '/');
  const rootPage = new URL(page.pathname.slice(sitePath.length - 1), page);
  const root = await resultOf(async () => open(await pageToView(rootPage, delivery, request, local)));
  if (hasFailed(root) || root.verdict !== 'shown' || isSame(view, root)) return null;
  return `at the root of a host the page shows something else than below ${sitePath}: it was built for there; set ${routerSetting}`;
}

/** Whether two looks show as much; a page that moves may show anything. */
function isSame(one: ScreenView, other: ScreenView): boolean {
  if (one.verdict !== other.verdict) return false;
  if (one.isStable === false || other.isStable === false) return true;
  return JSON.stringify(one.painted) === JSON.stringify(other.painted);
}
