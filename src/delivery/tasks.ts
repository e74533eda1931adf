import { resultsOfAll } from '../async.ts';
import type { ChannelMap, FailedFile, PreparedTask } from '../channels/channel.ts';
import { DeliveryError, type ErrorCode, hasFailed, type Result } from '../errors.ts';
import { parentFolders } from '../github/api/branch.ts';
import { SECOND, VERIFY_DEADLINE } from '../protocol/limits.ts';
import { CHANNEL_LABELS, CHANNELS, type ChannelKey } from '../protocol/words.ts';
import { INPUTS, type InputDefinition, type InputName } from '../request/inputs.ts';
import { ACTION, say, type Words } from '../words.ts';
import { takesFolders } from './choose-channel.ts';
import {
  type ChannelAttempt,
  type ChannelChoice,
  type Delivery,
  isOngoing,
  isPlaced,
  newAttempt,
  ongoingAttempt,
  replaceAttempts,
  withAttempt,
  withFailure,
} from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { publishThroughChannel } from './publish-through-channel.ts';

function noteInputs(
  deliveries: readonly Delivery[],
  { request, logger, face }: DeliveryContext,
): readonly Delivery[] {
  const { operation, path, scopedInputs, timeout, dryRun } = request;
  // The local folder of a withdrawn site may be gone.
  const hasFolder =
    operation === 'withdraw' || deliveries.some(({ site, failure }) => site?.isFolder || failure !== null);
  const allowed = `the timeout was ${timeout / SECOND} s; the protocol's is ${VERIFY_DEADLINE / SECOND} s`;
  const time = timeout > VERIFY_DEADLINE && !dryRun ? [allowed] : [];
  const noted = deliveries.map((delivery) => {
    const { choice, notes } = delivery;
    if (choice === null) return delivery;
    const without = scopedInputs.flatMap((name) => noteOtherInput(name, choice, hasFolder, face));
    const isFlat = path?.includes('/') && !choice.channels.some(takesFolders);
    const about = (w: Words) =>
      `the folder in ${w.subject('path')} was ignored: ${choice.channels.join('+')} can't store folders`;
    return {
      ...delivery,
      notes: [...notes, ...without, ...(isFlat ? [say(about, face)] : []), ...time],
    };
  });
  for (const note of new Set(noted.flatMap(({ notes }) => notes))) logger.info(note);
  return noted;
}

/** Notes an input without effect instead of refusing it: a workflow may set it for other channels. */
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
  return isForFolders && !hasFolder ? [`${start} a folder, but the delivery doesn't contain a folder`] : [];
}

/** Lets every channel plan before any channel writes. */
export async function prepareTasks(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  context.logger.startSection('Plan');
  let planned = noteInputs(deliveries, context);
  for (const key of listChannels(planned)) {
    const items = planned.filter(
      (delivery) => isOngoing(delivery) && delivery.choice?.channels.includes(key),
    );
    const tasks = await resultsOfAll(items, (all) => channels[key].prepare(all));
    planned = planned.map((delivery) => {
      const task = tasks.get(delivery);
      if (task === undefined) return delivery;
      return hasFailed(task) ? withFailure(delivery, 'place', task) : withTask(delivery, task, context);
    });
  }
  return refuseSameDestination(planned, context.request.picture);
}

/** The chosen channels, main channels before duplicates. */
const listChannels = (deliveries: readonly Delivery[]): readonly ChannelKey[] => [
  ...new Set(deliveries.flatMap(({ choice }) => choice?.channels ?? [])),
];

function withTask(delivery: Delivery, task: PreparedTask, { logger, request }: DeliveryContext): Delivery {
  const { channel, method, destination, name } = task.plan;
  const mustBeGone = delivery.operation === 'withdraw';
  const subject = mustBeGone ? name : delivery.subject;
  const reason = delivery.choice?.channels[0] === channel ? delivery.choice.reason : 'it is a duplicate';
  const where = `${mustBeGone ? 'from' : 'to'} ${CHANNEL_LABELS[channel]}, because ${reason}`;
  logger.info(`${subject}: ${where}; ${destination}; ${method}`);
  const unknown = [...delivery.unknown, ...(task.unknown ?? [])];
  const attempt = { ...newAttempt(task, request.marker), mustBeGone };
  const notes = [...delivery.notes, ...(task.idle?.notes ?? [])];
  return { ...delivery, subject, unknown, notes, attempts: [...delivery.attempts, attempt] };
}

/** Refuses the second of two deliveries that write the same path, or a file over a folder. */
function refuseSameDestination(deliveries: readonly Delivery[], hasPictures: boolean): readonly Delivery[] {
  // Files and parent folders, by the delivery that writes them first.
  const [taken, folders] = [new Map<string, string>(), new Map<string, string>()];
  return deliveries.map((delivery) => {
    if (!isOngoing(delivery)) return delivery;
    const { subject, attempts } = delivery;
    const paths = attempts.flatMap(({ task }) => task.writes ?? [task.plan.destination]);
    const [first] = paths.flatMap((path, nth) => {
      const other =
        [path, ...parentFolders(path)].flatMap((part) => taken.get(part) ?? [])[0] ?? folders.get(path);
      return other !== undefined || paths.indexOf(path) !== nth ? [[path, other] as const] : [];
    });
    if (first === undefined) {
      for (const path of paths) {
        taken.set(path, subject);
        for (const folder of parentFolders(path)) folders.set(folder, subject);
      }
      return delivery;
    }
    const [path, other] = first;
    const both = other === undefined ? `two files of ${subject}` : `${other} and ${subject}`;
    const failure = new DeliveryError('BAD_INPUT', `${both} would both go to ${path}`, {
      hint: (w) => `rename one of them${hasPictures ? `, or set ${w.input('picture', 'false')}` : ''}`,
      leftBehind: [],
    });
    return withFailure(delivery, 'check', failure);
  });
}

