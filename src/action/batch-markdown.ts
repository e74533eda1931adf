import type { Report } from '../delivery/report.ts';
import type { GateName } from '../protocol/words.ts';
import {
  formatFoldedSection,
  formatLink,
  formatTable,
  formatTableRow,
  joinBlocks,
  takeWhileFits,
} from './markdown.ts';
import { formatPicture } from './picture-markdown.ts';
import {
  ALL_VERIFIED,
  describeHint,
  describeReason,
  formatGates,
  formatList,
  formatReportLines,
  formatReportName,
  formatShortText,
  getReportState,
  listCaveats,
  listFacts,
  listFindings,
  REPORT_STATES,
  type ReportState,
} from './report-markdown.ts';
import { describeSite } from './site-markdown.ts';

/** The blocks around the files of a batch, and the room there is. */
export interface BatchFrame {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Where to find what is left out. */
  readonly elsewhere: string;
  readonly limit: number;
  readonly measure: (text: string) => number;
}

/** Room for headings, and for saying what was left out. */
const RESERVE = 2_048;
/** The gate whose evidence says how the address was proven. */
const PROOF_GATE: GateName = 'G3_VERIFY_200_и_маркер';

const STATES = Object.keys(REPORT_STATES) as readonly ReportState[];
const HEAD = ['', 'File', 'Proof, or the reason why it is not ready'];

/**
 * Several files: how many are in which state, a row for each with its link, the caveats of all, and their
 * reports folded. What doesn't fit is left out, the reports before the rows, and the text says so.
 */
export function composeBatch(reports: readonly Report[], frame: BatchFrame): string {
  const { before, after, measure } = frame;
  const sorted = reports.toSorted((one, other) => getRank(one) - getRank(other));
  const heading = `### ${formatCounts(reports)}`;
  const room = frame.limit - RESERVE - measure(joinBlocks([...before, heading, ...after]));
  const describeRest = (shown: readonly string[]): string =>
    shown.length === sorted.length ? '' : `… and ${sorted.length - shown.length} more: ${frame.elsewhere}`;

  const rows = takeWhileFits(sorted, formatRow, room, measure);
  const files = joinBlocks([formatTable(HEAD, rows), describeRest(rows)]);
  const caveats = takeWhileFits([sorted], formatSharedCaveats, room - measure(files), measure);
  const top = joinBlocks([files, ...caveats]);
  const folded = takeWhileFits(sorted, formatFoldedReport, room - measure(top), measure);
  const details =
    folded.length === 0 ? '' : formatFoldedSection('Reports', joinBlocks([...folded, describeRest(folded)]));
  return joinBlocks([...before, heading, top, ...after, details]);
}

/** What needs attention comes first. */
const getRank = (report: Report): number => STATES.indexOf(getReportState(report));

/** Such as `❌ 2 Not ready · НЕ ГОТОВО, ✅ 28 Ready · ГОТОВО`. */
function formatCounts(reports: readonly Report[]): string {
  return STATES.flatMap((state) => {
    const count = reports.filter((report) => getReportState(report) === state).length;
    const { sign, word } = REPORT_STATES[state];
    return count === 0 ? [] : [`${sign} ${count} ${word}`];
  }).join(', ');
}

/** A file's row: its state, its name with the link, and how it was proven or why it has no link. */
function formatRow(report: Report): string {
  const state = getReportState(report);
  const name = formatReportName(report);
  const { site, gates } = report;
  const evidence = gates.find((gate) => gate.name === PROOF_GATE)?.evidence ?? '';
  const proof = site !== null && report.ready ? describeSite(site) : formatShortText(evidence);
  const reason = [describeReason(report), describeHint(report)].filter((part) => part !== '').join('. ');
  const linked = state === 'ready' && report.url !== null ? formatLink(name, report.url) : name;
  return formatTableRow([REPORT_STATES[state].sign, linked, reason === '' ? proof : reason]);
}

/** Each caveat once, with the file it is about or the number of files, as a list. */
function formatSharedCaveats(reports: readonly Report[]): string {
  const shared = new Map<string, { kind: string; text: string; names: string[] }>();
  for (const report of reports) {
    for (const [kind, text] of listCaveats(report)) {
      const caveat = shared.get(`${kind} ${text}`) ?? { kind, text, names: [] };
      caveat.names.push(formatReportName(report));
      shared.set(`${kind} ${text}`, caveat);
    }
  }
  const caveats = [...shared.values()].flatMap(({ kind, text, names }) => {
    if (names.length === reports.length) return [[kind, text] as const];
    // "Everything was verified" is said of all files or not at all.
    if (text === ALL_VERIFIED) return [];
    return [[kind, `${text} (${names.length === 1 ? names[0] : `${names.length} files`})`] as const];
  });
  return formatList(caveats.toSorted(([one], [other]) => Number(one !== 'Note') - Number(other !== 'Note')));
}

/** Everything about one of several files, folded under its name. */
function formatFoldedReport(report: Report): string {
  const content = [
    listFindings(report),
    formatPicture(report),
    describeHint(report),
    listFacts(report),
    formatGates(report),
    formatReportLines(report),
  ];
  const title = `${REPORT_STATES[getReportState(report)].sign} ${formatReportName(report)}`;
  return formatFoldedSection(title, joinBlocks(content));
}
