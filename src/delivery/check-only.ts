import { DeliveryError } from '../errors.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { checkPages } from './check-file.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { failAll } from './file-delivery.ts';
import type { Report } from './report.ts';
import { withOpenFiles } from './with-open-files.ts';

/**
 * Runs the checks of a delivery on every file, without any request to a host. It never throws.
 *
 * @returns a report for each file: `planned` where it can be delivered
 */
export const checkOnly = (request: DeliveryRequest, context: DeliveryContext): Promise<readonly Report[]> =>
  withOpenFiles(request, context, async (opened) => {
    const { channels } = request;
    const isForScreen = channels === 'auto' || channels.includes('K1');
    const checked = await checkPages(opened, request, () => isForScreen, context);
    return failAll(checked, onlyCheckedError());
  });

const onlyCheckedError = (): DeliveryError =>
  new DeliveryError('DRY_RUN', 'only checked: nothing failed, no host was asked, and nothing was published', {
    hint: 'deliver it',
    leftBehind: [],
  });
