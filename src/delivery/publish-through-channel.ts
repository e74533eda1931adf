import { mapConcurrently } from '../async.ts';
import type { AbsentFile, ChannelAction, HostProgress } from '../channels/channel.ts';
import { type DeliveryError, hasFailed, resultOf, toDeliveryError } from '../errors.ts';
import type { Logger, Ports } from '../ports.ts';
import { BATCH } from '../protocol/limits.ts';
import { askChannel, type ChannelAttempt, type ChannelJob, newAttempt } from './file-delivery.ts';
import type { WaitLimits } from './prove.ts';
import { openPlacement, type PlacementCheck, verifyPlacement, waitForSite } from './verify.ts';

/**
 * Files through one channel: place → wait → verify. All are placed together and waited for once; each
 * is verified on its own. A failure is part of its attempt, and stops no other.
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
  const checks = openChecks(placed, wait, ports);
  const waited = await waitForAll(action, placed, checks, wait, ports);
  return verifyAll(waited, checks, wait, ports);
}

/**
 * Looks at the proven placements of one channel once more: what somebody changed meanwhile is proven no more. It is the
 * last step before the claim, after duplicates and browser.
 *
 * @see design 6
 */
export async function recheckChannel(
  action: ChannelAction,
  attempts: readonly ChannelAttempt[],
): Promise<readonly ChannelAttempt[]> {
  const proven = attempts.flatMap(({ task, placement, proof }) =>
    placement === null || proof === null ? [] : [{ task, placement }],
  );
  const results = await askChannel(proven, async (all) => (await action.recheck?.(all)) ?? []);
  const byTask = new Map(results.map(({ item, result }) => [item.task, result]));
  return attempts.map((attempt) => {
    const changed = byTask.get(attempt.task) ?? [];
    return hasFailed(changed)
      ? { ...attempt, proof: null, rawUrl: null, failure: changed.withStep('verify') }
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

/** How each placement is asked, by its task. */
type Checks = ReadonlyMap<ChannelAttempt['task'], PlacementCheck>;

function openChecks(attempts: readonly ChannelAttempt[], { deadline }: WaitLimits, ports: Ports): Checks {
  return new Map(
    attempts.flatMap(({ task, placement, expected }) =>
      placement === null ? [] : [[task, openPlacement(placement, expected, deadline, ports)] as const],
    ),
  );
}

/** What is known of the site after the wait. */
interface WaitedSite {
  readonly attempts: readonly ChannelAttempt[];
  /** Why it did not come, if so. */
  readonly late: DeliveryError | null;
  /** When the commit was made that the host has built with each attempt. */
  readonly builtAt: ReadonlyMap<ChannelAttempt['task'], number | undefined>;
}

/**
 * Waits for the site once: it shows all of one push, or nothing of it. So one file is waited for, the last one that
 * was written, if possible a page that the host renders: its proof needs the host's word. For such a page that was
 * there already its own build counts.
 */
async function waitForAll(
  action: ChannelAction,
  attempts: readonly ChannelAttempt[],
  checks: Checks,
  limits: WaitLimits,
  ports: Ports,
): Promise<WaitedSite> {
  const builtAt = new Map<ChannelAttempt['task'], number | undefined>();
  const watched = action.progress === undefined ? [] : attempts.filter(({ task }) => checks.has(task));
  const written = watched.filter(({ placement }) => placement?.written);
  const lead = written.findLast(isRendered) ?? written.at(-1) ?? watched.at(-1);
  if (lead === undefined) return { attempts, late: null, builtAt };
  const begun = ports.clock.now();
  ports.logger.startSection('Wait for the site');
  const ownBuild = watched.filter((one) => one !== lead && isRendered(one) && !written.includes(one));
  let late: DeliveryError | null = null;
  for (const { task } of [lead, ...ownBuild]) {
    const check = checks.get(task);
    if (check === undefined || late !== null) continue;
    const ask = (): Promise<HostProgress> =>
      action.progress?.({ task, placement: check.placement }) ?? Promise.resolve(FINISHED);
    const waited = await resultOf(() => waitForSite(check, ask, limits, ports));
    if (hasFailed(waited)) late = waited.withStep('wait');
    else builtAt.set(task, waited);
  }
  const ofPush = builtAt.get(lead.task);
  const wait = ports.clock.now() - begun;
  const after = attempts.map((attempt): ChannelAttempt => {
    if (!watched.includes(attempt)) return attempt;
    if (attempt.placement?.written) builtAt.set(attempt.task, ofPush);
    const timed = { ...attempt, took: { ...attempt.took, wait } };
    const lastProbe = checks.get(attempt.task)?.probe.last ?? null;
    return attempt === lead && late !== null ? { ...timed, failure: late, lastProbe } : timed;
  });
  return { attempts: after, late, builtAt };
}

const isRendered = ({ placement }: ChannelAttempt): boolean => placement?.hostMayChangeBytes === true;

const FINISHED: HostProgress = { finished: true, detail: 'nothing has to be waited for' };

/** Where the site did not come, each address is asked only once more. */
async function verifyAll(
  { attempts, late, builtAt }: WaitedSite,
  checks: Checks,
  limits: WaitLimits,
  ports: Ports,
): Promise<readonly ChannelAttempt[]> {
  const open = attempts.filter(({ failure }) => failure === null);
  if (open.length === 0) return attempts;
  const title = open.length === 1 ? 'Verify the public address' : `Verify ${open.length} public addresses`;
  ports.logger.startSection(title);
  const until = late === null ? limits : { ...limits, deadline: ports.clock.now() };
  return mapConcurrently(attempts, BATCH.probes, async (attempt) => {
    const check = checks.get(attempt.task);
    if (attempt.failure !== null || check === undefined) return attempt;
    const begun = ports.clock.now();
    const prefixed = withLogPrefix(attempt, open, ports);
    const verified = await resultOf(() => verifyPlacement(check, builtAt.get(attempt.task), until, prefixed));
    const took = { ...attempt.took, verify: ports.clock.now() - begun };
    const after = { ...attempt, took, lastProbe: check.probe.last };
    if (hasFailed(verified)) return { ...after, failure: late ?? verified.withStep('verify') };
    const { proof, rawUrl, unknown } = verified;
    return { ...after, proof, rawUrl, unknown: [...new Set([...attempt.unknown, ...unknown])] };
  });
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
