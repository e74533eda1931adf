import type { DeliveryError } from '../errors.ts';
import {
  CHANNELS,
  type ChannelKey,
  PROTOCOL,
  REPORT_LINES,
  RESULTS,
  type ReportLine,
  type Step,
} from '../protocol/words.ts';
import type { LocalFile } from '../rules/inspect.ts';
import type { Plan } from '../channels/channel.ts';
import type { Outcome } from './carry.ts';
import { evaluate, type Gate } from './gates.ts';
import type { Operation } from './values.ts';

/** Why a delivery is not ready. */
export interface Reason {
  readonly step: Step;
  readonly httpCode: number | null;
  readonly code: string;
  readonly reason: string;
  /** What to change; empty where nothing is known. */
  readonly hint: string;
}

/** How a duplicate fared. */
export interface DuplicateReport {
  readonly channel: ChannelKey;
  /** `null` unless it was proven. */
  readonly url: string | null;
  readonly reason: string | null;
}

/** The report on one file: the protocol's lines, and the same as data. @see protocol 4.7 */
export interface Report {
  readonly protocol: typeof PROTOCOL.identifier;
  readonly version: typeof PROTOCOL.version;
  /** What was asked for. */
  readonly operation: Operation;
  readonly ready: boolean;
  /** `null` unless every gate is passed, and once it is withdrawn. */
  readonly url: string | null;
  /** The address that serves the file no longer, once every gate of a withdrawal is passed. */
  readonly withdrawn: string | null;
  readonly lines: Readonly<Record<ReportLine, string>>;
  readonly gates: readonly Gate[];
  readonly file: {
    readonly path: string;
    readonly size: number | null;
    readonly sha256: string | null;
  } | null;
  readonly channel: ChannelKey | null;
  readonly commitSha: string | null;
  readonly rawUrl: string | null;
  readonly duplicates: readonly DuplicateReport[];
  readonly notReady: Reason | null;
  readonly unknown: readonly string[];
  /** What a person should know of the address, such as how long it lives. */
  readonly notes: readonly string[];
  /** Milliseconds by step. */
  readonly took: Readonly<Partial<Record<Step, number>>>;
}

/** The subject of a delivery that has no file. */
export const THE_LINK = 'the given link';

/** Everything a delivery has come to know by its end. */
export interface Findings {
  readonly operation: Operation;
  /** As the user wrote the file, or the link that stands for it. */
  readonly subject: string;
  readonly file: LocalFile | null;
  /** Why the channel was chosen. */
  readonly because: string;
  /** What would be done, where nothing was to be. */
  readonly plan: Plan | null;
  readonly main: Outcome | null;
  readonly duplicates: readonly Outcome[];
  /** What the file's check could not see, or was told to let pass. */
  readonly unknown: readonly string[];
  /** What failed before a channel was reached. */
  readonly failure: DeliveryError | null;
}

/** Composes the report. The URL stands in it only when every gate is passed. */
export function compose(findings: Findings): Report {
  const { file, main, duplicates, subject } = findings;
  const gates = evaluate(main);
  const ready = findings.failure === null && gates.every(({ passed }) => passed);
  const notReady = ready ? null : reasonOf(findings.failure ?? main?.failure ?? null, main?.httpCode);
  const proven = ready ? (main?.placement?.url.href ?? null) : null;
  const delivers = findings.operation === 'deliver';
  const unknown = unknownOf(findings, ready);
  return {
    protocol: PROTOCOL.identifier,
    version: PROTOCOL.version,
    operation: findings.operation,
    ready,
    url: delivers ? proven : null,
    withdrawn: delivers ? null : proven,
    lines: {
      CLAIM: oneLine(claim(findings, proven)),
      CODE: oneLine(code(findings)),
      TEST: oneLine(test(findings, notReady)),
      RESULT: oneLine(resultOf(findings, notReady, proven)),
      UNKNOWN: oneLine(unknown.join('; ')),
    },
    gates,
    file:
      subject === THE_LINK ? null : { path: subject, size: file?.size ?? null, sha256: file?.sha256 ?? null },
    channel: (main?.plan ?? findings.plan)?.channel ?? null,
    commitSha: main?.placement?.commitSha ?? null,
    rawUrl: main?.rawUrl?.href ?? null,
    duplicates: duplicates.map(duplicateReport),
    notReady,
    unknown,
    notes: main?.placement?.notes ?? [],
    took: main?.took ?? {},
  };
}

/** Nobody else's words can begin a line of the report. */
const oneLine = (text: string): string => text.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

/** What is known before anything is done. */
export function nothingYet(operation: Operation, subject: string): Findings {
  const empty = {
    file: null,
    because: '',
    plan: null,
    main: null,
    duplicates: [],
    unknown: [],
    failure: null,
  };
  return { operation, subject, ...empty };
}

/** The report on what was refused before it could begin. */
export function refusal(subject: string, failure: DeliveryError): Report {
  return compose({ ...nothingYet('deliver', subject), failure });
}

/** The report as the protocol writes it, a line each. */
export function reportText(report: Report): string {
  return REPORT_LINES.map((line) => `${line}: ${report.lines[line]}`.trimEnd()).join('\n');
}

