import type { ListedItem } from '../channels/channel.ts';
import type { ChangeCounts, SiteChanges } from '../channels/site-changes.ts';
import type { InlinedFile } from '../convert/resources.ts';
import type { ErrorCode } from '../errors.ts';
import { lineIf } from '../plain-text.ts';
import type { ProvenSubject } from '../proof/probe-result.ts';
import {
  CHANNEL_LABELS,
  type ChannelKey,
  GATE_TITLES,
  type GateName,
  OUTCOMES,
  type Outcome,
  type PROTOCOL,
  REPORT_LINES,
  type ReportLine,
  type Step,
} from '../protocol/words.ts';
import type { Operation } from '../request/inputs.ts';
import type { ChangedPage, PlannedReport, RestoreOutcome } from './delivery.ts';
import type { PictureReport } from './screen/add-picture.ts';
import type { ScreenReport } from './screen/screen-report.ts';

/** The verdict of an audit. `lost` includes altered content. */
export type AuditVerdict = 'as-delivered' | 'changed' | 'withdrawn' | 'lost';

/** A gate with its evidence, or what is missing. */
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
  /** What failed, with all findings. */
  readonly reason: string;
  /** `reason` in parts, if there are several findings. */
  readonly findings?: { readonly about: string; readonly lines: readonly string[] };
  /** What to change; empty if unknown. */
  readonly hint: string;
}

export interface DuplicateReport {
  readonly channel: ChannelKey;
  /** `null` unless verified. */
  readonly url: string | null;
  readonly reason: string | null;
  readonly restored?: RestoreOutcome;
}

/** A delivered folder. */
export interface SiteReport {
  /** Path of the page whose URL is handed over. */
  readonly entry: string;
  /** The number of files, and their total bytes. */
  readonly count: number;
  readonly size: number;
  /** The first files by path, at most `SITE.listed`. */
  readonly files: readonly { readonly path: string; readonly size: number; readonly sha256: string }[];
  /** Changes in the folder, each list at most `SITE.listed` paths; `null` if it was not placed. */
  readonly changes: SiteChanges | null;
  readonly changeCounts: ChangeCounts | null;
  /** Git's tree id of the files. */
  readonly treeSha: string | null;
  /** Bytes of the whole Pages site. */
  readonly servedSize: number | null;
  /** Not delivered: hidden files and folders, and matches of `!` lines. */
  readonly leftOut: readonly string[];
}

/** The report on one file or folder: the protocol's lines, and the same facts as data. @see protocol 4.7 */
export interface Report {
  readonly protocol: typeof PROTOCOL.identifier;
  readonly version: typeof PROTOCOL.version;
  readonly operation: Operation;
  readonly result: DeliveryResult;
  /** Whether every gate passed. */
  readonly ready: boolean;
  /** The file or folder as the user wrote it, or `the given link`; empty if the request named nothing. */
  readonly subject: string;
  /** `null` unless every gate passed. With `?v=` while a cache shows an earlier version. */
  readonly url: string | null;
  /** Only if ready: the claim about `url`, such as `opens on the screen` or `downloads`. */
  readonly verb?: string;
  /** Only if ready: whether a browser shows what is at `url`, or saves it. */
  readonly opens?: 'page' | 'download';
  /** Only if ready: when the host deletes it, if that is known. */
  readonly expires?: string;
  /** Only if ready: whether an earlier delivery of this tool was replaced. */
  readonly replaced?: boolean;
  /** Only if `url` has `?v=`: how long a cache may show the earlier version without it. Show it with `url`. */
  readonly urlNote?: string;
  /** Only if a withdrawal or an audit is ready: the outcome, such as `page.html is removed`. */
  readonly outcome?: string;
  /** The URL that no longer serves the file; `null` unless every gate of a withdrawal passed. */
  readonly withdrawn: string | null;
  /** Only if a withdrawal is ready: the removed URLs, at most `SITE.listed`, pages first. */
  readonly gone?: readonly string[];
  /** Only if a withdrawal is ready: whether there was nothing to remove, and whether a part of it stays. */
  readonly wasAbsent?: boolean;
  readonly leavesFiles?: boolean;
  /** Sweeps only: the folders that it removed from the branch. */
  readonly swept?: readonly { readonly path: string; readonly url: string }[];
  /** Audits only; absent if it was not found out. */
  readonly verdict?: AuditVerdict;
  readonly lines: Readonly<Record<ReportLine, string>>;
  readonly gates: readonly GateResult[];
  readonly file: {
    readonly path: string;
    readonly size: number | null;
    readonly sha256: string | null;
  } | null;
  /** `null` for a file. */
  readonly site: SiteReport | null;
  /** Only if the page was made self-contained: what was put into it. A file of its folder has a relative path. */
  readonly inlined?: readonly InlinedFile[];
  readonly channel: ChannelKey | null;
  readonly commitSha: string | null;
  readonly rawUrl: string | null;
  readonly duplicates: readonly DuplicateReport[];
  /** What a browser saw (K1); `null` without a browser check. */
  readonly screen: ScreenReport | null;
  /** The delivered picture of the page; `null` unless verified. */
  readonly picture: PictureReport | null;
  /** Only if ready, with `compare`: the pages that differ from the other folder, at most `SITE.listed`. */
  readonly changedPages?: readonly ChangedPage[];
  /** The result of a dry run or a check; `null` if it failed, and for other requests. */
  readonly planned: PlannedReport | null;
  readonly notReady: FailureReason | null;
  /** Only with `on-failure: restore`: what the URL serves after a failed delivery. */
  readonly restored?: RestoreOutcome;
  readonly unknown: readonly string[];
  /** What a person should know about the URL, such as when it expires. */
  readonly notes: readonly string[];
  /** Milliseconds by step. */
  readonly took: Readonly<Partial<Record<Step, number>>>;
  /** @internal Whether the content at the URL may have changed. */
  readonly mayBeWritten?: boolean;
  /** @internal Where a stopped delivery may be. */
  readonly mayBeAt?: string;
  /** @internal The notes that CLAIM repeats. */
  readonly claimedNotes?: readonly string[];
  /** @internal For the receipt: the verified URLs of a ready delivery, at most `SITE.subjects`. */
  readonly proven?: readonly ProvenSubject[];
}

