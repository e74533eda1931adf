import type { Ports } from '../ports.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import type { ChannelAttempt } from './channel-attempt.ts';
import {
  type ChannelRole,
  channelsIn,
  channelsUsed,
  type FileDelivery,
  findAbsent,
  isOngoing,
} from './file-delivery.ts';
import type { ChannelActions } from './plan.ts';

/** Carries out what is prepared: the main channels first, then the duplicates, even where the main one failed. */
export async function publishTasks(
  deliveries: readonly FileDelivery[],
  request: DeliveryRequest,
  actions: ChannelActions,
  ports: Ports,
): Promise<readonly FileDelivery[]> {
  let published = deliveries;
  for (const role of ['main', 'duplicates'] as const) {
    for (const key of channelsUsed(deliveries.filter(isOngoing), role)) {
      published = await publishOnChannel(published, { key, role }, request, { action: actions[key], ports });
    }
  }
  return published;
}

async function publishOnChannel(
  deliveries: readonly FileDelivery[],
  { key, role }: { readonly key: ChannelKey; readonly role: ChannelRole },
  { marker, operation, interval, timeout }: DeliveryRequest,
  { action, ports }: { readonly action: ChannelActions[ChannelKey]; readonly ports: Ports },
): Promise<readonly FileDelivery[]> {
  const gone = operation === 'withdraw';
  const jobs = deliveries.flatMap((delivery) => {
    const task = delivery.tasks.get(key);
    if (!isOngoing(delivery) || !channelsIn(delivery, role).includes(key) || task === undefined) return [];
    const expected = { file: gone ? null : delivery.file, marker, gone };
    return [{ task, title: delivery.subject, expected }];
  });
  const absent = findAbsent(deliveries, key);
  // What places and verifies is loaded after the first requests. `eager` keeps the bundle one file.
  const channelCode = await import(/* webpackMode: "eager" */ './publish-through-channel.ts');
  const attempts = await channelCode.publishThroughChannel(
    action,
    jobs,
    { interval, timeout, absent },
    ports,
  );
  return withAttempts(deliveries, key, attempts);
}

/** Looks at everything that is proven once more, right before the claim. */
export async function recheckDeliveries(
  deliveries: readonly FileDelivery[],
  actions: ChannelActions,
): Promise<readonly FileDelivery[]> {
  const { recheckChannel } = await import(/* webpackMode: "eager" */ './publish-through-channel.ts');
  let looked = deliveries;
  for (const key of channelsUsed(deliveries)) {
    const attempts = looked.flatMap((delivery) => delivery.attempts.get(key) ?? []);
    looked = withAttempts(looked, key, await recheckChannel(actions[key], attempts));
  }
  return looked;
}

/** The deliveries with what became of their tasks in a channel. */
function withAttempts(
  deliveries: readonly FileDelivery[],
  key: ChannelKey,
  attempts: readonly ChannelAttempt[],
): readonly FileDelivery[] {
  const byTask = new Map(attempts.map((attempt) => [attempt.task, attempt]));
  return deliveries.map((delivery) => {
    const earlier = delivery.attempts.get(key)?.task ?? delivery.tasks.get(key);
    const attempt = earlier && byTask.get(earlier);
    return attempt === undefined
      ? delivery
      : { ...delivery, attempts: new Map([...delivery.attempts, [key, attempt]]) };
  });
}
