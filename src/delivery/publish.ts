import type { Ports } from '../ports.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import {
  type ChannelRole,
  channelsIn,
  channelsUsed,
  type FileDelivery,
  findAbsent,
  isOngoing,
} from './file-delivery.ts';
import type { ChannelActions } from './plan.ts';
import { publishThroughChannel } from './publish-through-channel.ts';

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
    const isPage = task.served?.isPage === true;
    const expected = { file: gone ? null : delivery.file, marker, gone, isPage };
    return [{ task, title: delivery.subject, expected }];
  });
  const absent = findAbsent(deliveries, key);
  const attempts = await publishThroughChannel(action, jobs, { interval, timeout, absent }, ports);
  const byTask = new Map(attempts.map((attempt) => [attempt.task, attempt]));
  return deliveries.map((delivery) => {
    const task = delivery.tasks.get(key);
    const attempt = task && byTask.get(task);
    return attempt === undefined
      ? delivery
      : { ...delivery, attempts: new Map([...delivery.attempts, [key, attempt]]) };
  });
}
