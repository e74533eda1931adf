import { writeFile } from 'node:fs/promises';
import { renderUnicodeCompact } from 'uqr';
import { formatList, formatListPage } from '../delivery/list.ts';
import { composeReceipt } from '../delivery/receipt.ts';
import {
  composeDocument,
  countOutcomes,
  describeOutcome,
  formatFailure,
  gateTitles,
  listCopies,
  listNotes,
  nameSubject,
  outcomeOf,
  type Report,
  type ReportDocument,
  reportText,
  sortByResult,
  unknownLabel,
} from '../delivery/report.ts';
import { describeView } from '../delivery/screen/screen-report.ts';
import { toMessage } from '../errors.ts';
import { countFiles, lineIf, shorten } from '../plain-text.ts';
import { TEXT } from '../protocol/limits.ts';
import { CHANNEL_LABELS, OUTCOMES } from '../protocol/words.ts';
import { systemClock } from '../system.ts';
import type { CliCommand } from './args.ts';
import type { Terminal } from './terminal.ts';

/** Prints lines for people, the protocol's report, or JSON. @param reports without secrets @returns whether nothing failed */
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
  if (qr) printQrCode(document, json, terminal);
  const isWritten = receipt === undefined || (await writeReceipt(reports, receipt, terminal));
  return isGood && isWritten;
}

/** Prints a list, and writes it as a page. @returns whether nothing failed */
export async function printList(
  document: ReportDocument,
  { json, html }: Pick<CliCommand, 'json' | 'html'>,
  terminal: Terminal,
): Promise<boolean> {
  if (json) terminal.printJson(document);
  else if (document.result === 'not-ready') printOutcome(document.reports, false, terminal);
  else terminal.print(formatList(document));
  if (document.result === 'not-ready') return false;
  if (html === undefined) return true;
  await writeFile(html, formatListPage(document, systemClock.date()));
  if (!json) terminal.print(`Written: ${html}`);
  return true;
}

function printOutcome(reports: readonly Report[], isGood: boolean, terminal: Terminal): void {
  const [only, ...others] = reports;
  const { before, end, after } =
    only === undefined || others.length > 0 ? formatReports(reports) : formatReport(only);
  if (before.length > 0) terminal.print(before.join('\n'));
  terminal.printOutcome(end, isGood);
  if (after.length > 0) terminal.print(after.join('\n'));
}

/** @returns `false` only if a receipt is due and can't be written */
async function writeReceipt(
  reports: readonly Report[],
  path: string,
  { logger }: Pick<Terminal, 'logger'>,
): Promise<boolean> {
  const text = composeReceipt(reports, systemClock.date());
  if (text === null) {
    logger.warning(`no receipt was written to ${path}, because nothing is ready`);
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

/** Only a person at a terminal can read the block characters. */
function printQrCode({ url }: ReportDocument, json: boolean, terminal: Terminal): void {
  if (json || !terminal.isInteractive()) {
    terminal.logger.warning('no QR code is shown, because stdout is JSON or not a terminal');
  } else if (url === '' || url.includes('\n')) {
    terminal.logger.warning('no QR code is shown, because there is not exactly one verified URL');
  } else {
    // A phone needs the white border.
    terminal.print(renderUnicodeCompact(url, { border: 2 }));
  }
}

/** What was done, the result, which is shown in color, and what to change. */
export function formatReport(report: Report) {
  const { gates, screen, notReady } = report;
  const caveats = listCaveats(report);
  if (notReady !== null) {
    const reason = notReady.findings?.about ?? notReady.reason;
    const end = `${OUTCOMES['not-ready']}: ${formatFailure({ ...notReady, reason })}`;
    return { before: [], end, after: [...listChanges(notReady), ...caveats] };
  }
  const titles = gateTitles(report);
  const steps = gates.filter(({ name, passed }) => passed && /^G[13]/.test(name));
  const isSeen = screen !== null && screen.verdict !== 'not-checked';
  const before = [
    ...steps.map(({ name, evidence }) => `${titles[name]}: ${evidence}`),
    ...(isSeen ? [`Opened in Chrome: ${describeView(screen)}`] : []),
    ...formatPlan(report),
    ...caveats,
  ];
  return { before, end: describeOutcome(report), after: [] };
}

const listChanges = ({ findings, hint }: NonNullable<Report['notReady']>): readonly string[] => [
  ...(findings?.lines ?? []).map((line) => `- ${line}`),
  ...lineIf(hint !== '', `To fix: ${hint}`),
];

const listCaveats = (report: Report): readonly string[] => [
  ...listCopies(report),
  ...formatNotes(report),
  ...formatUnknown(report),
];

const formatPlan = ({ planned, lines }: Report): readonly string[] =>
  lineIf(!!planned?.next, `Plan: ${lines.CODE}`);

const formatUnknown = (report: Report): readonly string[] =>
  report.unknown.map((line) => `${unknownLabel(report)}: ${line}`);

/** A failure is reported without them. */
const formatNotes = (report: Report): readonly string[] =>
  report.notReady === null ? listNotes(report).map((note) => `Note: ${note}`) : [];

const LONGEST_TABLE = 30;

/** Formats a row for each file, failures first: the result, the name, and the URL or the reason. */
export function formatReports(reports: readonly Report[]): ReturnType<typeof formatReport> {
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
    end: counts.join(', '),
    after: [],
  };
}

function listCells(report: Report): readonly [string, string, string, ...string[]] {
  const { site, url, urlNote, notReady } = report;
  const name = `${nameSubject(report)}${site === null ? '' : ` (${countFiles(site.count)})`}`;
  const about = notReady === null ? (url ?? '') : shorten(formatFailure(notReady), TEXT.message);
  return [
    OUTCOMES[outcomeOf(report)],
    name,
    about,
    ...lineIf(!!notReady?.hint, `To fix: ${notReady?.hint}`),
    ...formatPlan(report),
    ...(urlNote === undefined ? [] : [`Note: ${urlNote}`]),
    ...formatNotes(report),
    ...(notReady === null ? formatUnknown(report) : []),
  ];
}

function formatCheck(report: Report): string {
  const { file, site, notReady } = report;
  const entry = site === null ? '' : `${countFiles(site.count)}, entry ${site.entry}, `;
  const details =
    notReady === null
      ? [`${entry}${file?.size} bytes, sha256 ${file?.sha256}`, ...listCaveats(report)]
      : [notReady.findings?.about ?? notReady.reason, ...listChanges(notReady)];
  const to = report.channel === null ? '' : ` to ${CHANNEL_LABELS[report.channel]}`;
  const verdict = notReady === null ? `can be delivered${to}` : "can't be delivered";
  return [`${file?.path}: ${verdict}`, ...details.map((line) => `  ${line}`)].join('\n');
}
