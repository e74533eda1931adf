import { mapConcurrently } from '../async.ts';
import type { AbsentFile, ChannelAction } from '../channels/channel.ts';
import { type DeliveryError, hasFailed, resultOf } from '../errors.ts';
import type { Logger, Ports } from '../ports.ts';
import { BATCH } from '../protocol/limits.ts';
import { newPlacementCheck } from './addresses.ts';
import { askChannel, type ChannelAttempt, isPlaced } from './delivery.ts';
import { verifyPlacement } from './verify.ts';
import { type CheckedAttempt, waitForAll } from './wait-for-site.ts';
import type { WaitLimits } from './wait-log.ts';

/**
 * Files through one channel: place → wait → verify. All are placed together and waited for once; each
 * is verified on its own. A failure is part of its attempt, and stops no other.
 *
 * @param limits milliseconds between requests, and for waiting and verifying together; and a file that is absent
 */
export async function publishThroughChannel(
  action: ChannelAction,
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
      return { ...attempt, took, placement, unknown: placement.unknown };
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
  action: Pick<ChannelAction, 'progress'> = {},
): Promise<readonly ChannelAttempt[]> {
  const begun = ports.clock.now();
  const wait = { interval, timeout, begun, deadline: begun + timeout };
  const checked = attempts.map((attempt) => {
    const { placement, expected } = attempt;
    return { attempt, check: placement && newPlacementCheck(placement, expected, wait.deadline, ports) };
  });
  const { waited, late } = await waitForAll(action, checked, wait, ports);
  return verifyAll(waited, late, wait, ports);
}

/** The last look before the claim: what somebody changed meanwhile is proven no more. */
export async function recheckChannel(
  { recheck }: ChannelAction,
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
  const verb = attempts.some(({ expected }) => expected.gone) ? 'Remove' : 'Place';
  return `${verb}: ${plan?.channel}, ${attempts.length === 1 ? plan?.destination : `${attempts.length} files`}`;
}

/** @param late why the site did not come: then each address is asked only once more */
async function verifyAll(
  checked: readonly CheckedAttempt[],
  late: DeliveryError | null,
  limits: WaitLimits,
  ports: Ports,
): Promise<readonly ChannelAttempt[]> {
  const attempts = checked.map(({ attempt }) => attempt);
  const open = attempts.filter(({ failure }) => failure === null);
  if (open.length === 0) return attempts;
  const title = open.length === 1 ? 'Verify the public address' : `Verify ${open.length} public addresses`;
  ports.logger.startSection(title);
  const until = late === null ? limits : { ...limits, deadline: ports.clock.now() };
  const hasFolders = open.some(({ placement }) => (placement?.parts ?? []).length > 0);
  const atOnce = hasFolders ? BATCH.folders : BATCH.probes;
  return mapConcurrently(checked, atOnce, async ({ attempt, check }) => {
    if (attempt.failure !== null || check === null) return attempt;
    const begun = ports.clock.now();
    const prefixed = withLogPrefix(attempt, open, ports);
    const verified = await resultOf(() => verifyPlacement(check, until, prefixed));
    const took = { ...attempt.took, verify: ports.clock.now() - begun };
    const after = { ...attempt, took, lastProbe: check.probe.last };
    if (hasFailed(verified)) return { ...after, failure: late ?? verified.withStep('verify') };
    // What is removed is gone when the host has built without it.
    if (late !== null && attempt.expected.gone) return { ...after, failure: late };
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
