import { describe, expect, test } from '@jest/globals';
import { composeComment } from '../../src/action/comment-body.ts';
import { describeSite, formatChangedFiles, listSiteFacts } from '../../src/action/site-markdown.ts';
import { composeSummary } from '../../src/action/summary.ts';
import type { SiteChanges } from '../../src/channels/channel.ts';
import type { Report } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { COMMENTS, MEGABYTE, SITE, SUMMARY } from '../../src/protocol/limits.ts';
import { memorySite } from '../channels/pages/site/site-runs.ts';
import { attemptWith, placementWith, proofWith } from '../delivery/builders.ts';
import { NOON } from '../support/ports.ts';
import { reportWith, unprovenFile } from './reports.ts';
import { shown } from './runner.ts';

const FILES = {
  'index.html': '<!doctype html>',
  'a.css': 'p{}',
  'b.js': '1;',
  'new.html': '<!doctype html>',
};
const URL_OF_SITE = new URL('https://octo.github.io/site/p/1/');
const UPDATE: Partial<SiteChanges> = { added: ['new.html'], changed: ['index.html'], removed: ['old.js'] };

/** A proven site of four files, unless a test says otherwise. */
function siteReport(changes: Partial<SiteChanges> = UPDATE, files: Readonly<Record<string, string>> = FILES) {
  const none = { added: [], changed: [], removed: [], kept: [], removedFolders: [] };
  const placement = placementWith({
    url: URL_OF_SITE,
    changes: { ...none, ...changes },
    treeSha: '7ree',
    servedSize: 2.5 * MEGABYTE,
  });
  const main = attemptWith({ placement, proof: proofWith({ parts: 3 }) });
  return reportWith({ subject: 'dist/', site: memorySite(files), main });
}

const context = { marker: '<!-- m -->', now: NOON, headSha: null, runUrl: null };
const asSummary = (report: Report): string => shown(composeSummary([report]));
const asComment = (report: Report): string => shown(composeComment([report], context));

describe.each([
  ['summary', asSummary],
  ['comment', asComment],
])('the %s of a site', (_, compose) => {
  test('has one link first, then counts, size, time and changes, then notes, and folds the rest', () => {
    const text = compose({ ...siteReport(), notes: ['a note'] });
    const parts = [
      `### ✅ [dist/](<${URL_OF_SITE}>)\n\n**Ready · ГОТОВО** → <${URL_OF_SITE}>`,
      '- **Site:** 4 files, 35 bytes, all fetched back and identical, in 35.8 s; the whole Pages site has 2.5 MB',
      '- **Changes:** 1 added, 1 changed, 1 removed, 2 unchanged since the last delivery',
      '- **Note:** a note',
      '- **UNKNOWN:** nothing, everything was verified',
      '<details><summary>Changed files</summary>',
      '- **added:** new.html\n- **changed:** index.html\n- **removed:** old.js',
      '<details><summary>Report</summary>',
    ];
    const places = parts.map((part) => text.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(new Set(text.match(/(?<=<)https:[^>]+/g))).toEqual(new Set([URL_OF_SITE.href]));
  });

  test('that was refused lists what was found, each line of its own, and what to change once', () => {
    const findings = ['index.html line 1: img a.png is missing', 'index.html line 2: img b.png is missing'];
    const failure = new DeliveryError('BAD_FILE', 'the folder dist/ is not complete', {
      step: 'check',
      hint: 'add the files',
      findings,
    });
    const text = compose(reportWith({ subject: 'dist/', main: null, failure }));
    expect(text).toContain(
      `**Not ready · НЕ ГОТОВО** → the folder dist/ is not complete (step <code>check</code>)\n\n- ${findings.join('\n- ')}\n\n**To change:** add the files\n`,
    );
  });

  test('stays within its limit with many long names and findings', () => {
    const names = Array.from({ length: 600 }, (_, at) => `${'[@'.repeat(500)}${at}`);
    const failure = new DeliveryError('BAD_FILE', 'x', { findings: names.slice(0, 10) });
    for (const report of [
      siteReport({ added: names, changed: names, removed: names }),
      unprovenFile('dist/', failure),
    ]) {
      expect(composeComment([report], context).length).toBeLessThanOrEqual(COMMENTS.body);
      expect(Buffer.byteLength(composeSummary([report]))).toBeLessThan(SUMMARY);
    }
  });
});

test('several sites have a row each with count, size and changes, and notes come before what is unknown', () => {
  const one = { ...siteReport(), unknown: ['a doubt'] };
  const text = shown(composeSummary([one, { ...siteReport({}), notes: ['a note'] }]));
  expect(text).toContain(
    `| ✅ | [dist/](<${URL_OF_SITE}>) | 4 files, 35 bytes, all identical; 1 added, 1 changed, 1 removed, 2 unchanged since the last delivery |`,
  );
  expect(text).toContain('all identical; none since the last delivery |');
  expect(text.indexOf('- **Note:** a note')).toBeLessThan(text.indexOf('- **UNKNOWN:** a doubt'));
});

test.each<[string, Partial<SiteChanges>, string]>([
  ['nothing', {}, 'none since the last delivery'],
  ['every file', { added: Object.keys(FILES) }, 'all files are new'],
  ['some', { removed: ['x', 'y'] }, '2 removed, 4 unchanged since the last delivery'],
  ['all', { changed: Object.keys(FILES) }, '4 changed, 0 unchanged since the last delivery'],
])('says what changed: %s', (_, changes, text) => {
  expect(listSiteFacts(siteReport(changes))).toContainEqual(['Changes', text]);
});

test('counts changes beyond those that are listed', () => {
  const many = Array.from({ length: SITE.listed + 20 }, (_, at) => `${at}.html`);
  const report = siteReport({ added: many }, Object.fromEntries(many.map((path) => [path, 'x'])));
  expect(report.site?.changes?.added).toHaveLength(SITE.listed);
  expect(report.site?.changeCounts?.added).toBe(SITE.listed + 20);
  expect(shown(formatChangedFiles(report))).toContain(`19.html and ${SITE.listed} more`);
});

test.each([
  [63, '1 file, 63 bytes'],
  [1_536, '1 file, 1.5 KB'],
  [MEGABYTE * 9.25, '1 file, 9.3 MB'],
])('formats a size of %d bytes', (size, text) => {
  const { site } = siteReport();
  expect(site && describeSite({ ...site, count: 1, size })).toContain(text);
});

test('a file, and a site that is not ready, have no such facts', () => {
  for (const report of [reportWith(), { ...siteReport(), ready: false }]) {
    expect(listSiteFacts(report)).toEqual([]);
    expect(formatChangedFiles(report)).toBe('');
  }
});

test('CODE names the number of files, the changes and the tree', () => {
  expect(siteReport().lines.CODE).toContain(
    '; 4 files; 35 bytes; 1 added, 1 changed, 1 removed; tree 7ree; entry index.html; ',
  );
  expect(siteReport({}).lines.CODE).toContain('; no file changed; tree 7ree; ');
});