/** Place → wait → verify: main channels first, then duplicates, even if the main channel failed. */
export async function carryOut(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const { request } = context;
  if (request.checkOnly) return endCheck(deliveries);
  if (request.dryRun) return preview(deliveries, channels, context);
  let done = deliveries;
  for (const key of listChannels(deliveries)) {
    const limits = { ...request, absent: findAbsent(deliveries, key) };
    const tried = await resultsOfAll(listOngoing(done, key), (attempts) =>
      publishThroughChannel(channels[key], attempts, limits, context),
    );
    const ended = new Map<ChannelAttempt, ChannelAttempt>();
    for (const [attempt, result] of tried) {
      ended.set(attempt, hasFailed(result) ? { ...attempt, failure: result.withStep('place') } : result);
    }
    done = replaceAttempts(done, ended);
  }
  return done;
}

const listOngoing = (deliveries: readonly Delivery[], key: ChannelKey): readonly ChannelAttempt[] =>
  deliveries
    .flatMap((delivery) => ongoingAttempt(delivery, key) ?? [])
    .filter(({ task }) => task.idle === undefined);

function endCheck(deliveries: readonly Delivery[]): readonly Delivery[] {
  const open = 'whether the repository and host accept it: a check contacts neither';
  const reason = 'only checked: nothing failed, and nothing was published';
  const planned = { reason, next: 'deliver it' };
  return deliveries.map((delivery) => ({ ...delivery, planned, unknown: [...delivery.unknown, open] }));
}

async function preview(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
  { logger, face }: DeliveryContext,
): Promise<readonly Delivery[]> {
  logger.startSection('Preview');
  let previewed = deliveries;
  for (const key of listChannels(deliveries)) {
    const absent = findAbsent(deliveries, key);
    const previews = await resultsOfAll(listOngoing(previewed, key), (attempts) => {
      const tasks = attempts.map(({ task }) => task);
      return channels[key].preview(tasks, absent);
    });
    previewed = previewed.map((delivery) => {
      const attempt = ongoingAttempt(delivery, key);
      const text = attempt && previews.get(attempt);
      if (attempt === undefined || text === undefined) return delivery;
      if (hasFailed(text)) return { ...delivery, failure: text.withStep('place') };
      logger.info(`${delivery.subject}: ${CHANNEL_LABELS[key]}: ${text}`);
      const plan = { ...attempt.task.plan, method: `${attempt.task.plan.method}: ${text}` };
      return withAttempt(delivery, { ...attempt, task: { ...attempt.task, plan } });
    });
  }
  const next = say((w) => `leave ${w.input('dry-run')} out to do it`, face);
  const planned = { reason: 'nothing failed, and nothing was written', next };
  return previewed.map((delivery) => {
    const { idle } = delivery.attempts[0]?.task ?? {};
    return { ...delivery, planned: idle === undefined ? planned : { reason: idle.reason, next: '' } };
  });
}

/** Failures to show the file in time. */
const LATE: readonly ErrorCode[] = ['NOT_PROVEN', 'BUILD_TIMEOUT'];

/** The last check before the report: somebody may have changed the files meanwhile. */
export async function recheckDeliveries(
  deliveries: readonly Delivery[],
  channels: ChannelMap,
): Promise<readonly Delivery[]> {
  let done = deliveries;
  for (const key of listChannels(deliveries)) {
    const { recheck } = channels[key];
    if (recheck === undefined) continue;
    const placed = listOngoing(done, key).filter(isPlaced).filter(mayHaveChanged);
    const checked = new Map<ChannelAttempt, ChannelAttempt>();
    for (const [attempt, changed] of await resultsOfAll(placed, recheck)) {
      checked.set(attempt, withChange(attempt, changed));
    }
    done = replaceAttempts(done, checked);
  }
  return done;
}

/** After a restore, the branch no longer explains a failure. */
const mayHaveChanged = ({ failure, restored, task: { plan } }: ChannelAttempt): boolean =>
  failure === null || (plan.channel === 'K1' && !restored && LATE.includes(failure.code));

function withChange(attempt: ChannelAttempt, changed: Result<readonly string[]>): ChannelAttempt {
  const isChanged = hasFailed(changed);
  // Only somebody's change is a better reason than the timeout.
  if (attempt.failure !== null && !(isChanged && changed.code === 'NOT_PROVEN')) return attempt;
  return isChanged
    ? { ...attempt, proof: null, failure: changed.withStep('verify') }
    : { ...attempt, unknown: [...new Set([...attempt.unknown, ...changed])] };
}

/** The first failed file that was or may have been meant for the channel. */
function findAbsent(deliveries: readonly Delivery[], key: ChannelKey): FailedFile | undefined {
  const failed = deliveries.filter(({ choice }) => choice === null || choice.channels.includes(key));
  return failed.flatMap(({ subject, failure }) => (failure === null ? [] : [{ subject, failure }]))[0];
}
