import { describe, expect, test } from '@jest/globals';
import { encode } from 'uqr';
import { parseCommand } from '../../src/cli/args.ts';
import { printReports } from '../../src/cli/print-reports.ts';
import { type Report, reportText } from '../../src/delivery/report.ts';
import { provenFile, unprovenFile } from '../action/reports.ts';
import { FakeLogger } from '../support/ports.ts';
import { fakeTerminal } from './terminals.ts';

async function print(reports: readonly Report[], flags: readonly string[], isTerminal: boolean) {
  const terminal = fakeTerminal(new FakeLogger(), [], isTerminal);
  await printReports(reports, parseCommand(['deliver', 'a.html', ...flags]), terminal);
  return terminal.printed;
}

/** What the block characters show: a row of light (true) and dark modules for each half line. */
const readModules = (code: string): boolean[][] =>
  code
    .split('\n')
    .flatMap((line) => [
      [...line].map((block) => block === '█' || block === '▀'),
      [...line].map((block) => block === '█' || block === '▄'),
    ]);

describe('--qr', () => {
  test('shows the proven address on a terminal as a QR code that a phone reads', async () => {
    const [text, code = '', ...others] = await print([provenFile('a.html')], ['--qr'], true);
    expect({ text, others }).toEqual({ text: reportText(provenFile('a.html')), others: [] });
    const { data, size } = encode('https://octo.github.io/site/a.html', { border: 2 });
    const shown = readModules(code).slice(0, size);
    // Dark modules are the background of a terminal, light ones are drawn.
    expect(shown.map((row) => row.map((isLight) => !isLight))).toEqual(data);
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
