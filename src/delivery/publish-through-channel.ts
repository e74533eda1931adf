import { mapConcurrently, poll, resultsOfAll } from '../async.ts';
import { type Channel, type FailedFile, type HostProgress, listRequired } from '../channels/channel.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../errors.ts';
import type { Logger, Ports } from '../ports.ts';
import { AddressProof } from '../proof/address-proof.ts';
import { createProofRun, type WaitLimits } from '../proof/ask-address.ts';
import { isRemovedCheck } from '../proof/check.ts';
import { describeProbe, provesAlone } from '../proof/probe-result.ts';
import { AGAIN_HINT, createWaitLog } from '../proof/prove.ts';
import { BATCH, SECOND } from '../protocol/limits.ts';
import { CHANNEL_LABELS } from '../protocol/words.ts';
import { type ChannelAttempt, isPlaced, type PlacedAttempt } from './delivery.ts';
import { verifyPlacement } from './verify.ts';

/** Place → wait → verify: places all together and waits once. A failure is part of its attempt. */
export async function publishThroughChannel(
  channel: Channel,
  attempts: readonly ChannelAttempt[],
  limits: WaitLimits & { readonly absent?: FailedFile | undefined },
  ports: Ports,
): Promise<readonly ChannelAttempt[]> {
  const { clock, logger } = ports;
  const begun = clock.now();
  logger.startSection(placeTitle(attempts));
  const placements = await resultsOfAll(attempts, (all) => {
    const tasks = all.map(({ task }) => task);
    return channel.perform(tasks, limits.absent);
  });
  const took = { place: clock.now() - begun };
  const placed = [...placements].map(([attempt, placement]): ChannelAttempt => {
    if (hasFailed(placement)) return { ...attempt, took, failure: placement.withStep('place') };
    withLogPrefix(attempt, attempts, ports).logger.info(placement.evidence);
    const plan = { ...attempt.task.plan, ...placement.plan };
    const { unknown = [] } = placement;
    return { ...attempt, task: { ...attempt.task, plan }, took, placement, unknown };
  });
  return proveAttempts(placed, limits, ports, channel);
}

/** Verifies placements. */
export async function proveAttempts(
  attempts: readonly ChannelAttempt[],
  limits: WaitLimits,
  ports: Ports,
  channel: Pick<Channel, 'watch'> = {},
): Promise<readonly ChannelAttempt[]> {
  const placed = attempts.filter(isPlaced);
  const proven: ReadonlyMap<ChannelAttempt, Result<ChannelAttempt>> = await resultsOfAll(placed, async () => {
    const proofs = placed.map((attempt) => {
      const { placement, marker } = attempt;
      const run = createProofRun(listRequired(placement), limits, withLogPrefix(attempt, placed, ports));
      const check = { ...placement.first, expect: { ...placement.first.expect, marker } };
      return { attempt, proof: new AddressProof(check, run) };
    });
    const waited = await waitForSite(channel, proofs, ports);
    return verifyAll(proofs, waited, ports);
  });
  return attempts.map((attempt) => {
    const result = proven.get(attempt) ?? attempt;
    return hasFailed(result) ? { ...attempt, failure: result.withStep('verify') } : result;
  });
}

interface OngoingProof {
  readonly attempt: PlacedAttempt;
  readonly proof: AddressProof;
}

/**
 * Waits once for all, because Pages publishes a push as a whole. Waits for a rendered page if possible, because only
 * the host can confirm its build. @returns milliseconds, if it waited
 */
async function waitForSite(
  { watch }: Pick<Channel, 'watch'>,
  proofs: readonly OngoingProof[],
  { clock, logger }: Ports,
): Promise<{ readonly wait?: number }> {
  const written = proofs.filter(({ attempt }) => attempt.placement.written);
  const lead = written.findLast(isRendered) ?? written.at(-1) ?? proofs.at(-1);
  if (lead === undefined || watch === undefined) return {};
  const host = watch();
  const begun = clock.now();
  logger.startSection('Wait for the site');
  const ownBuild = proofs.filter(
    (ongoing) => ongoing !== lead && isRendered(ongoing) && !written.includes(ongoing),
  );
  const waited = await resultOf(async () => {
    await noteOutdated(written.filter(isRendered), async () => (await host.ask(lead.attempt)).finished);
    for (const { attempt, proof } of [lead, ...ownBuild])
      await waitForAddress(proof, () => host.ask(attempt));
  });
  for (const { proof } of written) proof.run.builtAt = lead.proof.run.builtAt;
  for (const { proof } of proofs) proof.run.waitFailure = hasFailed(waited) ? waited.withStep('wait') : null;
  return { wait: clock.now() - begun };
}

const isRendered = ({ attempt: { placement } }: OngoingProof): boolean =>
  listRequired(placement).some(
    ({ expect: { is, after } }) => is === 'built' || (is === 'replaced' && after === undefined),
  );

