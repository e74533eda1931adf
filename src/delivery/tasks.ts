import type { ChannelAction, ChannelMap } from '../channels/channel.ts';
import { DeliveryError, hasFailed, type Result, toDeliveryError } from '../errors.ts';
import type { RepositoryQuery } from '../github/api/repository.ts';
import type { Ports } from '../ports.ts';
import { SECOND, VERIFY_DEADLINE } from '../protocol/limits.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { describeRepository } from './choose-channel.ts';
import {
  askChannel,
  type ChannelAttempt,
  type ChannelRole,
  channelsIn,
  channelsUsed,
  type Delivery,
  findAbsent,
  isOngoing,
  newAttempt,
  runStep,
  withAttempt,
  withFailure,
  withPreparationFailure,
} from './delivery.ts';
import type { DeliveryContext, OpenRepository } from './delivery-context.ts';

/** What each channel does: publish, or remove. */
export type ChannelActions = Readonly<Record<ChannelKey, ChannelAction>>;

export const actionsFor = ({ K1, K2, K3, K4 }: ChannelMap, action: 'publish' | 'remove'): ChannelActions => ({
  K1: K1[action],
  K2: K2[action],
  K3: K3[action],
  K4: K4[action],
});

/** Opens the repository, and tells what is known of it. @throws {DeliveryError} with the step `authorize` @see protocol 5 */
export async function authorize(
  query: RepositoryQuery,
  { openRepository, logger }: DeliveryContext,
): Promise<OpenRepository> {
  logger.startSection('Authorize');
  try {
    const opened = await openRepository(query);
    for (const line of describeRepository(opened.repository)) logger.info(line);
    return opened;
  } catch (thrown) {
    throw toDeliveryError(thrown).withStep('authorize');
  }
}

/** Lets every channel plan what it is to do, before any of them writes. */
export async function prepareTasks(
  deliveries: readonly Delivery[],
  actions: ChannelActions,
  { logger }: Pick<Ports, 'logger'>,
): Promise<readonly Delivery[]> {
  logger.startSection('Plan');
  let planned = deliveries;
  for (const key of channelsUsed(deliveries)) {
    const taking = planned.filter((delivery) => isOngoing(delivery) && channelsIn(delivery).includes(key));
    const results = await askChannel(taking, (items) => actions[key].prepare(items));
    const prepared = new Map(results.map(({ item, result }) => [item, result]));
    planned = refuseSameDestination(
      planned.map((delivery) => {
        const task = prepared.get(delivery);
        if (task === undefined) return delivery;
        if (hasFailed(task)) return withPreparationFailure(delivery, task);
        return { ...delivery, tasks: new Map([...delivery.tasks, [key, task]]) };
      }),
      key,
    );
    for (const delivery of planned.filter(isOngoing)) logPlan(delivery, key, logger);
  }
  return planned;
}

function logPlan({ subject, tasks, choice }: Delivery, key: ChannelKey, logger: Ports['logger']): void {
  const plan = tasks.get(key)?.plan;
  if (plan === undefined) return;
  const reason = choice?.main === key ? choice.reason : 'it is a duplicate';
  logger.info(`${subject}: ${key}, because ${reason}: ${plan.method}, to ${plan.destination}`);
}

/** Of two files with one destination the second is refused: it would replace the first. */
function refuseSameDestination(deliveries: readonly Delivery[], key: ChannelKey): readonly Delivery[] {
  const taken = new Map<string, string>();
  return deliveries.map((delivery) => {
    const destination = isOngoing(delivery) ? delivery.tasks.get(key)?.plan.destination : undefined;
    if (destination === undefined) return delivery;
    const other = taken.get(destination);
    if (other === undefined) {
      taken.set(destination, delivery.subject);
      return delivery;
    }
    const error = new DeliveryError(
      'BAD_INPUT',
      `${other} and ${delivery.subject} would both go to ${destination}`,
      { hint: 'give one of them another name, or deliver it in a step of its own' },
    );
    return withFailure(delivery, 'check', error);
  });
}

