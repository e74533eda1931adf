import {
  createUncheckedView,
  type PageToView,
  type Screen,
  type ScreenView,
} from '../../browser/screen-view.ts';
import { hasFailed, resultOf } from '../../errors.ts';
import { SCREEN, SECOND } from '../../protocol/limits.ts';
import { decodePath } from '../../rules/naming.ts';
import { chooseSelfContained } from '../check-site.ts';
import {
  type Delivery,
  isOngoing,
  runStep,
  shownAttempt,
  shownTask,
  withAttempt,
  withFailure,
} from '../delivery.ts';
import type { DeliveryContext } from '../delivery-context.ts';
import { addPicture } from './add-picture.ts';
import { dependsOnHost } from './ask-host.ts';
import { listLocalFiles, listScreenPages, pageToView } from './page-to-view.ts';
import { describeUnseen, describeView, formatShare, judgeView } from './screen-report.ts';

/** Opens each page before publishing. Refuses a page that shows nothing, unless it needs files of its host. */
export async function viewLocalPages(
  deliveries: readonly Delivery[],
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const { request } = context;
  const pages = listScreenPages(deliveries.filter(isOngoing), request.screen);
  if (![...pages.values()].includes('')) return deliveries;
  context.logger.startSection('Open the page in a browser, before publishing');
  const local = listLocalFiles(deliveries);
  return runStep('check', deliveries, async (delivery) => {
    const served = shownTask(delivery)?.served;
    if (served === undefined || pages.get(delivery) !== '') return delivery;
    const { url, isServedAsIs, display } = served;
    const withPicture = request.picture && display === 'page' && !request.checkOnly;
    if (!isServedAsIs && !withPicture) return delivery;
    const page = await pageToView(url, delivery, request, local);
    const view = await compareWithRoots(await context.screen.view(page), delivery, page, context.screen);
    context.logger.info(`${delivery.subject}: ${describeView(view)}`);
    // What the scripts of a converted page request is reported.
    const refusesHosts = !delivery.inlined && chooseSelfContained(delivery, request) === 'enforce';
    const { failure } = judgeView(view, request.screen === 'enforce', refusesHosts);
    const viewed = { ...delivery, localView: isServedAsIs ? view : null };
    if (failure !== null && isServedAsIs && !(await dependsOnHost(view, url, context))) {
      return withFailure(viewed, 'check', failure.withLeftBehind([]));
    }
    if (failure !== null && request.checkOnly) {
      const unknown = `${failure.message}; whether the host has the files that the page requested: \`check\` doesn't contact it`;
      return { ...viewed, unknown: [...viewed.unknown, unknown] };
    }
    return withPicture ? addPicture(viewed, view, context) : viewed;
  });
}

/** Opens each verified page at its URL, and judges what a browser saw. */
export async function viewPublishedPages(
  deliveries: readonly Delivery[],
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const { request } = context;
  const proven = deliveries.filter((delivery) => shownAttempt(delivery)?.proof != null);
  const pages = listScreenPages(proven, request.screen);
  if ([...pages.values()].includes('')) context.logger.startSection('Open the published page in a browser');
  const viewed: Delivery[] = [];
  for (const delivery of deliveries) {
    const obstacle = pages.get(delivery);
    viewed.push(obstacle === undefined ? delivery : await viewPublishedPage(delivery, obstacle, context));
  }
  return viewed;
}

async function viewPublishedPage(
  delivery: Delivery,
  obstacle: string,
  context: DeliveryContext,
): Promise<Delivery> {
  const { request } = context;
  const attempt = shownAttempt(delivery);
  if (attempt?.placement == null || attempt.proof === null) return delivery;
  const { placement, proof } = attempt;
  // A cache would show the previous page.
  const url = proof.versioned?.url ?? placement.first.url;
  const page = {
    ...(await pageToView(url, delivery, request)),
    // A host behind a redirect stays refused.
    isPrivateHost: proof.isInternal && proof.hosts.every((host) => host === url.host),
  };
  if (obstacle !== '') {
    const unseen = describeUnseen(obstacle, '', page.ownTags);
    return withAttempt(delivery, { ...attempt, unknown: [...attempt.unknown, ...unseen] });
  }
  // The page stays verified, even if the job ends now.
  const seen = await context.screen
    .view(page)
    .catch(() => createUncheckedView('the step was stopped before a browser opened it'));
  const isOwn = seen.httpCode === null || delivery.site?.source !== undefined;
  const view = isOwn ? { ...seen, unfilledTags: page.ownTags ?? [] } : seen;
  context.logger.info(`${delivery.subject}: ${describeView(view)}`);
  const isEnforced = request.screen === 'enforce';
  const { failure, notes, unknown } = judgeView(view, isEnforced, false, delivery.missingUrls);
  const { agreement, different } = await compareWithLocal(delivery.localView, view, context);
  const judged = {
    ...attempt,
    screen: { view, agreement },
    unknown: [...attempt.unknown, ...unknown, ...different],
    // A URL that shows nothing is not handed over.
    ...(failure === null ? {} : { proof: null, failure: failure.withStep('verify') }),
  };
  return { ...withAttempt(delivery, judged), notes: [...delivery.notes, ...notes] };
}

