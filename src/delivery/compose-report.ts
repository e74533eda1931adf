import type { Placement } from '../channels/channel.ts';
import { countChanges } from '../channels/site-changes.ts';
import { DeliveryError, toDeliveryError } from '../errors.ts';
import { neutralizeText } from '../plain-text.ts';
import { describeProof } from '../proof/probe-result.ts';
import { SITE } from '../protocol/limits.ts';
import { GATES, type GateName, PROTOCOL } from '../protocol/words.ts';
import type { RawInputs } from '../request/inputs.ts';
import { operationOf } from '../request/parse-request.ts';
import { ACTION, advise, type Face, say } from '../words.ts';
import { reportChangedPages } from './compare-pages.ts';
import {
  addressToHandOver,
  type ChannelAttempt,
  type Delivery,
  LINK_SUBJECT,
  listDuplicates,
  mainAttempt,
  NO_SUBJECT,
  newDelivery,
} from './delivery.ts';
import {
  type DuplicateReport,
  type FailureReason,
  formatReason,
  type GateResult,
  type Report,
  type SiteReport,
} from './report.ts';
import { composeLines, listUnknown } from './report-lines.ts';
import { mayBeThere, operationReport } from './report-operations.ts';
import { reportPicture } from './screen/add-picture.ts';
import { reportScreen } from './screen/screen-report.ts';

/** After somebody's change, or if a sweep found nothing to remove. */
const hasNothingToVerify = (delivery: Delivery): boolean =>
  delivery.changed !== undefined || delivery.attempts[0]?.task.idle !== undefined;

/** Composes the report for an interface. It has the URL only if every gate passed. */
export function composeReport(given: Delivery, face = ACTION): Report {
  const { failure, attempts, changed } = given;
  const delivery = { ...given, subject: failure?.subject ?? given.subject };
  const wording = operationReport(delivery);
  const toReason = createReasonWriter(face, given);
  const main = mainAttempt(delivery);
  const { placement = null, restored } = main ?? {};
  const gates = evaluateGates(main, delivery);
  const isProven = failure === null && gates.every(({ passed }) => passed);
  const ready = isProven || (failure === null && main === null && hasNothingToVerify(delivery));
  const planned = failure === null ? given.planned : null;
  const notReady = ready || planned !== null ? null : toReason(failure ?? main?.failure, main);
  const report = {
    protocol: PROTOCOL.identifier,
    version: PROTOCOL.version,
    operation: given.operation,
    result: planned !== null ? 'planned' : ready ? wording.result : 'not-ready',
    ready,
    subject: delivery.subject,
    ...reportAddresses(main, { isProven, isChanged: changed !== undefined }),
    ...wording.fields(delivery, main, ready),
    mayBeWritten: ready || (main !== null && mayBeThere(main)),
    ...(notReady?.code === 'ABORTED' && placement?.written && { mayBeAt: placement.first.url.href }),
    ...(restored && { restored }),
    gates,
    file: reportFile(delivery),
    site: reportSite(delivery, placement),
    ...(given.inlined && { inlined: given.inlined }),
    channel: attempts[0]?.task.plan.channel ?? null,
    commitSha: placement?.commitSha ?? null,
    duplicates: listDuplicates(delivery).map((attempt) => reportDuplicate(attempt, toReason)),
    screen: reportScreen(delivery),
    picture: ready ? reportPicture(delivery) : null,
    ...(ready && reportChangedPages(delivery)),
    ...{ planned, notReady },
    unknown: listUnknown(delivery, { planned, notReady }).map(neutralizeText),
    took: main?.took ?? {},
    notes: collectNotes(delivery, main, face),
  } as const;
  return { ...report, ...composeLines(report, delivery) };
}

function reportAddresses(
  main: ChannelAttempt | null,
  { isProven, isChanged }: { readonly isProven: boolean; readonly isChanged: boolean },
) {
  const proven = (isProven && main && addressToHandOver(main)?.href) || null;
  const { note: urlNote } = main?.proof?.versioned ?? {};
  return {
    // After somebody's change, the verified URL may show another page.
    url: main?.mustBeGone || isChanged ? null : proven,
    rawUrl: (isProven && main?.proof?.rawUrl?.href) || null,
    ...(urlNote !== undefined && { urlNote }),
    withdrawn: main?.mustBeGone ? proven : null,
  };
}

/** A restore makes the notes of the placement untrue. */
function collectNotes(delivery: Delivery, main: ChannelAttempt | null, face: Face): readonly string[] {
  const { placement = null, proof = null, restored } = main ?? {};
  const ofMain = [proof?.versioned?.note ?? [], restored?.commitSha ? [] : (placement?.notes ?? [])].flat();
  const ofDuplicates = listDuplicates(delivery).flatMap(({ task, proof }) =>
    proof?.versioned === undefined ? [] : `${task.plan.channel}: ${proof.versioned.note}`,
  );
  const { untouchedNote } = operationReport(delivery);
  const untouched = untouchedNote && placement?.written === false ? [say(untouchedNote, face)] : [];
  return [...ofMain, ...ofDuplicates, ...delivery.notes, ...untouched].map(neutralizeText);
}

