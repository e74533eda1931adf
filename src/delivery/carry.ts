import { mapConcurrently } from '../async.ts';
import type { Channel, Placement, PreparedUpload, UploadPlan } from '../channels/channel.ts';
import { type DeliveryError, hasFailed, resultOf, toDeliveryError } from '../errors.ts';
import type { Logger, Ports } from '../ports.ts';
import { BATCH } from '../protocol/limits.ts';
import type { Step } from '../protocol/words.ts';
import { internalNetworkUnknown, verifyFurtherAddresses } from './further-addresses.ts';
import { createUrlProbe, type ExpectedContent, type UrlProbe } from './url-probe.ts';
import { type Proof, verifyAddress, type WaitLimits, waitForSite } from './verify.ts';

/** How one file fared in one channel: what that brought, and what it failed at. */
export interface Outcome {
  readonly plan: UploadPlan;
  readonly placement: Placement | null;
  readonly proof: Proof | null;
  /** What the address answered last; `null` where it was not asked, or gave no answer. */
  readonly httpCode: number | null;
  /** The machine's address, where it was proven too. */
  readonly rawUrl: URL | null;
  readonly unknown: readonly string[];
  readonly failure: DeliveryError | null;
  /** Milliseconds that each step took. */
  readonly took: Readonly<Partial<Record<Step, number>>>;
}

/** One file for a channel, and what its address must show in the end. */
export interface Load {
  /** How the log calls it, where there are several. */
  readonly title: string;
  readonly intent: PreparedUpload;
  readonly expected: ExpectedContent;
}

/** How far a load is. */
interface Journey extends Load {
  readonly took: Partial<Record<Step, number>>;
  placement: Placement | null;
  witness: UrlProbe | null;
  proof: Proof | null;
  rawUrl: URL | null;
  unknown: readonly string[];
  failure: DeliveryError | null;
}

/** A journey whose file is placed, and whose address can be asked. */
interface Placed extends Journey {
  placement: Placement;
  witness: UrlProbe;
}

const isPlaced = (journey: Journey): journey is Placed =>
  journey.failure === null && journey.placement !== null;

/**
 * Files through one channel: all of them are placed together and waited for once, each is verified for
 * itself. A failure is part of its outcome, and stops no other.
 *
 * @param limits milliseconds between looks, and for waiting and verifying together
 * @returns by load
 */
export async function publishThroughChannel(
  channel: Channel,
  loads: readonly Load[],
  limits: Pick<WaitLimits, 'interval' | 'timeout'>,
  ports: Ports,
): Promise<readonly Outcome[]> {
  const journeys = loads.map(
    (load): Journey => ({
      ...load,
      took: {},
      placement: null,
      witness: null,
      proof: null,
      rawUrl: null,
      unknown: [],
      failure: null,
    }),
  );
  await placeAll(channel, journeys, ports);
  const patience = { ...limits, deadline: ports.clock.now() + limits.timeout };
  for (const journey of journeys) {
    if (journey.placement === null) continue;
    journey.witness = createUrlProbe(journey.placement, journey.expected, patience.deadline, ports);
  }
  const late = await waitForAll(journeys.filter(isPlaced), patience, ports);
  await verifyAll(journeys.filter(isPlaced), late, patience, ports);
  return journeys.map(outcomeOf);
}

async function placeAll(channel: Channel, journeys: readonly Journey[], ports: Ports): Promise<void> {
  const intents = journeys.map(({ intent }) => intent);
  const does = journeys.some(({ expected }) => expected.gone) ? 'Take away' : 'Place';
  await step('place', `${does}: ${channel.key}, ${destinationOf(intents)}`, journeys, ports, async () => {
    const placed = await resultOf(() => channel.publish(intents));
    for (const [at, journey] of journeys.entries()) {
      const one = hasFailed(placed) ? placed : placed[at];
      if (one === undefined || hasFailed(one)) {
        journey.failure = toDeliveryError(one).withStep('place');
        continue;
      }
      journey.placement = one;
      journey.unknown = one.unknown;
      told(journey, journeys, ports).logger.info(one.evidence);
    }
  });
}