/** The share of equal pixels, if known; and for UNKNOWN, whether both pages clearly differ. */
async function compareWithLocal(before: ScreenView | null, view: ScreenView, { screen }: DeliveryContext) {
  const [local, published] = [before, view].map((seen) => (seen?.verdict === 'shown' ? seen.picture : null));
  const difference = local && published ? await screen.compare(local, published) : null;
  if (difference === null) return { agreement: null, different: [] };
  // A moving page differs each time.
  const isStill = before?.isStable !== false && view.isStable !== false;
  const share = `${formatShare(difference)} of the picture`;
  const different =
    isStill && difference >= SCREEN.clearDifference
      ? [`why the published page looks different from the local one: ${share}`]
      : [];
  return { agreement: 1 - difference, different };
}

/** A folder name for which nothing was built. A page shows it only as part of its own URL. */
const UNBUILT = 'no-such-page-7f3a9c2e';

/**
 * Finds out whether a page was built for the root of a host or Pages site, by opening it there too. A router without
 * its base path shows "not found" in any language, and shows the same at a path for which nothing was built.
 *
 * @param view what a browser saw below the folder's path
 * @returns the view, or a `not-shown` view with what to set
 */
async function compareWithRoots(
  view: ScreenView,
  delivery: Delivery,
  page: PageToView,
  screen: Screen,
): Promise<ScreenView> {
  const { routerSetting } = delivery;
  const sitePath = shownTask(delivery)?.served?.sitePath ?? '/';
  const isComparable = view.verdict !== 'not-checked' && view.isStable !== false && view.picture !== null;
  if (routerSetting === null || !isComparable) return view;
  // A correct page may stay blank at the root, so it gets little time.
  const renderTime = view.verdict === 'shown' ? 2 * view.elapsed + SECOND : 4 * SECOND;
  const openAt = async (path: string): Promise<ScreenView | null> => {
    const rest = delivery.site?.isFolder ? new URL(page.url).pathname.slice(sitePath.length) : '';
    const url = new URL(path + rest, page.url).href;
    const local = listLocalFiles([delivery], [sitePath, path]);
    const seen = await resultOf(() => screen.view({ ...page, url, local, renderTime }));
    return hasFailed(seen) || seen.verdict !== 'shown' || seen.isStable === false ? null : seen;
  };
  const [, ofSite = ''] = /^(\/[^/]+\/)./.exec(sitePath) ?? [];
  for (const root of ['/', ofSite].filter((path) => path !== '' && path !== sitePath)) {
    const atRoot = await openAt(root);
    // A missing picture doesn't make it another page; another text does, apart from its own URL.
    const isAlike = ({ verdict, text }: ScreenView): boolean =>
      verdict === 'shown' && [text, text.replaceAll(decodePath(sitePath), root)].includes(atRoot?.text ?? '');
    if (atRoot === null || isAlike(view)) continue;
    const hint = `set ${routerSetting}: the page works at ${root}, but not below ${sitePath}`;
    if (view.verdict === 'not-shown') return { ...view, hint: view.hint || hint };
    const [, parent = '', folder = ''] = /^(.*\/)(.*)\/$/.exec(sitePath) ?? [];
    const unbuilt = await openAt(`${parent}${UNBUILT}/`);
    const names = [folder, decodePath(folder)];
    const isSame =
      unbuilt !== null && names.some((name) => describeSight(unbuilt, name) === describeSight(view));
    // A page that was still being drawn shows more at a second look.
    const again = isSame ? await openAt(sitePath) : null;
    if (again === null || isAlike(again)) return view;
    return { ...view, verdict: 'not-shown', reason: SAME_EVERYWHERE, hint };
  }
  return view;
}

const SAME_EVERYWHERE =
  'in its folder, the page shows only what it shows at any wrong path, so it was built for another path';

/** What a page shows. @param folder replaces the unbuilt name, the only difference of the URLs */
const describeSight = ({ title, text, painted }: ScreenView, folder = UNBUILT): string =>
  [title, text, painted.images, painted.drawings].join('\n').replaceAll(UNBUILT, folder);
