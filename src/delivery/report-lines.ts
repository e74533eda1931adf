import { formatChangeCounts } from '../channels/site-changes.ts';
import { countFiles, formatSeconds, nameFew, neutralizeText } from '../plain-text.ts';
import { countMarker, describeProbe, describeProof, formatMarker } from '../proof/probe-result.ts';
import { CHANNELS, RESULTS, type ReportLine } from '../protocol/words.ts';
import {
  type ChannelAttempt,
  type Delivery,
  LINK_SUBJECT,
  listDuplicates,
  mainAttempt,
  NO_SUBJECT,
} from './delivery.ts';
import { type FailureReason, formatReason, type Report } from './report.ts';
import { describeScreen } from './screen/screen-report.ts';

/** The report's fields, of which the lines are written. */
type ReportFields = Omit<Report, 'lines'>;

/** @see protocol 4.7 */
export function composeLines(report: ReportFields, delivery: Delivery): Readonly<Record<ReportLine, string>> {
  const { notReady, unknown } = report;
  const [claim, result] =
    notReady === null ? concludeReady(report, delivery) : [claimNothing(notReady, delivery), ''];
  return {
    CLAIM: neutralizeText(claim),
    CODE: neutralizeText(describeCode(report, delivery).join('; ')),
    TEST: neutralizeText(describeTest(report, delivery).join('; ')),
    RESULT: notReady === null ? RESULTS.ready + result : `${RESULTS.notReady} → ${formatReason(notReady)}`,
    UNKNOWN: neutralizeText(unknown.join('; ')),
  };
}

/** What is claimed of a delivery that is not ready. */
function claimNothing({ code }: FailureReason, delivery: Delivery): string {
  const { operation, subject } = delivery;
  const main = mainAttempt(delivery);
  const isWithdrawal = operation === 'withdraw';
  if (code === 'DRY_RUN') {
    const planned = isWithdrawal ? 'to be withdrawn' : 'to be published; there is no address';
    return `${subject} is only planned ${planned}`;
  }
  if (subject === NO_SUBJECT) {
    return `nothing was ${isWithdrawal ? 'withdrawn' : 'published'}; there is no address`;
  }
  if (subject === LINK_SUBJECT) return `${subject} was not verified`;
  if (operation === 'audit') return `${subject} is not proven to be as it was delivered; there is no address`;
  if (isWithdrawal) return `${subject} was not proven to be withdrawn`;
  if (main !== null && describeLeftBehind(main) !== NOTHING_PUBLISHED) {
    const { channel } = main.task.plan;
    return `${subject} is not proven to open through ${channel}, ${CHANNELS[channel].title}; there is no address`;
  }
  return `${subject} ${isUnexpected(delivery) ? 'is not proven to be' : 'was not'} published; there is no address`;
}

/** The claim and the result of what is ready. No address follows the arrow of a result unless it is handed over. */
function concludeReady(
  { url, urlNote, withdrawn, duplicates }: ReportFields,
  delivery: Delivery,
): readonly [string, string] {
  const { operation, subject, changed } = delivery;
  const main = mainAttempt(delivery);
  const name = neutralizeText(subject);
  const address = url ?? withdrawn;
  if (changed !== undefined || main === null) {
    const rest =
      main === null ? 'nothing is left to prove' : 'the rest of it still opens as it was delivered';
    return [`${subject} was ${changed?.text}; ${rest}`, `, changed since: ${name}; ${rest}`];
  }
  const { gone, placement, proof, unknown } = main;
  if (operation === 'audit') {
    return gone
      ? [
          `${subject} was withdrawn, and nothing of it is served past caches at ${address}`,
          `, withdrawn: ${name} is not served`,
        ]
      : [`${subject} still opens as it was delivered at ${address}`, `, as delivered: ${name}`];
  }
  if (operation === 'withdraw') {
    const [done, is] = placement?.written
      ? ['withdrawn', 'is removed']
      : ['nothing to withdraw', 'was not there'];
    const where = proof?.isCached ? 'past caches at' : 'at';
    const end = unknown.length > 0 ? '; see UNKNOWN' : '';
    return [
      `${subject} ${is}: nothing of it is served ${where} ${address}`,
      `, ${done}: ${name} ${is}${end}`,
    ];
  }
  const also = duplicates
    .filter((one) => one.url !== null)
    .map((one) => `duplicate on ${one.channel} (${CHANNELS[one.channel].lifetime}): ${one.url}`);
  const claim = `${subject} ${verbOf(main)} at ${address}`;
  const notes = [urlNote ?? [], placement?.notes ?? []].flat();
  return [[claim, ...notes, ...also].join('; '), ` → ${address}`];
}

