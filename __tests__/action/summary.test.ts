import { describe, expect, test } from '@jest/globals';
import { composeSummary } from '../../src/action/summary.ts';
import { refusalReport } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { SUMMARY } from '../../src/protocol/limits.ts';
import { PAGE } from '../delivery/builders.ts';
import { hugeFiles, notProven, planned, provenFile, reportWith, unprovenFile, withdrawn } from './reports.ts';
import { shown } from './runner.ts';

describe('the summary of a ready delivery', () => {
  const summary = shown(composeSummary([reportWith()]));

  test('begins with the link', () => {
    expect(summary.split('\n').slice(0, 3)).toEqual([
      `### ✅ [page.html](<${PAGE.href}>)`,
      '',
      `**ГОТОВО** → <${PAGE.href}>`,
    ]);
  });

  test('goes on with gates, facts, timings and the folded report', () => {
    const parts = [
      '| Gate |',
      '- **UNKNOWN:** nothing, everything',
      '```mermaid',
      '<summary>Report</summary>',
    ];
    const places = parts.map((part) => summary.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });
});

describe('the summary of a delivery that is not ready', () => {
  test('begins with the reason, the step, the HTTP code and what to change', () => {
    expect(
      shown(composeSummary([unprovenFile('page.html')]))
        .split('\n')
        .slice(0, 5),
    ).toEqual([
      '### ❌ page.html',
      '',
      '**НЕ ГОТОВО** → it shows | nothing | (step `verify`, HTTP 404)',
      '',
      '**To change:** set `path:`',
    ]);
  });

  test('shows which gates are closed, and no address', () => {
    const summary = shown(composeSummary([unprovenFile('page.html')]));
    expect(summary).toContain('| <code>G3_VERIFY_200_и_маркер</code> | ❌ | the address is not proven |');
    expect(summary).not.toContain('https:');
  });

  test('leaves out what is not known: HTTP code, hint, timings, file', () => {
    const summary = composeSummary([refusalReport('the given link', new DeliveryError('BAD_INPUT', 'no'))]);
    expect(summary).toMatch(/^### ❌ the given link\n\n\*\*НЕ ГОТОВО\*\* → no \(step `check`\)\n\n\| Gate/);
    expect(summary).not.toContain('mermaid');
  });

  test('keeps its table whole whatever a file is called', () => {
    const summary = composeSummary([refusalReport('a|b](c)\n<h1>.html', notProven)]);
    const widths = summary
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').length);
    expect(new Set(widths)).toEqual(new Set([5]));
    expect(summary).not.toContain('<h1>');
  });
});

describe('the summary of something else', () => {
  test('a dry run shows the plan, and no gates', () => {
    const summary = shown(composeSummary([planned('page.html')]));
    expect(summary).toMatch(
      /^### 📝 page\.html\n\n\*\*dry run\*\* → nothing was published, as asked\n\n\*\*Plan:\*\* file /,
    );
    expect(summary).not.toContain('| Gate |');
  });

  test('what was withdrawn is no link', () => {
    const report = withdrawn({ ...reportWith(), took: {} });
    const summary = shown(composeSummary([report]));
    expect(summary).toMatch(/^### 🗑️ page\.html\n\n\*\*withdrawn\*\* → <code>https:.+<\/code>\n\n\| Gate/u);
    expect(summary).not.toMatch(/<https:|\]\(/);
    expect(composeSummary([{ ...report, withdrawn: null }])).toContain('\n\n**withdrawn**\n\n');
  });

  test('several files have their links in a table, and the chart of all', () => {
    const summary = composeSummary([provenFile('a.html'), unprovenFile('b.html')]);
    expect(summary).toMatch(/^### ❌ 1 НЕ ГОТОВО · ✅ 1 ГОТОВО\n\n\| {2}\| File \|/);
    expect(summary.match(/```mermaid/g)).toHaveLength(1);
  });

  test('nothing has none', () => {
    expect(composeSummary([])).toBe('');
  });
});

test.each([
  ['one huge report', hugeFiles(1)],
  ['many huge reports', hugeFiles(80)],
  ['a batch without end', Array.from({ length: 20_000 }, (_, at) => provenFile(`слайды-${at}.html`))],
])('%s stays below what the runner takes', (_, reports) => {
  const summary = composeSummary(reports);
  expect(Buffer.byteLength(summary)).toBeLessThan(SUMMARY);
  if (reports.length > 1) expect(summary).toMatch(/… and \d+ more: see the log, or the `report-json` output/);
});
