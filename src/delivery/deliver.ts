import { DeliveryError } from '../errors.ts';
import type { RepositoryContext } from '../github/api/repository.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { getBrowserDisplay } from '../rules/media-type.ts';
import { checkPages } from './check-site.ts';
import { chooseChannels, queryFor } from './choose-channel.ts';
import { composeReport } from './compose-report.ts';
import { type Delivery, failAll, inStep, isOngoing, LINK_SUBJECT, newDelivery, runStep } from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { openFiles } from './open-files.ts';
import type { FullReport } from './report.ts';
import { createPageOpener } from './screen/page-to-view.ts';
import { type ScreenStep, viewLocalPages, viewPublishedPages } from './screen/view-pages.ts';
import { type ActionOf, authorize, carryOut, noteInputs, prepareTasks, recheckDeliveries } from './tasks.ts';

/**
 * Delivers every file that is named: check the files → authorize → plan → check and look at the pages → place → wait →
 * verify → look at the addresses → read the branch once more, also after a restoration → report. A file that fails
 * stops no other. It never throws: a failure becomes a report that says so.
 *
 * @returns a report for each file
 * @see protocol 1 (flow per channel), 3.1
 */
export async function deliver(
  request: DeliveryRequest,
  context: DeliveryContext,
): Promise<readonly FullReport[]> {
  let files: readonly Delivery[] = [newDelivery('deliver', request.fileLines[0] ?? LINK_SUBJECT)];
  try {
    files = await openFiles(request, context);
    if (request.checkOnly) {
      files = failAll(await checkPages(files, request, context), onlyChecked());
    } else if (files.some(isOngoing)) {
      const { repository, channels } = await authorize(queryFor(request), context);
      files = await chooseForAll(files, request, repository);
      files = noteInputs(files, request, context);
      const step = { request, context, open: createPageOpener(context.screen, context) };
      const actionOf: ActionOf = (key) => channels[key].publish;
      files = await inStep('place', () => placeAndVerify(files, actionOf, step));
      if (!request.dryRun) {
        files = await inStep('verify', () => viewPublishedPages(files, step));
        files = await inStep('verify', () => recheckDeliveries(files, actionOf));
        if (request.onFailure === 'restore') {
          // Loaded only where it is asked for.
          const { restoreFailed } = await import(/* webpackMode: "eager" */ './restore.ts');
          files = await inStep('verify', () => restoreFailed(files, actionOf, request, context));
          // The last look comes after the last write.
          if (files.some(({ restored }) => restored !== undefined)) {
            files = await inStep('verify', () => recheckDeliveries(files, actionOf));
          }
        }
      }
    }
  } catch (thrown) {
    files = failAll(files, thrown);
  } finally {
    for (const { site } of files) await site?.entry.file.close();
    context.logger.endSection();
  }
  return files.map((delivery) => composeReport(delivery, context.face));
}

const onlyChecked = (): DeliveryError =>
  new DeliveryError('DRY_RUN', 'only checked: nothing failed, no host was asked, and nothing was published', {
    hint: 'deliver it',
    leftBehind: [],
  });

const chooseForAll = (
  files: readonly Delivery[],
  request: DeliveryRequest,
  repository: RepositoryContext,
): Promise<readonly Delivery[]> =>
  runStep('authorize', files, async (delivery) => {
    const { name, site, subject } = delivery;
    const display = site?.isFolder ? 'page' : getBrowserDisplay(name);
    const folder = site?.isFolder ? subject : undefined;
    const size = site?.entry.file.size ?? 0;
    const choice = chooseChannels({ request, repository, size, display, folder });
    return { ...delivery, choice };
  });

/** Plans, looks at the pages, places, waits and verifies; or says what that would do. */
async function placeAndVerify(
  deliveries: readonly Delivery[],
  actionOf: ActionOf,
  step: ScreenStep & { readonly request: DeliveryRequest },
): Promise<readonly Delivery[]> {
  const { request, context } = step;
  const planned = await prepareTasks(deliveries, request, actionOf, context);
  const checked = await checkPages(planned, request, context);
  const viewed = await viewLocalPages(checked, step);
  return carryOut(viewed, request, actionOf, context);
}
