import type { AbsentFile, ChannelMap } from '../channels/channel.ts';
import { DeliveryError, type ErrorCode, hasFailed, type Result } from '../errors.ts';
import { SECOND, VERIFY_DEADLINE } from '../protocol/limits.ts';
import { CHANNELS, type ChannelKey } from '../protocol/words.ts';
import { INPUTS, type InputDefinition, type InputName } from '../request/inputs.ts';
import { ACTION, say } from '../words.ts';
import {
  askChannel,
  type ChannelChoice,
  type Delivery,
  isOngoing,
  isPlaced,
  newAttempt,
  openAttempt,
  withAttempt,
  withFailure,
} from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { publishThroughChannel } from './publish-through-channel.ts';

/** Says which inputs are for other deliveries than those that were chosen, and that more time is allowed. */
function noteInputs(
  deliveries: readonly Delivery[],
  { request, logger, face }: DeliveryContext,
): readonly Delivery[] {
  const { operation, scopedInputs, timeout, dryRun } = request;
  // The folder of a site that is withdrawn need not exist any more.
  const hasFolder =
    operation === 'withdraw' || deliveries.some(({ site, failure }) => site?.isFolder || failure !== null);
  const time = timeout > VERIFY_DEADLINE && !dryRun ? [describeTime(timeout)] : [];
  const noted = deliveries.map((one) => {
    const { choice, notes } = one;
    if (choice === null) return one;
    const without = scopedInputs.flatMap((name) => noteOtherInput(name, choice, hasFolder, face));
    return { ...one, notes: [...notes, ...without, ...time] };
  });
  for (const note of new Set(noted.flatMap(({ notes }) => notes))) logger.info(note);
  return noted;
}

/** An input for other deliveries is noted, not refused: a workflow may set the same for every channel. */
export function noteOtherInput(
  name: InputName,
  { channels, reason }: ChannelChoice,
  hasFolder: boolean,
  face = ACTION,
): readonly string[] {
  const { channels: served = [], isForFolders }: InputDefinition = INPUTS[name];
  const start = say((w) => `${w.subject(name)} had no effect: it is for`, face);
  if (!served.some((key) => channels.includes(key))) {
    const titles = served.map((key) => `${key} (${CHANNELS[key].name})`).join(' and ');
    return [`${start} ${titles}, and ${channels.join('+')} was chosen, because ${reason}`];
  }
  return isForFolders && !hasFolder ? [`${start} a folder, and none was found`] : [];
}

const describeTime = (timeout: number): string =>
  `up to ${timeout / SECOND} s were allowed for build and verification; the protocol has ${VERIFY_DEADLINE / SECOND}`;

/** Lets every channel plan what it is to do, or to remove, before any of them writes. */
export async function prepareTasks(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const { logger, request } = context;
  logger.startSection('Plan');
  const planned = await forEachChannel(
    noteInputs(deliveries, context),
    (one, key) => (isOngoing(one) && one.choice?.channels.includes(key) ? one : undefined),
    (key, items) => channels[key].prepare(items),
    (one, task, key) => {
      if (hasFailed(task)) return withFailure(one, 'place', task);
      const { plan } = task;
      const gone = one.operation === 'withdraw';
      const subject = gone ? plan.name : one.subject;
      const reason = one.choice?.channels[0] === key ? one.choice.reason : 'it is a duplicate';
      logger.info(
        `${subject}: ${key}, because ${reason}: ${plan.method}, ${gone ? 'from' : 'to'} ${plan.destination}`,
      );
      const unknown = [...one.unknown, ...(task.unknown ?? [])];
      return {
        ...one,
        subject,
        unknown,
        attempts: [...one.attempts, { ...newAttempt(task, request.marker), gone }],
      };
    },
  );
  return refuseSameDestination(planned, request.picture);
}

/** Of two deliveries that write the same path the second is refused: it would replace what the first has there. */
function refuseSameDestination(deliveries: readonly Delivery[], hasPictures: boolean): readonly Delivery[] {
  const taken = new Map<string, string>();
  return deliveries.map((delivery) => {
    if (!isOngoing(delivery)) return delivery;
    const { subject, attempts } = delivery;
    const paths = attempts.flatMap(({ task }) => task.writes ?? [task.plan.destination]);
    const path = paths.find((one, nth) => taken.has(one) || paths.indexOf(one) !== nth);
    if (path === undefined) {
      for (const one of paths) taken.set(one, subject);
      return delivery;
    }
    const other = taken.get(path);
    const both = other === undefined ? `two files of ${subject}` : `${other} and ${subject}`;
    const failure = new DeliveryError('BAD_INPUT', `${both} would both go to ${path}`, {
      hint: (w) =>
        `give one of them another name${hasPictures ? `, set ${w.input('picture', 'false')}` : ''}, or deliver it in a step of its own`,
      leftBehind: [],
    });
    return withFailure(delivery, 'check', failure);
  });
}

