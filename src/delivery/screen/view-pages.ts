import { createUncheckedView, type ScreenView } from '../../browser/screen-view.ts';
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
import { dependsOnHost } from './ask-host.ts';
import { compareWithRoot } from './compare-root.ts';
import { describeUnseen, judgeView } from './judge-view.ts';
import { listLocalFiles } from './local-files.ts';
import { findServedPage, listScreenPages, pageToView, type ScreenPage } from './page-to-view.ts';
import { describeView, formatShare } from './screen-report.ts';

/** What the steps with a browser share. */
export interface ScreenStep {
  readonly request: Pick<DeliveryRequest, 'screen' | 'marker' | 'picture'>;
  readonly context: DeliveryContext;
}

/**
 * Opens each page before it is published, from the local files under the path that it will have. What shows
 * nothing is refused, unless it needs something that is on the host already.
 */
export async function viewLocalPages(
  deliveries: readonly Delivery[],
  { request, context }: ScreenStep,
): Promise<readonly Delivery[]> {
  const { screen: mode } = request;
  const pages = listScreenPages(deliveries.filter(isOngoing), mode === 'off', findServedPage);
  if (!startSection('Open the page before publishing', pages, context)) return deliveries;
  const local = listLocalFiles(deliveries);
  return runStep('check', deliveries, async (delivery) => {
    const page = pages.get(delivery);
    if (page === undefined || page.unopened !== '') return delivery;
    const { url, isServedAsIs } = page.served;
    const withPicture = request.picture && page.isPage;
    if (!isServedAsIs && !withPicture) return delivery;
    const opened = await pageToView(url, delivery, request, local);
    const view = await compareWithRoot(await context.screen.view(opened), delivery, opened, context.screen);
    context.logger.info(`${delivery.subject}: ${describeView(view)}`);
    const { failure } = judgeView(view, mode === 'enforce');
    const viewed = { ...delivery, localView: isServedAsIs ? view : null };
    if (failure !== null && isServedAsIs && !(await dependsOnHost(view, url, context))) {
      return withFailure(viewed, 'check', failure.withLeftBehind([]));
    }
    return withPicture ? addPicture(viewed, view, context) : viewed;
  });
}

/** @returns whether any page is opened */
function startSection(
  title: string,
  pages: ReadonlyMap<Delivery, ScreenPage>,
  { logger }: DeliveryContext,
): boolean {
  const isAny = [...pages.values()].some(({ unopened }) => unopened === '');
  if (isAny) logger.startSection(title);
  return isAny;
}

/** A proven page. */
interface ProvenPage extends ScreenPage {
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
  const pages = listScreenPages(deliveries, isOff, (delivery) => findProvenPage(delivery, step));
  startSection('Open the page in a browser', pages, step.context);
  const viewed: Delivery[] = [];
  for (const delivery of deliveries) {
    const page = pages.get(delivery);
    viewed.push(page === undefined ? delivery : await viewPublishedPage(delivery, page, step));
  }
  return viewed;
}

/** The page of K1 or of a folder on K4; a link alone is opened only where that is enforced. */
function findProvenPage(delivery: Delivery, { request, context }: ScreenStep): ProvenPage | undefined {
  const served = findServedPage(delivery);
  const isToOpen = ({ task: { plan, served: ofTask } }: ChannelAttempt): boolean =>
    ofTask === undefined ? plan.channel === 'K4' && request.screen === 'enforce' : served !== undefined;
  const attempt = [attemptIn(delivery, 'K1'), attemptIn(delivery, 'K4')].find(
    (one) => one !== undefined && one.proof !== null && isToOpen(one),
  );
  if (attempt?.placement == null) return undefined;
  const url = new URL(attempt.placement.url);
  // A cache would show the page of before.
  if (attempt.proof?.isCached) url.searchParams.set('v', `${context.clock.now()}-screen`);
  return { attempt, url, isPage: served?.isPage ?? true, unopened: served?.unopened ?? '' };
}

async function viewPublishedPage(
  delivery: Delivery,
  { attempt, url, unopened }: ProvenPage,
  { request, context }: ScreenStep,
): Promise<Delivery> {
  if (unopened !== '') {
    return withAttempt(delivery, { ...attempt, unknown: [...attempt.unknown, describeUnseen(unopened)] });
  }
  const { proof } = attempt;
  const page = {
    ...(await pageToView(url, delivery, request)),
    // By its own host: one behind a redirect stays refused.
    isPrivateHost: proof?.isInternal === true && proof.hosts.every((one) => one === url.host),
  };
  // What is proven stays proven, even if the job ends now.
  const view = await context.screen
    .view(page)
    .catch(() => createUncheckedView('the step was stopped before a browser opened it'));
  context.logger.info(`${delivery.subject}: ${describeView(view)}`);
  const { failure, notes, unknown } = judgeView(view, request.screen === 'enforce');
  const difference = await compareWithLocal(delivery.localView, view, context);
  // What moves looks different each time.
  const isStill = delivery.localView?.isStable !== false && view.isStable !== false;
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
    // An address that shows nothing is not handed over.
    ...(failure === null ? {} : { proof: null, failure: failure.withStep('verify') }),
  };
  return { ...withAttempt(delivery, judged), notes: [...delivery.notes, ...notes] };
}

/** The share of pixels in which two shown pages differ; `null` where they can't be compared. */
async function compareWithLocal(
  before: ScreenView | null,
  view: ScreenView,
  { screen }: DeliveryContext,
): Promise<number | null> {
  if (before?.verdict !== 'shown' || view.verdict !== 'shown') return null;
  return before.picture && view.picture && screen.compare(before.picture, view.picture);
}
