import { describe, expect, test } from '@jest/globals';
import { type CommentMemory, readMemory } from '../../src/action/comment-memory.ts';
import {
  type CommentContext,
  composeComment,
  composeSummary,
  rememberLinks,
} from '../../src/action/overview.ts';
import { refusalReport } from '../../src/delivery/compose-report.ts';
import type { Report } from '../../src/delivery/report.ts';
import { COMMENTS, SUMMARY } from '../../src/protocol/limits.ts';
import { PAGE, RAW } from '../delivery/builders.ts';
import { NOON } from '../support/ports.ts';
import { hugeFiles, notProven, planned, provenFile, reportWith, unprovenFile, withdrawn } from './reports.ts';
import { shown } from './runner.ts';

const MARK = '<!-- screen-delivery:0123456789abcdef';
const NOTHING: CommentMemory = { mark: MARK, run: null, proven: [], lost: [] };
const RUN = 'https://github.com/octo/site/actions/runs/4242';
const FOOTER = `2026-01-02 03:04 UTC · commit <code>c0ffee0</code> · [run](<${RUN}>)`;

const contextWith = (more: Partial<CommentContext> = {}): CommentContext => ({
  subject: 'Preview',
  now: NOON,
  headSha: 'c0ffee0123456789c0ffee0123456789c0ffee01',
  runUrl: RUN,
  ...more,
});
const composeWith = (
  reports: readonly Report[],
  more: Partial<CommentContext> = {},
  earlier = '',
): string => {
  const context = contextWith(more);
  const proven = rememberLinks(reports, context, readMemory(earlier)?.proven ?? []);
  return composeComment(reports, context, { ...NOTHING, proven });
};
const comment = (...given: Parameters<typeof composeWith>): string => shown(composeWith(...given));
const summary = (reports: readonly Report[]): string => shown(composeSummary(reports));

describe.each([
  ['comment', comment],
  ['summary', summary],
] as const)('the %s', (_, compose) => {
  test('links to nothing that is not proven now, and shows its gates no more', () => {
    for (const report of [unprovenFile('page.html'), withdrawn(reportWith()), planned('page.html')]) {
      const links = compose([report]).match(/(?<=<)https:[^>]+/g) ?? [];
      expect(links.filter((link) => link !== RUN)).toEqual([]);
      if (report.notReady !== null) expect(compose([report])).not.toMatch(/G3_VERIFY|\| Gate \|/);
    }
  });

  test('keeps its table intact with a hostile file name', () => {
    const refused = refusalReport({ file: 'a|b](c)\n<h1>.html' }, notProven);
    const text = compose === comment ? composeWith([refused, refused]) : composeSummary([refused, refused]);
    const rows = text.split('\n').filter((line) => line.startsWith('|'));
    expect(new Set(rows.map((line) => line.split('|').length))).toEqual(new Set([5]));
    expect(text).not.toContain('<h1>');
  });
});

