import { listRequired } from '../channels/channel.ts';
import { nameFew, neutralizeText } from '../plain-text.ts';
import { isRemovedCheck } from '../proof/check.ts';
import { countMarker, describeProbe, formatMarker } from '../proof/probe-result.ts';
import { SITE } from '../protocol/limits.ts';
import { CHANNELS } from '../protocol/words.ts';
import type { Text } from '../words.ts';
import { type ChannelAttempt, type Delivery, LINK_SUBJECT, listDuplicates, mainAttempt } from './delivery.ts';
import { listProven } from './receipt.ts';
import type { AuditVerdict, DeliveryResult, Report, ReportFields } from './report.ts';

/** The claim with its notes, and the outcome if there is no URL. */
export interface Conclusion {
  readonly claim: string;
  readonly notes?: readonly string[];
  readonly outcome?: string;
}

interface OperationReport {
  /** The result if it is ready. */
  readonly result: DeliveryResult;
  /** The claims of a plan, and of a request without a file. */
  readonly planned: string;
  readonly nothing: string;
  /** The claim if it is not ready. */
  readonly claimUnproven: (delivery: Delivery) => string;
  readonly conclude: (delivery: Delivery, main: ChannelAttempt, report: ReportFields) => Conclusion;
  /** CODE and a note if nothing was written; absent if the operation never writes. */
  readonly untouched?: string;
  readonly untouchedNote?: Text;
  /** How many files were compared; 0 for a single file. */
  readonly countFiles: (delivery: Delivery, attempt: ChannelAttempt) => number;
  /** TEST without a marker, and without a proof. */
  readonly withoutMarker: readonly string[];
  readonly describeUnproven: (attempt: ChannelAttempt) => string;
  /** UNKNOWN if it is not ready. */
  readonly listUnknown: (delivery: Delivery, isOffline: boolean) => readonly string[];
  /** Fields of this operation alone. */
  readonly fields: (delivery: Delivery, main: ChannelAttempt | null, ready: boolean) => Partial<Report>;
}

const DELIVER: OperationReport = {
  result: 'ready',
  planned: 'would be published; there is no URL yet',
  nothing: 'nothing was published, so there is no URL',
  claimUnproven(delivery) {
    const { subject } = delivery;
    const main = mainAttempt(delivery);
    const { channel } = main?.task.plan ?? {};
    const copy = findProvenCopy(delivery)?.task.plan.channel;
    if (channel && copy) {
      return `${subject} isn't verified on ${channel}, but its duplicate on ${copy} is (${CHANNELS[copy].lifetime})`;
    }
    if (channel && main !== null && mayBeThere(main)) {
      return `${subject} isn't verified on ${channel} (${CHANNELS[channel].title}), so there is no URL`;
    }
    const was = isUnexpected(delivery) ? "isn't verified as" : 'was not';
    return `${subject} ${was} published, so there is no URL`;
  },
  conclude({ subject }, main, { url, urlNote, duplicates }) {
    const also = duplicates.flatMap(({ channel, url }) =>
      url === null ? [] : `duplicate on ${channel} (${CHANNELS[channel].lifetime}): ${url}`,
    );
    const notes = [...(urlNote === undefined ? [] : [urlNote]), ...(main.placement?.notes ?? [])];
    return { claim: [`${subject} ${verbOf(main)} at ${url}`, ...notes, ...also].join('; '), notes };
  },
  untouched: 'nothing written, because it was there already',
  countFiles: ({ site }, { task: { pictures = [] } }) =>
    site?.isFolder ? site.files.length + pictures.length : 0,
  withoutMarker: ['marker found: none was given, all bytes compared'],
  describeUnproven({ lastProbe, marker }) {
    const count = countMarker(lastProbe, marker);
    return count === null ? 'marker found: none was given' : formatMarker(count);
  },
  listUnknown: listUnknownAfterFailure,
  fields(_, main, ready) {
    if (!ready || main === null) return {};
    const { expires, replaced = false } = main.placement ?? {};
    return {
      verb: verbOf(main),
      opens: howItOpens(main),
      ...(expires && { expires }),
      replaced,
      proven: listProven(main),
    };
  },
};

/** A link is only verified: nothing is written or left behind. */
const { untouched: _, ...withoutWriting } = DELIVER;
const VERIFY: OperationReport = {
  ...withoutWriting,
  claimUnproven: (delivery) =>
    delivery.subject === LINK_SUBJECT ? `${LINK_SUBJECT} was not verified` : DELIVER.claimUnproven(delivery),
  listUnknown: () => [],
};

