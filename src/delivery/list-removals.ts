import { join, resolve } from 'node:path';
import type { ChannelItem } from '../channels/channel.ts';
import { DeliveryError, hasFailed, resultOf } from '../errors.ts';
import { isFolderAt, refuseOneNameForMany } from '../request/find-files.ts';
import { refuseInput } from '../request/input-kinds.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { inspectFile } from '../rules/inspect.ts';
import { siteOfFile } from '../rules/local-site.ts';
import { baseName, decodePath, deliveredName, siteName } from '../rules/naming.ts';
import { locate } from '../rules/open-file.ts';
import { isWanted, namesPathInFolder } from './choose-channel.ts';
import { chooseConversion, renderedName } from './convert/convert-file.ts';
import { type Delivery, mainAttempt, newDelivery, withAttempt } from './delivery.ts';
import type { RequestContext } from './delivery-context.ts';

/** Lists what a delivery with the same inputs would have delivered, by name: local files may be gone. */
export async function listRemovals({ request, signal }: RequestContext): Promise<readonly Delivery[]> {
  const { channels } = request;
  const items = await listItems(request, signal);
  const mayBeFolder =
    channels === 'auto' ? isWanted('K1', request) : channels.every((channel) => channel === 'K1');
  if (!mayBeFolder && items.some(isFolder)) {
    refuseInput(
      'releases and the file-bin have no folders to withdraw',
      (w) => `give the names as ${w.input('file')}, or set ${w.input('path')} to one of them`,
    );
  }
  const removals = items.map((item) => ({ ...newDelivery('withdraw', item.name), ...item }));
  if (channels === 'auto') return removals;
  return channels.flatMap((channel) =>
    removals.map((removal) => ({
      ...removal,
      choice: { channels: [channel], reason: 'it was asked for' } as const,
    })),
  );
}

async function listItems(request: DeliveryRequest, signal: AbortSignal): Promise<readonly ChannelItem[]> {
  const { file, findFiles, folder, path, address, isLeftOut, delivered } = request;
  if (address !== undefined) {
    // The Pages settings give the rest of the path.
    const [, name = './'] = /([^/]+\/?)$/.exec(decodePath(address.pathname)) ?? [];
    return [{ site: null, name }];
  }
  if (file.length === 0) {
    const name = path?.endsWith('/') ? path : baseName(path ?? '');
    // An agent's server knows the bytes of what it delivered.
    if (request.isAgent && delivered === undefined && request.channels.includes('K3')) {
      const message =
        'this server remembers no upload of it since its start, and the file-bin deletes a file about 7 days after its upload';
      throw new DeliveryError('NOT_OURS', message, { hint: 'leave it there', leftBehind: [] });
    }
    return [{ site: null, name, sha256: delivered?.sha256 }];
  }
  const named = await findFiles(file, folder, signal);
  refuseOneNameForMany(named.size, path);
  const items: ChannelItem[] = [];
  for (const [subject, { relativePath, root }] of named) {
    const file = resolve(folder, subject);
    if (/[/\\]$/.test(subject) || (await isFolderAt(file))) {
      const name = `${siteName(file, path, named.size === 1).replace(/\/$/, '')}/`;
      items.push({ site: null, name, isLeftOut: (path) => isLeftOut(join(file, path)) });
      continue;
    }
    const name = deliveredName(relativePath, path);
    if ((await chooseConversion(subject, name, request)) === 'render') {
      items.push({ name: renderedName(name, path), site: null });
      continue;
    }
    // If the file still exists, its size decides the channel, and K2 and K3 compare its digest.
    const options = { marker: undefined, secrets: [], signal };
    const opened = await resultOf(async () =>
      inspectFile({ ...locate({ path: file, given: subject }, root, request), ...options }),
    );
    items.push({ name, site: hasFailed(opened) ? null : siteOfFile(opened) });
  }
  return items;
}

const isFolder = ({ name }: ChannelItem): boolean => name.endsWith('/');

/** Fails if K1 has no record of it: another channel or branch, or a folder of that name, may have been meant. */
export function refuseUnsure(delivery: Delivery, request: DeliveryRequest): Delivery {
  const { channels, file, address } = request;
  const main = mainAttempt(delivery);
  const isNamed =
    address === undefined && channels !== 'auto' && (file.length === 0 || /\.\w+$/.test(delivery.name));
  const { written, wasOurs } = main?.placement ?? {};
  if (isFolder(delivery) || isNamed || main?.task.plan.channel !== 'K1' || written !== false || wasOurs)
    return delivery;
  if (namesPathInFolder(request)) {
    const unknown =
      'whether it was delivered to a release: the path has a folder, so only the site was searched';
    return { ...delivery, unknown: [...delivery.unknown, unknown] };
  }
  const message = `the site had no ${delivery.subject}, and no record of a delivery of it: it may be a folder, or in another channel`;
  const failure = new DeliveryError('NOT_FOUND', message, {
    step: 'verify',
    hint: (w) =>
      address !== undefined
        ? `set ${w.input('url')} to the URL from the report`
        : `set ${w.input('channel')} to where it was delivered, and ${w.input('path')} to its full path, which ends in / for a folder`,
  });
  return withAttempt(delivery, { ...main, proof: null, failure });
}
