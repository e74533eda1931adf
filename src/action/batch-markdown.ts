import type { Report } from '../delivery/report.ts';
import type { GateName } from '../protocol/words.ts';
import { blocks, foldedSection, link, table, tableRow, takeWhileFits } from './markdown.ts';
import {
  ALL_VERIFIED,
  describeHint,
  describeReason,
  formatList,
  gatesTable,
  linesList,
  listCaveats,
  listFacts,
  REPORT_STATES,
  type ReportState,
  reportName,
  reportStateOf,
  shortText,
} from './report-markdown.ts';

/** What surrounds the files of a batch, and how much room there is. */
export interface BatchFrame {
  /** Blocks before and behind the table of files. */
  readonly before: readonly string[];
  readonly behind: readonly string[];
  /** Where the rest is, once something is left out. */
  readonly elsewhere: string;
  readonly limit: number;
  readonly measure: (text: string) => number;
}

/** Room for headings, and for saying what was left out. */
const RESERVE = 2_048;
/** The gate whose evidence says how the address was proven. */
const PROVEN: GateName = 'G3_VERIFY_200_и_маркер';

/**
 * Several files: their number by state, a row for each with its link, the caveats of all, and their reports
 * folded. What doesn't fit is left out, the reports before the rows, and it says so.
 */
export function composeBatch(reports: readonly Report[], frame: BatchFrame): string {
  const { before, behind, measure } = frame;
  const sorted = inOrder(reports);
  const heading = `### ${countsOf(reports)}`;
  const room = frame.limit - RESERVE - measure(blocks([...before, heading, ...behind]));
  const more = (shown: readonly string[]): string =>
    shown.length === sorted.length ? '' : `… and ${sorted.length - shown.length} more: ${frame.elsewhere}`;

  const rows = takeWhileFits(sorted, rowOf, room, measure);
  const files = blocks([table(HEAD, rows), more(rows)]);
  const caveats = takeWhileFits([sorted], sharedCaveats, room - measure(files), measure);
  const top = blocks([files, ...caveats]);
  const folds = takeWhileFits(sorted, foldedReport, room - measure(top), measure);
  const details = folds.length === 0 ? '' : foldedSection('Reports', blocks([...folds, more(folds)]));
  return blocks([...before, heading, top, ...behind, details]);
}

/** How many are in which state, such as `✅ 28 ГОТОВО · ❌ 2 НЕ ГОТОВО`. */
function countsOf(reports: readonly Report[]): string {
  const states = Object.keys(REPORT_STATES) as ReportState[];
  return states
    .map((state) => ({
      ...REPORT_STATES[state],
      number: reports.filter((one) => reportStateOf(one) === state).length,
    }))
    .filter(({ number }) => number > 0)
    .map(({ sign, number, word }) => `${sign} ${number} ${word}`)
    .join(' · ');
}

/** What needs attention first; else in their own order. */
function inOrder(reports: readonly Report[]): Report[] {
  const rank = (report: Report): number => Object.keys(REPORT_STATES).indexOf(reportStateOf(report));
  return reports.toSorted((one, other) => rank(one) - rank(other));
}

const HEAD = ['', 'File', 'Proof, or why there is none'];

/** A file's row: its state, its name with the link, and how it was proven or why it has no link. */
function rowOf(report: Report): string {
  const state = reportStateOf(report);
  const name = reportName(report);
  const proof = shortText(report.gates.find((gate) => gate.name === PROVEN)?.evidence ?? '');
  const why = [describeReason(report), describeHint(report)].filter((part) => part !== '').join('. ');
  const linked = state === 'ready' && report.url !== null ? link(name, report.url) : name;
  return tableRow([REPORT_STATES[state].sign, linked, why === '' ? proof : why]);
}

/** Each caveat once, with the file it is about, or how many, as a list. */
function sharedCaveats(reports: readonly Report[]): string {
  const about = new Map<string, { kind: string; text: string; names: string[] }>();
  for (const report of reports) {
    for (const [kind, text] of listCaveats(report)) {
      const known = about.get(`${kind} ${text}`);
      if (known === undefined) about.set(`${kind} ${text}`, { kind, text, names: [reportName(report)] });
      else known.names.push(reportName(report));
    }
  }
  const caveats = [...about.values()].flatMap(({ kind, text, names }) => {
    if (names.length === reports.length) return [[kind, text] as const];
    // What is true of some files only is no comfort.
    if (text === ALL_VERIFIED) return [];
    return [[kind, `${text} (${names.length === 1 ? names[0] : `${names.length} files`})`] as const];
  });
  return formatList(caveats);
}

/** All that is known of one file among several, folded under its name. */
function foldedReport(report: Report): string {
  const content = [describeHint(report), listFacts(report), gatesTable(report), linesList(report)];
  return foldedSection(`${REPORT_STATES[reportStateOf(report)].sign} ${reportName(report)}`, blocks(content));
}
