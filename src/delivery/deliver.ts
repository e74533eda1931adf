import type { Step } from '../protocol/words.ts';
import { checkPages } from './check-site.ts';
import { chooseChannels, chooseRemoval, queryFor } from './choose-channel.ts';
import { comparePages } from './compare-pages.ts';
import { composeReport } from './compose-report.ts';
import { type Delivery, failAll, isOngoing, LINK_SUBJECT, newDelivery, runStep } from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { listRemovals, refuseUnsure } from './list-removals.ts';
import { openFiles, relistFolders } from './open-files.ts';
import type { Report } from './report.ts';
import { restoreFailed } from './restore.ts';
import { viewLocalPages, viewPublishedPages } from './screen/view-pages.ts';
import { carryOut, prepareTasks, recheckDeliveries } from './tasks.ts';

/** Delivers or withdraws every named file. A failed file doesn't stop the others. Never throws. @see protocol 1, 3.1 */
export async function deliver(context: DeliveryContext): Promise<readonly Report[]> {
  const { request } = context;
  const { operation, address, path = address?.href, file, dryRun } = request;
  const isRemoval = operation === 'withdraw';
  const subject = (isRemoval && path) || (file[0] ?? LINK_SUBJECT);
  let files: readonly Delivery[] = [newDelivery(operation, subject)];
  let step: Step = 'check';
  try {
    files = await (isRemoval ? listRemovals : openFiles)(context);
    if (files.some(isOngoing)) {
      step = 'authorize';
      const repository = await context.openRepository(queryFor(files, request));
      const { channels } = repository;
      files = await runStep('authorize', files, async (delivery) => {
        if (delivery.choice !== null) return delivery;
        const choose = isRemoval ? chooseRemoval : chooseChannels;
        return { ...delivery, choice: await choose(delivery, request, repository) };
      });
      step = 'place';
      files = await prepareTasks(files, channels, context);
      if (!isRemoval) files = await viewLocalPages(await checkPages(files, context), context);
      files = await comparePages(files, channels, context);
      files = await relistFolders(files, context);
      files = await carryOut(files, channels, context);
      // The report describes what was removed, not the local file.
      if (isRemoval) files = files.map((delivery) => ({ ...refuseUnsure(delivery, request), site: null }));
      step = 'verify';
      if (!dryRun && !isRemoval) files = await viewPublishedPages(files, context);
      if (!dryRun) files = await recheckDeliveries(files, channels);
      if (request.onFailure === 'restore' && !dryRun) {
        files = await restoreFailed(files, channels, context);
      }
    }
  } catch (thrown) {
    files = failAll(files, step, thrown);
  } finally {
    context.logger.endSection();
  }
  return files.map((delivery) => composeReport(delivery, context.face));
}
