import { DeliveryError, hasFailed } from '../errors.ts';
import type { Ports } from '../ports.ts';
import type { ChannelKey } from '../protocol/words.ts';
import { encodedForms } from '../redact.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { inspectFile } from '../rules/inspect.ts';
import { checkSelfContained, isHtml } from '../rules/page/self-contained.ts';
import { refuseSecrets } from '../rules/secrets/secrets.ts';
import { byChannel, previewUploads, publishAll } from './by-channel.ts';
import { chooseChannels, refuseTooLarge } from './choose-channel.ts';
import { deliveredName, refuseOneNameForMany } from './find-files.ts';
import { LINK_SUBJECT } from './findings.ts';
import { type Authorized, authorize, type House } from './house.ts';
import { composeReport, type Report } from './report.ts';
import { each, end, intend, newWay, open, together, type Way } from './way.ts';

/**
 * Deliveries: check → authorize → place → wait → verify → report, for every file that is named. What they
 * share is done once; one that fails doesn't stop the others. It never throws: whatever fails becomes a
 * report that says so.
 *
 * @returns a report for each file
 * @see protocol 1 (flow per channel), 3.1
 */
export async function deliver(request: DeliveryRequest, house: House): Promise<readonly Report[]> {
  const { ports } = house;
  const ways = await setOut(request, house);
  try {
    await each(ways, 'check', (way) => check(way, request, ports));
    await together(ways, 'authorize', async () => {
      const authorized = await authorize(request, house);
      await each(ways, 'authorize', async (way) => settle(way, request, authorized));
      await together(ways, 'check', () => prepare(ways, authorized, ports));
      await each(ways, 'check', (way) => checkScreen(way, request));
      if (request.dryRun) await previewUploads(ways, authorized.channels, ports);
      else await publishAll(ways, request, authorized.channels, ports);
    });
  } finally {
    for (const { findings } of ways) await findings.file?.close();
  }
  return ways.map(({ findings }) => composeReport(findings));
}

/** A way for each file that is named; one for a link alone, or for what was named in vain. */
async function setOut(
  { fileLines, folder, path }: DeliveryRequest,
  { find }: House,
): Promise<readonly Way[]> {
  const alone = newWay('deliver', fileLines[0] ?? LINK_SUBJECT, null);
  if (fileLines.length === 0) return [alone];
  let ways: readonly Way[] = [alone];
  await together(ways, 'check', async () => {
    const files = await find(fileLines, folder);
    refuseOneNameForMany(files, path);
    ways = files.map((found) => newWay('deliver', found.given, found));
  });
  return ways;
}

/** The file's own rules, and whether the wished channels take its size. */
async function check(way: Way, request: DeliveryRequest, { logger, signal }: Ports): Promise<void> {
  const { found } = way;
  const { marker, allowedRoots, allowedSecrets, channels, path } = request;
  if (found === null) return;
  way.name = deliveredName(found, path);
  const secrets = request.ownSecrets.flatMap(encodedForms);
  await logger.group(`Check ${found.given}`, async () => {
    const accept = (size: number): void => refuseTooLarge(channels, size);
    const file = await inspectFile({ ...found, marker, secrets, allowedRoots, accept, signal });
    way.findings = { ...way.findings, file };
    logger.info(`${file.size} bytes, sha256 ${file.sha256}`);
    if (file.markerCount !== null) logger.info(`the marker stands in it ${file.markerCount} ×`);
    await refuseSecrets(file, allowedSecrets, signal);
    logger.info('no secret was found in it');
  });
}

/** Which channels the file takes. */
function settle(way: Way, request: DeliveryRequest, { circumstances }: Authorized): void {
  way.choice = chooseChannels(request, way.findings.file?.size ?? null, circumstances);
  way.findings = { ...way.findings, because: way.choice.reason };
}

/** Lets every channel look at what it is to do, before any of them writes. */
function prepare(ways: readonly Way[], authorized: Authorized, { logger }: Ports): Promise<void> {
  const { circumstances, channels } = authorized;
  return logger.group('Plan', async () => {
    for (const [key, taking] of byChannel(open(ways), 'any')) {
      const some = open(taking);
      const parcels = some.map(({ findings: { file }, name }) => ({ file, name }));
      const intents = await channels[key].prepare(parcels, circumstances);
      for (const [at, way] of some.entries()) {
        const intent = intents[at];
        if (hasFailed(intent)) end(way, 'check', intent);
        else if (intent !== undefined) intend(way, key, intent);
      }
      refuseSamePlace(open(some), key);
      for (const { findings, intents: prepared, choice } of open(some)) {
        const plan = prepared.get(key)?.plan;
        const because = choice?.main === key ? choice.reason : 'it is to be a duplicate';
        logger.info(
          `${findings.subject}: ${key}, because ${because}: ${plan?.method}, to ${plan?.destination}`,
        );
      }
    }
  });
}

/** Of two files that would go to one place the second is refused: it would replace the first. */
function refuseSamePlace(ways: readonly Way[], key: ChannelKey): void {
  const taken = new Map<string, string>();
  for (const way of ways) {
    const destination = way.intents.get(key)?.plan.destination ?? '';
    const other = taken.get(destination);
    if (other === undefined) {
      taken.set(destination, way.findings.subject);
      continue;
    }
    const both = `${other} and ${way.findings.subject}`;
    const refused = new DeliveryError('BAD_INPUT', `${both} would both go to ${destination}`, {
      hint: 'give one of them another name, or deliver it in a step of its own',
    });
    end(way, 'check', refused);
  }
}

/** A page for the screen must hold all that it shows. @see protocol 1 (file rules) */
async function checkScreen(way: Way, { selfContained }: DeliveryRequest): Promise<void> {
  const { findings, intents, name } = way;
  const { file } = findings;
  if (file === null || !intents.has('K1')) return;
  // Hosts go by the name that they are given, and browsers by what the host says of it.
  const unknown = await checkSelfContained(isHtml(name) ? { ...file, name } : file, selfContained);
  way.findings = { ...findings, unknown };
}