const destinationOf = (intents: readonly PreparedUpload[]): string =>
  intents.length === 1 ? (intents[0]?.plan.destination ?? '') : `${intents.length} files`;

/**
 * The site is waited for once: it shows all of one push, or nothing of it.
 *
 * @returns why it did not come
 */
async function waitForAll(
  placed: readonly Placed[],
  patience: WaitLimits,
  ports: Ports,
): Promise<DeliveryError | null> {
  const watched = placed.filter(({ intent }) => intent.watch !== undefined);
  const lead = watched.findLast(({ placement }) => placement.written) ?? watched.at(-1);
  if (lead === undefined) return null;
  const { intent, placement, witness } = lead;
  const waited = await step('wait', 'Wait for the site', watched, ports, () =>
    resultOf(() => waitForSite(intent, placement, witness, patience, ports)),
  );
  return hasFailed(waited) ? waited.withStep('wait') : null;
}

/** @param late why the site did not come: then an address is looked at once more, at the most */
async function verifyAll(
  placed: readonly Placed[],
  late: DeliveryError | null,
  patience: WaitLimits,
  ports: Ports,
): Promise<void> {
  if (placed.length === 0) return;
  const [first, ...others] = placed;
  const title =
    others.length === 0 ? 'Verify the public address' : `Verify ${placed.length} public addresses`;
  if (late !== null && others.length === 0 && first !== undefined) {
    first.failure = late;
    return;
  }
  await ports.logger.group(title, () =>
    mapConcurrently(placed, BATCH.reads, async (journey) => {
      const own = told(journey, placed, ports);
      const until = late === null ? patience : { ...patience, deadline: ports.clock.now() };
      await step('verify', null, [journey], ports, () => prove(journey, until, own));
      if (late !== null && journey.failure !== null) journey.failure = late;
    }),
  );
}

async function prove(journey: Placed, patience: WaitLimits, ports: Ports): Promise<void> {
  const { placement, witness, expected } = journey;
  try {
    const proof = await verifyAddress(placement, witness, patience, ports);
    const beside = await verifyFurtherAddresses(placement, proof, expected, patience, ports);
    journey.proof = proof;
    journey.rawUrl = beside.rawUrl;
    journey.unknown = [
      ...new Set([...placement.unknown, ...internalNetworkUnknown(witness), ...beside.unknown]),
    ];
  } catch (thrown) {
    journey.failure = toDeliveryError(thrown).withStep('verify');
  }
}

/** Does a step and takes its time, for all that share it. */
async function step<T>(
  name: Step,
  title: string | null,
  journeys: readonly Journey[],
  { clock, logger }: Ports,
  work: () => Promise<T>,
): Promise<T> {
  const begun = clock.now();
  try {
    return await (title === null ? work() : logger.group(title, work));
  } finally {
    for (const { took } of journeys) took[name] = clock.now() - begun;
  }
}

/** The ports, with a log that says which of several files it speaks of. */
function told({ title }: Load, all: readonly Load[], ports: Ports): Ports {
  if (all.length === 1) return ports;
  const { logger } = ports;
  const naming: Logger = {
    info: (line) => logger.info(`${title}: ${line}`),
    warning: (line) => logger.warning(`${title}: ${line}`),
    group: (name, work) => logger.group(name, work),
    mask: (secret) => logger.mask(secret),
    progress: (name, total, unit) => logger.progress(`${title}: ${name}`, total, unit),
  };
  return { ...ports, logger: naming };
}

function outcomeOf({ intent, witness, ...journey }: Journey): Outcome {
  const { placement, proof, rawUrl, unknown, failure, took } = journey;
  const httpCode = proof?.httpCode ?? witness?.last?.httpCode ?? null;
  return { plan: intent.plan, placement, proof, httpCode, rawUrl, unknown, failure, took };
}
