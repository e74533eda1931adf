import type { DeliveryRequest } from '../request/parse-request.ts';
import { authorize } from './authorize.ts';
import { checkPages, closeFiles, openFiles } from './check-file.ts';
import { chooseChannels } from './choose-channel.ts';
import type { DeliveryContext } from './delivery-context.ts';
import {
  type FileDelivery,
  failAll,
  isOngoing,
  LINK_SUBJECT,
  newDelivery,
  runStep,
} from './file-delivery.ts';
import { folderChannelError } from './open-site.ts';
import { actionsFor, prepareTasks, previewTasks } from './plan.ts';
import { publishTasks } from './publish.ts';
import { composeReport, type Report } from './report.ts';
import { createPageOpener } from './screen/open-pages.ts';
import { viewLocalPages, viewPublishedPages } from './screen/view-pages.ts';

/**
 * Delivers every file that is named: check → authorize → place → wait → verify → report. A file that fails
 * stops no other. It never throws: a failure becomes a report that says so.
 *
 * @returns a report for each file
 * @see protocol 1 (flow per channel), 3.1
 */
export async function deliver(
  request: DeliveryRequest,
  context: DeliveryContext,
): Promise<readonly Report[]> {
  let files: readonly FileDelivery[] = [newDelivery('deliver', request.fileLines[0] ?? LINK_SUBJECT)];
  try {
    files = await openFiles(request, context);
    if (files.some(isOngoing)) files = await deliverOpenFiles(files, request, context);
  } catch (thrown) {
    files = failAll(files, thrown);
  } finally {
    await closeFiles(files);
    context.logger.endSection();
  }
  return files.map(composeReport);
}

async function deliverOpenFiles(
  opened: readonly FileDelivery[],
  request: DeliveryRequest,
  context: DeliveryContext,
): Promise<readonly FileDelivery[]> {
  const { repository, channels } = await authorize(request, context);
  const actions = actionsFor(channels, 'publish');
  const chosen = await runStep('authorize', opened, async (delivery) => {
    const choice = chooseChannels(request, delivery.file?.size ?? null, repository);
    if (delivery.site !== null && choice.main !== 'K1') {
      throw folderChannelError(delivery.subject, choice.main, choice.reason);
    }
    return { ...delivery, choice };
  });
  const planned = await prepareTasks(chosen, actions, context);
  const checked = await checkPages(planned, request, ({ tasks }) => tasks.has('K1'), context);
  const step = { request, context, open: createPageOpener(context.screen, context) };
  const viewed = await viewLocalPages(checked, step);
  if (request.dryRun) return previewTasks(viewed, actions, context);
  return viewPublishedPages(await publishTasks(viewed, request, actions, context), step);
}
