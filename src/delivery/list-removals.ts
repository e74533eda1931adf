import { resolve } from 'node:path';
import type { ChannelItem } from '../channels/channel.ts';
import { DeliveryError, hasFailed, resultOf } from '../errors.ts';
import type { ChannelKey } from '../protocol/words.ts';
import { deliveredName, isFolderAt, refuseOneNameForMany, siteName } from '../request/find-files.ts';
import { refuseInput } from '../request/input-kinds.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { inspectFile } from '../rules/inspect.ts';
import { siteOfFile } from '../rules/local-site.ts';
import { getBrowserDisplay } from '../rules/media-type.ts';
import { baseName } from '../rules/naming.ts';
import { type ChannelChoice, type Delivery, newDelivery } from './delivery.ts';
import type { DeliveryRun } from './delivery-context.ts';

/** What is to be withdrawn, each from one channel. Only the names count: nothing of it need be here any more. */
export async function listRemovals({ request, signal }: DeliveryRun): Promise<readonly Delivery[]> {
  refuseUnnamedBin(request);
  const { channels, reason } = chooseRemoval(request);
  const found: Delivery[] = [];
  for (const key of channels) {
    for (const item of await listItems(request, key, signal)) {
      found.push({ ...newDelivery('withdraw', item.name), ...item, choice: { channels: [key], reason } });
    }
  }
  return found;
}

function chooseRemoval(request: DeliveryRequest): ChannelChoice {
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

/** By the names that were given; the files below a folder are found by the channel. */
async function listItems(
  { fileLines, findFiles, folder, path }: DeliveryRequest,
  channel: ChannelKey,
  signal: AbortSignal,
): Promise<readonly ChannelItem[]> {
  const isFolder = path?.endsWith('/') === true;
  const isOnPages = channel === 'K1';
  if (fileLines.length === 0 || (isFolder && isOnPages)) {
    if (isFolder && !isOnPages) refuseFolder();
    return [{ site: null, name: isFolder ? path : baseName(path ?? '') }];
  }
  const places = await findFiles(fileLines, folder, signal);
  refuseOneNameForMany(places.size, path);
  const items: ChannelItem[] = [];
  for (const [given, place] of places) {
    const file = resolve(folder, given);
    // A folder is named as such, or is one here.
    const isSite = /[/\\]$/.test(given) || (await isFolderAt(file));
    if (isSite && !isOnPages) refuseFolder();
    const name = isSite ? `${siteName(file, path, places.size === 1)}/` : deliveredName(place, path);
    // K2 and K3 compare the digest of what they hold with the file, which may no longer exist.
    const options = { path: file, given, marker: undefined, secrets: [], signal };
    const opened = isOnPages ? null : await resultOf(() => inspectFile(options));
    items.push({ name, site: opened === null || hasFailed(opened) ? null : siteOfFile(opened) });
  }
  return items;
}

const refuseFolder = (): never =>
  refuseInput(
    'K2 and K3 have no folders to withdraw',
    (w) => `give the names as ${w.input('file')}, or set ${w.input('path')} to one of them`,
  );
