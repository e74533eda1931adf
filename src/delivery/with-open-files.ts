import type { DeliveryRequest } from '../request/parse-request.ts';
import { closeFiles, openFiles } from './check-file.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { type FileDelivery, failAll, isOngoing, LINK_SUBJECT, newDelivery } from './file-delivery.ts';
import { composeReport, type Report } from './report.ts';

/**
 * Opens and checks the files that are named, takes the steps with those that passed, and closes them. It never
 * throws: a failure becomes a report that says so.
 *
 * @returns a report for each file
 */
export async function withOpenFiles(
  request: DeliveryRequest,
  context: DeliveryContext,
  takeSteps: (opened: readonly FileDelivery[]) => Promise<readonly FileDelivery[]>,
): Promise<readonly Report[]> {
  let files: readonly FileDelivery[] = [newDelivery('deliver', request.fileLines[0] ?? LINK_SUBJECT)];
  try {
    files = await openFiles(request, context);
    if (files.some(isOngoing)) files = await takeSteps(files);
  } catch (thrown) {
    files = failAll(files, thrown);
  } finally {
    await closeFiles(files);
    context.logger.endSection();
  }
  return files.map(composeReport);
}