/** What is claimed of a delivered address. */
export const verbOf = ({ proof, task: { plan } }: ChannelAttempt): string =>
  (proof?.isDownload && plan.claimOfDownload) || plan.claim;

/** The parts of the line CODE. */
function describeCode(
  { file, site, commitSha, duplicates, notReady }: ReportFields,
  { subject, choice, attempts, operation, site: local }: Delivery,
): readonly string[] {
  const [planned, ...others] = attempts;
  const kind = site !== null ? 'site' : subject.endsWith('/') ? 'folder' : 'file';
  const parts = [file === null ? 'no file' : `${kind} ${subject}`];
  if (planned !== undefined) {
    const { plan } = planned.task;
    parts.push(
      `channel ${plan.channel} (${CHANNELS[plan.channel].name}), because ${choice?.reason}`,
      describeMethod(operation, planned),
      plan.destination,
    );
  }
  if (commitSha !== null) parts.push(`commit ${commitSha}`);
  if (site !== null) {
    const { count, size, changeCounts, treeSha, entry } = site;
    parts.push(countFiles(count), `${size} bytes`);
    if (changeCounts !== null) parts.push(formatChangeCounts(changeCounts) || 'no file changed');
    if (treeSha !== null) parts.push(`tree ${treeSha}`);
    parts.push(`entry ${entry}`);
    if (local?.leftOut.length) parts.push(`left out: ${nameFew(local.leftOut)}`);
  } else if (file !== null && file.size !== null) parts.push(`${file.size} bytes`);
  if (file !== null && file.sha256 !== null) parts.push(`sha256 ${file.sha256}`);
  const also = notReady?.code === 'DRY_RUN' ? others.map(({ task }) => task.plan) : duplicates;
  return [...parts, ...also.map(({ channel }) => `duplicate ${channel} (${CHANNELS[channel].name})`)];
}

/** What was carried out; of what is only planned, what would be. At a link from outside nothing is ever written. */
function describeMethod(operation: Delivery['operation'], { task, placement }: ChannelAttempt): string {
  const mayWrite = operation !== 'audit' && task.plan.channel !== 'K4';
  if (placement?.written !== false || !mayWrite) return task.plan.method;
  return operation === 'withdraw'
    ? 'nothing removed, because nothing was there'
    : 'nothing written, because it was there already';
}

/** The parts of the line TEST. */
function describeTest({ notReady, screen }: ReportFields, delivery: Delivery): readonly string[] {
  const main = mainAttempt(delivery);
  if (main === null || main.placement === null) {
    if (notReady?.code === 'DRY_RUN') return ['nothing was fetched, because nothing was written'];
    if (notReady === null) return ['nothing was fetched, because nothing of it is left'];
    const fetched = isUnexpected(delivery) ? 'nothing is proven' : 'nothing was fetched';
    return [`${fetched}; the delivery ended at step ${notReady.step}`, ...describeScreen(screen)];
  }
  const { wait } = main.took;
  const isNoRemoval = delivery.operation === 'withdraw' && !main.placement.written;
  return [
    `HTTP ${main.proof?.httpCode ?? main.lastProbe?.httpCode ?? 'none'}`,
    ...describeContent(delivery, main),
    ...describeScreen(screen),
    `build time: ${wait === undefined || isNoRemoval ? 'no build' : formatSeconds(wait)}`,
  ];
}

