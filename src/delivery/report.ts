import type { DeliveryError } from '../errors.ts';
import { type ChannelKey, PROTOCOL, REPORT_LINES, type ReportLine, type Step } from '../protocol/words.ts';
import type { Operation } from '../request/values.ts';
import type { Outcome } from './carry.ts';
import { type Findings, LINK_SUBJECT, nothingYet } from './findings.ts';
import { evaluateGates, type Gate } from './gates.ts';
import { type FailureReason, formatReason, toFailureReason } from './reason.ts';
import { composeLines, listUnknown } from './report-lines.ts';

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
  readonly notReady: FailureReason | null;
  readonly unknown: readonly string[];
  /** What a person should know of the address, such as how long it lives. */
  readonly notes: readonly string[];
  /** Milliseconds by step. */
  readonly took: Readonly<Partial<Record<Step, number>>>;
}

/** Composes the report. The URL stands in it only when every gate is passed. */
export function composeReport(findings: Findings): Report {
  const { file, main, duplicates, subject } = findings;
  const gates = evaluateGates(main);
  const ready = findings.failure === null && gates.every(({ passed }) => passed);
  const notReady = ready ? null : toFailureReason(findings.failure ?? main?.failure ?? null, main?.httpCode);
  const proven = ready ? (main?.placement?.url.href ?? null) : null;
  const delivers = findings.operation === 'deliver';
  const unknown = listUnknown(findings, ready);
  return {
    protocol: PROTOCOL.identifier,
    version: PROTOCOL.version,
    operation: findings.operation,
    ready,
    url: delivers ? proven : null,
    withdrawn: delivers ? null : proven,
    lines: composeLines(findings, notReady, proven, unknown),
    gates,
    file:
      subject === LINK_SUBJECT
        ? null
        : { path: subject, size: file?.size ?? null, sha256: file?.sha256 ?? null },
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

/**
 * The report on what was refused before it could begin.
 *
 * @param file what was said of the file; the first line stands for all
 */
export function refusalReport(file: string, failure: DeliveryError): Report {
  const subject = file.trim().split('\n')[0] || LINK_SUBJECT;
  return composeReport({ ...nothingYet('deliver', subject), failure });
}

/** The report as the protocol writes it, a line each. */
export function reportText(report: Report): string {
  return REPORT_LINES.map((line) => `${line}: ${report.lines[line]}`.trimEnd()).join('\n');
}

function duplicateReport({ plan, placement, proof, failure }: Outcome): DuplicateReport {
  return {
    channel: plan.channel,
    url: proof === null ? null : (placement?.url.href ?? null),
    reason: failure === null ? null : formatReason(toFailureReason(failure)),
  };
}
