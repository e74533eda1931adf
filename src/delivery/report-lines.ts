import { countChanges, formatChangeCounts } from '../channels/site-changes.ts';
import { countFiles, formatSeconds, nameFew, neutralizeText } from '../plain-text.ts';
import { CHANNELS, RESULTS, type ReportLine } from '../protocol/words.ts';
import { type ChannelAttempt, type Delivery, LINK_SUBJECT, NO_SUBJECT } from './delivery.ts';
import { countMarker, describeProbe, describeProof, formatMarker } from './describe-probe.ts';
import { type FailureReason, formatReason } from './report.ts';
import { describeScreen } from './screen/screen-report.ts';

/** A delivery, and what the report has concluded about it. */
export interface ReportFacts {
  readonly delivery: Delivery;
  /** How it went in the main channel; `null` where that was not tried. */
  readonly main: ChannelAttempt | null;
  /** The other channels that were tried. */
  readonly duplicates: readonly ChannelAttempt[];
  readonly notReady: FailureReason | null;
  /** The address, where every gate is passed. */
  readonly provenUrl: string | null;
}

/** Writes the report's lines. @param unknown what was not verified @see protocol 4.7 */
export function composeLines(
  facts: ReportFacts,
  unknown: readonly string[],
): Readonly<Record<ReportLine, string>> {
  const { notReady } = facts;
  const [claim, result] = notReady === null ? concludeReady(facts) : [claimNothing(facts), ''];
  return {
    CLAIM: neutralizeText(claim),
    CODE: neutralizeText(describeCode(facts).join('; ')),
    TEST: neutralizeText([...describeTest(facts)].join('; ')),
    RESULT: notReady === null ? RESULTS.ready + result : `${RESULTS.notReady} → ${formatReason(notReady)}`,
    UNKNOWN: neutralizeText(unknown.join('; ')),
  };
}

/** What is claimed of a delivery that is not ready. */
function claimNothing({ delivery, main, notReady }: ReportFacts): string {
  const { operation, subject } = delivery;
  if (subject === NO_SUBJECT)
    return `nothing was ${operation === 'withdraw' ? 'withdrawn' : 'published'}; there is no address`;
  if (operation === 'audit') return `${subject} is not proven to be as it was delivered; there is no address`;
  if (operation === 'withdraw') {
    const isPlanned = notReady?.code === 'DRY_RUN';
    return `${subject} ${isPlanned ? 'is not withdrawn yet' : 'was not proven to be withdrawn'}`;
  }
  if (main !== null) {
    const { channel } = main.task.plan;
    return `${subject} is not proven to open through ${channel}, ${CHANNELS[channel].title}; there is no address`;
  }
  return `${subject} ${isUnexpected(delivery) ? 'is not proven to be' : 'was not'} published; there is no address`;
}

/** The claim and the result of what is ready. No address follows the arrow of a result unless it is handed over. */
function concludeReady({ delivery, main, duplicates, provenUrl }: ReportFacts): readonly [string, string] {
  const { operation, subject, changed } = delivery;
  const name = neutralizeText(subject);
  if (main === null)
    return [`${subject} was ${changed}`, `, changed since: ${name}; nothing is left to prove`];
  const { gone, placement, proof, task, unknown } = main;
  if (operation === 'audit') {
    return gone
      ? [
          `${subject} was withdrawn, and nothing of it is served past caches at ${provenUrl}`,
          `, withdrawn: ${name} is not served`,
        ]
      : [`${subject} still opens as it was delivered at ${provenUrl}`, `, as delivered: ${name}`];
  }
  if (operation === 'withdraw') {
    const [done, opens, unsure, served] = placement?.written
      ? ['withdrawn', 'no longer opens', 'is removed', 'is no longer served']
      : ['nothing to withdraw', 'does not open', 'was not there', 'is not served'];
    const claim = proof?.isCached ? 'is removed: nothing of it is served past caches' : opens;
    const end = unknown.length > 0 ? `${unsure}; see UNKNOWN` : served;
    return [`${subject} ${claim} at ${provenUrl}`, `, ${done}: ${name} ${end}`];
  }
  const also = duplicates.flatMap((one) => {
    const { channel } = one.task.plan;
    const href = one.proof && one.placement?.url.href;
    return href ? [`duplicate on ${channel} (${CHANNELS[channel].lifetime}): ${href}`] : [];
  });
  const claim = `${subject} ${task.plan.claim} at ${provenUrl}`;
  return [[claim, ...(placement?.notes ?? []), ...also].join('; '), ` → ${provenUrl}`];
}

