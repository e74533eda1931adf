import { mapConcurrently, poll } from '../async.ts';
import type { AbsentFile, Channel, HostProgress } from '../channels/channel.ts';
import { DeliveryError, hasFailed, resultOf } from '../errors.ts';
import type { Logger, Ports } from '../ports.ts';
import { BATCH, SECOND } from '../protocol/limits.ts';
import { askChannel, type ChannelAttempt, isPlaced } from './delivery.ts';
import { AGAIN_HINT, BUSY_HINT, describeProbe, loginPageError } from './describe-probe.ts';
import { provesAlone } from './probe-result.ts';
import { createWaitLog } from './prove.ts';
import type { WaitLimits } from './url-probe.ts';
import { newPlacementCheck, type PlacementCheck, verifyPlacement } from './verify.ts';

/**
 * Files through one channel: place → wait → verify. All are placed together and waited for once; each
 * is verified on its own. A failure is part of its attempt, and stops no other.
 *
 * @param limits milliseconds between requests, and for waiting and verifying together; and a file that is absent
 */
export async function publishThroughChannel(
  action: Channel,
  attempts: readonly ChannelAttempt[],
  limits: ProofLimits & { readonly absent?: AbsentFile | undefined },
  ports: Ports,
): Promise<readonly ChannelAttempt[]> {
  const { clock, logger } = ports;
  const begun = clock.now();
  logger.startSection(placeTitle(attempts));
  const placed = await askChannel(
    attempts,
    ({ task }) => task,
    (tasks) => action.perform(tasks, limits.absent),
    (attempt, placement) => {
      const took = { place: clock.now() - begun };
      if (hasFailed(placement)) return { ...attempt, took, failure: placement.withStep('place') };
      withLogPrefix(attempt, attempts, ports).logger.info(placement.evidence);
      const plan = { ...attempt.task.plan, ...placement.plan };
      const { unknown = [] } = placement;
      return { ...attempt, task: { ...attempt.task, plan }, took, placement, unknown };
    },
  );
  return proveAttempts(placed, limits, ports, action);
}

type ProofLimits = Pick<WaitLimits, 'interval' | 'timeout'>;

/**
 * Verifies what was placed before, each on its own.
 *
 * @param limits milliseconds between requests, and for all of them; with 0 each address is looked at once
 * @param action asks the host how far it is, where something has to be waited for
 */
export async function proveAttempts(
  attempts: readonly ChannelAttempt[],
  { interval, timeout }: ProofLimits,
  ports: Ports,
  action: Pick<Channel, 'progress'> = {},
): Promise<readonly ChannelAttempt[]> {
  const begun = ports.clock.now();
  const limits = { interval, timeout, begun, deadline: begun + timeout };
  const placed = attempts.filter(isPlaced);
  if (placed.length === 0) return attempts;
  const checks = placed.map((one) => newPlacementCheck(one, limits, withLogPrefix(one, placed, ports)));
  const waited = await waitForSite(action, checks, ports);
  const proven = [...(await verifyAll(checks, waited, ports))];
  return attempts.map((one) => (isPlaced(one) ? (proven.shift() ?? one) : one));
}

/** The milliseconds of the wait, where there was one; and why the site did not come, if so. */
interface WaitResult {
  readonly took: { readonly wait?: number };
  readonly late: DeliveryError | null;
}

/**
 * Waits for the site once: it shows all of one push, or nothing of it. So one file is waited for, the last one that
 * was written, if possible a page that the host renders: its proof needs the host's word. For such a page that was
 * there already its own build counts.
 */
async function waitForSite(
  { progress }: Pick<Channel, 'progress'>,
  checks: readonly PlacementCheck[],
  { clock, logger }: Ports,
): Promise<WaitResult> {
  const written = checks.filter(({ attempt }) => attempt.placement.written);
  const lead = written.findLast(isRendered) ?? written.at(-1) ?? checks.at(-1);
  if (lead === undefined || progress === undefined) return { took: {}, late: null };
  const begun = clock.now();
  logger.startSection('Wait for the site');
  const ownBuild = checks.filter((one) => one !== lead && isRendered(one) && !written.includes(one));
  const late = await resultOf(async () => {
    for (const one of [lead, ...ownBuild]) {
      one.builtAt = await waitForAddress(one, () => progress(one.attempt));
    }
  });
  for (const one of written) one.builtAt = lead.builtAt;
  return { took: { wait: clock.now() - begun }, late: hasFailed(late) ? late.withStep('wait') : null };
}

const isRendered = ({ attempt }: PlacementCheck): boolean => attempt.placement.hostMayChangeBytes === true;

