import type { Placement, SiteChanges } from '../channels/channel.ts';
import { type ChangeCounts, countChanges } from '../channels/site-changes.ts';
import type { DeliveryError } from '../errors.ts';
import { SITE } from '../protocol/limits.ts';
import { type ChannelKey, PROTOCOL, REPORT_LINES, type ReportLine, type Step } from '../protocol/words.ts';
import type { Operation } from '../request/values.ts';
import type { ChannelAttempt } from './channel-attempt.ts';
import { type FailureReason, formatReason, toFailureReason } from './failure-reason.ts';
import { type FileDelivery, LINK_SUBJECT, mainAttempt, newDelivery } from './file-delivery.ts';
import { evaluateGates, type Gate } from './gates.ts';
import { neutralizeText } from './neutral-text.ts';
import { composeLines, duplicateAttempts, listUnknown, mainPlan } from './report-lines.ts';
import { type PictureReport, reportPicture } from './screen/picture-report.ts';
import { reportScreen, type ScreenReport } from './screen/screen-report.ts';

/** How a duplicate went. */
export interface DuplicateReport {
  readonly channel: ChannelKey;
  /** `null` unless it was proven. */
  readonly url: string | null;
  readonly reason: string | null;
}

/** A folder that was delivered as one. */
export interface SiteReport {
  /** Path of the page whose address is handed over. */
  readonly entry: string;
  /** How many files, and their bytes together. */
  readonly count: number;
  readonly size: number;
  /** The first files in the order of their paths, at most `SITE.listed`. */
  readonly files: readonly { readonly path: string; readonly size: number; readonly sha256: string }[];
  /** What the delivery changed in the folder; `null` where it was not placed. Each list has at most `SITE.listed` paths. */
  readonly changes: SiteChanges | null;
  /** How many files were added, changed and removed. */
  readonly changeCounts: ChangeCounts | null;
  /** Git's id of the files as a tree. */
  readonly treeSha: string | null;
  /** Bytes of everything that Pages serves from the branch with it. */
  readonly servedSize: number | null;
  /** Hidden files and folders, which are not delivered. */
  readonly leftOut: readonly string[];
}

/** The report on one file or folder: the protocol's lines, and the same as data. @see protocol 4.7 */
export interface Report {
  readonly protocol: typeof PROTOCOL.identifier;
  readonly version: typeof PROTOCOL.version;
  /** What was asked for. */
  readonly operation: Operation;
  readonly ready: boolean;
  /** `null` unless every gate is passed, and once the file is withdrawn. */
  readonly url: string | null;
  /** The address that no longer serves the file, once every gate of a withdrawal is passed. */
  readonly withdrawn: string | null;
  /** Only once all gates of a withdrawal are passed: every address that is gone, at most `SITE.listed`, pages first. */
  readonly gone?: readonly string[];
  readonly lines: Readonly<Record<ReportLine, string>>;
  readonly gates: readonly Gate[];
  readonly file: {
    readonly path: string;
    readonly size: number | null;
    readonly sha256: string | null;
  } | null;
  /** Of a folder: what was delivered as one; `null` for a file. */
  readonly site: SiteReport | null;
  readonly channel: ChannelKey | null;
  readonly commitSha: string | null;
  readonly rawUrl: string | null;
  readonly duplicates: readonly DuplicateReport[];
  /** What a browser saw of the page (K1); `null` where none was to look. */
  readonly screen: ScreenReport | null;
  /** The picture that was delivered with the page; `null` unless it is proven. */
  readonly picture: PictureReport | null;
  readonly notReady: FailureReason | null;
  readonly unknown: readonly string[];
  /** What a person should know of the address, such as when it expires. */
  readonly notes: readonly string[];
  /** Milliseconds by step. */
  readonly took: Readonly<Partial<Record<Step, number>>>;
}

/** How a delivery ended, as the output `result` says it. */
export type DeliveryResult = 'ready' | 'withdrawn' | 'planned' | 'not-ready';

/** How one delivery ended. */
export function getDeliveryResult({ ready, operation, notReady }: Report): DeliveryResult {
  if (ready) return operation === 'withdraw' ? 'withdrawn' : 'ready';
  return notReady?.code === 'DRY_RUN' ? 'planned' : 'not-ready';
}