/** A dry run ends with what would be done, or with what would fail. */
export async function previewTasks(
  deliveries: readonly Delivery[],
  actions: ChannelActions,
  { logger }: Pick<Ports, 'logger'>,
): Promise<readonly Delivery[]> {
  logger.startSection('Preview');
  let previewed = deliveries;
  for (const key of channelsUsed(deliveries)) {
    const tasks = previewed.flatMap((delivery) => {
      const task = delivery.tasks.get(key);
      return isOngoing(delivery) && task !== undefined ? [task] : [];
    });
    const absent = findAbsent(deliveries, key);
    const results = await askChannel(tasks, (items) => actions[key].preview(items, absent));
    const previews = new Map<unknown, Result<string>>(results.map(({ item, result }) => [item, result]));
    previewed = previewed.map((delivery) => {
      const preview = previews.get(delivery.tasks.get(key));
      if (preview === undefined) return delivery;
      if (hasFailed(preview)) return withFailure(delivery, 'place', preview);
      logger.info(`${delivery.subject}: ${key}: ${preview}`);
      return delivery;
    });
  }
  return runStep('place', previewed, async () => {
    throw new DeliveryError('DRY_RUN', 'only planned: nothing failed, and nothing was written', {
      hint: (w) => `leave ${w.input('dry-run')} out to do it`,
      leftBehind: [],
    });
  });
}

/**
 * Carries out what is prepared (place → wait → verify): the main channels first, then the duplicates, even where the
 * main one failed.
 */
export async function publishTasks(
  deliveries: readonly Delivery[],
  request: DeliveryRequest,
  actions: ChannelActions,
  ports: Ports,
): Promise<readonly Delivery[]> {
  const seconds = request.timeout / SECOND;
  const time = `up to ${seconds} s were allowed for build and verification; the protocol has ${VERIFY_DEADLINE / SECOND}`;
  const further = request.timeout > VERIFY_DEADLINE ? [time] : [];
  let published: readonly Delivery[] = deliveries.map((one) => ({
    ...one,
    notes: [...one.notes, ...further],
  }));
  for (const role of ['main', 'duplicates'] as const) {
    for (const key of channelsUsed(deliveries.filter(isOngoing), role)) {
      published = await publishOnChannel(published, { key, role }, request, { action: actions[key], ports });
    }
  }
  return published;
}

async function publishOnChannel(
  deliveries: readonly Delivery[],
  { key, role }: { readonly key: ChannelKey; readonly role: ChannelRole },
  { marker, operation, interval, timeout }: DeliveryRequest,
  { action, ports }: { readonly action: ChannelActions[ChannelKey]; readonly ports: Ports },
): Promise<readonly Delivery[]> {
  const gone = operation === 'withdraw';
  const open = deliveries.flatMap((delivery) => {
    const task = delivery.tasks.get(key);
    if (!isOngoing(delivery) || !channelsIn(delivery, role).includes(key) || task === undefined) return [];
    const expected = { file: gone ? null : delivery.file, marker, gone };
    return [newAttempt({ task, title: delivery.subject, expected })];
  });
  const absent = findAbsent(deliveries, key);
  // What places and verifies is loaded after the first requests. `eager` keeps the bundle one file.
  const channelCode = await import(/* webpackMode: "eager" */ './publish-through-channel.ts');
  const attempts = await channelCode.publishThroughChannel(
    action,
    open,
    { interval, timeout, absent },
    ports,
  );
  return withAttempts(deliveries, key, attempts);
}

/** Looks at everything that is proven once more, right before the claim. */
export async function recheckDeliveries(
  deliveries: readonly Delivery[],
  actions: ChannelActions,
): Promise<readonly Delivery[]> {
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
  deliveries: readonly Delivery[],
  key: ChannelKey,
  attempts: readonly ChannelAttempt[],
): readonly Delivery[] {
  const byTask = new Map(attempts.map((attempt) => [attempt.task, attempt]));
  return deliveries.map((delivery) => {
    const task = delivery.tasks.get(key);
    const attempt = task && byTask.get(task);
    return attempt === undefined ? delivery : withAttempt(delivery, attempt);
  });
}
