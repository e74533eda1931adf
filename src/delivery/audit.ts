import { resultsOfAll } from '../async.ts';
import type { AuditedDelivery, AuditFindings } from '../channels/channel.ts';
import { DeliveryError, hasFailed } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { isRemovedCheck } from '../proof/check.ts';
import { AUDIT } from '../protocol/limits.ts';
import { CHANNEL_LABELS, type ChannelKey, type Step } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { keepOldHeapSmall } from '../system.ts';
import { composeReport } from './compose-report.ts';
import { type ChannelAttempt, type Delivery, failAll, newAttempt, newDelivery } from './delivery.ts';
import type { DeliveryContext, OpenRepository } from './delivery-context.ts';
import { proveAttempts } from './publish-through-channel.ts';
import { type Report, sortByResult } from './report.ts';

/** Verifies earlier deliveries again. Never throws or writes. @returns lost deliveries first */
export async function audit(context: DeliveryContext): Promise<readonly Report[]> {
  const { request } = context;
  const subject = request.path ?? './';
  let step: Step = 'authorize';
  let unknown: readonly string[] = [];
  try {
    const keys = listAudited(request);
    const query = { pagesSettings: keys.includes('K1'), repository: keys.includes('K2') };
    const repository = await context.openRepository(query);
    step = 'check';
    const found = await findDelivered(keys, repository, context);
    unknown = found.unknown;
    if (found.deliveries.length === 0) throw nothingFoundError(request, keys, repository);
    step = 'verify';
    return await proveAll(found.deliveries, context);
  } catch (thrown) {
    const failed = failAll([{ ...newDelivery('audit', subject), unknown }], step, thrown);
    return failed.map((delivery) => composeReport(delivery, context.face));
  } finally {
    context.logger.endSection();
  }
}

/** `path` and `tag` each belong to one channel. */
export function listAudited({ channels, path, tagIsDefault }: DeliveryRequest): readonly ChannelKey[] {
  if (channels !== 'auto') return channels;
  if (!tagIsDefault) return ['K2'];
  return path === undefined ? ['K1', 'K2'] : ['K1'];
}

/** Every delivery repeats the channel's unknowns, because a reader may see only one report. */
async function findDelivered(
  keys: readonly ChannelKey[],
  { channels }: OpenRepository,
  { logger }: Ports,
): Promise<AuditFindings> {
  logger.startSection('Find earlier deliveries');
  const found: AuditFindings[] = [];
  for (const key of keys) {
    const channelFindings = (await channels[key].audit?.()) ?? { deliveries: [], unknown: [] };
    logger.info(`deliveries on ${CHANNEL_LABELS[key]}: ${channelFindings.deliveries.length}`);
    found.push(channelFindings);
  }
  const unknown = found.flatMap((findings) => findings.unknown);
  const deliveries = found
    .flatMap((findings) => findings.deliveries)
    .map((delivery) => ({ ...delivery, unknown: [...delivery.unknown, ...unknown] }));
  return { deliveries, unknown };
}

function nothingFoundError(
  { path = './', tag, tagIsDefault }: DeliveryRequest,
  keys: readonly ChannelKey[],
  { access }: OpenRepository,
): DeliveryError {
  const release = tagIsDefault ? 'the releases' : `the release ${tag}`;
  const searched = keys.includes('K1') ? path : `${release}${path === './' ? '' : ` as ${path}`}`;
  const site = access.pagesSettings === null ? ', which has no Pages site' : '';
  const message = `no delivery of this tool was found in ${searched} of the repository${site}`;
  return new DeliveryError('NOT_FOUND', message, {
    hint: (w) =>
      w.list ??
      `set ${w.input('path')} to the delivered folder or asset${w.orSet('branch', undefined, ' to where it was delivered')}${w.orSet('tag', undefined, ' to its release')}`,
    leftBehind: [],
  });
}

/** Checks everything once, then rechecks failures ever less often until `timeout`. */
async function proveAll(
  found: readonly AuditedDelivery[],
  context: DeliveryContext,
): Promise<readonly Report[]> {
  const { clock, logger, request, signal } = context;
  keepOldHeapSmall();
  const reports = new Map<AuditedDelivery, Report>();
  let wrong = await checkEach(found, reports, context);
  const deadline = clock.now() + request.timeout;
  for (let pause = request.interval; wrong.length > 0; pause *= 2) {
    logger.info(`not as delivered, checking again: ${wrong.length}`);
    wrong = await checkEach(wrong, reports, context, deadline);
    const remaining = deadline - clock.now();
    if (remaining <= 0) break;
    if (wrong.length > 0) await clock.sleep(Math.min(pause, remaining), signal);
  }
  logger.info(`deliveries checked: ${reports.size}`);
  return sortByResult([...reports.values()]);
}

/** Works in groups, each with its share of the time, to bound memory. @returns what to check again */
async function checkEach(
  some: readonly AuditedDelivery[],
  reports: Map<AuditedDelivery, Report>,
  context: DeliveryContext,
  deadline?: number,
): Promise<readonly AuditedDelivery[]> {
  const { clock, face, signal } = context;
  const { interval } = context.request;
  const wrong: AuditedDelivery[] = [];
  for (let at = 0; at < some.length; at += AUDIT.together) {
    const remaining = deadline === undefined ? 0 : deadline - clock.now();
    if (remaining < 0) break;
    const timeout = remaining / Math.ceil((some.length - at) / AUDIT.together);
    const group = some.slice(at, at + AUDIT.together);
    const attempts = await resultsOfAll(group, () =>
      proveAttempts(group.map(openAudited), { interval, timeout, once: true }, context),
    );
    // A delivery is not lost because the run was stopped.
    signal.throwIfAborted();
    for (const [delivery, attempt] of attempts) {
      if (hasFailed(attempt)) throw attempt;
      const report = composeReport(openDelivery(delivery, attempt), face);
      reports.set(delivery, report);
      const mayChange = deadline === undefined || attempt.failure?.retryable === true;
      if (delivery.composePlacement !== undefined && !report.ready && mayChange) wrong.push(delivery);
    }
  }
  return wrong;
}

function openAudited({ plan, composePlacement }: AuditedDelivery): ChannelAttempt {
  const placement = composePlacement?.() ?? null;
  return {
    ...newAttempt({ plan }),
    placement,
    mustBeGone: placement !== null && isRemovedCheck(placement.first),
  };
}

function openDelivery(
  { plan: { channel, name }, changed, failure, unknown }: AuditedDelivery,
  attempt: ChannelAttempt,
): Delivery {
  return {
    ...newDelivery('audit', name),
    ...{ name, unknown, failure: failure?.withStep('verify') ?? null },
    choice: { channels: [channel], reason: 'this tool delivered it there' },
    attempts: [attempt],
    ...(changed !== undefined && { changed, notes: [changed.text] }),
  };
}
