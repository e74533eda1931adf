import type { Channels, Intent } from '../channels/channel.ts';
import { asDeliveryError } from '../errors.ts';
import type { Circumstances, Needs } from '../github/survey.ts';
import type { Ports } from '../ports.ts';
import type { ChannelKey, Step } from '../protocol/words.ts';
import { formsOf } from '../redact.ts';
import { inspect, type LocalFile } from '../rules/inspect.ts';
import { checkSelfContained, isHtml } from '../rules/page/self-contained.ts';
import { refuseSecrets } from '../rules/secrets/secrets.ts';
import { carry } from './carry.ts';
import { type Choice, choose, refuseTooLarge } from './plan.ts';
import { compose, type Findings, type Report, THE_LINK } from './report.ts';
import type { DeliveryRequest } from './request.ts';

/** What the story is told with; the composition root brings it together. */
export interface House {
  readonly ports: Ports;
  /** Finds a token where one is needed, and what the choice of a channel depends on. */
  readonly authorise: (needs: Needs) => Promise<Authorised>;
}

export interface Authorised {
  readonly circumstances: Circumstances;
  readonly channels: Channels;
}

/**
 * One delivery: check → authorise → place → wait → verify → report.
 * It never throws: whatever fails becomes a report that says so.
 *
 * @see protocol 1 (flow per channel), 3.1
 */
export async function deliver(request: DeliveryRequest, house: House): Promise<Report> {
  let findings: Findings = {
    subject: request.file?.given ?? THE_LINK,
    file: null,
    because: '',
    main: null,
    duplicates: [],
    unknown: [],
    failure: null,
  };
  try {
    const file = await inStep('check', () => check(request, house.ports));
    findings = { ...findings, file };
    await inStep('check', async () => refuseTooLarge(request.channels, file?.size ?? 0));
    const { circumstances, channels } = await inStep('authorise', () => authorise(request, house));
    const choice = await inStep('authorise', async () => choose(request, file?.size ?? null, circumstances));
    findings = { ...findings, because: choice.because };
    const { main, duplicates } = await inStep('check', () =>
      prepare(choice, file, { circumstances, channels }, house.ports),
    );

    const unsearched = await inStep('check', () => checkScreen(choice, file, request));
    findings = { ...findings, unknown: unsearched };

    const expected = { file, marker: request.marker };
    findings = { ...findings, main: await carry(main, expected, request, house.ports) };
    for (const intent of duplicates) {
      const outcome = await carry(intent, expected, request, house.ports);
      findings = { ...findings, duplicates: [...findings.duplicates, outcome] };
    }
  } catch (thrown) {
    findings = { ...findings, failure: asDeliveryError(thrown) };
  } finally {
    await findings.file?.close();
  }
  return compose(findings);
}

/** The file's own rules, and whether the wished channels take its size. */
async function check(request: DeliveryRequest, { logger, signal }: Ports): Promise<LocalFile | null> {
  const { file: wanted, marker, walls } = request;
  const secrets = request.ownSecrets.flatMap(formsOf);
  if (wanted === null) return null;
  return logger.group(`Check ${wanted.given}`, async () => {
    const file = await inspect({ ...wanted, marker, secrets, walls, signal });
    logger.info(`${file.size} bytes, sha256 ${file.sha256}`);
    if (file.markerCount !== null) logger.info(`the marker stands in it ${file.markerCount} ×`);
    try {
      await refuseSecrets(file, request.allowedSecrets, signal);
    } catch (thrown) {
      await file.close();
      throw thrown;
    }
    logger.info('no secret was found in it');
    return file;
  });
}

/** A page for the screen must hold all that it shows. @see protocol 1 (file rules) */
async function checkScreen(
  { main, duplicates }: Choice,
  file: LocalFile | null,
  { selfContained, name }: DeliveryRequest,
): Promise<readonly string[]> {
  if (file === null || ![main, ...duplicates].includes('K1')) return [];
  // Hosts go by the name that they are given, and browsers by what the host says of it.
  return checkSelfContained(isHtml(name) ? { ...file, name } : file, selfContained);
}

/** Finds out what the choice of a channel needs to know. */
function authorise({ channels }: DeliveryRequest, house: House): Promise<Authorised> {
  const wishes = (key: ChannelKey): boolean => channels === 'auto' || channels.includes(key);
  const needs = { site: wishes('K1'), repository: channels === 'auto' || wishes('K2') };
  const { logger } = house.ports;
  return logger.group('Authorise', async () => {
    const authorised = await house.authorise(needs);
    for (const line of inWords(authorised.circumstances)) logger.info(line);
    return authorised;
  });
}

function inWords({ hasToken, privateRepository, site }: Circumstances): string[] {
  const lines = [hasToken ? 'there is a token' : 'there is no token for a repository'];
  if (privateRepository !== null) lines.push(`the repository is ${privateRepository ? 'private' : 'public'}`);
  if (site === null) lines.push('it has no Pages site');
  else if (site === 'unreadable') lines.push("its Pages settings can't be read");
  else if (site !== 'unasked') {
    const source =
      site.builtBy === 'workflow' ? 'a workflow' : `branch ${site.branch}, folder /${site.folder}`;
    lines.push(`its Pages site on ${site.base.host} is built by ${source}`);
  }
  return lines;
}

/** Lets every channel look at what it is to do, before any of them writes. */
async function prepare(
  choice: Choice,
  file: LocalFile | null,
  { circumstances, channels }: Authorised,
  { logger }: Ports,
): Promise<{ main: Intent; duplicates: readonly Intent[] }> {
  const intentOf = (key: ChannelKey): Promise<Intent> => channels[key].prepare(file, circumstances);
  return logger.group('Plan', async () => {
    logger.info(`channel ${choice.main}, because ${choice.because}`);
    const main = await intentOf(choice.main);
    const duplicates: Intent[] = [];
    for (const key of choice.duplicates) duplicates.push(await intentOf(key));
    for (const { plan } of [main, ...duplicates]) {
      logger.info(`${plan.channel}: ${plan.method}, to ${plan.destination}`);
    }
    return { main, duplicates };
  });
}

async function inStep<T>(step: Step, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw asDeliveryError(thrown).at(step);
  }
}