/** The report of a request that was refused. @param asked unchecked inputs */
export function refusalReport(asked: Partial<RawInputs>, thrown: unknown, face = ACTION): Report {
  const { operation: task = '', path, file, name, url = '' } = asked;
  const operation = operationOf(task);
  const named = (operation !== 'deliver' && path) || file || name || '';
  const subject =
    named.trim().split('\n')[0] || (operation === 'audit' ? './' : url === '' ? NO_SUBJECT : LINK_SUBJECT);
  const failure = toDeliveryError(thrown).withStep('check');
  return composeReport({ ...newDelivery(operation, subject), failure }, face);
}

function reportFile({ subject, site }: Delivery): Report['file'] {
  if (subject === LINK_SUBJECT || subject === NO_SUBJECT) return null;
  return { path: subject, size: site?.size ?? null, sha256: site?.entry.sha256 ?? null };
}

function reportSite({ site }: Delivery, placement: Placement | null): SiteReport | null {
  if (!site?.isFolder) return null;
  const { changes, treeSha = null, servedSize = null } = placement ?? {};
  const lists = Object.entries(changes ?? {}).map(([kind, paths]) => [kind, paths.slice(0, SITE.listed)]);
  return {
    entry: site.entry.name,
    count: site.files.length,
    size: site.size,
    files: site.files.slice(0, SITE.listed).map(({ name, size, sha256 }) => ({ path: name, size, sha256 })),
    changes: changes === undefined ? null : Object.fromEntries(lists),
    changeCounts: changes === undefined ? null : countChanges(changes),
    treeSha,
    servedSize,
    leftOut: site.leftOut.slice(0, SITE.listed),
  };
}

type ToReason = (error: DeliveryError | null | undefined, attempt: ChannelAttempt | null) => FailureReason;

function reportDuplicate(attempt: ChannelAttempt, toReason: ToReason): DuplicateReport {
  const { task, proof, failure, restored } = attempt;
  return {
    channel: task.plan.channel,
    url: (proof && addressToHandOver(attempt)?.href) ?? null,
    reason: failure && formatReason(toReason(failure, attempt)),
    ...(restored && { restored }),
  };
}

function createReasonWriter(face: Face, { operation, site, choice }: Delivery): ToReason {
  const context = {
    isFolder: site?.isFolder === true,
    isPrivate: choice?.isPrivate === true,
    chosen: choice?.channels,
    isDelivered: operation === 'deliver',
  };
  return (given, attempt) => {
    const error = given ?? new DeliveryError('INTERNAL', 'nothing was delivered', { step: 'report' });
    const { step = 'check', code, about, findings, advice = '' } = error;
    const prefix = code === 'NO_NETWORK' ? "the protocol can't be executed, there is no network: " : '';
    const { lastProbe, restored } = attempt ?? {};
    const back = restored === undefined ? '' : `; ${restored.detail}`;
    const parts = {
      about: neutralizeText(say(about, face)),
      lines: findings.map((finding) => neutralizeText(say(finding, face))),
    };
    return {
      step,
      httpCode: error.httpCode ?? lastProbe?.httpCode ?? null,
      code,
      reason: neutralizeText(prefix + error.messageFor(face) + back),
      ...(findings.length > 1 && { findings: parts }),
      hint: neutralizeText(advise(advice, face, context)),
    };
  };
}

/** Each gate with its evidence, or what is missing. @see protocol 3.1 */
function evaluateGates(attempt: ChannelAttempt | null, { site }: Delivery): GateResult[] {
  const { placement = null, proof = null, screen, failure } = attempt ?? {};
  const shown = screen?.view.verdict === 'shown' ? ', shown in a browser' : '';
  const address =
    proof === null ? 'a URL, withheld until it is verified' : addressToHandOver({ placement, proof })?.href;
  const handedOver = proof?.match === 'gone' ? 'report' : 'URL and report';
  const unproven = failure?.code === 'NOT_SHOWN' ? failure.message : "the URL isn't verified";
  const found: Readonly<Record<GateName, readonly [string | null | undefined, string]>> = {
    G1_выложено: [placement?.evidence, "the channel didn't finish it"],
    G2_финальный_URL: [placement && address, "the channel didn't return a URL"],
    G3_VERIFY_200_и_маркер: [
      proof && `HTTP ${proof.httpCode}, ${describeProof(proof, site?.source).join(', ')}${shown}`,
      unproven,
    ],
    G4_REPORT: [proof && `${handedOver} handed over`, 'there is nothing to hand over'],
  };
  return GATES.map((name) => {
    const [evidence, missing] = found[name];
    return { name, passed: evidence != null, evidence: neutralizeText(evidence ?? missing) };
  });
}
