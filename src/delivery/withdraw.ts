import type { UploadItem } from '../channels/channel.ts';
import { hasFailed, resultOf } from '../errors.ts';
import type { Ports } from '../ports.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { inspectFile, type LocalFile } from '../rules/inspect.ts';
import { baseName } from '../rules/naming.ts';
import { previewUploads, publishAll } from './by-channel.ts';
import { deliveredName, type FoundFile, refuseOneNameForMany } from './find-files.ts';
import { LINK_SUBJECT } from './findings.ts';
import { type Authorized, authorize, type House } from './house.ts';
import { composeReport, type Report } from './report.ts';
import { end, intend, newWay, together, type Way } from './way.ts';

/**
 * Withdrawals: authorize → seek what was delivered → take it away → wait → verify that it is gone → report.
 * Only what is known to be ours is taken away. It never throws: whatever fails becomes a report that says
 * so.
 *
 * @returns a report for each file that is taken away, or one where there is none
 */
export async function withdraw(request: DeliveryRequest, house: House): Promise<readonly Report[]> {
  const { ports } = house;
  const ways: Way[] = [newWay('withdraw', request.path ?? request.fileLines[0] ?? LINK_SUBJECT, null)];
  const channels = channelsOf(request);
  let parcels: readonly UploadItem[] = [];
  try {
    await together(ways, 'check', async () => {
      parcels = await parcelsOf(request, channels, house);
    });
    await together(ways, 'authorize', async () => {
      const authorized = await authorize({ ...request, channels }, house);
      ways.splice(0, ways.length, ...(await seek(parcels, channels, authorized, ports)));
      await together(ways, 'place', () =>
        request.dryRun
          ? previewUploads(ways, authorized.channels, ports)
          : publishAll(ways, request, authorized.channels, ports),
      );
    });
  } finally {
    for (const { file } of parcels) await file?.close();
  }
  return ways.map(({ findings }) => composeReport(findings));
}

/** Where nothing is said, it was the screen; a bin that is named is meant. */
function channelsOf({ channels, binIsNew }: DeliveryRequest): readonly [ChannelKey, ...ChannelKey[]] {
  if (channels !== 'auto') return channels;
  return [binIsNew ? 'K1' : 'K3'];
}

/** What is to be taken away, by the names that it was given; a folder's files are the channel's to find. */
async function parcelsOf(
  { fileLines, folder, path }: DeliveryRequest,
  channels: readonly ChannelKey[],
  { find, ports }: House,
): Promise<readonly UploadItem[]> {
  const isFolder = path?.endsWith('/') === true;
  if (fileLines.length === 0 || (isFolder && channels.every((key) => key === 'K1'))) {
    return [{ file: null, name: isFolder ? '' : baseName(path ?? '') }];
  }
  const files = await find(fileLines, folder);
  refuseOneNameForMany(files, path);
  const parcels: UploadItem[] = [];
  for (const found of files) {
    const file = channels.includes('K2') ? await toCompare(found, ports) : null;
    parcels.push({ file, name: deliveredName(found, path) });
  }
  return parcels;
}

/** An asset is known by its digest, where the file is still there; it may well be gone. */
async function toCompare(found: FoundFile, { signal }: Ports): Promise<LocalFile | null> {
  const file = await resultOf(() => inspectFile({ ...found, marker: undefined, secrets: [], signal }));
  return hasFailed(file) ? null : file;
}

/** A way for everything that a channel finds. */
async function seek(
  parcels: readonly UploadItem[],
  wanted: readonly ChannelKey[],
  { channels, circumstances }: Authorized,
  { logger }: Ports,
): Promise<readonly Way[]> {
  return logger.group('Seek', async () => {
    const ways: Way[] = [];
    for (const key of wanted) {
      const intents = await channels[key].prepare(parcels, circumstances);
      for (const [at, intent] of intents.entries()) {
        const subject = hasFailed(intent) ? (parcels[at]?.name ?? key) : intent.plan.name;
        const way = newWay('withdraw', subject, null);
        way.choice = { main: key, duplicates: [], reason: 'that is where it was delivered' };
        way.findings = { ...way.findings, because: way.choice.reason };
        if (hasFailed(intent)) end(way, 'check', intent);
        else intend(way, key, intent);
        logger.info(`${key}: ${subject}`);
        ways.push(way);
      }
    }
    return ways;
  });
}
