import type { PageToView, Screen, ScreenView } from '../../browser/screen-view.ts';
import { hasFailed, resultOf } from '../../errors.ts';
import { SECOND } from '../../protocol/limits.ts';
import { type Delivery, shownTask } from '../delivery.ts';
import { listLocalFiles } from './local-files.ts';

/**
 * Finds out whether a page was built for the root of a host, from the local files: it is opened there too, and, where
 * it shows more there, below a path for which nothing was built. A router that was not told the path of the folder
 * takes it for the name of a page that it lacks, and shows the same at both: its words for a missing page.
 *
 * @param view what a browser saw below the folder's path
 * @param opened the page that it opened
 * @returns the view; of a page that was built for another place, one that is not shown, with what to set
 */
export async function compareWithRoot(
  view: ScreenView,
  delivery: Delivery,
  opened: PageToView,
  screen: Screen,
): Promise<ScreenView> {
  const { routerSetting, site } = delivery;
  const sitePath = site?.isFolder ? shownTask(delivery)?.served?.sitePath : undefined;
  const isComparable = view.verdict !== 'not-checked' && view.isStable !== false;
  if (routerSetting === null || sitePath === undefined || !isComparable) return view;
  // A page that was built for its folder may stay blank there: it gets no more than it needed.
  const renderTime = view.verdict === 'shown' ? 2 * view.elapsed + SECOND : 4 * SECOND;
  const openAt = async (path: string): Promise<ScreenView | null> => {
    const url = new URL(path + new URL(opened.url).pathname.slice(sitePath.length), opened.url).href;
    const local = listLocalFiles([delivery], [sitePath, path]);
    const seen = await resultOf(() => screen.view({ ...opened, url, local, renderTime }));
    return hasFailed(seen) || seen.verdict !== 'shown' || seen.isStable === false ? null : seen;
  };
  const root = await openAt('/');
  // A picture that is missing below the path makes no other page: text does.
  const isShown = view.verdict === 'shown';
  if (root === null || (isShown && root.painted.characters <= view.painted.characters)) return view;
  const hint = `set ${routerSetting}: at the root of a host the page shows more than below ${sitePath}`;
  if (view.verdict === 'not-shown') return { ...view, hint: view.hint || hint };
  const nowhere = await openAt(sitePath.replace(/[^/]+\/$/, 'no-such-page-7f3a9c2e/'));
  if (nowhere === null || !showsSame(nowhere, view)) return view;
  const reason = 'it shows in its folder only what it shows at any path for which nothing was built';
  return { ...view, verdict: 'not-shown', reason, hint };
}

const showsSame = (one: ScreenView, other: ScreenView): boolean =>
  one.title === other.title && JSON.stringify(one.painted) === JSON.stringify(other.painted);
