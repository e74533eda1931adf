import { describe, expect, test } from '@jest/globals';
import { type CommentContext, composeComment } from '../../src/action/comment.ts';
import { composeSummary } from '../../src/action/overview.ts';
import { refusalReport } from '../../src/delivery/compose-report.ts';
import type { Report } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { COMMENTS, SUMMARY } from '../../src/protocol/limits.ts';
import { PAGE, RAW } from '../delivery/builders.ts';
import { NOON } from '../support/ports.ts';
import { hugeFiles, notProven, planned, provenFile, reportWith, unprovenFile, withdrawn } from './reports.ts';
import { shown } from './runner.ts';

const MARKER = '<!-- screen-delivery:0123456789abcdef -->';
const RUN = 'https://github.com/octo/site/actions/runs/4242';

const contextWith = (more: Partial<CommentContext> = {}): CommentContext => ({
  marker: MARKER,
  number: 12,
  now: NOON,
  headSha: 'c0ffee0123456789c0ffee0123456789c0ffee01',
  runUrl: RUN,
  ...more,
});
const composed = (reports: readonly Report[], more: Partial<CommentContext> = {}, earlier = ''): string =>
  shown(composeComment(reports, contextWith(more), earlier));
const FOOTER = `2026-01-02 03:04 UTC · commit <code>c0ffee0</code> · [run](<${RUN}>)`;

describe('composeComment, for a ready delivery', () => {
  test('starts with the marker and the link, and ends with the time and the commit', () => {
    const blocks = composed([reportWith()]).split('\n\n');
    expect(blocks.slice(0, 3)).toEqual([
      MARKER,
      `### Preview of #12: ✅ [page.html](<${PAGE.href}>)`,
      `**Ready · ГОТОВО** → <${PAGE.href}>`,
    ]);
    expect(blocks.at(-1)).toBe(FOOTER);
  });

  test('folds the gates and the report', () => {
    expect(composed([reportWith()])).toMatch(
      /\n\n<details><summary>Report<\/summary>\n\n\| Gate \|[\s\S]+\n\n- \*\*CLAIM:\*\* [\s\S]+\n\n<\/details>\n\n/,
    );
  });

  test('leaves out what is not known about the run', () => {
    const text = composed([reportWith()], { headSha: null, runUrl: null });
    expect(text).toMatch(/\n\n2026-01-02 03:04 UTC$/);
  });
});

describe('composeComment, for a delivery that is not ready', () => {
  test('gives the reason, the step, the HTTP code and what to change', () => {
    const blocks = composed([unprovenFile('page.html')]).split('\n\n');
    expect(blocks.slice(0, 4)).toEqual([
      MARKER,
      '### Preview of #12: ❌ page.html',
      '**Not ready · НЕ ГОТОВО** → it shows | nothing | (step <code>verify</code>, HTTP 404)',
      '**To change:** set <code>path:</code>',
    ]);
    expect(blocks.at(-1)).toBe(FOOTER);
  });

  test('contains no address except that of the run', () => {
    expect(composed([unprovenFile('page.html')]).match(/https:[^>]+/g)).toEqual([RUN]);
  });
});

describe('composeComment, after a failed update', () => {
  const LAST = `- Last proven at <code>c0ffee0</code>: [page.html](<${PAGE.href}>)`;
  const failed = unprovenFile('page.html');

  test('keeps the last proven link with its commit, however often it fails', () => {
    const first = composeComment([reportWith()], contextWith());
    const second = composeComment([failed], contextWith({ headSha: 'bad1', runUrl: null }), first);
    expect(shown(second).split('\n\n').slice(2, 4)).toEqual([
      expect.stringContaining('**Not ready · НЕ ГОТОВО** → it shows'),
      LAST,
    ]);
    expect(composed([failed], { headSha: 'bad2' }, second)).toContain(`\n\n${LAST}\n\n`);
    expect(composed([reportWith()], {}, second)).not.toContain('Last proven');
  });

  test('names no commit that is not known', () => {
    const first = composeComment([reportWith()], contextWith({ headSha: null }));
    expect(composed([failed], {}, first)).toContain(`\n\n- Last proven: [page.html](<${PAGE.href}>)\n\n`);
  });

  test('keeps the links of those of several files that failed', () => {
    const first = composeComment([provenFile('a.html'), provenFile('b.html')], contextWith());
    const second = composed([provenFile('a.html'), unprovenFile('b.html')], {}, first);
    expect(second.match(/^- Last proven.*$/gm)).toEqual([
      '- Last proven at <code>c0ffee0</code>: [b.html](<https://octo.github.io/site/b.html>)',
    ]);
  });

  test('has no link to what was withdrawn since', () => {
    const gone = composeComment([withdrawn(reportWith())], contextWith(), LAST);
    expect(gone).not.toContain('Last proven');
    expect(composed([failed], {}, gone)).not.toContain(PAGE.href);
  });
});