/** Place → wait → verify: the main channels first, then the duplicates, even where the main one failed. */
export async function carryOut(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const { request } = context;
  if (request.checkOnly) return endCheck(deliveries, request);
  if (request.dryRun) return preview(deliveries, channels, context);
  return forEachChannel(
    deliveries,
    openAttempt,
    (key, attempts) => {
      const limits = { ...request, absent: findAbsent(deliveries, key) };
      return publishThroughChannel(channels[key], attempts, limits, context);
    },
    (one, attempt) => (hasFailed(attempt) ? withFailure(one, 'place', attempt) : withAttempt(one, attempt)),
  );
}

/** What a check leaves open, since it is a dry run that asks no host. */
function endCheck(
  deliveries: readonly Delivery[],
  { token }: DeliveryContext['request'],
): readonly Delivery[] {
  const without = token === undefined ? ', and there is no token here, which K1 and K2 need' : '';
  const open = `whether its repository and host take it: a check asks no host${without}`;
  const reason = 'only checked: nothing failed, no host was asked, and nothing was published';
  const planned = { reason, next: 'deliver it' };
  return deliveries.map((one) => ({ ...one, planned, unknown: [...one.unknown, open] }));
}

async function preview(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
  { logger, face }: DeliveryContext,
): Promise<readonly Delivery[]> {
  logger.startSection('Preview');
  const previewed = await forEachChannel(
    deliveries,
    (one, key) => openAttempt(one, key)?.task,
    (key, tasks) => channels[key].preview(tasks, findAbsent(deliveries, key)),
    (one, text, key) => {
      if (hasFailed(text)) return { ...one, failure: text.withStep('place') };
      logger.info(`${one.subject}: ${key}: ${text}`);
      const attempts = one.attempts.map((attempt) => {
        const { plan } = attempt.task;
        const method = `${plan.method}: ${text}`;
        return plan.channel === key
          ? { ...attempt, task: { ...attempt.task, plan: { ...plan, method } } }
          : attempt;
      });
      return { ...one, attempts };
    },
  );
  const next = say((w) => `leave ${w.input('dry-run')} out to do it`, face ?? ACTION);
  const planned = { reason: 'nothing failed, and nothing was written', next };
  return previewed.map((one) => ({ ...one, planned }));
}

/** Of a failure to show it in time. */
const LATE: readonly ErrorCode[] = ['NOT_PROVEN', 'BUILD_TIMEOUT'];

/** The last look before the claim: what somebody changed meanwhile is proven no more. */
export const recheckDeliveries = (
  deliveries: readonly Delivery[],
  channels: ChannelMap,
): Promise<readonly Delivery[]> =>
  forEachChannel(
    deliveries,
    (one, key) => {
      const attempt = openAttempt(one, key);
      if (!channels[key].recheck || attempt === undefined || !isPlaced(attempt)) return undefined;
      // Of what was put back the branch tells nothing more.
      const isLate = key === 'K1' && !attempt.restored && LATE.includes(attempt.failure?.code ?? 'INTERNAL');
      return attempt.failure === null || isLate ? attempt : undefined;
    },
    async (key, placed) => (await channels[key].recheck?.(placed)) ?? [],
    (one, changed, _, attempt) => {
      const isWhy = attempt.failure === null || (hasFailed(changed) && changed.code === 'NOT_PROVEN');
      if (!isWhy) return one;
      return withAttempt(
        one,
        hasFailed(changed)
          ? { ...attempt, proof: null, failure: changed.withStep('verify') }
          : { ...attempt, unknown: [...new Set([...attempt.unknown, ...changed])] },
      );
    },
  );

/** Asks each channel about what the deliveries have for it, together; the channels one after the other, main ones first. */
async function forEachChannel<Item, Value>(
  deliveries: readonly Delivery[],
  itemOf: (one: Delivery, key: ChannelKey) => Item | undefined,
  call: (key: ChannelKey, items: readonly Item[]) => Promise<readonly Result<Value>[]>,
  take: (one: Delivery, result: Result<Value>, key: ChannelKey, item: Item) => Delivery,
): Promise<readonly Delivery[]> {
  let done = deliveries;
  for (const key of new Set(deliveries.flatMap(({ choice }) => choice?.channels ?? []))) {
    done = await askChannel(
      done,
      (one) => itemOf(one, key),
      (items) => call(key, items),
      (one, result, item) => take(one, result, key, item),
    );
  }
  return done;
}

/** The first file that would have gone through the channel, or may have, and failed before. */
function findAbsent(deliveries: readonly Delivery[], key: ChannelKey): AbsentFile | undefined {
  const failed = deliveries.filter(({ choice }) => choice === null || choice.channels.includes(key));
  return failed.flatMap(({ subject, failure }) => (failure === null ? [] : [{ subject, failure }]))[0];
}
