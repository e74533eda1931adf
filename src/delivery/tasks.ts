import type { ChannelMap } from '../channels/channel.ts';
import { DeliveryError, hasFailed } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { SECOND, VERIFY_DEADLINE } from '../protocol/limits.ts';
import type { ChannelKey } from '../protocol/words.ts';
import { noteOtherInputs } from '../request/input-scope.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import {
  askChannel,
  attemptIn,
  channelsIn,
  channelsUsed,
  type Delivery,
  findAbsent,
  isOngoing,
  mapAttempts,
  newAttempt,
  runStep,
  withFailure,
  withPreparationFailure,
} from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';

/** Says which inputs are for other deliveries than those that were chosen. */
export function noteInputs(
  deliveries: readonly Delivery[],
  { channels, operation, scopedInputs, token, clientId }: DeliveryRequest,
  { logger, face }: DeliveryContext,
): readonly Delivery[] {
  if (scopedInputs.length === 0) return deliveries;
  const isRemoval = operation === 'withdraw';
  // The folder of a site that is withdrawn need not exist any more.
  const hasFolder = isRemoval || deliveries.some(({ site, failure }) => site?.isFolder || failure !== null);
  const isByAccount = !isRemoval && channels === 'auto';
  const hasToken = token !== undefined || clientId !== undefined;
  const noted = deliveries.map((one) => {
    if (one.choice === null) return one;
    const chosen = { ...one.choice, hasFolder, isByAccount, hasToken };
    const notes = noteOtherInputs(scopedInputs, chosen, face);
    return { ...one, notes: [...one.notes, ...notes] };
  });
  for (const note of new Set(noted.flatMap(({ notes }) => notes))) logger.info(note);
  return noted;
}

/** Lets every channel plan what it is to do, before any of them writes. */
export async function prepareTasks(
  deliveries: readonly Delivery[],
  { marker, picture }: Pick<DeliveryRequest, 'marker' | 'picture'>,
  channels: ChannelMap,
  { logger }: Pick<Ports, 'logger'>,
): Promise<readonly Delivery[]> {
  logger.startSection('Plan');
  let planned = deliveries;
  for (const key of channelsUsed(deliveries)) {
    planned = await askChannel(
      planned,
      (one) => (isOngoing(one) && channelsIn(one).includes(key) ? one : undefined),
      (items) => channels[key].prepare(items),
      (one, task) => {
        if (hasFailed(task)) return withPreparationFailure(one, task);
        const attempt = newAttempt(task, one.subject, {
          file: one.site?.entry.file ?? null,
          marker,
          gone: false,
        });
        return { ...one, attempts: [...one.attempts, attempt] };
      },
    );
    planned = refuseSameDestination(planned, key, picture);
    for (const delivery of planned.filter(isOngoing)) logPlan(delivery, key, logger);
  }
  return planned;
}

function logPlan(delivery: Delivery, key: ChannelKey, logger: Ports['logger']): void {
  const { subject, choice } = delivery;
  const plan = attemptIn(delivery, key)?.task.plan;
  if (plan === undefined) return;
  const reason = choice?.channels[0] === key ? choice.reason : 'it is a duplicate';
  logger.info(`${subject}: ${key}, because ${reason}: ${plan.method}, to ${plan.destination}`);
}

/** Of two deliveries that write the same path the second is refused: it would replace what the first has there. */
function refuseSameDestination(
  deliveries: readonly Delivery[],
  key: ChannelKey,
  hasPictures: boolean,
): readonly Delivery[] {
  const taken = new Map<string, string>();
  return deliveries.map((delivery) => {
    const { subject } = delivery;
    const task = isOngoing(delivery) ? attemptIn(delivery, key)?.task : undefined;
    const own = new Set<string>();
    for (const path of task?.writes ?? (task ? [task.plan.destination] : [])) {
      const other = own.has(path) ? subject : taken.get(path);
      if (other !== undefined) {
        return withFailure(delivery, 'check', sameDestinationError([other, subject], path, hasPictures));
      }
      own.add(path);
    }
    for (const path of own) taken.set(path, subject);
    return delivery;
  });
}

function sameDestinationError(
  subjects: readonly string[],
  path: string,
  hasPictures: boolean,
): DeliveryError {
  const both = new Set(subjects).size > 1 ? subjects.join(' and ') : `two files of ${subjects[0]}`;
  return new DeliveryError('BAD_INPUT', `${both} would both go to ${path}`, {
    hint: (w) =>
      `give one of them another name${hasPictures ? `, set ${w.input('picture', 'false')}` : ''}, or deliver it in a step of its own`,
    leftBehind: [],
  });
}

/**
 * Carries out what is prepared (place → wait → verify): the main channels first, then the duplicates, even where the
 * main one failed. A dry run ends with what would be done, or with what would fail.
 */
export async function carryOut(
  deliveries: readonly Delivery[],
  request: Pick<DeliveryRequest, 'dryRun' | 'interval' | 'timeout'>,
  channels: ChannelMap,
  ports: Ports,
): Promise<readonly Delivery[]> {
  const { dryRun, interval, timeout } = request;
  if (dryRun) return preview(deliveries, channels, ports);
  // What places and verifies is loaded after the first requests. `eager` keeps the bundle one file.
  const { publishThroughChannel } = await import(/* webpackMode: "eager" */ './publish-through-channel.ts');
  let published = timeout > VERIFY_DEADLINE ? deliveries.map((one) => noteTime(one, timeout)) : deliveries;
  for (const key of channelsUsed(deliveries.filter(isOngoing))) {
    const limits = { interval, timeout, absent: findAbsent(deliveries, key) };
    published = await mapAttempts(published, key, (attempts) =>
      publishThroughChannel(channels[key], attempts, limits, ports),
    );
  }
  return published;
}

function noteTime(delivery: Delivery, timeout: number): Delivery {
  const note = `up to ${timeout / SECOND} s were allowed for build and verification; the protocol has ${VERIFY_DEADLINE / SECOND}`;
  return { ...delivery, notes: [...delivery.notes, note] };
}

async function preview(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
  { logger }: Pick<Ports, 'logger'>,
): Promise<readonly Delivery[]> {
  logger.startSection('Preview');
  let previewed = deliveries;
  for (const key of channelsUsed(deliveries)) {
    previewed = await askChannel(
      previewed,
      (one) => (isOngoing(one) ? attemptIn(one, key)?.task : undefined),
      (tasks) => channels[key].preview(tasks, findAbsent(deliveries, key)),
      (one, text) => {
        if (hasFailed(text)) return withFailure(one, 'place', text);
        logger.info(`${one.subject}: ${key}: ${text}`);
        return one;
      },
    );
  }
  return runStep('place', previewed, async () => {
    throw new DeliveryError('DRY_RUN', 'only planned: nothing failed, and nothing was written', {
      hint: (w) => `leave ${w.input('dry-run')} out to do it`,
      leftBehind: [],
    });
  });
}

/** Looks at everything that is proven once more, right before the claim. */
export async function recheckDeliveries(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
): Promise<readonly Delivery[]> {
  const { recheckChannel } = await import(/* webpackMode: "eager" */ './publish-through-channel.ts');
  let looked = deliveries;
  for (const key of channelsUsed(deliveries)) {
    looked = await mapAttempts(looked, key, (attempts) => recheckChannel(channels[key], attempts));
  }
  return looked;
}
