import type { ChannelMap, PlacedTask, Placement } from '../channels/channel.ts';
import { hasFailed } from '../errors.ts';
import type { Ports } from '../ports.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import {
  askChannel,
  attemptIn,
  type ChannelAttempt,
  type Delivery,
  isPlaced,
  newAttempt,
  type Restoration,
} from './delivery.ts';
import { proveAttempts } from './publish-through-channel.ts';
import { recheckDeliveries } from './tasks.ts';

/**
 * Puts back what this tool delivered before in place of what is committed and not proven, and proves that too. The
 * deliveries fail all the same, and say what is there now.
 */
export async function restoreFailed(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
  { interval, timeout }: Pick<DeliveryRequest, 'interval' | 'timeout'>,
  ports: Ports,
): Promise<readonly Delivery[]> {
  const { logger, signal } = ports;
  const { restore } = channels.K1;
  const placed = deliveries.flatMap((one) => attemptIn(one, 'K1') ?? []).filter(isPlaced);
  const failed = placed.filter(({ failure }) => failure !== null);
  // After a stop there is no time to prove anything.
  if (failed.length === 0 || restore === undefined || signal.aborted) return deliveries;
  logger.startSection('Put back what was there before');
  const put = await askChannel<ChannelAttempt, PlacedTask, Placement>(
    failed,
    (one) => (isPlaced(one) ? one : undefined),
    (tasks) => restore(tasks, placed),
    ({ task }, back) => {
      const attempt = newAttempt(task);
      return hasFailed(back) ? { ...attempt, failure: back } : { ...attempt, placement: back };
    },
  );
  const proven = await proveAttempts(put, { interval, timeout }, ports, channels.K1);
  const restored = deliveries.map((delivery) => {
    const task = attemptIn(delivery, 'K1')?.task;
    const attempt = proven.find((one) => one.task === task);
    if (attempt === undefined) return delivery;
    const restoration = toRestoration(attempt);
    logger.info(`${delivery.subject}: ${restoration.detail}`);
    return { ...delivery, restored: restoration };
  });
  // The last look comes after the last write.
  return recheckDeliveries(restored, channels);
}

function toRestoration({ placement, proof, failure }: ChannelAttempt): Restoration {
  if (placement === null) {
    const left = failure?.leftBehind?.join(', ') ?? '';
    const detail = `${failure?.message}${left === '' ? '' : `; what was put back is ${left}`}`;
    return { commitSha: null, proven: false, detail };
  }
  const { commitSha = null } = placement;
  const back = `commit ${commitSha?.slice(0, 7)} put back what was delivered there before`;
  if (proof !== null) {
    return {
      commitSha,
      proven: true,
      detail: `${back}, and ${placement.url.href} shows that again, byte for byte`,
    };
  }
  return { commitSha, proven: false, detail: `${back}, and that is not proven either: ${failure?.message}` };
}
