import { noteOtherInputs } from '../request/input-scope.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { authorize } from './authorize.ts';
import { checkPages } from './check-file.ts';
import { chooseChannels } from './choose-channel.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { channelsIn, type FileDelivery, inStep, runStep } from './file-delivery.ts';
import { folderChannelError } from './open-site.ts';
import { actionsFor, type ChannelActions, prepareTasks, previewTasks } from './plan.ts';
import { publishTasks } from './publish.ts';
import type { Report } from './report.ts';
import { createPageOpener } from './screen/open-pages.ts';
import { type ScreenStep, viewLocalPages, viewPublishedPages } from './screen/view-pages.ts';
import { withOpenFiles } from './with-open-files.ts';

/**
 * Delivers every file that is named: check → authorize → place → wait → verify → report. A file that fails
 * stops no other. It never throws: a failure becomes a report that says so.
 *
 * @returns a report for each file
 * @see protocol 1 (flow per channel), 3.1
 */
export const deliver = (request: DeliveryRequest, context: DeliveryContext): Promise<readonly Report[]> =>
  withOpenFiles(request, context, (opened) => deliverOpenFiles(opened, request, context));

async function deliverOpenFiles(
  opened: readonly FileDelivery[],
  request: DeliveryRequest,
  context: DeliveryContext,
): Promise<readonly FileDelivery[]> {
  const { repository, channels } = await authorize(request, context);
  const chosen = await runStep('authorize', opened, async (delivery) => {
    const choice = chooseChannels(request, delivery.file?.size ?? null, repository);
    if (delivery.site !== null && choice.main !== 'K1') {
      throw folderChannelError(delivery.subject, choice.main, choice.reason);
    }
    return { ...delivery, choice };
  });
  const noted = noteInputs(chosen, request, context);
  const step = { request, context, open: createPageOpener(context.screen, context) };
  const placed = await inStep('place', () => placeFiles(noted, actionsFor(channels, 'publish'), step));
  return request.dryRun ? placed : inStep('verify', () => viewPublishedPages(placed, step));
}

/** Plans, looks at the pages, and publishes; or says what that would do. */
async function placeFiles(
  deliveries: readonly FileDelivery[],
  actions: ChannelActions,
  step: ScreenStep & { readonly request: DeliveryRequest },
): Promise<readonly FileDelivery[]> {
  const { request, context } = step;
  const planned = await prepareTasks(deliveries, actions, context);
  const checked = await checkPages(planned, request, ({ tasks }) => tasks.has('K1'), context);
  const viewed = await viewLocalPages(checked, step);
  return request.dryRun
    ? previewTasks(viewed, actions, context)
    : publishTasks(viewed, request, actions, context);
}

/** Says which inputs are for other deliveries than the one that was chosen. */
function noteInputs(
  deliveries: readonly FileDelivery[],
  { channels, scopedInputs }: Pick<DeliveryRequest, 'channels' | 'scopedInputs'>,
  { logger }: Pick<DeliveryContext, 'logger'>,
): readonly FileDelivery[] {
  if (scopedInputs.length === 0) return deliveries;
  const hasFolder = deliveries.some(({ site, failure }) => site !== null || failure !== null);
  const noted = deliveries.map((delivery) => {
    if (delivery.choice === null) return delivery;
    const { reason } = delivery.choice;
    const isByAccount = channels === 'auto';
    const chosen = { channels: channelsIn(delivery), reason, hasFolder, isByAccount };
    return { ...delivery, notes: [...delivery.notes, ...noteOtherInputs(scopedInputs, chosen)] };
  });
  for (const note of new Set(noted.flatMap(({ notes }) => notes))) logger.info(note);
  return noted;
}
