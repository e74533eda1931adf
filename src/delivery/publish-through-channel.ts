import { mapConcurrently } from '../async.ts';
import type { AbsentFile, ChannelAction, Placement } from '../channels/channel.ts';
import { type DeliveryError, hasFailed, resultOf, toDeliveryError } from '../errors.ts';
import type { Logger, Ports } from '../ports.ts';
import { BATCH } from '../protocol/limits.ts';
import { type ChannelAttempt, type ChannelJob, newAttempt } from './channel-attempt.ts';
import { askChannel } from './file-delivery.ts';
import { internalUnknown, otherHostUnknown, verifyFurtherAddresses } from './further-addresses.ts';
import { UrlProbe } from './url-probe.ts';
import { type AddressCheck, acceptResult, verifyAddress, type WaitLimits, waitForSite } from './verify.ts';
import { type PartsCheck, verifyParts } from './verify-parts.ts';
import { verifyPlainParts } from './verify-plain-parts.ts';

/**
 * Files through one channel: place → wait → verify. All are placed together and waited for once; each is
 * verified on its own. A failure is part of its attempt, and stops no other.
 *
 * @param options milliseconds between requests, and for waiting and verifying together; and a file that is absent
 */
export async function publishThroughChannel(
  action: ChannelAction,
  jobs: readonly ChannelJob[],
  {
    absent,
    ...limits
  }: Pick<WaitLimits, 'interval' | 'timeout'> & {
    readonly absent?: AbsentFile | undefined;
  },
  ports: Ports,
): Promise<readonly ChannelAttempt[]> {
  const perform: typeof action.perform = (tasks) => action.perform(tasks, absent);
  const placed = await placeAll({ perform }, jobs.map(newAttempt), ports);
  const begun = ports.clock.now();
  const wait = { ...limits, begun, deadline: begun + limits.timeout };
  const probes = openProbes(placed, wait, ports);
  const lead = findLead(placed);
  const { attempts, late } = await waitForAll(placed, { probes, lead }, wait, ports);
  return recheckAll(await verifyAll(attempts, { probes, lead }, { ...wait, late }, ports));
}

/** Looks at each proven placement once more, after the last proof. */
async function recheckAll(attempts: readonly ChannelAttempt[]): Promise<readonly ChannelAttempt[]> {
  return mapConcurrently(attempts, BATCH.reads, async (attempt) => {
    const { placement, proof } = attempt;
    if (proof === null || placement?.recheck === undefined) return attempt;
    const changed = await resultOf(placement.recheck);
    return hasFailed(changed)
      ? { ...attempt, proof: null, failure: changed.withStep('verify') }
      : { ...attempt, unknown: [...attempt.unknown, ...changed] };
  });
}

async function placeAll(
  action: Pick<ChannelAction, 'perform'>,
  attempts: readonly ChannelAttempt[],
  ports: Ports,
): Promise<readonly ChannelAttempt[]> {
  const { clock, logger } = ports;
  const begun = clock.now();
  logger.startSection(placeTitle(attempts));
  const tasks = attempts.map(({ task }) => task);
  const results = await askChannel(tasks, (all) => action.perform(all));
  const placements = new Map(results.map(({ item, result }) => [item, result]));
  const took = { place: clock.now() - begun };
  return attempts.map((attempt) => {
    const placement =
      placements.get(attempt.task) ?? toDeliveryError(new Error('the channel left a file out'));
    if (hasFailed(placement)) return { ...attempt, took, failure: placement.withStep('place') };
    withLogPrefix(attempt, attempts, ports).logger.info(placement.evidence);
    return { ...attempt, took, placement, unknown: placement.unknown };
  });
}

function placeTitle(attempts: readonly ChannelAttempt[]): string {
  const plan = attempts[0]?.task.plan;
  const verb = attempts.some(({ expected }) => expected.gone) ? 'Remove' : 'Place';
  return `${verb}: ${plan?.channel}, ${attempts.length === 1 ? plan?.destination : `${attempts.length} files`}`;
}

/** The probe of each address that can be asked. */
type Probes = ReadonlyMap<
  ChannelAttempt['task'],
  { readonly placement: Placement; readonly probe: UrlProbe }
>;

function openProbes(attempts: readonly ChannelAttempt[], limits: WaitLimits, ports: Ports): Probes {
  const entries = attempts.flatMap(({ task, placement, expected }) => {
    if (placement === null) return [];
    return [[task, { placement, probe: new UrlProbe(placement, expected, limits.deadline, ports) }] as const];
  });
  return new Map(entries);
}

/** The addresses to ask, and the attempt whose commit contains all of one push. */
interface SiteProbes {
  readonly probes: Probes;
  readonly lead: ChannelAttempt | undefined;
}

const watchedIn = (attempts: readonly ChannelAttempt[]): readonly ChannelAttempt[] =>
  attempts.filter(({ task, placement }) => placement !== null && task.watch !== undefined);

/** The last one that was written: its commit contains all others of the push. */
function findLead(attempts: readonly ChannelAttempt[]): ChannelAttempt | undefined {
  const watched = watchedIn(attempts);
  return watched.findLast(({ placement }) => placement?.written) ?? watched.at(-1);
}

/**
 * Waits for the site once: it shows all of one push, or nothing of it. So one file is waited for, the last one
 * that was written.
 *
 * @returns why the site did not come, if so
 */