/** The parts of the line CODE. */
function describeCode({ delivery, main, duplicates, notReady }: ReportFacts): string[] {
  const { subject, site, choice, attempts } = delivery;
  const [planned, ...others] = attempts;
  const kind = site?.isFolder ? 'site' : subject.endsWith('/') ? 'folder' : 'file';
  const parts = [subject === LINK_SUBJECT || subject === NO_SUBJECT ? 'no file' : `${kind} ${subject}`];
  const { commitSha, changes, treeSha } = main?.placement ?? {};
  if (planned !== undefined) {
    const { plan } = planned.task;
    parts.push(
      `channel ${plan.channel} (${CHANNELS[plan.channel].name}), because ${choice?.reason}`,
      describeMethod(delivery, planned),
      plan.destination,
    );
  }
  if (commitSha !== undefined) parts.push(`commit ${commitSha}`);
  if (site?.isFolder) {
    parts.push(countFiles(site.files.length), `${site.size} bytes`);
    if (changes !== undefined) parts.push(formatChangeCounts(countChanges(changes)) || 'no file changed');
    if (treeSha !== undefined) parts.push(`tree ${treeSha}`);
    parts.push(`entry ${site.entry.name}`);
    if (site.leftOut.length > 0) parts.push(`left out as hidden: ${nameFew(site.leftOut)}`);
  }
  if (site?.isFolder === false) parts.push(`${site.size} bytes`);
  if (site !== null) parts.push(`sha256 ${site.entry.sha256}`);
  for (const { task } of notReady?.code === 'DRY_RUN' ? others : duplicates) {
    parts.push(`duplicate ${task.plan.channel} (${CHANNELS[task.plan.channel].name})`);
  }
  return parts;
}

/** What was carried out; of what is only planned, what would be. At a link from outside nothing is ever written. */
function describeMethod({ operation }: Delivery, { task, placement }: ChannelAttempt): string {
  const mayWrite = operation !== 'audit' && placement?.isLink !== true;
  if (placement?.written !== false || !mayWrite) return task.plan.method;
  return operation === 'withdraw'
    ? 'nothing removed, because nothing was there'
    : 'nothing written, because it was there already';
}

/** The parts of the line TEST. */
function describeTest({ delivery, main, notReady }: ReportFacts): readonly string[] {
  if (main === null || main.placement === null) {
    if (notReady?.code === 'DRY_RUN') return ['nothing was fetched, because nothing was written'];
    if (notReady === null) return ['nothing was fetched, because nothing of it is left'];
    const fetched = main === null && isUnexpected(delivery) ? 'nothing is proven' : 'nothing was fetched';
    return [`${fetched}; the delivery ended at step ${notReady.step}`, ...describeScreen(delivery)];
  }
  const { wait } = main.took;
  const isNoRemoval = delivery.operation === 'withdraw' && !main.placement.written;
  return [
    `HTTP ${main.proof?.httpCode ?? main.lastProbe?.httpCode ?? 'none'}`,
    ...describeContent(delivery, main),
    ...describeScreen(delivery),
    `build time: ${wait === undefined || isNoRemoval ? 'no build' : formatSeconds(wait)}`,
  ];
}

