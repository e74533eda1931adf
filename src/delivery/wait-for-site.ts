import { poll } from '../async.ts';
import type { ChannelAction, HostProgress } from '../channels/channel.ts';
import { DeliveryError, hasFailed, resultOf } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';
import type { PlacementCheck } from './addresses.ts';
import type { ChannelAttempt } from './delivery.ts';
import { BUSY_HINT, describeProbe, loginPageError } from './describe-probe.ts';
import { isProof } from './match-content.ts';
import { createWaitLog, type WaitLimits } from './wait-log.ts';

/** How each placement is asked, by its task. */
export type Checks = ReadonlyMap<ChannelAttempt['task'], PlacementCheck>;

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
  const again = 'try again: what is as wanted already is only verified';
  throw new DeliveryError(
    'BUILD_TIMEOUT',
    `${late} within ${seconds} s: ${describeProbe(probe.last)}; ${progress.detail}`,
    {
      httpCode: probe.last?.httpCode ?? progress.httpCode,
      hint: (probe.last?.httpCode === 429 ? BUSY_HINT : expected.gone ? again : progress.hint) ?? again,
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
  attempts: readonly ChannelAttempt[],
  { checks, ...limits }: WaitLimits & { readonly checks: Checks },
  ports: Ports,
): Promise<{ readonly attempts: readonly ChannelAttempt[]; readonly late: DeliveryError | null }> {
  const watched = progress === undefined ? [] : attempts.filter(({ task }) => checks.has(task));
  const written = watched.filter(({ placement }) => placement?.written);
  const lead = written.findLast(isRendered) ?? written.at(-1) ?? watched.at(-1);
  if (lead === undefined || progress === undefined) return { attempts, late: null };
  const begun = ports.clock.now();
  ports.logger.startSection('Wait for the site');
  const ownBuild = watched.filter((one) => one !== lead && isRendered(one) && !written.includes(one));
  let late: DeliveryError | null = null;
  for (const { task } of [lead, ...ownBuild]) {
    const check = checks.get(task);
    if (check === undefined || late !== null) continue;
    const { placement } = check;
    const waited = await resultOf(() =>
      waitForSite(check, () => progress({ task, placement }), limits, ports),
    );
    if (hasFailed(waited)) late = waited.withStep('wait');
    else check.builtAt = waited;
  }
  for (const { task } of written) {
    const check = checks.get(task);
    if (check !== undefined) check.builtAt = checks.get(lead.task)?.builtAt;
  }
  const wait = ports.clock.now() - begun;
  const after = attempts.map((attempt): ChannelAttempt => {
    if (!watched.includes(attempt)) return attempt;
    const timed = { ...attempt, took: { ...attempt.took, wait } };
    const lastProbe = checks.get(attempt.task)?.probe.last ?? null;
    return attempt === lead && late !== null ? { ...timed, failure: late, lastProbe } : timed;
  });
  return { attempts: after, late };
}

const isRendered = ({ placement }: ChannelAttempt): boolean => placement?.hostMayChangeBytes === true;
