import { createUncheckedView, type ScreenView } from '../../browser/screen-view.ts';
import { hasFailed, resultOf } from '../../errors.ts';
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
import { addPicture, refusePicturePaths } from './add-picture.ts';
import { findPlaceProblem } from './compare-root.ts';
import { describeUnseen, judgeView, lostPageError } from './judge-view.ts';
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
 *
 * @see design 7
 */
export async function viewLocalPages(
  given: readonly Delivery[],
  { request, context, open }: ScreenStep,
): Promise<readonly Delivery[]> {
  const { screen: mode } = request;
  const deliveries = request.picture ? refusePicturePaths(given) : given;
  const pages = new Map(
    deliveries.filter(isOngoing).flatMap((delivery) => {
      const page = findScreenPage(delivery);
      return page === undefined ? [] : [[delivery, page] as const];
    }),
  );
  const chosen = chooseFirst([...pages.values()]);
  if (mode === 'off' || chosen.size === 0) return deliveries;
  context.logger.startSection('Open the page before publishing');
  const local = listLocalFiles(deliveries);
  return runStep('check', deliveries, async (delivery) => {
    const found = pages.get(delivery);
    const withPicture = request.picture && found?.isPage === true;
    const isWanted = found?.served.isServedAsIs === true || withPicture;
    if (found === undefined || !chosen.has(found) || !isWanted) return delivery;
    const { served: page } = found;
    const opened = await pageToView(page.url, delivery, request, local);
    const view = await open(opened);
    context.logger.info(`${delivery.subject}: ${describeView(view)}`);
    const problem = await findPlaceProblem(view, delivery, opened, open);
    const failure =
      problem?.isLost === true
        ? lostPageError(problem)
        : judgeView({ ...view, hint: view.hint || (problem?.hint ?? '') }, mode, page.url).failure;
    const viewed = { ...delivery, localView: page.isServedAsIs ? view : null };
    const isJudged = failure !== null && page.isServedAsIs;
    if (isJudged && !(await dependsOnHost(view, page.url, context))) {
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

/** Opens each proven page at its address, and judges what a browser saw. @see design 7 */
export async function viewPublishedPages(
  deliveries: readonly Delivery[],
  step: ScreenStep,
): Promise<readonly Delivery[]> {
  const proven = deliveries.map((delivery) => findProvenPage(delivery, step));
  const pages = proven.filter((page) => page !== undefined);
  if (pages.length === 0) return deliveries;
  const { screen: mode } = step.request;
  const chosen = chooseFirst(pages);
  const openable = pages.filter(({ unopened }) => unopened === '').length;
  if (mode !== 'off' && chosen.size > 0) step.context.logger.startSection('Open the page in a browser');
  const viewed: Delivery[] = [];
  for (const [at, delivery] of deliveries.entries()) {
    const page = proven[at];
    if (page === undefined) viewed.push(delivery);
    else if (mode === 'off') viewed.push(leaveUnseen(delivery, page, 'it was not opened in one, as asked'));
    else if (!chosen.has(page))
      viewed.push(leaveUnseen(delivery, page, page.unopened || describeMany(openable)));
    else viewed.push(await viewPublishedPage(delivery, page, step));
  }
  return viewed;
}

const describeMany = (count: number): string =>
  `of ${count} pages ${SCREEN.pages} were opened in one, and ${count - SCREEN.pages} were not`;

function leaveUnseen(delivery: Delivery, { attempt }: ProvenPage, reason: string): Delivery {
  return withAttempt(delivery, { ...attempt, unknown: [...attempt.unknown, describeUnseen(reason)] });
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
  const { isPage, unopened } = page || { isPage: true, unopened: '' };
  return { attempt, url, isPage, unopened };
}

async function viewPublishedPage(
  delivery: Delivery,
  { attempt, url }: ProvenPage,
  step: ScreenStep,
): Promise<Delivery> {
  const { request, context } = step;
  // What is proven stays proven, even if the job ends now.
  const page = {
    ...(await pageToView(url, delivery, request)),
    isPrivateHost: isInPrivateNetwork(attempt, url),
  };
  const view = await step
    .open(page)
    .catch(() => createUncheckedView('the step was stopped before a browser opened it'));
  context.logger.info(`${delivery.subject}: ${describeView(view)}`);
  const { failure, notes, unknown } = judgeView(view, request.screen === 'enforce' ? 'enforce' : 'auto', url);
  const { agreement, open } = await compareViews(delivery, view, step);
  const judged = {
    ...attempt,
    screen: { view, agreement },
    unknown: [...attempt.unknown, ...unknown, ...open],
    // An address that shows nothing is not handed over, nor is the raw one.
    ...(failure === null ? {} : { proof: null, rawUrl: null, failure: failure.withStep('verify') }),
  };
  return { ...withAttempt(delivery, judged), notes: [...delivery.notes, ...notes] };
}

/** Whether the address was proven in a private network, and by its own host: one behind a redirect stays refused. */
const isInPrivateNetwork = ({ proof }: ChannelAttempt, { host }: URL): boolean =>
  proof?.isInternal === true && proof.hosts.every((one) => one === host);

const UNCOMPARED = { agreement: null, open: [] };

/** How far the published page looks like the local one, and for UNKNOWN where a page that keeps its look does not. */
async function compareViews(
  delivery: Delivery,
  view: ScreenView,
  { request, context, open }: ScreenStep,
): Promise<{ readonly agreement: number | null; readonly open: readonly string[] }> {
  const { localView } = delivery;
  const isComparable = localView?.verdict === 'shown' && view.verdict === 'shown';
  if (!isComparable || localView.picture === null || view.picture === null) return UNCOMPARED;
  const difference = await context.screen.compare(localView.picture, view.picture);
  if (difference === null) return UNCOMPARED;
  const result = { agreement: 1 - difference, open: [] };
  const page = findScreenPage(delivery)?.served;
  const isMoving = localView.isStable === false || view.isStable === false;
  if (difference < SCREEN.clearDifference || isMoving || page === undefined) return result;
  // Whether the page looks the same each time is known only from a second look.
  const again = await resultOf(async () =>
    open(await pageToView(page.url, delivery, request, listLocalFiles([delivery]))),
  );
  if (hasFailed(again) || again.picture === null) return result;
  const change = await context.screen.compare(localView.picture, again.picture);
  if (change === null || change >= SCREEN.clearDifference) return result;
  const percent = formatShare(difference);
  return {
    ...result,
    open: [`why the published page looks different from the local one: ${percent} of the picture`],
  };
}