/** @param seen what the address answered last, for a failure without a code of its own */
function reasonOf(failure: DeliveryError | null, seen: number | null = null): Reason {
  if (failure === null)
    return { step: 'report', httpCode: null, code: 'INTERNAL', reason: 'nothing was delivered', hint: '' };
  const { step, httpCode, code, message, hint } = failure;
  const reason =
    code === 'NO_NETWORK' ? `the protocol can't be executed, there is no network: ${message}` : message;
  return { step: step ?? 'check', httpCode: httpCode ?? seen, code, reason, hint: hint ?? '' };
}

function inWords({ step, httpCode, reason, hint }: Reason): string {
  const where = `step ${step}${httpCode === null ? '' : `, HTTP ${httpCode}`}`;
  return `${reason} (${where})${hint === '' ? '' : `. To change: ${hint}`}`;
}

function resultOf({ operation, main }: Findings, notReady: Reason | null, proven: string | null): string {
  if (notReady !== null) return `${RESULTS.notReady} → ${inWords(notReady)}`;
  if (operation === 'deliver') return `${RESULTS.ready} → ${proven}`;
  const done = main?.placement?.written === true ? 'is withdrawn' : 'is empty, there was nothing to withdraw';
  return `${RESULTS.ready} → ${proven} ${done}`;
}

function claim({ operation, subject, main }: Findings, url: string | null): string {
  if (operation === 'withdraw') {
    return url === null
      ? `${subject} was to be withdrawn; it is not proven that it is gone`
      : `${subject} no longer opens at ${url}`;
  }
  if (main === null) return `${subject} was to open at a public https address; none is handed over`;
  const { channel, promise } = main.plan;
  if (url === null)
    return `${subject} was to be shown through ${channel}, ${CHANNELS[channel].title}; no address is handed over`;
  return [`${subject} ${promise} at ${url}`, ...(main.placement?.notes ?? [])].join('; ');
}

function code({ subject, file, main, plan, because, duplicates }: Findings): string {
  const parts = [subject === THE_LINK ? 'no file' : `file ${subject}`];
  const planned = main?.plan ?? plan;
  if (planned !== null) {
    const { channel, method, destination } = planned;
    parts.push(`channel ${channel} (${CHANNELS[channel].name}), because ${because}`, method, destination);
  }
  const commit = main?.placement?.commitSha;
  if (commit !== undefined) parts.push(`commit ${commit}`);
  if (file !== null) parts.push(`${file.size} bytes`, `sha256 ${file.sha256}`);
  for (const { plan } of duplicates) parts.push(`duplicate ${plan.channel} (${CHANNELS[plan.channel].name})`);
  return parts.join('; ');
}

function test({ main, operation }: Findings, notReady: Reason | null): string {
  const proof = main?.proof ?? null;
  if (main?.placement == null) return `nothing was fetched; the delivery ended at step ${notReady?.step}`;
  const parts = [`HTTP ${main.httpCode ?? 'none'}`];
  if (proof === null) parts.push(operation === 'deliver' ? 'marker found: no' : 'not proven to be gone');
  else if (proof.likeness === 'gone') parts.push('nothing is served there any more');
  else if (proof.markerCount === null) parts.push('marker found: none was given, all bytes compared');
  else parts.push(`marker found: yes, ${proof.markerCount} ×`);
  if (proof !== null && proof.likeness !== 'marked' && proof.likeness !== 'gone') {
    parts.push(`bytes identical: ${proof.likeness === 'identical' ? 'yes' : 'no'}`);
  }
  const { wait } = main.took;
  parts.push(`build time: ${wait === undefined ? 'no build' : `${(wait / 1000).toFixed(1)} s`}`);
  return parts.join('; ');
}

function unknownOf(
  { operation, failure, file, main, duplicates, subject, unknown: findings }: Findings,
  ready: boolean,
): string[] {
  const unknown = [...findings, ...(main?.unknown ?? [])];
  if (main?.proof?.likeness === 'altered')
    unknown.push('the body holds the marker, but is not the file byte for byte');
  if (main?.proof?.likeness === 'marked') unknown.push('no file was given, so only the marker was compared');
  for (const { plan, failure: failed, unknown: also } of duplicates) {
    unknown.push(...also.map((line) => `${plan.channel}: ${line}`));
    if (failed !== null) unknown.push(`the duplicate on ${plan.channel} is not proven: ${failed.message}`);
  }
  if (ready) return unknown;
  unknown.push(operation === 'deliver' ? leftBehind(main) : 'whether it still opens anywhere');
  if ((failure ?? main?.failure)?.code === 'NO_NETWORK' && file !== null) {
    unknown.push(`the file itself stays at ${subject}, sha256 ${file.sha256}`);
  }
  return unknown;
}

/** What a delivery that is not ready has left in the world. */
function leftBehind(main: Outcome | null): string {
  const nothing = 'everything behind the failing step; nothing was published';
  if (main === null) return nothing;
  const { failure, placement, plan } = main;
  if (placement !== null) {
    return `whether the address will show the file later; it was placed (${placement.evidence}; ${plan.destination})`;
  }
  const refused = failure?.code === 'NO_NETWORK' || Math.floor((failure?.httpCode ?? 0) / 100) === 4;
  return refused ? nothing : `whether a part of the file has arrived (${plan.destination})`;
}

function duplicateReport({ plan, placement, proof, failure }: Outcome): DuplicateReport {
  return {
    channel: plan.channel,
    url: proof === null ? null : (placement?.url.href ?? null),
    reason: failure === null ? null : inWords(reasonOf(failure)),
  };
}
