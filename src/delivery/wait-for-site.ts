import { poll } from '../async.ts';
import type { ChannelAction, HostProgress } from '../channels/channel.ts';
import { DeliveryError, hasFailed, resultOf } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';
import type { PlacementCheck } from './addresses.ts';
import type { ChannelAttempt } from './delivery.ts';
import { AGAIN_HINT, BUSY_HINT, describeProbe, loginPageError } from './describe-probe.ts';
import { isProof } from './probe-result.ts';
import { createWaitLog, type WaitLimits } from './wait-log.ts';

/** An attempt, and how its placement is asked; `null` where nothing was placed. */
export interface CheckedAttempt {
  readonly attempt: ChannelAttempt;
  readonly check: PlacementCheck | null;
}

/**
 * WAIT: until the address shows the file, or the host says that it has finished.
 *
 * @param ask how far the host is
 * @returns when the commit was made that the finished build contains: milliseconds since the epoch
 * @throws {DeliveryError} `BUILD_ERRORED`, or `BUILD_TIMEOUT` at the deadline.
 * @see protocol 3.2, 8
 */
export async function waitForSite(
  { probe, expected }: Pick<PlacementCheck, 'probe' | 'expected'>,
  ask: () => Promise<HostProgress>,
  limits: WaitLimits,
  ports: Ports,
): Promise<number | undefined> {
  let progress: HostProgress = { finished: false, detail: 'the host was not asked yet' };
  const log = createWaitLog('waited for the site', 1, limits, ports);
  const finished = await poll({ ...limits, ...ports }, async () => {
    const result = await probe.probe();
    const shows = isProof(result);
    if (result.match === 'login') throw loginPageError(result);
    // Anything may answer a 404 once: what is removed is gone when the host has built without it.
    if (!shows || expected.gone) progress = await ask();
    if (shows && !(expected.gone && progress.building)) return `the site shows it: ${describeProbe(result)}`;
    log.write(`${describeProbe(result)}; ${progress.detail}`);
    return progress.finished ? progress.detail : undefined;
  }).finally(log.end);
  if (finished !== undefined) {
    ports.logger.info(finished);
    return progress.committedAt;
  }
  const seconds = limits.timeout / SECOND;
  const late = expected.gone ? 'the site was not built without the file' : 'the site did not show the file';
  throw new DeliveryError(
    'BUILD_TIMEOUT',
    `${late} within ${seconds} s: ${describeProbe(probe.last)}; ${progress.detail}`,
    {
      httpCode: probe.last?.httpCode ?? progress.httpCode,
      hint:
        (probe.last?.httpCode === 429 ? BUSY_HINT : expected.gone ? AGAIN_HINT : progress.hint) ?? AGAIN_HINT,
    },
  );
}

/**
 * Waits for the site once: it shows all of one push, or nothing of it. So one file is waited for, the last one that
 * was written, if possible a page that the host renders: its proof needs the host's word. For such a page that was
 * there already its own build counts.
 *
 * @returns the attempts, and why the site did not come, if so
 */
export async function waitForAll(
  { progress }: Pick<ChannelAction, 'progress'>,
  attempts: readonly CheckedAttempt[],
  limits: WaitLimits,
  ports: Ports,
): Promise<{ readonly waited: readonly CheckedAttempt[]; readonly late: DeliveryError | null }> {
  const watched = attempts.flatMap(({ attempt, check }) => (check === null ? [] : [{ attempt, check }]));
  const written = watched.filter(({ check }) => check.placement.written);
  const lead = written.findLast(isRendered) ?? written.at(-1) ?? watched.at(-1);
  if (lead === undefined || progress === undefined) return { waited: attempts, late: null };
  const begun = ports.clock.now();
  ports.logger.startSection('Wait for the site');
  const ownBuild = watched.filter((one) => one !== lead && isRendered(one) && !written.includes(one));
  const builtAt = new Map<PlacementCheck, number | undefined>();
  let late: DeliveryError | null = null;
  for (const { attempt, check } of [lead, ...ownBuild]) {
    const { task } = attempt;
    const { placement } = check;
    const built = await resultOf(() =>
      waitForSite(check, () => progress({ task, placement }), limits, ports),
    );
    if (hasFailed(built)) {
      late = built.withStep('wait');
      break;
    }
    builtAt.set(check, built);
  }
  for (const { check } of written) builtAt.set(check, builtAt.get(lead.check));
  const wait = ports.clock.now() - begun;
  const waited = attempts.map(({ attempt, check }) => {
    if (check === null) return { attempt, check };
    const timed = { ...attempt, took: { ...attempt.took, wait } };
    const isLate = check === lead.check && late !== null;
    return {
      attempt: isLate ? { ...timed, failure: late, lastProbe: check.probe.last } : timed,
      check: { ...check, builtAt: builtAt.get(check) },
    };
  });
  return { waited, late };
}

const isRendered = ({ check }: { readonly check: PlacementCheck }): boolean =>
  check.placement.hostMayChangeBytes === true;
