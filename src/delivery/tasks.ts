import type { AbsentFile, ChannelMap } from '../channels/channel.ts';
import { DeliveryError, hasFailed } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { SECOND, VERIFY_DEADLINE } from '../protocol/limits.ts';
import type { ChannelKey } from '../protocol/words.ts';
import { noteOtherInputs } from '../request/input-scope.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import {
  askChannel,
  type ChannelAttempt,
  type Delivery,
  failAll,
  isOngoing,
  newAttempt,
  openAttempt,
  withAttempt,
  withFailure,
} from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';

/** Says which inputs are for other deliveries than those that were chosen, and that more time is allowed. */
function noteInputs(
  deliveries: readonly Delivery[],
  { operation, scopedInputs, timeout, dryRun }: DeliveryRequest,
  { logger, face }: DeliveryContext,
): readonly Delivery[] {
  // The folder of a site that is withdrawn need not exist any more.
  const hasFolder =
    operation === 'withdraw' || deliveries.some(({ site, failure }) => site?.isFolder || failure !== null);
  const noted = deliveries.map((one) => {
    if (one.choice === null) return one;
    const chosen = { ...one.choice, hasFolder };
    const notes = [...one.notes, ...noteOtherInputs(scopedInputs, chosen, face)];
    return {
      ...one,
      notes: timeout > VERIFY_DEADLINE && !dryRun ? [...notes, describeTime(timeout)] : notes,
    };
  });
  for (const note of new Set(noted.flatMap(({ notes }) => notes))) logger.info(note);
  return noted;
}

const describeTime = (timeout: number): string =>
  `up to ${timeout / SECOND} s were allowed for build and verification; the protocol has ${VERIFY_DEADLINE / SECOND}`;

/** Lets every channel plan what it is to do, or to remove, before any of them writes. */
export async function prepareTasks(
  deliveries: readonly Delivery[],
  request: DeliveryRequest,
  channels: ChannelMap,
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const { logger } = context;
  const { marker, picture } = request;
  logger.startSection('Plan');
  let planned = noteInputs(deliveries, request, context);
  for (const key of channelsUsed(deliveries)) {
    planned = await askChannel(
      planned,
      (one) => (isOngoing(one) && one.choice?.channels.includes(key) ? one : undefined),
      (items) => channels[key].prepare(items),
      (one, task) => {
        if (hasFailed(task)) return withFailure(one, 'place', task);
        const gone = one.operation === 'withdraw';
        const subject = gone ? task.plan.name : one.subject;
        return { ...one, subject, attempts: [...one.attempts, { ...newAttempt(task, marker), gone }] };
      },
    );
    planned = refuseSameDestination(planned, key, picture);
    for (const delivery of planned) {
      const plan = openAttempt(delivery, key)?.task.plan;
      if (plan === undefined) continue;
      const reason = delivery.choice?.channels[0] === key ? delivery.choice.reason : 'it is a duplicate';
      logger.info(`${delivery.subject}: ${key}, because ${reason}: ${plan.method}, to ${plan.destination}`);
    }
  }
  return planned;
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
    const task = openAttempt(delivery, key)?.task;
    const own = new Set<string>();
    for (const path of task?.writes ?? (task ? [task.plan.destination] : [])) {
      const other = own.has(path) ? subject : taken.get(path);
      if (other !== undefined) {
        const both = other === subject ? `two files of ${subject}` : `${other} and ${subject}`;
        const failure = new DeliveryError('BAD_INPUT', `${both} would both go to ${path}`, {
          hint: (w) =>
            `give one of them another name${hasPictures ? `, set ${w.input('picture', 'false')}` : ''}, or deliver it in a step of its own`,
          leftBehind: [],
        });
        return withFailure(delivery, 'check', failure);
      }
      own.add(path);
    }
    for (const path of own) taken.set(path, subject);
    return delivery;
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
  if (request.dryRun) return preview(deliveries, channels, ports);
  // What places and verifies is loaded after the first requests. `eager` keeps the bundle one file.
  const { publishThroughChannel } = await import(/* webpackMode: "eager" */ './publish-through-channel.ts');
  return forEachChannel(deliveries, (attempts, key) => {
    const limits = { ...request, absent: findAbsent(deliveries, key) };
    return publishThroughChannel(channels[key], attempts, limits, ports);
  });
}

/** Looks at everything that is proven once more, right before the claim. */
export async function recheckDeliveries(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
): Promise<readonly Delivery[]> {
  const { recheckChannel } = await import(/* webpackMode: "eager" */ './publish-through-channel.ts');
  return forEachChannel(deliveries, (attempts, key) => recheckChannel(channels[key], attempts));
}

/** Does work for all that is open in a channel together, one channel after the other. */
async function forEachChannel(
  deliveries: readonly Delivery[],
  work: (attempts: readonly ChannelAttempt[], key: ChannelKey) => Promise<readonly ChannelAttempt[]>,
): Promise<readonly Delivery[]> {
  let done = deliveries;
  for (const key of channelsUsed(deliveries)) {
    done = await askChannel(
      done,
      (one) => openAttempt(one, key),
      (attempts) => work(attempts, key),
      (one, attempt) => (hasFailed(attempt) ? withFailure(one, 'place', attempt) : withAttempt(one, attempt)),
    );
  }
  return done;
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
      (one) => openAttempt(one, key)?.task,
      (tasks) => channels[key].preview(tasks, findAbsent(deliveries, key)),
      (one, text) => {
        if (hasFailed(text)) return { ...one, failure: text.withStep('place') };
        logger.info(`${one.subject}: ${key}: ${text}`);
        return one;
      },
    );
  }
  const planned = new DeliveryError('DRY_RUN', 'only planned: nothing failed, and nothing was written', {
    hint: (w) => `leave ${w.input('dry-run')} out to do it`,
    leftBehind: [],
  });
  return failAll(previewed, 'place', planned);
}

/** All channels that some deliveries use, each once: the main ones first. */
const channelsUsed = (deliveries: readonly Delivery[]): ReadonlySet<ChannelKey> =>
  new Set(deliveries.flatMap(({ choice }) => choice?.channels ?? []));

/** The first file that would have gone through the channel, or may have, and failed before. */
function findAbsent(deliveries: readonly Delivery[], key: ChannelKey): AbsentFile | undefined {
  const failed = deliveries.filter(({ choice }) => choice === null || choice.channels.includes(key));
  return failed.flatMap(({ subject, failure }) => (failure === null ? [] : [{ subject, failure }]))[0];
}