/** What was compared, or that nothing is there any more. */
function describeContent(
  { operation, site }: Delivery,
  { proof, lastProbe, marker }: ChannelAttempt,
): readonly string[] {
  // The pictures of its page, which are proven too, are no files of it.
  const files = (count: number, total = site?.files.length ?? 0) =>
    !site?.isFolder ? [] : [`files identical: ${Math.min(count, total)} of ${total}`];
  if (proof === null) {
    if (operation === 'audit') return [describeProbe(lastProbe)];
    if (operation === 'withdraw') return ['not proven to be gone'];
    const count = countMarker(lastProbe, marker);
    return [count === null ? 'marker found: none was given' : formatMarker(count), ...files(0)];
  }
  if (proof.match === 'gone') return describeProof(proof);
  if (operation === 'audit')
    return [...describeProof(proof), `files identical: ${proof.parts + 1} of ${proof.parts + 1}`];
  const none = proof.markerCount === null ? ['marker found: none was given, all bytes compared'] : [];
  return [...none, ...describeProof(proof), ...files(proof.parts + (proof.match === 'identical' ? 1 : 0))];
}

/** What was not verified. @see protocol 4.7 */
export function listUnknown({ delivery, main, duplicates, notReady }: ReportFacts): string[] {
  const unknown = [...delivery.unknown, ...(main?.unknown ?? [])];
  if (main?.proof?.match === 'altered')
    unknown.push('the body has the marker, but other bytes than the file');
  if (main?.proof?.match === 'marked')
    unknown.push('what else the page says: no file was given, so only the marker was seen');
  for (const { task, failure, unknown: open } of duplicates) {
    const { channel } = task.plan;
    unknown.push(...open.map((line) => `${channel}: ${line}`));
    if (failure !== null) unknown.push(`the duplicate on ${channel} is not proven: ${failure.message}`);
  }
  return notReady === null ? unknown : [...unknown, ...describeOpen(delivery, main, notReady)];
}

/** What nobody knows of a delivery that is not ready. */
function describeOpen(
  { operation, site, subject, restored, attempts, ...delivery }: Delivery,
  main: ChannelAttempt | null,
  { code }: FailureReason,
): readonly string[] {
  if (code === 'DRY_RUN') {
    const writes = attempts.some(({ task }) => /K[12]/.test(task.plan.channel));
    const token = writes ? ['whether the token may write, which only a write tells'] : [];
    return [...token, 'everything that only a real run can show'];
  }
  if (operation === 'audit') return ['whether anybody can still open it'];
  if (restored?.proven) return ['what people saw at the address until the content from before was back'];
  if (operation === 'withdraw') return ['whether it still opens anywhere'];
  const left = main === null && isUnexpected(delivery) ? UNEXPECTED_END : describeLeftBehind(main);
  if (code !== 'NO_NETWORK' || site === null || delivery.isTemporary) return [left];
  return [left, `the file itself is still at ${subject}, sha256 ${site.entry.sha256}`];
}

const UNEXPECTED_END = 'whether it was published: the delivery ended by an error that nothing expected';

/** Whether the delivery broke off by a mistake of ours: how far it was is not known then. */
const isUnexpected = ({ failure }: Pick<Delivery, 'failure'>): boolean =>
  failure?.code === 'INTERNAL' && failure.leftBehind === undefined;

/** What a delivery that is not ready has left behind. */
function describeLeftBehind(main: ChannelAttempt | null): string {
  const { failure, placement, task } = main ?? {};
  if (placement && task?.plan.channel === 'K4') return 'whether the link will show it later';
  const where = task?.plan.destination;
  if (placement) {
    const older = placement.changes?.removedFolders ?? [];
    const removed = older.length === 0 ? '' : `; older sites removed: ${nameFew(older)}`;
    return `whether the address will show the file later; it is placed (${placement.evidence}; ${where}${removed})`;
  }
  if (failure && failure.leftBehind === undefined && !isRefusal(failure)) {
    return `whether a part of the file has arrived (${where})`;
  }
  const left = failure?.leftBehind ?? [];
  return left.length === 0 ? 'nothing was published' : `left behind: ${left.join(', ')}`;
}

/** Whether the host was not reached, or refused the request: what has moved is not found either. */
const isRefusal = ({ code, httpCode = 0 }: NonNullable<ChannelAttempt['failure']>): boolean =>
  code === 'NO_NETWORK' || code === 'NOT_FOUND' || Math.floor(httpCode / 100) === 4;
