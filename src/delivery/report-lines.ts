import type { ChannelPlan } from '../channels/channel.ts';
import { countChanges, formatChangeCounts } from '../channels/site-changes.ts';
import { countFiles, formatSeconds, nameFew, neutralizeText } from '../plain-text.ts';
import { CHANNELS, RESULTS, type ReportLine } from '../protocol/words.ts';
import {
  type ChannelAttempt,
  type Delivery,
  isTried,
  LINK_SUBJECT,
  mainAttempt,
  NO_SUBJECT,
  type Proof,
} from './delivery.ts';
import { countMarker, describeProbe } from './describe-probe.ts';
import type { ProvenMatch } from './match-content.ts';
import { type FailureReason, formatReason } from './report.ts';
import { describeScreen } from './screen/screen-report.ts';

/** What the report has concluded about a delivery. */
interface ReportFacts {
  readonly notReady: FailureReason | null;
  /** The address, where every gate is passed. */
  readonly provenUrl: string | null;
  readonly unknown: readonly string[];
}

/** Writes the report's lines. @see protocol 4.7 */
export function composeLines(delivery: Delivery, facts: ReportFacts): Readonly<Record<ReportLine, string>> {
  const { notReady, provenUrl, unknown } = facts;
  const [claim, result] =
    notReady === null ? concludeReady(delivery, provenUrl) : [claimNothing(delivery), ''];
  return {
    CLAIM: neutralizeText(claim),
    CODE: neutralizeText(codeLine(delivery)),
    TEST: neutralizeText(testLine(delivery, facts)),
    RESULT: notReady === null ? RESULTS.ready + result : `${RESULTS.notReady} → ${formatReason(notReady)}`,
    UNKNOWN: neutralizeText(unknown.join('; ')),
  };
}

export const mainPlan = ({ attempts: [main] }: Delivery): ChannelPlan | null => main?.task.plan ?? null;

export const duplicateAttempts = ({ attempts }: Delivery): readonly ChannelAttempt[] =>
  attempts.slice(1).filter(isTried);

/** What is claimed of a delivery that is not ready. */
function claimNothing(delivery: Delivery): string {
  const { operation, subject, failure } = delivery;
  if (subject === NO_SUBJECT)
    return `nothing was ${operation === 'withdraw' ? 'withdrawn' : 'published'}; there is no address`;
  if (operation === 'audit') return `${subject} is not proven to be as it was delivered; there is no address`;
  if (operation === 'withdraw') {
    const isPlanned = failure?.code === 'DRY_RUN';
    return `${subject} ${isPlanned ? 'is not withdrawn yet' : 'was not proven to be withdrawn'}`;
  }
  const channel = mainAttempt(delivery)?.task.plan.channel;
  if (channel !== undefined) {
    return `${subject} is not proven to open through ${channel}, ${CHANNELS[channel].title}; there is no address`;
  }
  return `${subject} ${isUnexpected(delivery) ? 'is not proven to be' : 'was not'} published; there is no address`;
}

/** The claim and the result of what is ready. No address follows the arrow of a result unless it is handed over. */
function concludeReady(delivery: Delivery, url: string | null): readonly [claim: string, result: string] {
  const { operation, subject, changed } = delivery;
  const main = mainAttempt(delivery);
  const name = neutralizeText(subject);
  if (main === null)
    return [`${subject} was ${changed}`, `, changed since: ${name}; nothing is left to prove`];
  const { expected, placement, proof, task, unknown } = main;
  if (operation === 'audit') {
    return expected.gone
      ? [
          `${subject} was withdrawn, and nothing is served past caches at ${url}`,
          `, withdrawn: ${name} is not served`,
        ]
      : [`${subject} still opens as it was delivered at ${url}`, `, as delivered: ${name}`];
  }
  if (operation === 'withdraw') {
    const [done, opens, unsure, served] = placement?.written
      ? ['withdrawn', 'no longer opens', 'is removed', 'is no longer served']
      : ['nothing to withdraw', 'does not open', 'was not there', 'is not served'];
    const claim = proof?.isCached ? 'is removed: nothing is served past caches' : opens;
    const end = unknown.length > 0 ? `${unsure}; see UNKNOWN` : served;
    return [`${subject} ${claim} at ${url}`, `, ${done}: ${name} ${end}`];
  }
  const claim = `${subject} ${placement?.claim ?? task.plan.claim} at ${url}`;
  const duplicates = duplicateAttempts(delivery).flatMap(describeDuplicate);
  return [[claim, ...(placement?.notes ?? []), ...duplicates].join('; '), ` → ${url}`];
}

