import { writeFile } from 'node:fs/promises';
import { composeReceipt } from '../delivery/receipt.ts';
import {
  composeDocument,
  countOutcomes,
  describeOutcome,
  formatFailure,
  listCopies,
  nameSubject,
  outcomeOf,
  type Report,
  type ReportDocument,
  reportText,
  sortByResult,
} from '../delivery/report.ts';
import { describeView } from '../delivery/screen/screen-report.ts';
import { toMessage } from '../errors.ts';
import { countFiles, lineIf, shorten } from '../plain-text.ts';
import { TEXT } from '../protocol/limits.ts';
import { GATE_TITLES, OUTCOMES, REMOVAL_GATE_TITLES } from '../protocol/words.ts';
import { systemClock } from '../system.ts';
import type { CliCommand } from './args.ts';
import type { Terminal } from './terminal.ts';

/** Prints reports as lines for people, as the protocol's report, or as JSON. @param reports without secrets @returns whether nothing failed */
export async function printReports(
  reports: readonly Report[],
  { name, json, report, qr, receipt }: Pick<CliCommand, 'name' | 'json' | 'report' | 'qr' | 'receipt'>,
  terminal: Terminal,
): Promise<boolean> {
  const document = composeDocument(reports);
  const isGood = document.result !== 'not-ready';
  if (json) terminal.printJson(document);
  else if (report) terminal.print(reports.map(reportText).join('\n\n'));
  else if (name === 'check') terminal.print(reports.map(formatCheck).join('\n'));
  else printOutcome(reports, isGood, terminal);
  if (qr) await printQrCode(document, json, terminal);
  const isWritten = receipt === undefined || (await writeReceipt(reports, receipt, terminal));
  return isGood && isWritten;
}

/** How it ended; what was done comes before that, and what to change after it. */
interface Outcome {
  readonly before: readonly string[];
  readonly end: string;
  readonly after: readonly string[];
}

function printOutcome(reports: readonly Report[], isGood: boolean, terminal: Terminal): void {
  const [only, ...others] = reports;
  const { before, end, after } =
    only === undefined || others.length > 0 ? formatReports(reports) : formatReport(only);
  if (before.length > 0) terminal.print(before.join('\n'));
  terminal.printOutcome(end, isGood);
  if (after.length > 0) terminal.print(after.join('\n'));
}

/** @returns whether the receipt is there, or there is nothing that it could say */
async function writeReceipt(
  reports: readonly Report[],
  path: string,
  { logger }: Pick<Terminal, 'logger'>,
): Promise<boolean> {
  const text = composeReceipt(reports, systemClock.date());
  if (text === null) {
    logger.warning(`no receipt was written to ${path}: only what is ready gets one`);
    return true;
  }
  try {
    await writeFile(path, text);
    return true;
  } catch (thrown) {
    logger.warning(`the receipt could not be written (the delivery is not affected): ${toMessage(thrown)}`);
    return false;
  }
}

/** The proven address as a QR code, whose block characters are of use to eyes alone. */
async function printQrCode({ url }: ReportDocument, json: boolean, terminal: Terminal): Promise<void> {
  if (json || !terminal.isInteractive()) {
    terminal.logger.warning('no QR code is shown: stdout is not the text of a terminal');
  } else if (url === '' || url.includes('\n')) {
    terminal.logger.warning('no QR code is shown: there is not exactly one proven address');
  } else {
    const { renderUnicodeCompact } = await import(/* webpackMode: "eager" */ 'uqr');
    // A phone needs the white border around it.
    terminal.print(renderUnicodeCompact(url, { border: 2 }));
  }
}

export function formatReport(report: Report): Outcome {
  const { gates, screen, notReady, result } = report;
  const caveats = [
    ...listCopies(report),
    ...listNotes(report).map((note) => `Note: ${note}`),
    ...report.unknown.map((line) => `${notReady === null ? 'Not verified' : 'Status'}: ${line}`),
  ];
  if (notReady !== null) {
    const { findings, hint } = notReady;
    const end = `${OUTCOMES['not-ready']}: ${formatFailure({ ...notReady, reason: findings?.about ?? notReady.reason })}`;
    const found = (findings?.lines ?? []).map((line) => `- ${line}`);
    return { before: [], end, after: [...found, ...lineIf(hint !== '', `To fix: ${hint}`), ...caveats] };
  }
  const titles = result === 'withdrawn' ? REMOVAL_GATE_TITLES : GATE_TITLES;
  const steps = gates.filter(({ name, passed }) => passed && /^G[13]/.test(name));
  const isSeen = screen !== null && screen.verdict !== 'not-checked';
  const before = [
    ...steps.map(({ name, evidence }) => `${titles[name]}: ${evidence}`),
    ...(isSeen ? [`Opened in Chrome: ${describeView(screen)}`] : []),
    ...caveats,
  ];
  return { before, end: describeOutcome(report), after: [] };
}

/** The note of the address is beside it. */
const listNotes = ({ ready, notes, urlNote }: Report): readonly string[] =>
  ready ? notes.filter((note) => note !== urlNote) : [];

/** Rows of the table; what failed comes first. */
const LONGEST_TABLE = 30;

/** A row for each file: how it ended, its name, and its address or the reason why it has none. */
export function formatReports(reports: readonly Report[]): Outcome {
  const rows = sortByResult(reports).slice(0, LONGEST_TABLE).map(listCells);
  const width = (nth: 0 | 1): number => Math.max(...rows.map((cells) => cells[nth].length));
  const columns = [width(0), width(1)] as const;
  const lines = rows.flatMap(([end, name, about, ...below]) => [
    `${end.padEnd(columns[0])}  ${name.padEnd(columns[1])}  ${about}`.trimEnd(),
    ...below.map((line) => `${' '.repeat(columns[0])}  ${line}`),
  ]);
  const more = reports.length - rows.length;
  const counts = [...countOutcomes(reports)].map(([end, count]) => `${count} ${OUTCOMES[end].toLowerCase()}`);
  return {
    before: [...lines, ...lineIf(more > 0, `… and ${more} more: add --report or --json to see them`)],
    end: `${countFiles(reports.length)}: ${counts.join(', ')}`,
    after: [],
  };
}

function listCells(report: Report): readonly [string, string, string, ...string[]] {
  const { site, url, urlNote, notReady, unknown } = report;
  const name = `${nameSubject(report)}${site === null ? '' : ` (${countFiles(site.count)})`}`;
  const about = notReady === null ? (url ?? '') : shorten(formatFailure(notReady), TEXT.message);
  return [
    OUTCOMES[outcomeOf(report)],
    name,
    about,
    ...lineIf(!!notReady?.hint, `To fix: ${notReady?.hint}`),
    ...[urlNote ?? [], listNotes(report)].flat().map((note) => `Note: ${note}`),
    ...(notReady === null ? unknown.map((line) => `Not verified: ${line}`) : []),
  ];
}

function formatCheck(report: Report): string {
  const { file, site, unknown, notes, notReady } = report;
  if (report.planned === null) {
    const hint = notReady?.hint ? `. To fix: ${notReady.hint}` : '';
    return `${file?.path}: can't be delivered: ${notReady?.reason}${hint}`;
  }
  const folder = site === null ? '' : `${countFiles(site.count)}, entry ${site.entry}, `;
  return [
    `${file?.path}: can be delivered, ${folder}${file?.size} bytes, sha256 ${file?.sha256}`,
    ...unknown.map((line) => `UNKNOWN: ${line}`),
    ...notes.map((line) => `note: ${line}`),
  ].join('; ');
}
