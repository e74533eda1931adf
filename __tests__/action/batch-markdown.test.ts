import { describe, expect, test } from '@jest/globals';
import { type BatchFrame, composeBatch } from '../../src/action/batch-markdown.ts';
import type { Report } from '../../src/delivery/report.ts';
import { hugeFiles, planned, provenFile, unprovenFile, withdrawn } from './reports.ts';
import { shown } from './runner.ts';

const frameWith = (more: Partial<BatchFrame> = {}): BatchFrame => ({
  before: ['BEFORE'],
  after: ['AFTER'],
  elsewhere: 'ELSEWHERE',
  limit: 65_536,
  measure: (text) => text.length,
  ...more,
});

const composed = (reports: readonly Report[], more: Partial<BatchFrame> = {}): string =>
  shown(composeBatch(reports, frameWith(more)));
/** The rows of the table of files. */
const rowsIn = (text: string): string[] =>
  (text.split('AFTER')[0] ?? '').split('\n').filter((line) => /^\| [^ -]/u.test(line));
const some = [provenFile('a.html'), unprovenFile('b.html'), provenFile('c.html')];

describe('composeBatch', () => {
  test('counts the files in each state, what needs attention first', () => {
    const all = [...some, planned('d.html'), withdrawn(provenFile('e.html'))];
    expect(composed(all)).toContain(
      '\n### ❌ 1 Not ready · НЕ ГОТОВО, 📝 1 Dry run, 🗑️ 1 Withdrawn, ✅ 2 Ready · ГОТОВО\n',
    );
    expect(composed([some[0] as Report, some[2] as Report])).toContain('\n### ✅ 2 Ready · ГОТОВО\n');
  });

  test('has a row for each file: the link and its proof, or the reason why there is none', () => {
    expect(rowsIn(composed(some))).toEqual([
      '| ❌ | b.html | it shows | nothing | (step <code>verify</code>, HTTP 404). **To change:** set <code>path:</code> |',
      '| ✅ | [a.html](<https://octo.github.io/site/a.html>) | HTTP 200, bytes identical to the file |',
      '| ✅ | [c.html](<https://octo.github.io/site/c.html>) | HTTP 200, bytes identical to the file |',
    ]);
  });

  test('contains no link to a withdrawn file', () => {
    const [row] = rowsIn(composed([withdrawn(provenFile('e.html'))]));
    expect(row).toMatch(/^\| 🗑️ \| e\.html \|/u);
  });

  test('puts the files between the blocks of its frame, and the folded reports at the end', () => {
    const text = composed(some);
    const order = [
      'BEFORE',
      '### ',
      '| ✅ |',
      '- **UNKNOWN:**',
      'AFTER',
      '<details><summary>Reports</summary>',
    ];
    expect(order.map((part) => text.indexOf(part))).toEqual(
      order.map((part) => text.indexOf(part)).toSorted((one, other) => one - other),
    );
    expect(text).toMatch(/\n<details><summary>❌ b\.html<\/summary>\n\n\*\*To change:\*\* /);
    expect(text.match(/<details>/g)).toHaveLength(4);
    expect(text.match(/<\/details>/g)).toHaveLength(4);
  });

  test('lists a caveat once, with the file or the number of files it is about', () => {
    const notes = ['the bin expires soon'];
    const [a, b, c] = some as [Report, Report, Report];
    const text = composed([
      { ...a, notes, unknown: ['one thing'] },
      { ...b, notes, unknown: [] },
      { ...c, notes: [], unknown: ['another thing'] },
      { ...c, notes: [], unknown: ['another thing'] },
    ]);
    expect(text.split('AFTER')[0]).toContain(
      [
        '- **Note:** the bin expires soon (2 files)',
        '- **UNKNOWN:** one thing (a.html)',
        '- **UNKNOWN:** another thing (2 files)',
      ].join('\n'),
    );
  });

  test('says that everything was verified only if that is true of all files', () => {
    const ALL = '- **UNKNOWN:** nothing, everything was verified\n';
    const head = (reports: readonly Report[]): string | undefined => composed(reports).split('AFTER')[0];
    expect(head([provenFile('a.html'), provenFile('b.html')])).toContain(ALL);
    expect(head(some)).not.toContain('everything was verified');
  });
});

describe('composeBatch, with more files than there is room for', () => {
  test('leaves out reports first, and says so', () => {
    const many = Array.from({ length: 100 }, (_, at) => provenFile(`${at}.html`));
    const text = composed(many);
    expect(rowsIn(text)).toHaveLength(100);
    const folds = (text.match(/<details>/g)?.length ?? 0) - 1;
    expect(folds).toBeGreaterThan(0);
    expect(text).toContain(`… and ${100 - folds} more: ELSEWHERE\n\n</details>`);
  });

  test('then leaves out rows, the failed ones last, and says so', () => {
    const many = Array.from({ length: 2_000 }, (_, at) => provenFile(`${at}.html`));
    const text = composed([...many, unprovenFile('failed.html')]);
    const rows = rowsIn(text);
    expect(rows[0]).toContain('failed.html');
    expect(text).toContain(`\n… and ${2_001 - rows.length} more: ELSEWHERE\n`);
    expect(text).not.toContain('<details>');
  });

  test.each([
    ['characters', 65_536, (text: string) => text.length],
    ['bytes', 1_048_576, (text: string) => Buffer.byteLength(text)],
  ])('never exceeds its limit in %s: %d', (_, limit, measure) => {
    const plain = Array.from({ length: 10_000 }, (_, at) => provenFile(`слайды-${at}.html`));
    for (const reports of [plain, hugeFiles(80), hugeFiles(2)]) {
      const text = composeBatch(reports, frameWith({ limit, measure }));
      expect(measure(text)).toBeLessThanOrEqual(limit);
      expect(text).toContain('### ');
      expect(text).toContain('AFTER');
    }
  });
});