/** What was carried out; of what is only planned, what would be. At a link from outside nothing is ever written. */
function describeMethod(delivery: Delivery, planned: string): string {
  const placement = mainAttempt(delivery)?.placement;
  if (placement?.method !== undefined) return placement.method;
  const mayWrite = delivery.operation !== 'audit' && placement?.mustBeExternal !== true;
  if (placement?.written !== false || !mayWrite) return planned;
  return delivery.operation === 'withdraw'
    ? 'nothing removed, because nothing was there'
    : 'nothing written, because it was there already';
}

/** Its address, once it is proven. */
function describeDuplicate({ task, placement, proof }: ChannelAttempt): string[] {
  if (placement === null || proof === null) return [];
  const { channel } = task.plan;
  return [`duplicate on ${channel} (${CHANNELS[channel].lifetime}): ${placement.url.href}`];
}

function codeLine(delivery: Delivery): string {
  const { subject, site, choice } = delivery;
  const kind = site?.isFolder ? 'site' : subject.endsWith('/') ? 'folder' : 'file';
  const parts = [subject === LINK_SUBJECT || subject === NO_SUBJECT ? 'no file' : `${kind} ${subject}`];
  const plan = mainPlan(delivery);
  if (plan !== null) {
    const { channel, method } = plan;
    parts.push(
      `channel ${channel} (${CHANNELS[channel].name}), because ${choice?.reason}`,
      describeMethod(delivery, method),
      mainAttempt(delivery)?.placement?.destination ?? plan.destination,
    );
  }
  const { commitSha, changes, treeSha } = mainAttempt(delivery)?.placement ?? {};
  if (commitSha !== undefined) parts.push(`commit ${commitSha}`);
  if (site?.isFolder) {
    parts.push(countFiles(site.files.length), `${site.size} bytes`);
    if (changes !== undefined) parts.push(formatChangeCounts(countChanges(changes)) || 'no file changed');
    if (treeSha !== undefined) parts.push(`tree ${treeSha}`);
    parts.push(`entry ${site.entry.path}`);
    if (site.leftOut.length > 0) parts.push(`left out as hidden: ${nameFew(site.leftOut)}`);
  }
  if (site?.isFolder === false) parts.push(`${site.size} bytes`);
  if (site !== null) parts.push(`sha256 ${site.entry.file.sha256}`);
  const isPlanned = delivery.failure?.code === 'DRY_RUN';
  const duplicates = isPlanned ? delivery.attempts.slice(1) : duplicateAttempts(delivery);
  for (const { task } of duplicates) {
    const { channel } = task.plan;
    parts.push(`duplicate ${channel} (${CHANNELS[channel].name})`);
  }
  return parts.join('; ');
}

function testLine(delivery: Delivery, { notReady }: ReportFacts): string {
  const main = mainAttempt(delivery);
  if (main === null || main.placement === null) {
    if (notReady?.code === 'DRY_RUN') return 'nothing was fetched, because nothing was written';
    if (notReady === null) return 'nothing was fetched, because nothing of it is left';
    const fetched = main === null && isUnexpected(delivery) ? 'nothing is proven' : 'nothing was fetched';
    const ended = `${fetched}; the delivery ended at step ${notReady?.step}`;
    return [ended, ...describeScreen(delivery)].join('; ');
  }
  const { wait } = main.took;
  const isNoRemoval = delivery.operation === 'withdraw' && !main.placement.written;
  return [
    `HTTP ${main.proof?.httpCode ?? main.lastProbe?.httpCode ?? 'none'}`,
    ...describeContent(delivery, main),
    ...describeScreen(delivery),
    `build time: ${wait === undefined || isNoRemoval ? 'no build' : formatSeconds(wait)}`,
  ].join('; ');
}

/** What an answer that is proven says of the bytes. */
const BYTES: Readonly<Record<ProvenMatch, (proof: Proof) => readonly string[]>> = {
  identical: () => ['bytes identical: yes'],
  extended: () => ['bytes identical: no, the host added to the file'],
  altered: () => ['bytes identical: no'],
  marked: () => [],
  gone: ({ isCached }) => [`nothing is served ${isCached ? 'past caches' : 'there'}`],
};

/** What was proven of the content: in the report's TEST line and as the evidence of G3. */
export const describeProof = (proof: Proof): readonly string[] => [
  ...(proof.markerCount === null || proof.match === 'gone' ? [] : [formatMarker(proof.markerCount)]),
  ...BYTES[proof.match](proof),
];