describe('the comment', () => {
  test('ends with the time alone where neither the commit nor the run is known', () => {
    expect(comment([reportWith()], { headSha: null, runUrl: null })).toMatch(/\n\n2026-01-02 03:04 UTC$/);
  });

  const failed = unprovenFile('page.html');
  test('says of the last proven link only what is known, and nothing once it is proven again', () => {
    const first = composeWith([reportWith()], { headSha: null });
    const second = composeWith([failed], {}, first);
    const third = comment([refusalReport({ file: '*.html' }, notProven)], {}, second);
    const last = `\n\nLast verified, 2026-01-02 03:04 UTC: [page.html](<${PAGE.href}>)\n\n`;
    for (const text of [shown(second), third]) expect(text).toContain(last);
    expect(comment([reportWith()], {}, second)).not.toContain('Last verified');
  });

  test('says in the row of what somebody changed what became of it, and once', () => {
    const notes = ['changed by commit 3f3adde (Update)'];
    const changed = { ...provenFile('p.html'), operation: 'audit', verdict: 'changed', notes } as const;
    const text = composeSummary([changed, provenFile('a.html')]).split('<details>', 1)[0] ?? '';
    expect(text).toMatch(/\| \[p\.html\].*changed by commit/);
    expect(text.match(/changed by commit/g)).toHaveLength(1);
  });

  test('says that there was nothing to withdraw', () => {
    const text = composeSummary([{ ...withdrawn(reportWith()), wasAbsent: true }]);
    expect(text).toMatch(/^### ✅ Nothing to withdraw: /);
  });

  test('has no link to what was withdrawn since', () => {
    const other = provenFile('other.html');
    const first = composeWith([{ ...reportWith(), file: null }, other]);
    const gone = composeWith([withdrawn(reportWith()), unprovenFile('other.html')], {}, first);
    expect(gone.match(/Last verified.*/g)).toEqual([expect.stringContaining(`${other.url}`)]);
    expect(comment([failed], {}, gone)).not.toContain(PAGE.href);
  });

  test('keeps the last proven link of what was not found, which may be elsewhere', () => {
    const asset = {
      ...provenFile('data.zip'),
      url: 'https://github.com/octo/site/releases/download/v1/data.zip',
    };
    const sought = { ...withdrawn(provenFile('data.zip')), wasAbsent: true };
    const kept = composeWith([sought], {}, composeWith([asset]));
    expect(kept).toMatch(/\nLast verified at .*: \[data\.zip\]\(<.*\/download\/v1\/data\.zip>\)\n/);
    expect(composeWith([{ ...sought, gone: [asset.url] }], {}, kept)).not.toContain('Last proven');
  });

  const HOSTILE =
    '@octo #42 GH-7 octo/site#1 https://github.com/octo/site/issues/3 <!-- screen-delivery:x --> `.html';

  test.each([
    ['that was withdrawn', [withdrawn(provenFile(HOSTILE))]],
    ['among others', [provenFile(HOSTILE), unprovenFile(HOSTILE)]],
  ])('creates no mention, no reference and no second mark for a file %s', (_, reports) => {
    const whole = composeWith(reports);
    expect(whole.match(/<!--|-->/g)).toHaveLength(2);
    expect(whole.split('\n')[0]).toMatch(/^<!-- [^<>@#]* -->$/);
    const text = whole.replace(/^.*\n/, '').replace(/<https:[^>]+>/g, '');
    const decoded = text.replace(/&#(\d+);/g, (_, sign: string) => String.fromCharCode(Number(sign)));
    expect(decoded).not.toMatch(/@\w|#\d|\bgh-\d/i);
    expect(text).not.toMatch(/:\/\//);
  });
});

const FILES = Array.from({ length: 20_000 }, (_, at) => provenFile(`слайды-${at}.html`));

test.each([
  ['one huge report', hugeFiles(1), /\n\n\[see the summary\]\(<.+>\)\n\n/],
  ['a huge report that is not ready', hugeFiles(2).slice(1), /./],
  ['many huge reports', hugeFiles(80), /more: /],
  [
    'files without end',
    FILES,
    /\n… and \d+ more: (\[see the summary\]\(<.+>\)|see the log, or the `report-json`)/,
  ],
])('neither comment nor summary exceeds its limit with %s', (_, reports, said) => {
  const text = composeWith(reports);
  expect(text.length).toBeLessThanOrEqual(COMMENTS.body);
  expect(text).toMatch(/^<!-- screen-delivery:0123456789abcdef \{.*\} -->\n\n### /);
  expect(shown(text).endsWith(FOOTER)).toBe(true);
  expect(Buffer.byteLength(composeSummary(reports))).toBeLessThan(SUMMARY);
  expect(text).toMatch(said);
  if (reports.length > 2)
    expect(composeSummary(reports)).toMatch(/more: see the log, or the `report-json` output/);
});

test('more files than there is room for lose reports first, then rows, the failed ones last', () => {
  const rowsIn = (text: string): string[] =>
    (text.split('<details>')[0] ?? '').split('\n').filter((line) => /^\| (?!-| \|)/u.test(line));
  const some = comment(FILES.slice(0, 150));
  expect(rowsIn(some)).toHaveLength(150);
  const folds = some.match(/<details><summary>✅/g)?.length ?? 0;
  expect(folds).toBeGreaterThan(0);
  expect(some).toContain(`… and ${150 - folds} more: [see the summary](<${RUN}>)\n\n</details>`);
  const many = comment([...FILES.slice(0, 2_000), unprovenFile('failed.html')], { runUrl: null });
  const rows = rowsIn(many);
  expect(rows[0]).toContain('failed.html');
  expect(many).toContain(`\n… and ${2_001 - rows.length} more: see the summary\n`);
});

test('the summary says all of 20 files in 16 KB', () => {
  const files = Array.from({ length: 20 }, (_, at) => {
    const { lines, ...report } = provenFile(`reports/chapter-${at}.html`);
    const CODE = `${lines.CODE}; commit ${'c'.repeat(40)}; sha256 ${'f'.repeat(64)}`;
    return { ...report, lines: { ...lines, CODE }, rawUrl: RAW.href, unknown: ['how the page looks'] };
  });
  const text = composeSummary(files);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16 * 1_024);
  expect(text).not.toContain('more');
});
