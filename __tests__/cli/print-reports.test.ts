import { describe, expect, test } from '@jest/globals';
import { renderUnicodeCompact } from 'uqr';
import { parseCommand } from '../../src/cli/args.ts';
import { formatReport, formatReports, printReports } from '../../src/cli/print-reports.ts';
import { type Report, reportText } from '../../src/delivery/report.ts';
import { lateFile, planned, provenFile, reportWith, unprovenFile, withdrawn } from '../action/reports.ts';
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
    expect(printed.at(-1)).toBe(code);
  });

  test.each([
    ['without the flag', [provenFile('a.html')], [], true],
    ['where nobody looks', [provenFile('a.html')], ['--qr'], false],
    ['with --json', [provenFile('a.html')], ['--qr', '--json'], true],
    ['for an address that is not proven', [unprovenFile('a.html')], ['--qr'], true],
    ['for several addresses', [provenFile('a.html'), provenFile('b.html')], ['--qr'], true],
  ])('shows none %s', async (_, reports, flags, isTerminal) => {
    const printed = await print(reports, flags, isTerminal);
    expect(printed.join('')).toMatch(/Ready|"url"/i);
    expect(printed.join('')).not.toMatch(/[█▀▄]/);
  });
});

test('a page that is ready ends with its address, after what was done and what is not certain', async () => {
  const url = 'https://octo.github.io/site/a.html';
  const late = lateFile('a.html');
  const notes = [late.urlNote ?? '', 'failed request: 404 /openapi.json'];
  const printed = await print([{ ...late, notes, unknown: ['whether it loads'] }], [], false);
  expect(printed.join('\n').split('\n')).toEqual([
    'Published: commit c0ffee',
    'Verified: HTTP 200, bytes identical: yes',
    'Note: failed request: 404 /openapi.json',
    'Not verified: whether it loads',
    `Ready: ${url}?v=c0ffee (until 2026-01-02 03:15 UTC, the URL without its part after the question mark may still show the previous version)`,
  ]);
});

test('a page that is not ready begins with the reason, once, and says what to change', async () => {
  const printed = await print([{ ...unprovenFile('a.html'), unknown: ['what is there'] }], [], false);
  expect(printed.join('\n').split('\n')).toEqual([
    'Not ready: it shows | nothing | (step verify, HTTP 404)',
    'To fix: set `path:`',
    'Not verified: what is there',
  ]);
});

test('--report prints the lines of the protocol alone', async () => {
  const reports = [provenFile('a.html'), unprovenFile('b.html')];
  expect(await print(reports, ['--report'], false)).toEqual([reports.map(reportText).join('\n\n')]);
});

describe('formatReports', () => {
  test('is a table: what failed first, with its way out; the counts end it', () => {
    const folder = reportWith({
      subject: 'dist',
      site: memorySite({ 'index.html': 'x', 'a.css': 'p {}' }),
    });
    const { before, end } = formatReports([
      provenFile('a.html'),
      folder,
      unprovenFile('long-name.html'),
      planned('c.html'),
    ]);
    expect(before).toEqual([
      'Not ready  long-name.html  it shows | nothing | (step verify, HTTP 404)',
      '           To fix: set `path:`',
      'Dry run    c.html',
      expect.stringMatching(/^ {11}Plan: file c\.html/),
      '           Not verified: everything that only a real run can show',
      'Ready      a.html          https://octo.github.io/site/a.html',
      'Ready      dist (2 files)  https://octo.github.io/site/page.html',
    ]);
    expect(end).toBe('1 not ready, 1 dry run, 2 ready');
  });

  test('stays short, whatever it lists', () => {
    const many = [...Array.from({ length: 40 }, (_, at) => provenFile(`${at}.html`)), unprovenFile('x.html')];
    const { before } = formatReports(many);
    expect(before).toHaveLength(32);
    expect(before[0]).toMatch(/^Not ready {2}x\.html/);
    expect(before.at(-1)).toBe('… and 11 more: add --report or --json to see them');
  });
});

test('a dry run shows its plan before the last line', () => {
  const report = planned('a.html');
  expect(formatReport(report).before[0]).toBe(`Plan: ${report.lines.CODE}`);
});

test.each([
  [provenFile('a.html'), 'Ready: https://octo.github.io/site/a.html'],
  [planned('a.html'), 'Dry run: nothing was published, as asked. Next: do it'],
  [withdrawn(provenFile('a.html')), 'Withdrawn: a.html is removed'],
])('the last line says in English how it ended (%#)', (report, line) => {
  expect(formatReport(report).end).toBe(line);
});
