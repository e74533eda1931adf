import { describe, expect, test } from '@jest/globals';
import { renderUnicodeCompact } from 'uqr';
import { parseCommand } from '../../src/cli/args.ts';
import { formatEnding, formatReports, formatReportTable, printReports } from '../../src/cli/print-reports.ts';
import { type Report, reportText } from '../../src/delivery/report.ts';
import { lateFile, planned, provenFile, reportWith, unprovenFile } from '../action/reports.ts';
import { memorySite } from '../channels/pages/site/memory-files.ts';
import { FakeLogger } from '../support/ports.ts';
import { fakeTerminal } from './terminals.ts';

async function print(reports: readonly Report[], flags: readonly string[], isTerminal: boolean) {
  const terminal = fakeTerminal(new FakeLogger(), [], isTerminal);
  await printReports(reports, parseCommand(['deliver', 'a.html', ...flags]), terminal);
  return terminal.printed;
}

describe('--qr', () => {
  test('shows the proven address on a terminal as a QR code, with the border that a phone needs', async () => {
    const printed = await print([provenFile('a.html')], ['--qr'], true);
    const code = renderUnicodeCompact('https://octo.github.io/site/a.html', { border: 2 });
    expect(printed).toEqual([reportText(provenFile('a.html')), code]);
  });

  test.each([
    ['without the flag', [provenFile('a.html')], [], true],
    ['where nobody looks', [provenFile('a.html')], ['--qr'], false],
    ['with --json', [provenFile('a.html')], ['--qr', '--json'], true],
    ['for an address that is not proven', [unprovenFile('a.html')], ['--qr'], true],
    ['for several addresses', [provenFile('a.html'), provenFile('b.html')], ['--qr'], true],
  ])('shows none %s', async (_, reports, flags, isTerminal) => {
    const printed = await print(reports, flags, isTerminal);
    expect(printed).toHaveLength(1);
    expect(printed[0]).not.toMatch(/[█▀▄]/);
  });
});

describe('formatReports', () => {
  test('prints what a person should know below a report, once and if it is ready', () => {
    const notes = ['the bin expires', 'failed request: 404 /openapi.json'];
    const report = { ...provenFile('a.html'), notes, claimedNotes: ['the bin expires'] };
    expect(formatReports([report])).toBe(`${reportText(report)}\nnote: failed request: 404 /openapi.json`);
    const failed = { ...unprovenFile('a.html'), notes };
    expect(formatReports([failed])).toBe(reportText(failed));
  });

  test('ends several files with a table: what failed first, then the addresses', () => {
    const reports = [provenFile('a.html'), unprovenFile('long-name.html'), planned('c.html')];
    const text = formatReports(reports);
    expect(text.startsWith(`${reports.map(reportText).join('\n\n')}\n\n`)).toBe(true);
    expect(text.split('\n').slice(-3)).toEqual([
      'not-ready  long-name.html  it shows | nothing |',
      'planned    c.html',
      'ready      a.html          https://octo.github.io/site/a.html',
    ]);
  });

  test('ends a folder with a row that says how many files it has', () => {
    const site = memorySite({ 'index.html': 'x', 'a.css': 'p {}' });
    const [row] = formatReports([reportWith({ subject: 'dist', site })])
      .split('\n')
      .slice(-1);
    expect(row).toBe('ready  dist (2 files)  https://octo.github.io/site/page.html');
  });
});

test('formatReportTable stays short, whatever it lists', () => {
  const many = [...Array.from({ length: 40 }, (_, at) => provenFile(`${at}.html`)), unprovenFile('x.html')];
  const lines = formatReportTable(many).split('\n');
  expect(lines).toHaveLength(31);
  expect(lines[0]).toMatch(/^not-ready {2}x\.html/);
  expect(lines.at(-1)).toBe('… and 11 more, see their reports');
});

test.each([
  [[provenFile('a.html')], /^Ready \(ГОТОВО\): https:\/\/octo\.github\.io\/site\/a\.html$/],
  [[lateFile('a.html')], /^Ready \(ГОТОВО\): \S+\/a\.html\?v=c0ffee \(the address without \?v= .* UTC\)$/],
  [[unprovenFile('a.html')], /^Not ready \(НЕ ГОТОВО\): .+\(step \w+/],
  [[planned('a.html')], /^Planned: nothing was published, as asked/],
  [[provenFile('a.html'), provenFile('b.html')], /^2 files, nothing failed$/],
  [[provenFile('a.html'), unprovenFile('b.html')], /^Not ready: 1 of 2 files$/],
])('the last line of a command says how it ended, English first (%#)', (reports, line) => {
  expect(formatEnding(reports)).toMatch(line);
});