/**
 * WAIT: until the address shows the file, or the host says that it has finished.
 *
 * @param ask how far the host is
 * @returns when the commit was made that the finished build contains: milliseconds since the epoch
 * @throws {DeliveryError} `BUILD_ERRORED`, or `BUILD_TIMEOUT` at the deadline.
 * @see protocol 3.2, 8
 */
async function waitForAddress(
  { probe, attempt: { gone }, session }: PlacementCheck,
  ask: () => Promise<HostProgress>,
): Promise<number | undefined> {
  const { limits, ports } = session;
  let progress: HostProgress = { finished: false, detail: 'the host was not asked yet' };
  const log = createWaitLog('waited for the site', 1, session);
  const finished = await poll({ ...limits, ...ports }, async () => {
    const result = await probe.probe();
    const shows = provesAlone(result);
    if (result.match === 'login') throw loginPageError(result);
    // Anything may answer a 404 once: what is removed is gone when the host has built without it.
    if (!shows || gone) progress = await ask();
    if (shows && !(gone && progress.building)) return `the site shows it: ${describeProbe(result)}`;
    log.write(`${describeProbe(result)}; ${progress.detail}`);
    return progress.finished ? progress.detail : undefined;
  }).finally(log.end);
  if (finished !== undefined) {
    ports.logger.info(finished);
    return progress.committedAt;
  }
  const seconds = limits.timeout / SECOND;
  const late = gone ? 'the site was not built without the file' : 'the site did not show the file';
  throw new DeliveryError(
    'BUILD_TIMEOUT',
    `${late} within ${seconds} s: ${describeProbe(probe.last)}; ${progress.detail}`,
    {
      httpCode: probe.last?.httpCode ?? progress.httpCode,
      hint: (probe.last?.httpCode === 429 ? BUSY_HINT : gone ? AGAIN_HINT : progress.hint) ?? AGAIN_HINT,
    },
  );
}

/** The last look before the claim: what somebody changed meanwhile is proven no more. */
export async function recheckChannel(
  { recheck }: Channel,
  attempts: readonly ChannelAttempt[],
): Promise<readonly ChannelAttempt[]> {
  if (recheck === undefined) return attempts;
  return askChannel(
    attempts,
    (one) => (isPlaced(one) && one.proof !== null ? one : undefined),
    recheck,
    (attempt, changed) =>
      hasFailed(changed)
        ? { ...attempt, proof: null, failure: changed.withStep('verify') }
        : { ...attempt, unknown: [...new Set([...attempt.unknown, ...changed])] },
  );
}

function placeTitle(attempts: readonly ChannelAttempt[]): string {
  const plan = attempts[0]?.task.plan;
  const verb = attempts.some(({ gone }) => gone) ? 'Remove' : 'Place';
  return `${verb}: ${plan?.channel}, ${attempts.length === 1 ? plan?.destination : `${attempts.length} files`}`;
}

/** Proves each placement on its own. Where the site did not come, each address is asked once more. */
async function verifyAll(
  checks: readonly PlacementCheck[],
  { took: waited, late }: WaitResult,
  { clock, logger }: Ports,
): Promise<readonly ChannelAttempt[]> {
  const title =
    checks.length === 1 ? 'Verify the public address' : `Verify ${checks.length} public addresses`;
  logger.startSection(title);
  const hasFolders = checks.some(({ attempt }) => (attempt.placement.parts ?? []).length > 0);
  return mapConcurrently(checks, hasFolders ? BATCH.folders : BATCH.probes, async (check) => {
    const { attempt, session, probe } = check;
    const begun = clock.now();
    if (late !== null) session.limits = { ...session.limits, deadline: begun };
    const verified = await resultOf(() => verifyPlacement(check));
    const took = { ...attempt.took, ...waited, verify: clock.now() - begun };
    const after = { ...attempt, took, lastProbe: probe.last };
    // What is removed is gone when the host has built without it.
    if (late !== null && (hasFailed(verified) || attempt.gone)) return { ...after, failure: late };
    if (hasFailed(verified)) return { ...after, failure: verified.withStep('verify') };
    const { proof, unknown } = verified;
    return { ...after, proof, unknown: [...new Set([...attempt.unknown, ...unknown])] };
  });
}

/** The ports, with a log that says which of several files a line is about. */
function withLogPrefix({ title }: ChannelAttempt, all: readonly ChannelAttempt[], ports: Ports): Ports {
  if (all.length === 1) return ports;
  const { logger } = ports;
  const prefixed: Logger = {
    ...logger,
    info: (line) => logger.info(`${title}: ${line}`),
    warning: (line) => logger.warning(`${title}: ${line}`),
    debug: (line) => logger.debug(`${title}: ${line}`),
    progress: (name, total, unit) => logger.progress(`${title}: ${name}`, total, unit),
  };
  return { ...ports, logger: prefixed };
}
