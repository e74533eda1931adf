import { formatChangeCounts } from '../channels/site-changes.ts';
import { countFiles, formatSeconds, nameFew, neutralizeText } from '../plain-text.ts';
import { describeProof } from '../proof/probe-result.ts';
import { CHANNELS, RESULTS } from '../protocol/words.ts';
import { describeInlined } from './convert/convert-file.ts';
import { type ChannelAttempt, type Delivery, listDuplicates, mainAttempt, NO_SUBJECT } from './delivery.ts';
import { formatPlanned, formatReason, type Report, type ReportFields } from './report.ts';
import { type Conclusion, isUnexpected, operationReport } from './report-operations.ts';
import { describeScreen } from './screen/screen-report.ts';

/** Composes the five lines, and the outcome if there is no URL. @see protocol 4.7 */
export function composeLines(
  report: ReportFields,
  delivery: Delivery,
): Pick<Report, 'lines' | 'outcome' | 'claimedNotes'> {
  const { planned, notReady, url } = report;
  const { claim, notes = [], outcome } = conclude(report, delivery);
  const end = outcome === undefined ? ` → ${url}` : `, ${outcome}`;
  const failed = planned === null ? notReady && formatReason(notReady) : formatPlanned(planned);
  const lines = {
    CLAIM: neutralizeText(claim),
    CODE: neutralizeText(describeCode(report, delivery).join('; ')),
    TEST: neutralizeText(describeTest(report, delivery).join('; ')),
    RESULT: failed === null ? RESULTS.ready + end : `${RESULTS.notReady} → ${failed}`,
    UNKNOWN: neutralizeText(report.unknown.join('; ')),
  };
  return { lines, claimedNotes: notes.map(neutralizeText), ...(outcome !== undefined && { outcome }) };
}

/** An arrow and a URL end the RESULT only if the URL is handed over. */
function conclude(report: ReportFields, delivery: Delivery): Conclusion {
  const { subject, changed } = delivery;
  const wording = operationReport(delivery);
  const main = mainAttempt(delivery);
  if (report.planned !== null) return { claim: `${subject} ${wording.planned}` };
  if (report.notReady !== null) {
    return { claim: subject === NO_SUBJECT ? wording.nothing : wording.claimUnproven(delivery) };
  }
  const idle =
    delivery.attempts[0]?.task.idle && `${subject} is unchanged: ${delivery.attempts[0].task.idle.reason}`;
  if (idle !== undefined) return { claim: idle, outcome: neutralizeText(idle) };
  if (changed === undefined && main !== null) return wording.conclude(delivery, main, report);
  const rest = main === null ? 'nothing is left to verify' : 'the rest of it still opens as it was delivered';
  return {
    claim: `${subject} was ${changed?.text}; ${rest}`,
    ...(changed !== undefined && { notes: [changed.text] }),
    outcome: `${neutralizeText(subject)} was changed since its delivery; ${rest}`,
  };
}

function describeCode({ file, site, commitSha }: ReportFields, delivery: Delivery): readonly string[] {
  const { subject, choice, attempts, site: local } = delivery;
  const [planned, ...duplicates] = attempts;
  const kind = site !== null ? 'site' : subject.endsWith('/') ? 'folder' : 'file';
  const parts = [file === null ? 'no file' : `${kind} ${subject}`];
  if (planned !== undefined) {
    const { plan } = planned.task;
    const untouched = planned.placement?.written === false && operationReport(delivery).untouched;
    parts.push(
      `channel ${plan.channel} (${CHANNELS[plan.channel].name}), because ${choice?.reason}`,
      untouched || plan.method,
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
  if (local?.source !== undefined) parts.push(`rendered as ${delivery.name}`);
  if (file !== null && file.sha256 !== null) parts.push(`sha256 ${file.sha256}`);
  if (delivery.inlined !== undefined) parts.push(describeInlined(delivery.inlined));
  const also = duplicates.map(({ task }) => task.plan.channel);
  return [...parts, ...also.map((key) => `duplicate ${key} (${CHANNELS[key].name})`)];
}

function describeTest({ planned, notReady, screen }: ReportFields, delivery: Delivery): readonly string[] {
  const main = mainAttempt(delivery);
  if (planned !== null) return ['nothing was fetched, because nothing was written'];
  if (main === null || main.placement === null) {
    const why = delivery.changed === undefined ? 'nothing was removed' : 'nothing of it is left';
    if (notReady === null) return [`nothing was fetched, because ${why}`];
    const fetched = isUnexpected(delivery) ? 'nothing was verified' : 'nothing was fetched';
    return [`${fetched}; the delivery ended at step ${notReady.step}`, ...describeScreen(screen)];
  }
  const { wait } = main.took;
  const isBuilt = wait !== undefined && main.placement.written;
  return [
    `HTTP ${main.proof?.httpCode ?? main.lastProbe?.httpCode ?? 'none'}`,
    ...describeContent(delivery, main),
    ...describeScreen(screen),
    `build time: ${isBuilt ? formatSeconds(wait) : 'no build'}`,
  ];
}

function describeContent(delivery: Delivery, main: ChannelAttempt): readonly string[] {
  const { proof, identicalFiles } = main;
  const wording = operationReport(delivery);
  if (proof?.match === 'gone') return describeProof(proof);
  const total = wording.countFiles(delivery, main);
  const files = total === 0 ? [] : [`files identical: ${identicalFiles} of ${total}`];
  if (proof === null) return [wording.describeUnproven(main), ...files];
  const lines = describeProof(proof, delivery.site?.source);
  return [...(proof.markerCount === null ? wording.withoutMarker : []), ...lines, ...files];
}

const ONLY_MARKER = 'what else the page shows: no file was given, so only the expected text was checked';

const UNSEEN_REQUESTS = 'whether the page requests other hosts when it is opened: no browser opened it';

/** Lists what was not verified. @see protocol 4.7 */
export function listUnknown(
  delivery: Delivery,
  { planned, notReady }: Pick<ReportFields, 'planned' | 'notReady'>,
): string[] {
  const main = mainAttempt(delivery);
  const unknown = [...delivery.unknown, ...(main?.unknown ?? [])];
  if (main?.proof?.match === 'altered')
    unknown.push('the body has the expected text, but its bytes differ from the file');
  if (main?.proof?.match === 'marked') unknown.push(ONLY_MARKER);
  const isUnseen = main?.placement != null && main.task.served === undefined;
  if (isUnseen && delivery.inlined && !delivery.site?.source) unknown.push(UNSEEN_REQUESTS);
  for (const { task, failure, restored, unknown: lines } of listDuplicates(delivery)) {
    const { channel } = task.plan;
    unknown.push(...lines.map((line) => `${channel}: ${line}`));
    const back = restored === undefined ? '' : `; ${restored.detail}`;
    if (failure !== null)
      unknown.push(`the duplicate on ${channel} isn't verified: ${failure.message}${back}`);
  }
  if (planned !== null) return [...unknown, ...describeUntried(delivery)];
  if (notReady === null) return unknown;
  return [...unknown, ...operationReport(delivery).listUnknown(delivery, notReady.code === 'NO_NETWORK')];
}

function describeUntried({ attempts }: Delivery): readonly string[] {
  const writes = attempts.some(({ task }) => ['K1', 'K2'].includes(task.plan.channel));
  return [...(writes ? ['whether the token may write'] : []), 'everything that only a real run can show'];
}
