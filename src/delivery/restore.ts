import type { ChannelMap } from '../channels/channel.ts';
import { hasFailed } from '../errors.ts';
import {
  addressToHandOver,
  askChannel,
  attemptIn,
  type ChannelAttempt,
  type Delivery,
  isPlaced,
  newAttempt,
  type RestoreOutcome,
  withAttempt,
} from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { proveAttempts } from './publish-through-channel.ts';
import { recheckDeliveries } from './tasks.ts';

/** Puts back what was delivered before what is not proven, and proves that. The deliveries fail all the same. */
export async function restoreFailed(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const { logger, request, signal } = context;
  const { restore } = channels.K1;
  const placed = deliveries.flatMap((one) => attemptIn(one, 'K1') ?? []).filter(isPlaced);
  const isFailed = ({ failure }: ChannelAttempt): boolean => failure !== null;
  if (signal.aborted) return deliveries.map(withoutRestoration);
  if (!placed.some(isFailed) || restore === undefined) return deliveries;
  logger.startSection('Put back what was there before');
  const restored = await askChannel(
    deliveries,
    (one) => placed.find((attempt) => isFailed(attempt) && attempt === attemptIn(one, 'K1')),
    async (failed: readonly ChannelAttempt[]) => {
      const put = await askChannel(
        failed,
        (one) => (isPlaced(one) ? one : undefined),
        (tasks) => restore(tasks, placed),
        ({ task }, back): ChannelAttempt =>
          hasFailed(back) ? { ...newAttempt(task), failure: back } : { ...newAttempt(task), placement: back },
      );
      return proveAttempts(put, request, context, channels.K1);
    },
    (one, result, attempt) => {
      const back = hasFailed(result) ? { ...newAttempt(attempt.task), failure: result } : result;
      const restored = toRestoreOutcome(back);
      logger.info(`${one.subject}: ${restored.detail}`);
      const mayBeBack = back.placement === null && back.failure?.leftBehind === undefined;
      const { unknown: open = [] } = back.placement ?? {};
      const unknown = [...attempt.unknown, ...open, ...(mayBeBack ? [PERHAPS_BACK] : [])];
      return withAttempt(one, { ...attempt, restored, unknown });
    },
  );
  // The last look comes after the last write.
  return recheckDeliveries(restored, channels);
}

/** After a stop there is no time to prove anything. */
function withoutRestoration(one: Delivery): Delivery {
  const attempt = attemptIn(one, 'K1');
  if (attempt?.failure == null) return one;
  const { placement, failure } = attempt;
  const mayBeThere = placement === null ? failure.leftBehind === undefined : placement.written;
  const detail = 'what was there before is not put back, because the run was stopped';
  return mayBeThere
    ? withAttempt(one, { ...attempt, restored: { commitSha: null, proven: false, detail } })
    : one;
}

const PERHAPS_BACK = 'whether what was there before is put back all the same';

function toRestoreOutcome({ placement, proof, failure }: ChannelAttempt): RestoreOutcome {
  if (placement === null) {
    const left = failure?.leftBehind?.join(', ') ?? '';
    const why = `${failure?.message}${left === '' ? '' : `; left behind: ${left}`}`;
    return { commitSha: null, proven: false, detail: `what was there before could not be put back: ${why}` };
  }
  const { commitSha = null, notes = [] } = placement;
  const url = addressToHandOver({ placement, proof });
  const back = `commit ${commitSha?.slice(0, 7)} put back what was delivered there before`;
  const shown =
    proof === null
      ? `that is not proven either: ${failure?.message}`
      : `${url?.href} shows that again, byte for byte`;
  return { commitSha, proven: proof !== null, detail: [`${back}, and ${shown}`, ...notes].join('; ') };
}