/** What was compared, or that nothing is there any more. */
function describeContent(
  { operation, site, changed }: Delivery,
  { proof, lastProbe, marker, identicalFiles, placement }: ChannelAttempt,
): readonly string[] {
  const isAudit = operation === 'audit';
  const audited = [placement, ...(placement?.parts ?? [])].filter((one) => one?.file != null).length;
  const total = isAudit ? audited + (changed?.count ?? 0) : site?.isFolder ? site.files.length : 0;
  const files = total === 0 ? [] : [`files identical: ${identicalFiles} of ${total}`];
  if (proof === null) {
    if (isAudit) return [describeProbe(lastProbe), ...files];
    if (operation === 'withdraw') return ['not proven to be gone'];
    const count = countMarker(lastProbe, marker);
    return [count === null ? 'marker found: none was given' : formatMarker(count), ...files];
  }
  if (proof.match === 'gone') return describeProof(proof);
  const none =
    proof.markerCount === null && !isAudit ? ['marker found: none was given, all bytes compared'] : [];
  return [...none, ...describeProof(proof), ...files];
}

const ONLY_MARKER =
  'what else it says, such as a request to sign in: no file was given, so only the marker was seen';

/** What was not verified. @see protocol 4.7 */
export function listUnknown(delivery: Delivery, notReady: FailureReason | null): string[] {
  const main = mainAttempt(delivery);
  const unknown = [...delivery.unknown, ...(main?.unknown ?? [])];
  if (main?.proof?.match === 'altered')
    unknown.push('the body has the marker, but other bytes than the file');
  if (main?.proof?.match === 'marked') unknown.push(ONLY_MARKER);
  for (const { task, failure, restored, unknown: open } of listDuplicates(delivery)) {
    const { channel } = task.plan;
    unknown.push(...open.map((line) => `${channel}: ${line}`));
    const back = restored === undefined ? '' : `; ${restored.detail}`;
    if (failure !== null)
      unknown.push(`the duplicate on ${channel} is not proven: ${failure.message}${back}`);
  }
  return notReady === null ? unknown : [...unknown, ...describeOpen(delivery, notReady)];
}

/** What nobody knows of a delivery that is not ready. */
function describeOpen(delivery: Delivery, { code }: FailureReason): readonly string[] {
  const { operation, site, subject, attempts } = delivery;
  const { restored } = mainAttempt(delivery) ?? {};
  if (code === 'DRY_RUN') {
    const rest = 'everything that only a real run can show';
    const writes = attempts.some(({ task }) => /K[12]/.test(task.plan.channel));
    return writes ? ['whether the token may write, which only a write tells', rest] : [rest];
  }
  if (operation === 'audit') return ['whether anybody can still open it'];
  if (subject === LINK_SUBJECT || attempts[0]?.task.plan.channel === 'K4') return [];
  if (restored?.proven) return ['what people saw at the address until the content from before was back'];
  if (restored?.commitSha) return ['whether the address shows again what was there before'];
  if (operation === 'withdraw') return ['whether it still opens anywhere'];
  const left = isUnexpected(delivery)
    ? 'whether it was published: the delivery ended by an error that nothing expected'
    : describeLeftBehind(mainAttempt(delivery));
  if (code !== 'NO_NETWORK' || site === null || delivery.isTemporary) return [left];
  return [left, `the file itself is still at ${subject}, sha256 ${site.entry.sha256}`];
}

/** Whether the delivery broke off by a mistake of ours before a channel was asked: how far it was is not known then. */
const isUnexpected = (delivery: Delivery): boolean =>
  delivery.failure?.code === 'INTERNAL' &&
  delivery.failure.leftBehind === undefined &&
  mainAttempt(delivery) === null;

const NOTHING_PUBLISHED = 'nothing was published';

/** What a delivery that is not ready has left behind. */
function describeLeftBehind(main: ChannelAttempt | null): string {
  const { failure, placement, task } = main ?? {};
  const where = task?.plan.destination;
  if (placement) {
    const older = placement.changes?.removedFolders ?? [];
    const removed = older.length === 0 ? '' : `; older sites removed: ${nameFew(older)}`;
    // What somebody has replaced is placed no more.
    if (failure?.leftBehind?.length) return `left behind: ${failure.leftBehind.join(', ')}${removed}`;
    return `whether the address will show the file later; it is placed (${placement.evidence}; ${where}${removed})`;
  }
  if (failure && failure.leftBehind === undefined) {
    return `whether a part of the file has arrived (${where})`;
  }
  const left = failure?.leftBehind ?? [];
  return left.length === 0 ? NOTHING_PUBLISHED : `left behind: ${left.join(', ')}`;
}
