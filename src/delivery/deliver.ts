import type { Channels } from '../channels/channel.ts';
import { DeliveryError, hasFailed } from '../errors.ts';
import type { Circumstances, Needs } from '../github/survey.ts';
import type { Ports } from '../ports.ts';
import type { ChannelKey } from '../protocol/words.ts';
import { formsOf } from '../redact.ts';
import { inspect } from '../rules/inspect.ts';
import { checkSelfContained, isHtml } from '../rules/page/self-contained.ts';
import { refuseSecrets } from '../rules/secrets/secrets.ts';
import { carry } from './carry.ts';
import { type Find, nameFor, refuseOneNameForMany } from './files.ts';
import { choose, refuseTooLarge } from './plan.ts';
import { compose, type Report, THE_LINK } from './report.ts';
import type { DeliveryRequest } from './request.ts';
import { each, end, newWay, open, together, type Way } from './way.ts';

/** What the story is told with; the composition root brings it together. */
export interface House {
  readonly ports: Ports;
  readonly find: Find;
  /** Finds a token where one is needed, and what the choice of a channel depends on. */
  readonly authorise: (needs: Needs) => Promise<Authorised>;
}

export interface Authorised {
  readonly circumstances: Circumstances;
  readonly channels: Channels;
}

/**
 * Deliveries: check → authorise → place → wait → verify → report, for every file that is named. What they
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
    await together(ways, 'authorise', async () => {
      const authorised = await authorise(request, house);
      await each(ways, 'authorise', async (way) => settle(way, request, authorised));
      await together(ways, 'check', () => prepare(ways, authorised, ports));
      await each(ways, 'check', (way) => checkScreen(way, request));
      if (request.dryRun) await foresee(ways, authorised, ports);
      else await carryAll(ways, request, authorised, ports);
    });
  } finally {
    for (const { findings } of ways) await findings.file?.close();
  }
  return ways.map(({ findings }) => compose(findings));
}

/** A way for each file that is named; one for a link alone, or for what was named in vain. */
async function setOut({ lines, folder, path }: DeliveryRequest, { find }: House): Promise<readonly Way[]> {
  const alone = newWay('deliver', lines[0] ?? THE_LINK, null);
  if (lines.length === 0) return [alone];
  let ways: readonly Way[] = [alone];
  await together(ways, 'check', async () => {
    const files = await find(lines, folder);
    refuseOneNameForMany(files, path);
    ways = files.map((found) => newWay('deliver', found.given, found));
  });
  return ways;
}

/** The file's own rules, and whether the wished channels take its size. */
async function check(way: Way, request: DeliveryRequest, { logger, signal }: Ports): Promise<void> {
  const { found } = way;
  const { marker, walls, allowedSecrets, channels, path } = request;
  if (found === null) return;
  way.name = nameFor(found, path);
  const secrets = request.ownSecrets.flatMap(formsOf);
  await logger.group(`Check ${found.given}`, async () => {
    const file = await inspect({ ...found, marker, secrets, walls, signal });
    way.findings = { ...way.findings, file };
    logger.info(`${file.size} bytes, sha256 ${file.sha256}`);
    if (file.markerCount !== null) logger.info(`the marker stands in it ${file.markerCount} ×`);
    refuseTooLarge(channels, file.size);
    await refuseSecrets(file, allowedSecrets, signal);
    logger.info('no secret was found in it');
  });
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

/** Which channels the file takes. */
function settle(way: Way, request: DeliveryRequest, { circumstances }: Authorised): void {
  way.choice = choose(request, way.findings.file?.size ?? null, circumstances);
  way.findings = { ...way.findings, because: way.choice.because };
}

/** The ways that take a channel, channel by channel: as their main one, or for a duplicate. */
function* byChannel(ways: readonly Way[], as: 'main' | 'duplicates' | 'any') {
  const taking = ({ choice }: Way): readonly ChannelKey[] => {
    if (choice === null) return [];
    const { main, duplicates } = choice;
    return as === 'main' ? [main] : as === 'duplicates' ? duplicates : [main, ...duplicates];
  };
  for (const key of new Set(ways.flatMap(taking))) {
    yield [key, ways.filter((way) => taking(way).includes(key))] as const;
  }
}

/** Lets every channel look at what it is to do, before any of them writes. */
function prepare(ways: readonly Way[], authorised: Authorised, { logger }: Ports): Promise<void> {
  const { circumstances, channels } = authorised;
  return logger.group('Plan', async () => {
    for (const [key, some] of byChannel(open(ways), 'any')) {
      const parcels = some.map(({ findings: { file }, name }) => ({ file, name }));
      const intents = await channels[key].prepare(parcels, circumstances);
      const taken = new Map<string, Way>();
      for (const [at, way] of some.entries()) {
        const intent = intents[at];
        if (intent === undefined) continue;
        if (hasFailed(intent)) {
          end(way, 'check', intent);
          continue;
        }
        const { plan } = intent;
        const other = taken.get(plan.destination);
        if (other !== undefined) end(way, 'check', samePlace(other, way, plan.destination));
        taken.set(plan.destination, way);
        way.intents.set(key, intent);
        if (way.choice?.main === key) way.findings = { ...way.findings, plan };
        const because = way.choice?.main === key ? `, because ${way.choice.because}` : '';
        logger.info(`${way.findings.subject}: ${key}, ${plan.method}, to ${plan.destination}${because}`);
      }
    }
  });
}

function samePlace(one: Way, other: Way, destination: string): DeliveryError {
  const both = `${one.findings.subject} and ${other.findings.subject}`;
  return new DeliveryError('BAD_INPUT', `${both} would both go to ${destination}`, {
    hint: 'give one of them another name, or deliver it in a step of its own',
  });
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

/** A dry run ends with what would be done, or with what would fail. */
async function foresee(ways: readonly Way[], { channels }: Authorised, { logger }: Ports): Promise<void> {
  await logger.group('Foresee', async () => {
    for (const [key, some] of byChannel(open(ways), 'any')) {
      const seen = await channels[key].foresee(intentsFor(key, some));
      for (const [at, way] of some.entries()) {
        const one = seen[at];
        if (one === undefined) continue;
        if (hasFailed(one)) end(way, 'place', one);
        else logger.info(`${way.findings.subject}: ${key}: ${one}`);
      }
    }
  });
  await each(ways, 'place', async () => {
    throw new DeliveryError('DRY_RUN', 'this is a dry run, nothing was published', {
      hint: 'leave `dry-run` out to deliver',
    });
  });
}

const intentsFor = (key: ChannelKey, ways: readonly Way[]) =>
  ways.flatMap(({ intents }) => intents.get(key) ?? []);

/** The main channels first, then the duplicates, whatever became of the main ones. */
async function carryAll(
  ways: readonly Way[],
  request: DeliveryRequest,
  { channels }: Authorised,
  ports: Ports,
): Promise<void> {
  const carrying = open(ways);
  for (const as of ['main', 'duplicates'] as const) {
    for (const [key, some] of byChannel(carrying, as)) {
      const loads = some.flatMap(({ intents, findings: { file, subject: title } }) => {
        const intent = intents.get(key);
        return intent === undefined ? [] : [{ title, intent, expected: { file, marker: request.marker } }];
      });
      const outcomes = await carry(channels[key], loads, request, ports);
      for (const [at, way] of some.entries()) {
        const outcome = outcomes[at];
        if (outcome === undefined) continue;
        const { findings } = way;
        way.findings =
          as === 'main'
            ? { ...findings, main: outcome }
            : { ...findings, duplicates: [...findings.duplicates, outcome] };
      }
    }
  }
}