async function waitForAll(
  attempts: readonly ChannelAttempt[],
  { probes, lead: last }: SiteProbes,
  limits: WaitLimits,
  ports: Ports,
): Promise<{ readonly attempts: readonly ChannelAttempt[]; readonly late: DeliveryError | null }> {
  const watched = watchedIn(attempts);
  const target = last && probes.get(last.task);
  if (last === undefined || target === undefined) return { attempts, late: null };
  const begun = ports.clock.now();
  ports.logger.startSection('Wait for the site');
  const waited = await resultOf(() => waitForSite(last.task, target, limits, ports));
  const wait = ports.clock.now() - begun;
  const late = hasFailed(waited) ? waited.withStep('wait') : null;
  const after = attempts.map((attempt): ChannelAttempt => {
    if (!watched.includes(attempt)) return attempt;
    const timed = { ...attempt, took: { ...attempt.took, wait } };
    return attempt === last && late !== null
      ? { ...timed, failure: late, lastProbe: target.probe.last }
      : timed;
  });
  return { attempts: after, late };
}

/** @param limits with why the site did not come: then each address is asked only once more */
async function verifyAll(
  attempts: readonly ChannelAttempt[],
  site: SiteProbes,
  { late, ...limits }: WaitLimits & { readonly late: DeliveryError | null },
  ports: Ports,
): Promise<readonly ChannelAttempt[]> {
  const open = attempts.filter(({ failure }) => failure === null);
  if (open.length === 0) return attempts;
  const title = open.length === 1 ? 'Verify the public address' : `Verify ${open.length} public addresses`;
  ports.logger.startSection(title);
  const until = late === null ? limits : { ...limits, deadline: ports.clock.now() };
  return mapConcurrently(attempts, BATCH.probes, async (attempt) => {
    if (attempt.failure !== null) return attempt;
    const begun = ports.clock.now();
    const verified = await verifyAttempt(attempt, site, until, withLogPrefix(attempt, open, ports));
    const failure = verified.failure === null ? null : (late ?? verified.failure);
    return { ...verified, failure, took: { ...attempt.took, verify: ports.clock.now() - begun } };
  });
}

async function verifyAttempt(
  attempt: ChannelAttempt,
  { probes, lead }: SiteProbes,
  limits: WaitLimits,
  ports: Ports,
): Promise<ChannelAttempt> {
  const { expected, task } = attempt;
  const target = probes.get(task);
  if (target === undefined) return attempt;
  const { placement, probe } = target;
  try {
    // What was written is in the push of the lead: one answer of the host is enough for all of it.
    const built = placement.written ? (lead?.placement ?? placement) : placement;
    const check: AddressCheck = {
      probe,
      expected,
      watch: task.watch && (async () => task.watch?.(built)),
      explainRefusal: task.explainRefusal?.bind(task),
    };
    const proof = await verifyAddress(placement, check, limits, ports);
    const size = proof.match === 'identical' ? 'part' : 'whole';
    const confirm = async () => (await acceptResult(await probe.probe(size), placement, check)) !== undefined;
    const further = await verifyFurtherAddresses({ placement, proof, expected, confirm }, limits, ports);
    const wanted = { gone: expected.gone === true, host: proof.hosts.at(-1) };
    const site = await verifySite(placement, probe, wanted, { limits, ports });
    const elsewhere = expected.gone ? [] : otherHostUnknown(placement, proof);
    const seen = [...internalUnknown(probe), ...elsewhere, ...further.unknown, ...site.unknown];
    const unknown = new Set([...placement.unknown, ...seen]);
    const { rawUrl, isCached } = further;
    return {
      ...attempt,
      proof: { ...proof, parts: site.proven, isCached },
      lastProbe: probe.last,
      rawUrl,
      unknown: [...unknown],
    };
  } catch (thrown) {
    return { ...attempt, lastProbe: probe.last, failure: toDeliveryError(thrown).withStep('verify') };
  }
}

/** How many of a site's other files were proven, none of a single file; and for UNKNOWN, what a cache still has. */
interface SiteProof {
  readonly proven: number;
  readonly unknown: readonly string[];
}

/** The other files of a site, once its entry page is proven. */
async function verifySite(
  { parts = [] }: Placement,
  probe: UrlProbe,
  wanted: Pick<PartsCheck, 'gone' | 'host'>,
  { limits, ports }: { readonly limits: WaitLimits; readonly ports: Ports },
): Promise<SiteProof> {
  if (parts.length === 0) return { proven: 0, unknown: [] };
  ports.logger.info(`${parts.length} further file${parts.length === 1 ? '' : 's'}`);
  const check = { ...wanted, publicOnly: probe.internalReason === '' };
  const proven = await verifyParts(parts, check, limits, ports);
  return { proven, unknown: await verifyPlainParts(parts, check, limits, ports) };
}

/** The ports, with a log that says which of several files a line is about. */
function withLogPrefix({ title }: ChannelJob, all: readonly ChannelJob[], ports: Ports): Ports {
  if (all.length === 1) return ports;
  const { logger } = ports;
  const prefixed: Logger = {
    info: (line) => logger.info(`${title}: ${line}`),
    warning: (line) => logger.warning(`${title}: ${line}`),
    debug: (line) => logger.debug(`${title}: ${line}`),
    startSection: (name) => logger.startSection(name),
    endSection: () => logger.endSection(),
    mask: (secret) => logger.mask(secret),
    progress: (name, total, unit) => logger.progress(`${title}: ${name}`, total, unit),
  };
  return { ...ports, logger: prefixed };
}
