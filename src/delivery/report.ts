import type { ChangeCounts, SiteChanges } from '../channels/site-changes.ts';
import type { ErrorCode } from '../errors.ts';
import { lineIf } from '../plain-text.ts';
import type { ProvenSubject } from '../proof/probe-result.ts';
import {
  CHANNELS,
  type ChannelKey,
  type GateName,
  OUTCOMES,
  type Outcome,
  type PROTOCOL,
  REPORT_LINES,
  type ReportLine,
  type Step,
} from '../protocol/words.ts';
import type { Operation } from '../request/values.ts';
import type { PlannedReport, RestoreOutcome } from './delivery.ts';
import type { PictureReport } from './screen/add-picture.ts';
import type { ScreenReport } from './screen/screen-report.ts';

/** Whether it is as delivered; changed by somebody since; withdrawn by us, and gone; or lost or altered. */
export type AuditVerdict = 'as-delivered' | 'changed' | 'withdrawn' | 'lost';

/** A gate with its evidence, or with what is missing. */
export interface GateResult {
  readonly name: GateName;
  readonly passed: boolean;
  readonly evidence: string;
}

/** Why a delivery is not ready. */
export interface FailureReason {
  readonly step: Step;
  readonly httpCode: number | null;
  readonly code: ErrorCode;
  /** What failed, with everything that was found. */
  readonly reason: string;
  /** The same in parts, where several things were found. */
  readonly findings?: { readonly about: string; readonly lines: readonly string[] };
  /** What to change; empty where nothing is known. */
  readonly hint: string;
}

/** How a duplicate went. */
export interface DuplicateReport {
  readonly channel: ChannelKey;
  /** `null` unless it was proven. */
  readonly url: string | null;
  readonly reason: string | null;
  /** As that of the report: what is there now. */
  readonly restored?: RestoreOutcome;
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
  /** Hidden files and folders, and those that `!` lines leave out: they are not delivered. */
  readonly leftOut: readonly string[];
}

/** The report on one file or folder: the protocol's lines, and the same as data. @see protocol 4.7 */
export interface Report {
  readonly protocol: typeof PROTOCOL.identifier;
  readonly version: typeof PROTOCOL.version;
  /** What was asked for. */
  readonly operation: Operation;
  /** How it ended, as the output `result` says it. */
  readonly result: DeliveryResult;
  /** Whether every gate is passed. */
  readonly ready: boolean;
  /** What it is about, as the user wrote it: a file or a folder, `the given link`, or empty where nothing was named. */
  readonly subject: string;
  /** `null` unless every gate is passed, and once the file is withdrawn. With `?v=` while a cache shows an earlier version. */
  readonly url: string | null;
  /** What the claim says of `url`, such as `opens on the screen` or `downloads`; only of a delivery that is ready. */
  readonly verb?: string;
  /** Only if `url` has `?v=`: until when a cache may show the earlier version without it. Give it with `url`. */
  readonly urlNote?: string;
  /** Only of a withdrawal or an audit that is ready: how it ended, such as `page.html is removed`. */
  readonly outcome?: string;
  /** The address that no longer serves the file, once every gate of a withdrawal is passed. */
  readonly withdrawn: string | null;
  /** Only once all gates of a withdrawal are passed: every address that is gone, at most `SITE.listed`, pages first. */
  readonly gone?: readonly string[];
  /** Of a withdrawal that is ready: whether there was nothing to remove, and whether `!` lines leave a part. */
  readonly wasAbsent?: boolean;
  readonly leavesFiles?: boolean;
  /** Of an audit: what became of the delivery; absent where that was not found out. */
  readonly verdict?: AuditVerdict;
  readonly lines: Readonly<Record<ReportLine, string>>;
  readonly gates: readonly GateResult[];
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
  /** What a dry run or a check found; `null` for all others, and where it failed. */
  readonly planned: PlannedReport | null;
  readonly notReady: FailureReason | null;
  /** Only with `on-failure: restore`, of what was committed and is not proven: what is there now. */
  readonly restored?: RestoreOutcome;
  readonly unknown: readonly string[];
  /** What a person should know of the address, such as when it expires. */
  readonly notes: readonly string[];
  /** Milliseconds by step. */
  readonly took: Readonly<Partial<Record<Step, number>>>;
  /** @internal Whether it may have changed what is at the address: it is ready, or left something behind. */
  readonly mayBeWritten?: boolean;
  /** @internal The notes that CLAIM says too. */
  readonly claimedNotes?: readonly string[];
  /** @internal For the receipt, and no part of the JSON: of a delivery that is ready, at most `SITE.subjects`. */
  readonly proven?: readonly ProvenSubject[];
}

/** How a delivery ended, as the output `result` says it. */
export type DeliveryResult = 'ready' | 'withdrawn' | 'audited' | 'planned' | 'not-ready';

/** The fields of which the lines are written. */
export type ReportFields = Omit<Report, 'lines' | 'outcome' | 'claimedNotes'>;

const ORDER: readonly DeliveryResult[] = ['not-ready', 'planned', 'withdrawn', 'audited', 'ready'];