/** The result of a delivery, as in the output `result`. */
export type DeliveryResult = 'ready' | 'withdrawn' | 'audited' | 'planned' | 'not-ready';

export type ReportFields = Omit<Report, 'lines' | 'outcome' | 'claimedNotes'>;

const ORDER: readonly DeliveryResult[] = ['not-ready', 'planned', 'withdrawn', 'audited', 'ready'];

/** Sorts reports that need attention first. */
export function sortByResult(reports: readonly Report[]): readonly Report[] {
  const getRank = (report: Report): number => ORDER.indexOf(report.result);
  return reports.toSorted((report, other) => getRank(report) - getRank(other));
}

/** The file or folder of a report, as the user wrote it. */
export const nameSubject = ({ subject }: Report): string => subject || 'no file';

/** The five lines of the protocol. */
export const reportText = ({ lines }: Report): string =>
  REPORT_LINES.map((line) => `${line}: ${lines[line]}`.trimEnd()).join('\n');

/** What failed, with step and HTTP code. */
export function formatFailure({ step, httpCode, reason }: FailureReason): string {
  return `${reason} (step ${step}${httpCode === null ? '' : `, HTTP ${httpCode}`})`;
}

/** One line: what failed, at which step, and what to change. */
export const formatReason = (failure: FailureReason): string =>
  [formatFailure(failure), ...lineIf(failure.hint !== '', `To fix: ${failure.hint}`)].join('. ');

export const formatPlanned = ({ reason, next }: PlannedReport): string =>
  [reason, ...lineIf(next !== '', `Next: ${next}`)].join('. ');

/** The JSON answer of every interface. Give the human `url` if it is not empty, otherwise `reason` and `hint`. */
export interface ReportDocument {
  /** `ready` only if every file is verified, `planned` after a dry run or a check. */
  readonly result: DeliveryResult | 'listed';
  /** The verified URL, one line for each file; empty unless `result` is `ready`. */
  readonly url: string;
  /** Why there is no URL to hand over; empty if `result` is `ready`. */
  readonly reason: string;
  /** What to change, or what to do after a dry run; empty if unknown. */
  readonly hint: string;
  /** Why it is not ready; `null` otherwise. */
  readonly code: ErrorCode | null;
  /** A report for each file or folder; empty if the command itself is wrong. */
  readonly reports: readonly Report[];
  /** `listed` only: what the records say, of each channel the newest first. Nothing of it is verified. */
  readonly deliveries?: readonly ListedItem[];
  /** `listed` only: which deliveries may be missing. */
  readonly unlisted?: readonly string[];
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

/** The outcome in people's terms. */
export function outcomeOf({ result, wasAbsent, leavesFiles, verdict }: Report): Outcome {
  if (wasAbsent) return 'absent';
  if (leavesFiles) return 'in-part';
  const isOther = verdict === 'changed' || verdict === 'withdrawn';
  return result === 'audited' && isOther ? verdict : result;
}

/** The outcome in one line, such as `Not ready: …`. */
export function describeOutcome(report: Report): string {
  const { planned, notReady, outcome, url, urlNote } = report;
  const note = urlNote === undefined ? '' : ` (${urlNote})`;
  const end = planned !== null ? formatPlanned(planned) : (outcome ?? url + note);
  const detail = notReady === null ? end : [formatReason(notReady), ...listCopies(report)].join('. ');
  return `${OUTCOMES[outcomeOf(report)]}: ${detail}`;
}

export const copyLabel = (channel: ChannelKey): string => `Verified copy (${CHANNEL_LABELS[channel]})`;

/** The verified duplicates, a line each. */
export const listCopies = ({ duplicates }: Report): readonly string[] =>
  duplicates.flatMap(({ channel, url }) => (url === null ? [] : `${copyLabel(channel)}: ${url}`));

/** The notes, except the note about the URL, which is beside the URL. */
export const listNotes = ({ notes, urlNote }: Report): readonly string[] =>
  notes.filter((note) => note !== urlNote);

/** What a line of UNKNOWN is for people. If nothing was published, it says so. */
export const unknownLabel = ({ operation, notReady, mayBeWritten }: Report): string =>
  notReady && operation === 'deliver' && mayBeWritten === false ? 'Status' : 'Not verified';

export const gateTitles = ({ result, wasAbsent }: Report): typeof GATE_TITLES =>
  result === 'withdrawn'
    ? { ...GATE_TITLES, G1_выложено: wasAbsent ? 'Nothing removed' : 'Removed' }
    : GATE_TITLES;

/** Counts reports by outcome, such as `1 not ready, 28 ready`. */
export function countOutcomes(reports: readonly Report[]): ReadonlyMap<Outcome, number> {
  const groups = Map.groupBy(sortByResult(reports), outcomeOf);
  return new Map([...groups].map(([outcome, { length }]) => [outcome, length]));
}

/** The one JSON of every interface. @param given without secrets */
export function composeDocument(given: readonly Report[]): ReportDocument {
  const reports = given.map(
    ({ proven: _, claimedNotes: __, mayBeWritten: ___, mayBeAt: ____, ...report }): Report => report,
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