const WITHDRAW: OperationReport = {
  ...DELIVER,
  result: 'withdrawn',
  planned: 'would be withdrawn',
  nothing: 'nothing was withdrawn',
  claimUnproven: ({ subject }) => `${subject} isn't verified as withdrawn`,
  conclude({ subject }, { placement, proof }, { withdrawn }) {
    const part = placement?.leavesFiles ? ' in part' : '';
    const [claim, outcome = ''] = [subject, neutralizeText(subject)].map((it) =>
      placement?.written
        ? `${placement.swept ? 'what was due in ' : ''}${it} is removed${part}`
        : `there was nothing to remove at ${it}`,
    );
    const where = proof?.isCached ? 'past caches at' : 'at';
    return {
      claim: `${claim}: nothing of ${placement?.leavesFiles ? 'that part' : 'it'} is served ${where} ${withdrawn}`,
      outcome,
    };
  },
  untouched: 'nothing removed, because there was nothing to remove',
  untouchedNote: (w) =>
    `to withdraw a delivery with another ${w.input('path')} or ${w.input('tag')}, set that value`,
  describeUnproven: () => "the removal isn't verified",
  listUnknown: () => ['whether it still opens anywhere'],
  fields(_, main, ready) {
    const { leavesFiles = false, swept, written } = main?.placement ?? {};
    if (!ready) return written && swept ? { swept } : {};
    if (!main?.placement) return { wasAbsent: true };
    const removed = listRequired(main.placement).slice(0, SITE.listed);
    return {
      gone: removed.map(({ url }) => url.href),
      wasAbsent: !written,
      leavesFiles,
      ...(swept && { swept }),
    };
  },
};

const AUDITED: OperationReport = {
  ...withoutWriting,
  result: 'audited',
  claimUnproven: ({ subject }) => `${subject} isn't verified as delivered, so there is no URL`,
  conclude({ subject }, { mustBeGone }, { url, withdrawn }) {
    const name = neutralizeText(subject);
    return mustBeGone
      ? {
          claim: `${subject} was withdrawn, and nothing of it is served past caches at ${withdrawn}`,
          outcome: `${name} was withdrawn and is not served`,
        }
      : {
          claim: `${subject} still opens as it was delivered at ${url}`,
          outcome: `${name} is as it was delivered`,
        };
  },
  countFiles({ changed }, { placement }) {
    const audited = placement === null ? [] : listRequired(placement);
    return audited.filter((check) => !isRemovedCheck(check)).length + (changed?.count ?? 0);
  },
  withoutMarker: [],
  describeUnproven: ({ lastProbe }) => describeProbe(lastProbe),
  listUnknown: () => ['whether anybody can still open it'],
  fields({ attempts, changed }, main, ready) {
    const proven: AuditVerdict = main?.mustBeGone ? 'withdrawn' : 'as-delivered';
    const verdict = !ready ? 'lost' : changed !== undefined ? 'changed' : proven;
    return attempts.length === 0 ? {} : { verdict };
  },
};

/** The wording and fields of a delivery's report. */
export function operationReport({ operation, subject, attempts }: Delivery): OperationReport {
  const isLink = subject === LINK_SUBJECT || attempts[0]?.task.plan.channel === 'K4';
  return { deliver: isLink ? VERIFY : DELIVER, withdraw: WITHDRAW, audit: AUDITED }[operation];
}

const verbOf = ({ proof, task: { plan } }: ChannelAttempt): string =>
  (proof?.isDownload && plan.downloadVerb) || plan.verb;

/** A release and a bin send every file as a download. */
const howItOpens = ({ proof, task: { plan, served } }: ChannelAttempt): 'page' | 'download' =>
  proof?.isDownload || ['K2', 'K3'].includes(plan.channel) || served?.display === 'none'
    ? 'download'
    : 'page';

/** Whether an internal error ended it at an unknown point. */
export const isUnexpected = (delivery: Delivery): boolean =>
  delivery.failure?.code === 'INTERNAL' &&
  delivery.failure.leftBehind === undefined &&
  mainAttempt(delivery) === null;

/** Whether an unverified delivery may have published anything. */
export const mayBeThere = ({ placement, failure }: ChannelAttempt): boolean =>
  placement !== null || failure?.leftBehind?.length !== 0;

const findProvenCopy = (delivery: Delivery): ChannelAttempt | undefined =>
  listDuplicates(delivery).find(({ proof }) => proof !== null);

function listUnknownAfterFailure(delivery: Delivery, isOffline: boolean): readonly string[] {
  const { site, subject, isTemporary } = delivery;
  const main = mainAttempt(delivery);
  const { restored } = main ?? {};
  if (restored?.proven) return ['what visitors saw at the URL until the previous version was restored'];
  if (restored?.commitSha) return ['whether the URL shows the previous version again'];
  const left = isUnexpected(delivery)
    ? 'whether it was published: the delivery ended with an unexpected error'
    : describeLeftBehind(main);
  if (left === NOTHING_PUBLISHED && main && findProvenCopy(delivery))
    return [`${left} through ${main.task.plan.channel}`];
  if (!isOffline || site === null || isTemporary) return [left];
  return [left, `the file itself is still at ${subject}, sha256 ${site.entry.sha256}`];
}

const NOTHING_PUBLISHED = 'nothing was published';

function describeLeftBehind(main: ChannelAttempt | null): string {
  if (main === null || !mayBeThere(main)) return NOTHING_PUBLISHED;
  const { failure, placement, task } = main;
  const { destination } = task.plan;
  const left = failure?.leftBehind?.length ? `left behind: ${failure.leftBehind.join(', ')}` : '';
  if (placement === null) return left || `whether a part of the file has arrived (${destination})`;
  const older = placement.changes?.removedFolders ?? [];
  const removed = older.length === 0 ? '' : `; older sites removed: ${nameFew(older)}`;
  if (left !== '') return left + removed;
  return `whether the URL will show the file later (it is published: ${placement.evidence}; ${destination}${removed})`;
}