describe('composeComment, for a withdrawal', () => {
  test('says where the preview was, without a link', () => {
    const text = composed([withdrawn(reportWith())]);
    expect(text.split('\n\n').slice(1, 3)).toEqual([
      '### Preview of #12: 🗑️ page.html',
      `**Withdrawn** → <code>${PAGE.href}</code>`,
    ]);
    expect(text.match(/<https:[^>]+>/g)).toEqual([`<${RUN}>`]);
  });

  test('needs no address of the preview', () => {
    const text = composed([{ ...withdrawn(reportWith()), withdrawn: null }]);
    expect(text).toContain('\n\n**Withdrawn**\n\n');
  });
});

describe('composeComment, for several files', () => {
  test('links the proven files, and says why the others are not ready', () => {
    const text = composed([provenFile('a.html'), unprovenFile('b.html')]);
    expect(text.split('\n').slice(0, 7)).toEqual([
      MARKER,
      '',
      '### Preview of #12: ❌ 1 Not ready · НЕ ГОТОВО, ✅ 1 Ready · ГОТОВО',
      '',
      '|  | File | Proof, or the reason why it is not ready |',
      '| --- | --- | --- |',
      '| ❌ | b.html | it shows | nothing | (step <code>verify</code>, HTTP 404). **To change:** set <code>path:</code> |',
    ]);
    expect(text).toContain('| ✅ | [a.html](<https://octo.github.io/site/a.html>) |');
  });

  test('links to the run where it is cut', () => {
    const many = Array.from({ length: 2_000 }, (_, at) => provenFile(`${at}.html`));
    expect(composed(many)).toMatch(
      /\n\n… and \d+ more: \[see the summary\]\(<https:\/\/github\.com\/.+>\)\n/,
    );
    expect(composed(many, { runUrl: null })).toMatch(/\n\n… and \d+ more: see the summary\n/);
  });
});

