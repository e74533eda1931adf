import { DeliveryError } from '../errors.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { checkPages, closeFiles, openFiles } from './check-file.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { type FileDelivery, failAll, LINK_SUBJECT, newDelivery } from './file-delivery.ts';
import { composeReport, type Report } from './report.ts';

/**
 * Runs the checks of a delivery on every file, without any request to a host. It never throws.
 *
 * @returns a report for each file: `planned` where it can be delivered
 */
export async function checkOnly(
  request: DeliveryRequest,
  context: DeliveryContext,
): Promise<readonly Report[]> {
  let files: readonly FileDelivery[] = [newDelivery('deliver', request.fileLines[0] ?? LINK_SUBJECT)];
  try {
    files = await openFiles(request, context);
    const { channels } = request;
    const isForScreen = channels === 'auto' || channels.includes('K1');
    files = await checkPages(files, request, () => isForScreen, context);
    files = failAll(files, onlyCheckedError());
  } catch (thrown) {
    files = failAll(files, thrown);
  } finally {
    await closeFiles(files);
  }
  return files.map(composeReport);
}

const onlyCheckedError = (): DeliveryError =>
  new DeliveryError('DRY_RUN', 'only checked: nothing failed, no host was asked, and nothing was published', {
    hint: 'deliver it',
    leftBehind: [],
  });
