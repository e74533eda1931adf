import { describe, expect, test } from '@jest/globals';
import { type CommentContext, composeComment } from '../../src/action/comment-body.ts';
import type { Report } from '../../src/delivery/report.ts';
import { COMMENTS } from '../../src/protocol/limits.ts';
import { PAGE } from '../delivery/builders.ts';
import { NOON } from '../support/ports.ts';
import { hugeFiles, provenFile, reportWith, unprovenFile, withdrawn } from './reports.ts';
import { shown } from './runner.ts';

const MARKER = '<!-- screen-delivery:0123456789abcdef -->';
const RUN = 'https://github.com/octo/site/actions/runs/4242';

const contextWith = (more: Partial<CommentContext> = {}): CommentContext => ({
  marker: MARKER,
  now: NOON,
  headSha: 'c0ffee0123456789c0ffee0123456789c0ffee01',
  runUrl: RUN,
  ...more,
});
const composed = (reports: readonly Report[], more: Partial<CommentContext> = {}): string =>
  shown(composeComment(reports, contextWith(more)));
const FOOTER = `2026-01-02 03:04 UTC · commit <code>c0ffee0</code> · [run](<${RUN}>)`;

describe('composeComment, for a ready delivery', () => {
  test('starts with the marker and the link, the time and the commit', () => {
    expect(composed([reportWith()]).split('\n\n').slice(0, 4)).toEqual([
      MARKER,
      `### ✅ [page.html](<${PAGE.href}>)`,
      `**Ready · ГОТОВО** → <${PAGE.href}>`,
      FOOTER,
    ]);
  });

  test('ends with the folded report', () => {
    expect(composed([reportWith()])).toMatch(
      /\n\n<details><summary>Report<\/summary>\n\n- \*\*CLAIM:\*\* [\s\S]+\n\n<\/details>$/,
    );
  });

  test('leaves out what is not known about the run', () => {
    const text = composed([reportWith()], { headSha: null, runUrl: null });
    expect(text).toContain('\n\n2026-01-02 03:04 UTC\n\n');
  });
});

describe('composeComment, for a delivery that is not ready', () => {
  test('gives the reason, the step, the HTTP code and what to change', () => {
    expect(
      composed([unprovenFile('page.html')])
        .split('\n\n')
        .slice(0, 6),
    ).toEqual([
      MARKER,
      '### ❌ page.html',
      '**Not ready · НЕ ГОТОВО** → it shows | nothing | (step <code>verify</code>, HTTP 404)',
      '**To change:** set <code>path:</code>',
      'The address of an earlier delivery, if there was one, is no longer proven.',
      FOOTER,
    ]);
  });

  test('contains no address except that of the run', () => {
    expect(composed([unprovenFile('page.html')]).match(/https:[^>]+/g)).toEqual([RUN]);
  });
});

describe('composeComment, for a withdrawal', () => {
  test('says where the preview was, without a link', () => {
    const text = composed([withdrawn(reportWith())]);
    expect(text.split('\n\n').slice(1, 3)).toEqual([
      '### 🗑️ page.html',
      `**Withdrawn:** the preview was removed. It was at <code>${PAGE.href}</code>.`,
    ]);
    expect(text.match(/<https:[^>]+>/g)).toEqual([`<${RUN}>`]);
  });

  test('needs no address of the preview', () => {
    const text = composed([{ ...withdrawn(reportWith()), withdrawn: null }]);
    expect(text).toContain('\n\n**Withdrawn:** the preview was removed.\n\n');
  });
});

describe('composeComment, for several files', () => {
  test('links the proven files, and says why the others are not ready', () => {
    const text = composed([provenFile('a.html'), unprovenFile('b.html')]);
    expect(text.split('\n').slice(0, 7)).toEqual([
      MARKER,
      '',
      '### ❌ 1 Not ready · НЕ ГОТОВО, ✅ 1 Ready · ГОТОВО',
      '',
      '|  | File | Proof, or the reason why it is not ready |',
      '| --- | --- | --- |',
      '| ❌ | b.html | it shows | nothing | (step <code>verify</code>, HTTP 404). **To change:** set <code>path:</code> |',
    ]);
    expect(text).toContain('| ✅ | [a.html](<https://octo.github.io/site/a.html>) |');
    expect(text).toContain(`\n\n${FOOTER}\n\n<details><summary>Reports</summary>`);
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
  ['one huge report', hugeFiles(1), /\[see the summary\]\(<.+>\)$/],
  ['a huge report that is not ready', hugeFiles(2).slice(1), /./],
  ['many huge reports', hugeFiles(50), /more: \[see the summary\]/],
])('composeComment never exceeds the limit of GitHub with %s', (_, reports, said) => {
  const text = composeComment(reports, contextWith());
  expect(text.length).toBeLessThanOrEqual(COMMENTS.body);
  expect(text.startsWith(`${MARKER}\n\n### `)).toBe(true);
  expect(text).toMatch(said);
});

test('composeComment without reports is only the marker', () => {
  expect(composeComment([], contextWith())).toBe(MARKER);
});