const formatMarker = (count: number): string => `marker found: ${count === 0 ? 'no' : `yes, ${count} ×`}`;

/** What was compared, or that nothing is there any more. */
function describeContent(
  { operation, site }: Delivery,
  { proof, lastProbe, expected }: ChannelAttempt,
): readonly string[] {
  // The pictures of its page, which are proven too, are no files of it.
  const files = (count: number, total = site?.files.length ?? 0) =>
    !site?.isFolder ? [] : [`files identical: ${Math.min(count, total)} of ${total}`];
  if (proof === null) {
    const count = countMarker(lastProbe, expected);
    const marker = count === null ? 'marker found: none was given' : formatMarker(count);
    if (operation === 'audit') return [describeProbe(lastProbe)];
    return operation === 'withdraw' ? ['not proven to be gone'] : [marker, ...files(0)];
  }
  if (proof.match === 'gone') return describeProof(proof);
  if (operation === 'audit')
    return [...describeProof(proof), `files identical: ${proof.parts + 1} of ${proof.parts + 1}`];
  const none = proof.markerCount === null ? ['marker found: none was given, all bytes compared'] : [];
  return [...none, ...describeProof(proof), ...files(proof.parts + (proof.match === 'identical' ? 1 : 0))];
}

/** What was not verified. @see protocol 4.7 */
export function listUnknown(delivery: Delivery, ready: boolean): string[] {
  const { operation, failure, site, subject } = delivery;
  const main = mainAttempt(delivery);
  const unknown = [...delivery.unknown, ...(main?.unknown ?? [])];
  if (main?.proof?.match === 'altered')
    unknown.push('the body has the marker, but other bytes than the file');
  if (main?.proof?.match === 'marked')
    unknown.push('what else the page says: no file was given, so only the marker was seen');
  for (const duplicate of duplicateAttempts(delivery)) {
    const { channel } = duplicate.task.plan;
    unknown.push(...duplicate.unknown.map((line) => `${channel}: ${line}`));
    if (duplicate.failure !== null) {
      unknown.push(`the duplicate on ${channel} is not proven: ${duplicate.failure.message}`);
    }
  }
  if (ready) return unknown;
  if (failure?.code === 'DRY_RUN') {
    const writes = delivery.attempts.some(({ task }) => /K[12]/.test(task.plan.channel));
    const token = writes ? ['whether the token may write, which only a write tells'] : [];
    return [...unknown, ...token, 'everything that only a real run can show'];
  }
  if (operation === 'audit') return [...unknown, 'whether anybody can still open it'];
  if (delivery.restored?.proven) {
    return [...unknown, 'what people saw at the address until the content from before was back'];
  }
  unknown.push(operation === 'deliver' ? describeLeftBehind(delivery) : 'whether it still opens anywhere');
  const stays = site !== null && delivery.isTemporary !== true;
  if ((failure ?? main?.failure)?.code === 'NO_NETWORK' && stays) {
    unknown.push(`the file itself is still at ${subject}, sha256 ${site.entry.file.sha256}`);
  }
  return unknown;
}

const UNEXPECTED_END = 'whether it was published: the delivery ended by an error that nothing expected';

/** Whether the delivery broke off by a mistake of ours: how far it was is not known then. */
const isUnexpected = ({ failure }: Delivery): boolean =>
  failure?.code === 'INTERNAL' && failure.leftBehind === undefined;

/** What a delivery that is not ready has left behind. */
function describeLeftBehind(delivery: Delivery): string {
  const main = mainAttempt(delivery);
  if (main === null) return isUnexpected(delivery) ? UNEXPECTED_END : 'nothing was published';
  const { failure, placement } = main;
  const { channel, destination } = main.task.plan;
  if (placement !== null) {
    return channel === 'K4'
      ? 'whether the link will show it later'
      : `whether the address will show the file later; it is placed (${placement.evidence}; ${destination})`;
  }
  if (failure?.leftBehind === undefined && !isRefusal(failure)) {
    return `whether a part of the file has arrived (${destination})`;
  }
  const left = failure?.leftBehind ?? [];
  return left.length === 0 ? 'nothing was published' : `left behind: ${left.join(', ')}`;
}

/** Whether the host was not reached, or refused the request: what has moved is not found either. */
function isRefusal(error: ChannelAttempt['failure']): boolean {
  const { code, httpCode = 0 } = error ?? {};
  return code === 'NO_NETWORK' || code === 'NOT_FOUND' || Math.floor(httpCode / 100) === 4;
}
