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

const occasionWith = (more: Partial<CommentContext> = {}): CommentContext => ({
  marker: MARKER,
  now: NOON,
  headSha: 'c0ffee0123456789c0ffee0123456789c0ffee01',
  run: RUN,
  ...more,
});
const written = (reports: readonly Report[], more: Partial<CommentContext> = {}): string =>
  shown(composeComment(reports, occasionWith(more)));
const FOOTING = `2026-01-02 03:04 UTC · commit <code>c0ffee0</code> · [run](<${RUN}>)`;

describe('the comment on a ready delivery', () => {
  test('begins with the marker and the link, and says when and for which commit', () => {
    expect(written([reportWith()]).split('\n\n').slice(0, 4)).toEqual([
      MARKER,
      `### ✅ [page.html](<${PAGE.href}>)`,
      `<${PAGE.href}>`,
      FOOTING,
    ]);
  });

  test('ends in the folded report', () => {
    expect(written([reportWith()])).toMatch(
      /\n\n<details><summary>Report<\/summary>\n\n- \*\*CLAIM:\*\* [\s\S]+\n\n<\/details>$/,
    );
  });

  test('leaves out what is not known of the run', () => {
    const text = written([reportWith()], { headSha: null, run: null });
    expect(text).toContain('\n\n2026-01-02 03:04 UTC\n\n');
  });
});

describe('the comment on a delivery that is not ready', () => {
  test('says so, with reason, step, HTTP code and what to change', () => {
    expect(
      written([unprovenFile('page.html')])
        .split('\n\n')
        .slice(0, 6),
    ).toEqual([
      MARKER,
      '### ❌ page.html',
      '**НЕ ГОТОВО** → it shows | nothing | (step `verify`, HTTP 404)',
      '**To change:** set `path:`',
      'An address that stood here before is not proven any more.',
      FOOTING,
    ]);
  });

  test('holds no address but the run’s', () => {
    expect(written([unprovenFile('page.html')]).match(/https:[^>]+/g)).toEqual([RUN]);
  });
});

describe('the comment on a withdrawal', () => {
  test('says so, and where the preview was, without a link', () => {
    const text = written([withdrawn(reportWith())]);
    expect(text.split('\n\n').slice(1, 3)).toEqual([
      '### 🗑️ page.html',
      `The preview was withdrawn. It was at <code>${PAGE.href}</code>.`,
    ]);
    expect(text.match(/<https:[^>]+>/g)).toEqual([`<${RUN}>`]);
  });

  test('needs no address', () => {
    const text = written([{ ...withdrawn(reportWith()), withdrawn: null }]);
    expect(text).toContain('\n\nThe preview was withdrawn.\n\n');
  });
});

describe('the comment on several files', () => {
  test('links those that are proven, and says why the others are not', () => {
    const text = written([provenFile('a.html'), unprovenFile('b.html')]);
    expect(text.split('\n').slice(0, 7)).toEqual([
      MARKER,
      '',
      '### ❌ 1 НЕ ГОТОВО · ✅ 1 ГОТОВО',
      '',
      '|  | File | Proof, or why there is none |',
      '| --- | --- | --- |',
      '| ❌ | b.html | it shows | nothing | (step `verify`, HTTP 404). **To change:** set `path:` |',
    ]);
    expect(text).toContain('| ✅ | [a.html](<https://octo.github.io/site/a.html>) |');
    expect(text).toContain(`\n\n${FOOTING}\n\n<details><summary>Reports</summary>`);
  });

  test('leads to the run where it is cut', () => {
    const many = Array.from({ length: 2_000 }, (_, at) => provenFile(`${at}.html`));
    expect(written(many)).toMatch(/\n\n… and \d+ more: \[see the summary\]\(<https:\/\/github\.com\/.+>\)\n/);
    expect(written(many, { run: null })).toMatch(/\n\n… and \d+ more: see the summary\n/);
  });
});

describe('names and words from outside', () => {
  const HOSTILE =
    '@octo #42 GH-7 octo/site#1 https://github.com/octo/site/issues/3 <!-- screen-delivery:x --> `.html';

  test.each([
    ['alone', [provenFile(HOSTILE)]],
    ['that is not ready', [unprovenFile(HOSTILE)]],
    ['that was withdrawn', [withdrawn(provenFile(HOSTILE))]],
    ['among others', [provenFile(HOSTILE), unprovenFile(HOSTILE)]],
  ])('tell nobody, refer to nothing and plant no marker: a file %s', (_, reports) => {
    const text = composeComment(reports, occasionWith());
    const told = text
      .replace(/<https:[^>]+>/g, '')
      .replace(/&#(\d+);/g, (_, sign: string) => String.fromCharCode(Number(sign)));
    expect(told).not.toMatch(/@\w|#\d|\bgh-\d/i);
    expect(text.replace(/<https:[^>]+>/g, '')).not.toMatch(/:\/\//);
    expect(text.match(/<!--/g)).toHaveLength(1);
  });
});

test.each([
  ['one huge report', hugeFiles(1), /\[see the summary\]\(<.+>\)$/],
  ['a huge report that is not ready', hugeFiles(2).slice(1), /./],
  ['many huge reports', hugeFiles(50), /more: \[see the summary\]/],
])('%s is never longer than the host takes', (_, reports, said) => {
  const text = composeComment(reports, occasionWith());
  expect(text.length).toBeLessThanOrEqual(COMMENTS.body);
  expect(text.startsWith(`${MARKER}\n\n### `)).toBe(true);
  expect(text).toMatch(said);
});

test('of nothing, the marker alone is left', () => {
  expect(composeComment([], occasionWith())).toBe(MARKER);
});
