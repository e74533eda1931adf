import { resolve } from 'node:path';
import type { ChannelItem } from '../channels/channel.ts';
import { DeliveryError, hasFailed, resultOf } from '../errors.ts';
import type { ChannelKey, Step } from '../protocol/words.ts';
import { deliveredName, isFolderAt, refuseOneNameForMany, siteName } from '../request/find-files.ts';
import { refuseInput } from '../request/input-kinds.ts';
import { NO_FOLDERS } from '../request/input-rules.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { inspectFile } from '../rules/inspect.ts';
import { type LocalSite, siteOfFile } from '../rules/local-site.ts';
import { getBrowserDisplay } from '../rules/media-type.ts';
import { baseName } from '../rules/naming.ts';
import type { FileLocation } from '../rules/open-file.ts';
import { queryFor } from './choose-channel.ts';
import { composeReport } from './compose-report.ts';
import { type ChannelChoice, type Delivery, failAll, LINK_SUBJECT, newDelivery } from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';
import type { Report } from './report.ts';
import { carryOut, prepareTasks, recheckDeliveries } from './tasks.ts';

/**
 * Withdraws what was delivered: authorize → find → remove → wait → verify that it is gone → report. Only owned
 * files are removed. It never throws: a failure becomes a report that says so.
 *
 * @returns a report for each file that is removed, or one where there is none
 */
export async function withdraw(
  request: DeliveryRequest,
  context: DeliveryContext,
): Promise<readonly Report[]> {
  const choice = channelsToWithdrawFrom(request);
  let files: readonly Delivery[] = [
    newDelivery('withdraw', request.path ?? request.fileLines[0] ?? LINK_SUBJECT),
  ];
  let step: Step = 'check';
  try {
    refuseUnnamedBin(request);
    const wanted: Delivery[] = [];
    for (const key of choice.channels) {
      for (const item of await itemsToRemove(request, key, context)) {
        const chosen = { ...choice, channels: [key] } as const;
        wanted.push({ ...newDelivery('withdraw', item.name), ...item, choice: chosen });
      }
    }
    step = 'authorize';
    const { channels } = await context.openRepository(queryFor(choice));
    step = 'place';
    const found = await prepareTasks(wanted, request, channels, context);
    // The report is on what is removed, and not on a file that is here.
    files = found.map((one) => ({ ...one, site: null }));
    files = await carryOut(files, request, channels, context);
    step = 'verify';
    if (!request.dryRun) files = await recheckDeliveries(files, channels);
  } catch (thrown) {
    files = failAll(files, step, thrown);
  } finally {
    context.logger.endSection();
  }
  return files.map((delivery) => composeReport(delivery, context.face));
}

function channelsToWithdrawFrom(request: DeliveryRequest): ChannelChoice {
  const { channels, binIsNew, tagIsDefault, path, fileLines } = request;
  if (channels !== 'auto') return { channels, reason: 'it was asked for' };
  if (!binIsNew) return { channels: ['K3'], reason: 'a bin was named' };
  if (!tagIsDefault) return { channels: ['K2'], reason: 'a tag was named' };
  const names = path === undefined || path.endsWith('/') ? fileLines : [path];
  // As a delivery chooses; a name without an ending may be that of a folder.
  const isAsset = (name: string): boolean => /\.\w+$/.test(name) && getBrowserDisplay(name) === 'none';
  return names.length > 0 && names.every(isAsset)
    ? { channels: ['K2'], reason: 'no browser shows it' }
    : { channels: ['K1'], reason: 'no other channel was named' };
}

/** Without a token it was delivered to the file-bin, where nothing is found without the bin's name. */
function refuseUnnamedBin({ channels, binIsNew, token, clientId }: DeliveryRequest): void {
  if (channels !== 'auto' || !binIsNew || token !== undefined || clientId !== undefined) return;
  throw new DeliveryError('NO_TOKEN', 'without a token, only a named bin of the file-bin can be emptied', {
    step: 'check',
    hint: (w) =>
      `name the file, and set ${w.input('bin')} to the first folder of its address, or ${w.input('token')} for K1`,
    leftBehind: [],
  });
}

/** What is to be removed, by the names that were given; the files below a folder are found by the channel. */
async function itemsToRemove(
  { fileLines, findFiles, folder, path }: DeliveryRequest,
  channel: ChannelKey,
  { signal }: DeliveryContext,
): Promise<readonly ChannelItem[]> {
  const isFolder = path?.endsWith('/') === true;
  const isOnPages = channel === 'K1';
  if (fileLines.length === 0 || (isFolder && isOnPages)) {
    return [{ site: null, name: isFolder ? path : baseName(path ?? '') }];
  }
  const places = await findFiles(fileLines, folder);
  refuseOneNameForMany(places.size, path);
  const items: ChannelItem[] = [];
  for (const [given, place] of places) {
    const file = resolve(folder, given);
    // A folder is named as such, or is one here.
    const isSite = /[/\\]$/.test(given) || (await isFolderAt(file));
    if (isSite && !isOnPages) refuseInput(NO_FOLDERS.problem, NO_FOLDERS.hint);
    items.push({
      site: isOnPages ? null : await openToCompare({ path: file, given }, signal),
      name: isSite ? `${siteName(file, path, places.size === 1)}/` : deliveredName(place, path),
    });
  }
  return items;
}

/** K2 and K3 compare the digest of what they hold with the file, which may no longer exist. */
async function openToCompare(location: FileLocation, signal: AbortSignal): Promise<LocalSite | null> {
  const file = await resultOf(() => inspectFile({ ...location, marker: undefined, secrets: [], signal }));
  return hasFailed(file) ? null : siteOfFile(file);
}
