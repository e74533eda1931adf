import { createUncheckedView } from '../../browser/screen-view.ts';
import { SCREEN } from '../../protocol/limits.ts';
import type { DeliveryRequest } from '../../request/parse-request.ts';
import {
  attemptIn,
  type ChannelAttempt,
  type Delivery,
  isOngoing,
  runStep,
  withAttempt,
  withFailure,
} from '../delivery.ts';
import type { DeliveryContext } from '../delivery-context.ts';
import { addPicture } from './add-picture.ts';
import { checkPlace } from './compare-root.ts';
import { describeUnseen, judgeView } from './judge-view.ts';
import { dependsOnHost, listLocalFiles } from './local-files.ts';
import {
  chooseFirst,
  findScreenPage,
  type PageOpener,
  pageToView,
  type ScreenChoice,
} from './page-to-view.ts';
import { describeView, formatShare } from './screen-report.ts';

/** What the steps with a browser share. */
export interface ScreenStep {
  readonly request: Pick<DeliveryRequest, 'screen' | 'marker' | 'picture'>;
  readonly context: DeliveryContext;
  readonly open: PageOpener;
}

/**
 * Opens each page before it is published, from the local files under the path that it will have. What shows
 * nothing is refused, unless it needs something that is on the host already.
 */
export async function viewLocalPages(
  deliveries: readonly Delivery[],
  { request, context, open }: ScreenStep,
): Promise<readonly Delivery[]> {
  const { screen: mode } = request;
  const pages = new Map(
    deliveries.filter(isOngoing).map((delivery) => [delivery, findScreenPage(delivery)] as const),
  );
  const chosen = chooseFirst([...pages.values()]);
  if (mode === 'off' || chosen.size === 0) return deliveries;
  context.logger.startSection('Open the page before publishing');
  const local = listLocalFiles(deliveries);
  return runStep('check', deliveries, async (delivery) => {
    const page = pages.get(delivery);
    if (page === undefined || !chosen.has(page)) return delivery;
    const { url, isServedAsIs } = page.served;
    const withPicture = request.picture && page.isPage;
    if (!isServedAsIs && !withPicture) return delivery;
    const opened = await pageToView(url, delivery, request, local);
    const view = await checkPlace(await open(opened), delivery, opened, open);
    context.logger.info(`${delivery.subject}: ${describeView(view)}`);
    const { failure } = judgeView(view, mode, url);
    const viewed = { ...delivery, localView: isServedAsIs ? view : null };
    if (failure !== null && isServedAsIs && !(await dependsOnHost(view, url, context))) {
      return withFailure(viewed, 'check', failure.withLeftBehind([]));
    }
    return withPicture ? addPicture(viewed, view, context) : viewed;
  });
}

/** A proven page. */
interface ProvenPage extends ScreenChoice {
  readonly attempt: ChannelAttempt;
  /** As it is handed over, or past a cache that still has what was there before. */
  readonly url: URL;
}

/** Opens each proven page at its address, and judges what a browser saw. */
export async function viewPublishedPages(
  deliveries: readonly Delivery[],
  step: ScreenStep,
): Promise<readonly Delivery[]> {
  const isOff = step.request.screen === 'off';
  const pages = deliveries.map((delivery) => findProvenPage(delivery, step));
  const chosen = isOff ? new Set() : chooseFirst(pages);
  const openable = pages.filter((page) => page?.unopened === '').length;
  const tooMany = `of ${openable} pages ${SCREEN.pages} were opened in one, and ${openable - SCREEN.pages} were not`;
  if (chosen.size > 0) step.context.logger.startSection('Open the page in a browser');
  const viewed: Delivery[] = [];
  for (const [at, delivery] of deliveries.entries()) {
    const page = pages[at];
    if (page === undefined) viewed.push(delivery);
    else if (chosen.has(page)) viewed.push(await viewPublishedPage(delivery, page, step));
    else {
      const { attempt, unopened } = page;
      const reason = isOff ? 'it was not opened in one, as asked' : unopened || tooMany;
      viewed.push(
        withAttempt(delivery, { ...attempt, unknown: [...attempt.unknown, describeUnseen(reason)] }),
      );
    }
  }
  return viewed;
}

/** The page of K1 or of a folder on K4; a link alone is opened only where that is enforced. */
function findProvenPage(
  delivery: Delivery,
  { request: { screen }, context }: ScreenStep,
): ProvenPage | undefined {
  const page = findScreenPage(delivery);
  const attempt = (['K1', 'K4'] as const)
    .flatMap((key) => attemptIn(delivery, key) ?? [])
    .find(({ task: { plan, served }, proof }) => {
      const isWanted =
        served === undefined ? plan.channel === 'K4' && screen === 'enforce' : page !== undefined;
      return isWanted && proof !== null;
    });
  if (attempt?.placement == null) return undefined;
  const url = new URL(attempt.placement.url);
  // A cache would show the page of before.
  if (attempt.proof?.isCached) url.searchParams.set('v', `${context.clock.now()}-screen`);
  return { attempt, url, isPage: page?.isPage ?? true, unopened: page?.unopened ?? '' };
}

async function viewPublishedPage(
  delivery: Delivery,
  { attempt, url }: ProvenPage,
  { request, context, open }: ScreenStep,
): Promise<Delivery> {
  const { proof } = attempt;
  const page = {
    ...(await pageToView(url, delivery, request)),
    // By its own host: one behind a redirect stays refused.
    isPrivateHost: proof?.isInternal === true && proof.hosts.every((one) => one === url.host),
  };
  // What is proven stays proven, even if the job ends now.
  const view = await open(page).catch(() =>
    createUncheckedView('the step was stopped before a browser opened it'),
  );
  context.logger.info(`${delivery.subject}: ${describeView(view)}`);
  const { failure, notes, unknown } = judgeView(view, request.screen === 'enforce' ? 'enforce' : 'auto', url);
  const { localView: before } = delivery;
  const isComparable = before?.verdict === 'shown' && view.verdict === 'shown';
  const difference =
    isComparable && before.picture !== null && view.picture !== null
      ? await context.screen.compare(before.picture, view.picture)
      : null;
  // What moves looks different each time.
  const isStill = before?.isStable !== false && view.isStable !== false;
  const isClear = isStill && difference !== null && difference >= SCREEN.clearDifference;
  const different = 'why the published page looks different from the local one';
  const judged = {
    ...attempt,
    screen: { view, agreement: difference === null ? null : 1 - difference },
    unknown: [
      ...attempt.unknown,
      ...unknown,
      ...(isClear ? [`${different}: ${formatShare(difference)} of the picture`] : []),
    ],
    // An address that shows nothing is not handed over, nor is the raw one.
    ...(failure === null ? {} : { proof: null, rawUrl: null, failure: failure.withStep('verify') }),
  };
  return { ...withAttempt(delivery, judged), notes: [...delivery.notes, ...notes] };
}
