import { describe, expect, test } from '@jest/globals';
import { composeSummary } from '../../src/action/summary.ts';
import { refusalReport } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { SUMMARY } from '../../src/protocol/limits.ts';
import { PAGE } from '../delivery/builders.ts';
import { hugeFiles, notProven, planned, provenFile, reportWith, unprovenFile, withdrawn } from './reports.ts';
import { shown } from './runner.ts';

describe('composeSummary, for a ready delivery', () => {
  const summary = shown(composeSummary([reportWith()]));

  test('starts with the link', () => {
    expect(summary.split('\n').slice(0, 3)).toEqual([
      `### ✅ [page.html](<${PAGE.href}>)`,
      '',
      `**Ready · ГОТОВО** → <${PAGE.href}>`,
    ]);
  });

  test('continues with the facts, and folds gates, report and timings', () => {
    const parts = [
      '- **UNKNOWN:** nothing, everything',
      '<summary>Report</summary>',
      '| Gate |',
      '- **CLAIM:**',
      'Took: place 1.2 s, wait 34.6 s\n',
    ];
    const places = parts.map((part) => summary.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });
});

describe('composeSummary, for a delivery that is not ready', () => {
  test('starts with the reason, the step, the HTTP code and what to change', () => {
    expect(
      shown(composeSummary([unprovenFile('page.html')]))
        .split('\n')
        .slice(0, 5),
    ).toEqual([
      '### ❌ page.html',
      '',
      '**Not ready · НЕ ГОТОВО** → it shows | nothing | (step <code>verify</code>, HTTP 404)',
      '',
      '**To change:** set <code>path:</code>',
    ]);
  });

  test('shows which gates failed, and no address', () => {
    const summary = shown(composeSummary([unprovenFile('page.html')]));
    expect(summary).toContain(
      '| Fetched back · <code>G3_VERIFY_200_и_маркер</code> | ❌ | the address is not proven |',
    );
    expect(summary).not.toContain('https:');
  });

  test('leaves out what is not known: HTTP code, hint, timings, file', () => {
    const summary = composeSummary([refusalReport('the given link', new DeliveryError('BAD_INPUT', 'no'))]);
    expect(summary).toMatch(
      /^### ❌ the given link\n\n\*\*Not ready · НЕ ГОТОВО\*\* → no \(step <code>check<\/code>\)\n\n- \*\*UNKNOWN/,
    );
    expect(summary).not.toContain('Took');
  });

  test('keeps its table intact with a hostile file name', () => {
    const summary = composeSummary([refusalReport('a|b](c)\n<h1>.html', notProven)]);
    const widths = summary
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').length);
    expect(new Set(widths)).toEqual(new Set([5]));
    expect(summary).not.toContain('<h1>');
  });
});

describe('composeSummary', () => {
  test('shows the plan of a dry run, and no gates', () => {
    const summary = shown(composeSummary([planned('page.html')]));
    expect(summary).toMatch(
      /^### 📝 page\.html\n\n\*\*Dry run\*\* → nothing was published, as asked\n\n\*\*Plan:\*\* file /,
    );
    expect(summary).not.toContain('| Gate |');
  });

  test('shows a withdrawn address without a link', () => {
    const report = withdrawn({ ...reportWith(), took: {} });
    const summary = shown(composeSummary([report]));
    expect(summary).toMatch(
      /^### 🗑️ page\.html\n\n\*\*Withdrawn\*\* → <code>https:.+<\/code>\n\n- \*\*UNKNOWN/u,
    );
    expect(summary).not.toMatch(/<https:|\]\(/);
    expect(composeSummary([{ ...report, withdrawn: null }])).toContain('\n\n**Withdrawn**\n\n');
  });

  test('shows several files with their links in a table, and the longest times', () => {
    const summary = composeSummary([provenFile('a.html'), unprovenFile('b.html')]);
    expect(summary).toMatch(/^### ❌ 1 Not ready · НЕ ГОТОВО, ✅ 1 Ready · ГОТОВО\n\n\| {2}\| File \|/);
    expect(summary.match(/^Took \(longest file\): .+$/gm)).toHaveLength(1);
  });

  test('is empty without reports', () => {
    expect(composeSummary([])).toBe('');
  });
});

test.each([
  ['one huge report', hugeFiles(1)],
  ['many huge reports', hugeFiles(80)],
  ['a batch without end', Array.from({ length: 20_000 }, (_, at) => provenFile(`слайды-${at}.html`))],
])('composeSummary stays below the limit of the runner with %s', (_, reports) => {
  const summary = composeSummary(reports);
  expect(Buffer.byteLength(summary)).toBeLessThan(SUMMARY);
  if (reports.length > 1) expect(summary).toMatch(/… and \d+ more: see the log, or the `report-json` output/);
});