/** How several deliveries of one step ended: the same way, or not ready. */
export function getSharedResult(reports: readonly Report[]): DeliveryResult {
  const [first, ...others] = [...new Set(reports.map(getDeliveryResult))];
  return first === undefined || others.length > 0 ? 'not-ready' : first;
}

/** Composes the report. It contains the URL only when every gate is passed. */
export function composeReport(delivery: FileDelivery): Report {
  const { file, subject, operation, failure } = delivery;
  const main = mainAttempt(delivery);
  const gates = evaluateGates(main, operation).map((gate) => ({
    ...gate,
    evidence: neutralizeText(gate.evidence),
  }));
  const ready = failure === null && gates.every(({ passed }) => passed);
  const notReady = ready
    ? null
    : toFailureReason(failure ?? main?.failure ?? null, main?.lastProbe?.httpCode ?? null);
  const provenUrl = ready ? (main?.placement?.url.href ?? null) : null;
  const unknown = listUnknown(delivery, ready).map(neutralizeText);
  return {
    protocol: PROTOCOL.identifier,
    version: PROTOCOL.version,
    operation,
    ready,
    url: operation === 'deliver' ? provenUrl : null,
    withdrawn: operation === 'withdraw' ? provenUrl : null,
    ...(operation === 'withdraw' && ready ? { gone: listAddresses(main?.placement ?? null) } : {}),
    lines: composeLines(delivery, { notReady, provenUrl, unknown }),
    gates,
    file:
      subject === LINK_SUBJECT
        ? null
        : { path: subject, size: delivery.site?.size ?? file?.size ?? null, sha256: file?.sha256 ?? null },
    site: reportSite(delivery),
    channel: mainPlan(delivery)?.channel ?? null,
    commitSha: main?.placement?.commitSha ?? null,
    rawUrl: main?.rawUrl?.href ?? null,
    duplicates: duplicateAttempts(delivery).map(reportDuplicate),
    screen: reportScreen(delivery),
    picture: ready ? reportPicture(delivery) : null,
    notReady,
    unknown,
    notes: [...(main?.placement?.notes ?? []), ...delivery.notes].map(neutralizeText),
    took: main?.took ?? {},
  };
}

/**
 * The report on what was refused before it could begin.
 *
 * @param file what was said of the file; its first line is named
 */
export function refusalReport(
  file: string,
  failure: DeliveryError,
  operation: Operation = 'deliver',
): Report {
  const subject = file.trim().split('\n')[0] || LINK_SUBJECT;
  return composeReport({ ...newDelivery(operation, subject), failure });
}

/** The report as the protocol writes it, a line each. */
export function reportText(report: Report): string {
  return REPORT_LINES.map((line) => `${line}: ${report.lines[line]}`.trimEnd()).join('\n');
}

function reportSite(delivery: FileDelivery): SiteReport | null {
  const { site } = delivery;
  if (site === null) return null;
  const bound = (paths: readonly string[]): readonly string[] => paths.slice(0, SITE.listed);
  const { changes, treeSha = null, servedSize = null } = mainAttempt(delivery)?.placement ?? {};
  return {
    entry: site.entry,
    count: site.files.length,
    size: site.size,
    files: site.files
      .slice(0, SITE.listed)
      .map(({ path, file: { size, sha256 } }) => ({ path, size, sha256 })),
    changes:
      changes === undefined
        ? null
        : {
            added: bound(changes.added),
            changed: bound(changes.changed),
            removed: bound(changes.removed),
            kept: bound(changes.kept),
            removedFolders: bound(changes.removedFolders),
          },
    changeCounts: changes === undefined ? null : countChanges(changes),
    treeSha,
    servedSize,
    leftOut: bound(site.leftOut),
  };
}

function listAddresses(placement: Placement | null): readonly string[] {
  if (placement === null) return [];
  const urls = [placement.url, ...(placement.parts ?? []).map(({ url }) => url)];
  return urls.slice(0, SITE.listed).map(({ href }) => href);
}

function reportDuplicate({ task, placement, proof, failure }: ChannelAttempt): DuplicateReport {
  return {
    channel: task.plan.channel,
    url: proof === null ? null : (placement?.url.href ?? null),
    reason: failure === null ? null : formatReason(toFailureReason(failure)),
  };
}