/** Records versions shown before our build ends: they are outdated, even if another build has just ended. */
async function noteOutdated(
  proofs: readonly OngoingProof[],
  isFinished: () => Promise<boolean>,
): Promise<void> {
  await mapConcurrently(proofs, BATCH.probes, ({ proof }) => proof.ask());
  const shown = proofs.filter(({ proof: { last } }) => last?.httpCode === 200 && !provesAlone(last));
  if (shown.length === 0 || (await isFinished())) return;
  for (const { proof } of shown) proof.run.outdated = proof.last?.version;
}

/** WAIT: until the URL shows the file, or the build has finished. @throws {DeliveryError} @see protocol 3.2, 8 */
async function waitForAddress(proof: AddressProof, ask: () => Promise<HostProgress>): Promise<void> {
  const { check, run } = proof;
  const { ports, limits, deadline } = run;
  const isRemoval = isRemovedCheck(check);
  let progress: HostProgress = { finished: false, detail: 'the host was not asked yet' };
  const log = createWaitLog('waited for the site', 1, run);
  let known = proof.last;
  const finished = await poll({ ...ports, ...limits, deadline }, async () => {
    const result = known ?? (await proof.ask());
    known = null;
    const shows = provesAlone(result);
    // Any server may answer 404 once, so a removal also needs a finished build.
    if (!shows || isRemoval) progress = await ask();
    if (shows && !(isRemoval && progress.building)) {
      return `the site ${isRemoval ? 'no longer shows' : 'shows'} it: ${describeProbe(result)}`;
    }
    log.write(`${describeProbe(result)}; ${progress.detail}`);
    return progress.finished ? progress.detail : undefined;
  }).finally(log.end);
  if (finished === undefined) throw buildTimeoutError(proof, progress);
  ports.logger.info(finished);
  run.builtAt = progress.builtAt;
}

function buildTimeoutError({ check, last, run }: AddressProof, progress: HostProgress): DeliveryError {
  const isRemoval = isRemovedCheck(check);
  const late = isRemoval ? 'the site was not built without the file' : 'the site did not show the file';
  return new DeliveryError(
    'BUILD_TIMEOUT',
    `${late} within ${run.limits.timeout / SECOND} s: ${describeProbe(last)}; ${progress.detail}`,
    {
      httpCode: last?.httpCode ?? progress.httpCode,
      hint: (last?.httpCode === 429 ? check.host.hints.busy : progress.hint) ?? AGAIN_HINT,
    },
  );
}

function placeTitle(attempts: readonly ChannelAttempt[]): string {
  const plan = attempts[0]?.task.plan;
  const verb = attempts.some(({ mustBeGone }) => mustBeGone) ? 'Remove from' : 'Publish to';
  const host = plan && CHANNEL_LABELS[plan.channel];
  return `${verb} ${host}: ${attempts.length === 1 ? plan?.destination : `${attempts.length} files`}`;
}

/** Verifies each placement on its own, even if the wait failed. */
async function verifyAll(
  proofs: readonly OngoingProof[],
  waited: { readonly wait?: number },
  { clock, logger }: Ports,
): Promise<readonly ChannelAttempt[]> {
  const title = proofs.length === 1 ? 'Verify the public URL' : `Verify ${proofs.length} public URLs`;
  logger.startSection(title);
  const hasFolders = proofs.some(({ attempt }) => listRequired(attempt.placement).length > 1);
  return mapConcurrently(proofs, hasFolders ? BATCH.folders : BATCH.probes, async ({ attempt, proof }) => {
    const { waitFailure: late } = proof.run;
    const begun = clock.now();
    const verified = await resultOf(() => verifyPlacement(attempt, proof));
    const took = { ...attempt.took, ...waited, verify: clock.now() - begun };
    const { identical } = proof.run;
    const identicalFiles = listRequired(attempt.placement).filter(({ url: { href } }) =>
      identical.has(href),
    ).length;
    const after = { ...attempt, took, lastProbe: proof.last, identicalFiles };
    if (late !== null && (hasFailed(verified) || attempt.mustBeGone)) return { ...after, failure: late };
    if (hasFailed(verified)) return { ...after, failure: verified.withStep('verify') };
    const { unknown } = verified;
    return { ...after, proof: verified.proof, unknown: [...new Set([...attempt.unknown, ...unknown])] };
  });
}

/** The ports, with the file's name before each log line if there are several files. */
function withLogPrefix({ task }: ChannelAttempt, all: readonly ChannelAttempt[], ports: Ports): Ports {
  if (all.length === 1) return ports;
  const { logger } = ports;
  const start = `${task.plan.name}: `;
  const prefixed: Logger = {
    ...logger,
    info: (line) => logger.info(start + line),
    progress: (title, ...more) => logger.progress(start + title, ...more),
  };
  return { ...ports, logger: prefixed };
}