describe('composeComment, with hostile names', () => {
  const HOSTILE =
    '@octo #42 GH-7 octo/site#1 https://github.com/octo/site/issues/3 <!-- screen-delivery:x --> `.html';

  test.each([
    ['alone', [provenFile(HOSTILE)]],
    ['that is not ready', [unprovenFile(HOSTILE)]],
    ['that was withdrawn', [withdrawn(provenFile(HOSTILE))]],
    ['among others', [provenFile(HOSTILE), unprovenFile(HOSTILE)]],
  ])('creates no mention, no reference and no second marker for a file %s', (_, reports) => {
    const text = composeComment(reports, contextWith());
    const decoded = text
      .replace(/<https:[^>]+>/g, '')
      .replace(/&#(\d+);/g, (_, sign: string) => String.fromCharCode(Number(sign)));
    expect(decoded).not.toMatch(/@\w|#\d|\bgh-\d/i);
    expect(text.replace(/<https:[^>]+>/g, '')).not.toMatch(/:\/\//);
    expect(text.match(/<!--/g)).toHaveLength(1);
  });
});

test.each([
  ['one huge report', hugeFiles(1), /\n\n\[see the summary\]\(<.+>\)\n\n/],
  ['a huge report that is not ready', hugeFiles(2).slice(1), /./],
  ['many huge reports', hugeFiles(50), /more: \[see the summary\]/],
  ['two huge reports', hugeFiles(2), /### /],
  ['files without end', Array.from({ length: 10_000 }, (_, at) => provenFile(`слайды-${at}.html`)), /more: /],
])('composeComment never exceeds the limit of GitHub with %s', (_, reports, said) => {
  const text = composeComment(reports, contextWith());
  expect(text.length).toBeLessThanOrEqual(COMMENTS.body);
  expect(text.startsWith(`${MARKER}\n\n### `)).toBe(true);
  expect(text.endsWith(shown(FOOTER)) || shown(text).endsWith(FOOTER)).toBe(true);
  expect(text).toMatch(said);
});

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

  test('says the reason, and neither gates nor an address', () => {
    const summary = shown(composeSummary([unprovenFile('page.html')]));
    expect(summary).not.toMatch(/G3_VERIFY|https:/);
  });

  test('leaves out what is not known: HTTP code, hint, timings, file', () => {
    const summary = composeSummary([
      refusalReport({ file: 'the given link' }, new DeliveryError('BAD_INPUT', 'no')),
    ]);
    expect(summary).toMatch(
      /^### ❌ the given link\n\n\*\*Not ready · НЕ ГОТОВО\*\* → no \(step <code>check<\/code>\)\n\n- \*\*UNKNOWN/,
    );
    expect(summary).not.toContain('Took');
  });

  test('keeps its table intact with a hostile file name', () => {
    const refused = refusalReport({ file: 'a|b](c)\n<h1>.html' }, notProven);
    const summary = composeSummary([refused, refused]);
    const rows = summary.split('\n').filter((line) => line.startsWith('|'));
    expect(new Set(rows.map((line) => line.split('|').length))).toEqual(new Set([5]));
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
    expect(summary).toMatch(/^### 🗑️ page\.html\n\n\*\*Withdrawn\*\* → <code>https:.+<\/code>\n\n<details>/u);
    expect(summary).not.toMatch(/<https:|\]\(/);
    expect(composeSummary([{ ...report, withdrawn: null }])).toContain('\n\n**Withdrawn**\n\n');
  });

  test('says all of 20 files in 16 KB', () => {
    const files = Array.from({ length: 20 }, (_, at) => {
      const { lines, ...report } = provenFile(`reports/chapter-${at}.html`);
      const CODE = `${lines.CODE}; commit ${'c'.repeat(40)}; sha256 ${'f'.repeat(64)}`;
      return { ...report, lines: { ...lines, CODE }, rawUrl: RAW.href, unknown: ['how the page looks'] };
    });
    const summary = composeSummary(files);
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(16 * 1_024);
    expect(summary).not.toContain('more');
  });

  test('shows several files with their links in a table, and the longest times', () => {
    const summary = composeSummary([provenFile('a.html'), unprovenFile('b.html')]);
    expect(summary).toMatch(/^### ❌ 1 Not ready · НЕ ГОТОВО, ✅ 1 Ready · ГОТОВО\n\n\| {2}\| File \|/);
    expect(summary.match(/^Took \(longest file\): .+$/gm)).toHaveLength(1);
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

/** The rows of the table of files. */
const rowsIn = (text: string): string[] =>
  (text.split('<details>')[0] ?? '').split('\n').filter((line) => /^\| (?!-| \|)/u.test(line));
const some = [provenFile('a.html'), unprovenFile('b.html'), provenFile('c.html')];

describe('composeComment, for many files', () => {
  test('counts the files in each state, what needs attention first', () => {
    const all = [...some, planned('d.html'), withdrawn(provenFile('e.html'))];
    expect(composed(all)).toContain(
      '\n### Preview of #12: ❌ 1 Not ready · НЕ ГОТОВО, 📝 1 Dry run, 🗑️ 1 Withdrawn, ✅ 2 Ready · ГОТОВО\n',
    );
    expect(composed([some[0] as Report, some[2] as Report])).toContain(
      '\n### Preview of #12: ✅ 2 Ready · ГОТОВО\n',
    );
  });

  test('has a row for each file: the link and its proof, or the reason why there is none', () => {
    expect(rowsIn(composed(some))).toEqual([
      '| ❌ | b.html | it shows | nothing | (step <code>verify</code>, HTTP 404). **To change:** set <code>path:</code> |',
      '| ✅ | [a.html](<https://octo.github.io/site/a.html>) | HTTP 200, bytes identical: yes |',
      '| ✅ | [c.html](<https://octo.github.io/site/c.html>) | HTTP 200, bytes identical: yes |',
    ]);
  });

  test('contains no link to a withdrawn file', () => {
    const rows = rowsIn(composed([provenFile('a.html'), withdrawn(provenFile('e.html'))]));
    expect(rows[0]).toMatch(/^\| 🗑️ \| e\.html \|/u);
  });

  test('puts the files first, then the caveats of all, then the folded reports', () => {
    const text = composed(some);
    const order = [MARKER, '### ', '| ✅ |', '- **UNKNOWN:**', '<details><summary>Reports</summary>', FOOTER];
    expect(order.map((part) => text.indexOf(part))).toEqual(
      order.map((part) => text.indexOf(part)).toSorted((one, other) => one - other),
    );
    // The row says the reason, and what to change.
    expect(text).toMatch(/\n<details><summary>❌ b\.html<\/summary>\n\n- \*\*CODE:\*\* /);
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
    expect(text.split('<details>')[0]).toContain(
      [
        '- **Note:** the bin expires soon (2 files)',
        '- **UNKNOWN:** one thing (a.html)',
        '- **UNKNOWN:** another thing (2 files)',
      ].join('\n'),
    );
  });
});

describe('composeComment, with more files than there is room for', () => {
  test('leaves out reports first, and says so', () => {
    const many = Array.from({ length: 200 }, (_, at) => provenFile(`${at}.html`));
    const text = composed(many);
    expect(rowsIn(text)).toHaveLength(200);
    const folds = text.match(/<details><summary>✅/g)?.length ?? 0;
    expect(folds).toBeGreaterThan(0);
    expect(text).toContain(`… and ${200 - folds} more: [see the summary](<${RUN}>)\n\n</details>`);
  });

  test('then leaves out rows, the failed ones last, and says so', () => {
    const many = Array.from({ length: 2_000 }, (_, at) => provenFile(`${at}.html`));
    const text = composed([...many, unprovenFile('failed.html')]);
    const rows = rowsIn(text);
    expect(rows[0]).toContain('failed.html');
    expect(text).toContain(`\n… and ${2_001 - rows.length} more: [see the summary](<${RUN}>)\n`);
    expect(text).not.toContain('<details>');
  });
});
