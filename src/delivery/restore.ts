import type { RestoredDelivery } from '../channels/channel.ts';
import { hasFailed } from '../errors.ts';
import type { Ports } from '../ports.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { askChannel, type ChannelAttempt, type Delivery, newAttempt, type Restoration } from './delivery.ts';
import { proveAttempts } from './publish-through-channel.ts';
import type { ChannelActions } from './tasks.ts';

/**
 * Puts back what this tool delivered before in place of what is committed and not proven, and proves that too. The
 * deliveries fail all the same, and say what is there now.
 *
 * @see design 8
 */
export async function restoreFailed(
  deliveries: readonly Delivery[],
  { K1 }: Pick<ChannelActions, 'K1'>,
  { interval, timeout }: Pick<DeliveryRequest, 'interval' | 'timeout'>,
  ports: Ports,
): Promise<readonly Delivery[]> {
  const attempts = deliveries.flatMap(({ attempts: all }) => all.get('K1') ?? []);
  const placedOf = ({ task, placement }: ChannelAttempt) => (placement === null ? [] : [{ task, placement }]);
  const failed = attempts.filter(({ failure }) => failure !== null).flatMap(placedOf);
  // After a stop there is no time to prove anything.
  if (failed.length === 0 || K1.restore === undefined || ports.signal.aborted) return deliveries;
  ports.logger.startSection('Put back what was there before');
  const step = attempts.flatMap(placedOf);
  const results = await askChannel(failed, async (all) => (await K1.restore?.(all, step)) ?? []);
  const opened = results.flatMap(({ item, result }) =>
    hasFailed(result) ? [] : [openRestored(item.task, result)],
  );
  const proven = await proveAttempts(opened, { interval, timeout }, ports, K1);
  const byTask = new Map<unknown, Restoration>(proven.map((one) => [one.task, describeRestored(one)]));
  for (const { item, result } of results) {
    if (hasFailed(result)) {
      const { message, leftBehind = [] } = result;
      const left = leftBehind.length === 0 ? '' : `; what was put back is ${leftBehind.join(', ')}`;
      byTask.set(item.task, { commitSha: null, proven: false, detail: `${message}${left}` });
    }
  }
  return deliveries.map((delivery) => {
    const restored = byTask.get(delivery.attempts.get('K1')?.task);
    if (restored === undefined) return delivery;
    ports.logger.info(`${delivery.subject}: ${restored.detail}`);
    return { ...delivery, restored };
  });
}

const openRestored = (
  task: ChannelAttempt['task'],
  { placement, file }: RestoredDelivery,
): ChannelAttempt => ({
  ...newAttempt({ task, title: task.plan.name, expected: { file, marker: undefined } }),
  placement,
});

function describeRestored({ placement, proof, failure }: ChannelAttempt): Restoration {
  const commitSha = placement?.commitSha ?? null;
  const back = `commit ${commitSha?.slice(0, 7)} put back what was delivered there before`;
  if (proof !== null) {
    return { commitSha, proven: true, detail: `${back}, and its address shows that again, byte for byte` };
  }
  return { commitSha, proven: false, detail: `${back}, and that is not proven either: ${failure?.message}` };
}
