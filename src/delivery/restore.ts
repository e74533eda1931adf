import { resultsOfAll } from '../async.ts';
import type { ChannelMap, Placement, PreparedTask } from '../channels/channel.ts';
import { hasFailed, type Result } from '../errors.ts';
import {
  addressToHandOver,
  attemptIn,
  type ChannelAttempt,
  type Delivery,
  isPlaced,
  newAttempt,
  type RestoreOutcome,
  replaceAttempts,
  withAttempt,
} from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { proveAttempts } from './publish-through-channel.ts';
import { recheckDeliveries } from './tasks.ts';

/** Restores the previous version of failed deliveries, and verifies it. The deliveries still fail. */
export async function restoreFailed(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const { logger, request, signal } = context;
  const { restore } = channels.K1;
  const placed = deliveries.flatMap((delivery) => attemptIn(delivery, 'K1') ?? []).filter(isPlaced);
  if (signal.aborted) return deliveries.map(withoutRestoration);
  const failed = placed.filter(({ failure }) => failure !== null);
  if (failed.length === 0 || restore === undefined) return deliveries;
  logger.startSection('Restore the earlier version');
  const placements = await resultsOfAll(failed, () => restore(failed, placed));
  const put = [...placements].map(([{ task }, back]) => openRestored(task, back));
  const proven = await resultsOfAll(failed, () => proveAttempts(put, request, context, channels.K1));
  const restored = new Map<ChannelAttempt, ChannelAttempt>();
  for (const [attempt, result] of proven) {
    const back = hasFailed(result) ? openRestored(attempt.task, result) : result;
    const outcome = toRestoreOutcome(back);
    logger.info(`${attempt.task.plan.name}: ${outcome.detail}`);
    const mayBeBack = back.placement === null && back.failure?.leftBehind === undefined;
    const { unknown: lines = [] } = back.placement ?? {};
    const unknown = [...attempt.unknown, ...lines, ...(mayBeBack ? [PERHAPS_BACK] : [])];
    restored.set(attempt, { ...attempt, restored: outcome, unknown });
  }
  return recheckDeliveries(replaceAttempts(deliveries, restored), channels);
}

const openRestored = (task: PreparedTask, back: Result<Placement>): ChannelAttempt =>
  hasFailed(back) ? { ...newAttempt(task), failure: back } : { ...newAttempt(task), placement: back };

/** After a stop there is no time to verify a restore. */
function withoutRestoration(delivery: Delivery): Delivery {
  const attempt = attemptIn(delivery, 'K1');
  if (attempt?.failure == null) return delivery;
  const { placement, failure } = attempt;
  const mayBeThere = placement === null ? failure.leftBehind === undefined : placement.written;
  const detail = 'the previous version was not restored, because the run was stopped';
  return mayBeThere
    ? withAttempt(delivery, { ...attempt, restored: { commitSha: null, proven: false, detail } })
    : delivery;
}

const PERHAPS_BACK = 'whether the previous version was restored anyway';

function toRestoreOutcome({ placement, proof, failure }: ChannelAttempt): RestoreOutcome {
  if (placement === null) {
    const left = failure?.leftBehind?.join(', ') ?? '';
    const why = `${failure?.message}${left === '' ? '' : `; left behind: ${left}`}`;
    return { commitSha: null, proven: false, detail: `the previous version could not be restored: ${why}` };
  }
  const { commitSha = null, notes = [] } = placement;
  const url = addressToHandOver({ placement, proof });
  const back = `commit ${commitSha?.slice(0, 7)} restored the previous version`;
  const shown =
    proof === null
      ? `that is not verified either: ${failure?.message}`
      : `${url?.href} shows it again, byte for byte`;
  return { commitSha, proven: proof !== null, detail: [`${back}, and ${shown}`, ...notes].join('; ') };
}