/** What needs attention comes first. */
export function sortByResult(reports: readonly Report[]): readonly Report[] {
  const getRank = (report: Report): number => ORDER.indexOf(report.result);
  return reports.toSorted((report, other) => getRank(report) - getRank(other));
}

/** The file or folder that a report is about, as the user wrote it. */
export const nameSubject = ({ subject }: Report): string => subject || 'no file';

/** The report as the protocol writes it, a line each. */
export const reportText = ({ lines }: Report): string =>
  REPORT_LINES.map((line) => `${line}: ${lines[line]}`.trimEnd()).join('\n');

/** What failed, and where. */
export function formatFailure({ step, httpCode, reason }: FailureReason): string {
  return `${reason} (step ${step}${httpCode === null ? '' : `, HTTP ${httpCode}`})`;
}

/** The reason in one line: what failed, where, and what to change. */
export const formatReason = (failure: FailureReason): string =>
  [formatFailure(failure), ...lineIf(failure.hint !== '', `To fix: ${failure.hint}`)].join('. ');

export const formatPlanned = ({ reason, next }: PlannedReport): string => `${reason}. Next: ${next}`;

/**
 * What a command, a step or a tool answers, as JSON. Give the human `url` if it is not empty, else `reason` and
 * `hint`.
 */
export interface ReportDocument {
  /** How it ended: `ready` only if every file is proven, `planned` after a dry run or a check. */
  readonly result: DeliveryResult;
  /** The proven address, one line for each file; empty unless `result` is `ready`. */
  readonly url: string;
  /** Why there is no address to hand over; empty if `result` is `ready`. */
  readonly reason: string;
  /** What to change, or what to do after a dry run; empty where nothing is known. */
  readonly hint: string;
  /** Why it is not ready; `null` otherwise. */
  readonly code: ErrorCode | null;
  /** A report for each file or folder; empty where the command itself is wrong. */
  readonly reports: readonly Report[];
}

const VERDICTS: Readonly<Record<AuditVerdict, string>> = {
  'as-delivered': 'as delivered',
  changed: 'changed by somebody since',
  withdrawn: 'withdrawn',
  lost: 'lost or altered',
};

function countVerdicts(reports: readonly Report[]): string {
  const counts = Object.entries(VERDICTS).map(([key, title]) => {
    return { count: reports.filter(({ verdict }) => verdict === key).length, title };
  });
  return counts.flatMap(({ count, title }) => (count === 0 ? [] : [`${count} ${title}`])).join(', ');
}

/** How it ended, as people read it. */
export function outcomeOf({ result, wasAbsent, leavesFiles, verdict }: Report): Outcome {
  if (wasAbsent) return 'absent';
  if (leavesFiles) return 'in-part';
  const isOther = verdict === 'changed' || verdict === 'withdrawn';
  return result === 'audited' && isOther ? verdict : result;
}

/** How it ended in one line, such as `Not ready: …`. */
export function describeOutcome(report: Report): string {
  const { planned, notReady, outcome, url, urlNote } = report;
  const note = urlNote === undefined ? '' : ` (${urlNote})`;
  const end = planned !== null ? formatPlanned(planned) : (outcome ?? url + note);
  const detail = notReady === null ? end : [formatReason(notReady), ...listCopies(report)].join('. ');
  return `${OUTCOMES[outcomeOf(report)]}: ${detail}`;
}

/** Where a duplicate was verified. */
export const listCopies = ({ duplicates }: Report): readonly string[] =>
  duplicates.flatMap(({ channel, url }) =>
    url === null ? [] : `Verified copy (${CHANNELS[channel].title}): ${url}`,
  );

/** How many ended in which way, such as `1 not ready, 28 ready`. */
export function countOutcomes(reports: readonly Report[]): ReadonlyMap<Outcome, number> {
  const groups = Map.groupBy(sortByResult(reports), outcomeOf);
  return new Map([...groups].map(([outcome, { length }]) => [outcome, length]));
}

/** The one JSON of every interface. @param given without secrets */
export function composeDocument(given: readonly Report[]): ReportDocument {
  const reports = given.map(
    ({ proven: _, claimedNotes: __, mayBeWritten: ___, ...report }): Report => report,
  );
  const [shared = 'not-ready', ...others] = new Set(reports.map((report) => report.result));
  const result = others.length > 0 ? 'not-ready' : shared;
  const document = { result, url: '', reason: '', hint: '', code: null, reports };
  if (result === 'ready') return { ...document, url: reports.map(({ url }) => url ?? '').join('\n') };
  if (result === 'withdrawn')
    return { ...document, reason: reports.map(({ outcome }) => outcome ?? '').join('; ') };
  if (result === 'audited') return { ...document, reason: countVerdicts(reports) };
  const planned = result === 'planned' ? reports[0]?.planned : undefined;
  if (planned) return { ...document, reason: planned.reason, hint: planned.next };
  const failed = reports.filter((report) => report.result === result);
  const [first = reports[0]] = failed;
  const { code = 'INTERNAL', hint = '', reason = 'nothing was delivered' } = first?.notReady ?? {};
  const count =
    first !== undefined && reports.length > 1
      ? `${failed.length} of ${reports.length} are not ready; ${nameSubject(first)}: `
      : '';
  return { ...document, reason: `${count}${reason}`, hint, code };
}
