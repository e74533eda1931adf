import { describe, expect, test } from '@jest/globals';
import { composeComment } from '../../src/action/comment.ts';
import { composeSummary } from '../../src/action/overview.ts';
import { formatTimings, MAX_FACTS } from '../../src/action/report-markdown.ts';
import type { SiteChanges } from '../../src/channels/site-changes.ts';
import type { Report } from '../../src/delivery/report.ts';
import type { PictureReport } from '../../src/delivery/screen/add-picture.ts';
import { DeliveryError } from '../../src/errors.ts';
import { MEGABYTE, SITE } from '../../src/protocol/limits.ts';
import { GATE_TITLES, GATES, REPORT_LINES } from '../../src/protocol/words.ts';
import { memorySite } from '../channels/pages/site/memory-files.ts';
import { attemptWith, PAGE, placementWith, planWith, proofWith, RAW } from '../delivery/builders.ts';
import { NOON } from '../support/ports.ts';
import { reportWith, withdrawn } from './reports.ts';
import { shown } from './runner.ts';

const context = { marker: '<!-- m -->', number: 12, now: NOON, headSha: null, runUrl: null };
const asSummary = (...reports: readonly Report[]): string => shown(composeSummary(reports));
const asComment = (report: Report): string => shown(composeComment([report], context));

test('a report shows each gate with its evidence, and each of its lines, long text cut', () => {
  const text = asSummary({ ...reportWith(), notes: ['😀'.repeat(1_001)] });
  for (const gate of GATES) {
    expect(text).toMatch(new RegExp(`^\\| ✅ ${GATE_TITLES[gate]} · <code>${gate}</code> \\| .+ \\|$`, 'm'));
  }
  expect(text).toContain(`| ✅ Final URL · <code>G2_финальный_URL</code> | <${PAGE.href}> |`);
  for (const line of REPORT_LINES.filter((one) => one !== 'UNKNOWN')) {
    expect(text).toMatch(new RegExp(`^- \\*\\*${line}:\\*\\* .+`, 'm'));
  }
  expect(text).not.toContain('UNKNOWN');
  expect(text).toContain(`- **Note:** ${'😀'.repeat(1_000)}…\n`);
});

/** The list of facts, below the heading and the result. */
const listFacts = (report: Report): string => {
  const [, , facts = ''] = asSummary({ ...report, took: {} }).split('\n\n');
  return facts.startsWith('<details>') ? '' : facts;
};

describe('the facts of a report', () => {
  const duplicates = [attemptWith({ plan: planWith({ channel: 'K3' }) })];

  test('are the further addresses, the notes and what is unknown', () => {
    const main = attemptWith({ placement: placementWith({ notes: ['the bin expires soon'] }) });
    const report = { ...reportWith({ main, duplicates }), unknown: ['the first', 'the second'] };
    expect(listFacts(report).split('\n')).toEqual([
      `- **Raw:** <${RAW.href}>`,
      `- **Duplicate on K3:** <${PAGE.href}>`,
      '- **Note:** the bin expires soon',
      '- **UNKNOWN:** the first',
      '- **UNKNOWN:** the second',
    ]);
    // Of what is withdrawn there is no link.
    expect(listFacts(withdrawn(report))).not.toContain('https:');
  });

  test('are counted where they are left out', () => {
    const unknown = Array<string>(25).fill('a doubt');
    const facts = listFacts({ ...reportWith(), rawUrl: null, unknown }).split('\n');
    expect(facts).toHaveLength(MAX_FACTS + 1);
    expect(facts.at(-1)).toBe('- … and 5 more in the report');
  });
});

test('the time of each step is shown in their order, of several files the longest', () => {
  const took = { place: 1_234, wait: 21_400, verify: 600 };
  const reports = [took, { ...took, verify: 900 }].map((times) => ({ ...reportWith(), took: times }));
  expect(formatTimings(reports.slice(0, 1))).toBe('Took: place 1.2 s, wait 21.4 s, verify 0.6 s');
  expect(formatTimings(reports)).toBe('Took (longest file): place 1.2 s, wait 21.4 s, verify 0.9 s');
});

const FILES = {
  'index.html': '<!doctype html>',
  'a.css': 'p{}',
  'b.js': '1;',
  'new.html': '<!doctype html>',
};
const URL_OF_SITE = new URL('https://octo.github.io/site/p/1/');
const UPDATE: Partial<SiteChanges> = { added: ['new.html'], changed: ['index.html'], removed: ['old.js'] };

/** A proven site of four files, unless a test says otherwise. */
function siteReport(
  changes: Partial<SiteChanges> = UPDATE,
  files: Readonly<Record<string, string>> = FILES,
  parts = 3,
) {
  const none = { added: [], changed: [], removed: [], kept: [], removedFolders: [] };
  const placement = placementWith({
    url: URL_OF_SITE,
    changes: { ...none, ...changes },
    treeSha: '7ree',
    servedSize: 2.5 * MEGABYTE,
  });
  const main = attemptWith({ placement, proof: proofWith({ parts }) });
  return reportWith({ subject: 'dist/', site: memorySite(files), main });
}

describe.each([
  ['summary', asSummary, ''],
  ['comment', asComment, 'Preview of #12: '],
])('the %s of a site', (_, compose, title) => {
  test('has one link first, then counts, size, time and changes, then notes, and folds the rest', () => {
    const text = compose({ ...siteReport(), notes: ['a note'] });
    const parts = [
      `### ${title}✅ [dist/](<${URL_OF_SITE}>)\n\n**Ready · ГОТОВО** → <${URL_OF_SITE}>`,
      '- **Site:** 4 files, 35 bytes, all fetched back and identical, in 35.8 s; the whole Pages site has 2.5 MB',
      '- **Changes:** 1 added, 1 changed, 1 removed, 2 unchanged since the last delivery',
      '- **Note:** a note',
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
});

test('several sites have a row each with count, size and changes, and notes come before what is unknown', () => {
  const one = { ...siteReport(), unknown: ['a doubt'] };
  const text = asSummary(one, { ...siteReport({}), notes: ['a note'] });
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
  expect(listFacts(siteReport(changes))).toMatch(new RegExp(`^- \\*\\*Changes:\\*\\* ${text}$`, 'm'));
});

test('counts changes beyond those that are listed', () => {
  const many = Array.from({ length: SITE.listed + 20 }, (_, at) => `${at}.html`);
  const report = siteReport({ added: many }, Object.fromEntries(many.map((path) => [path, 'x'])));
  expect(report.site?.changes?.added).toHaveLength(SITE.listed);
  expect(report.site?.changeCounts?.added).toBe(SITE.listed + 20);
  expect(asSummary(report)).toContain(`19.html and ${SITE.listed} more`);
});

test('formats a size by its largest unit', () => {
  for (const [size, text] of [
    [63, '63 bytes'],
    [1_536, '1.5 KB'],
    [MEGABYTE * 9.25, '9.3 MB'],
  ] as const) {
    const report = siteReport();
    const site = report.site && { ...report.site, count: 1, size };
    expect(asSummary({ ...report, site })).toContain(`1 file, ${text}`);
  }
});

test('a file, and a site that is not ready, have no such facts', () => {
  for (const report of [reportWith(), { ...siteReport(), ready: false }]) {
    expect(asSummary(report)).not.toMatch(/\*\*(Site|Changes):|Changed files/);
  }
});

const picture: PictureReport = {
  url: `${PAGE.href}.png`,
  sha256: '0123456789abcdef0123',
  alternative: 'Picture of <b>@octo</b> ](x)',
  beforeUrl: null,
  changed: null,
};
const withPicture = { ...reportWith(), picture };
const ADDRESS = `<a href="${PAGE.href}"><img width="480" alt="Picture of `;
const SOURCE = ` src="${PAGE.href}.png?v=0123456789abcdef"></a></td></tr></table>`;

describe('the picture of a page', () => {
  test('is framed and linked to the page, with its alternative text as plain text', () => {
    const alternative = `${picture.alternative}"x`;
    const markdown = composeSummary([{ ...withPicture, picture: { ...picture, alternative } }]);
    const [frame = ''] = /^<table><tr><td>.+$/m.exec(markdown) ?? [];
    expect([frame.includes(ADDRESS), frame.endsWith(`&quot;x"${SOURCE}`)]).toEqual([true, true]);
    expect(frame.slice(frame.indexOf(ADDRESS) + ADDRESS.length, -SOURCE.length - 1)).not.toMatch(/[<>@[\]"]/);
  });

  test('is beside the earlier one, and how much changed is said', () => {
    const beforeUrl = `${PAGE.href}.before.png`;
    const markdown = composeSummary([{ ...withPicture, picture: { ...picture, beforeUrl, changed: 0.123 } }]);
    expect(markdown.match(/<img width="360" /g)).toHaveLength(2);
    expect(markdown).toContain(`, before" src="${beforeUrl}?v=`);
    expect(markdown).toMatch(/\nBefore and after: 12 % of the picture changed\.\n/);
    const same = composeSummary([{ ...withPicture, picture: { ...picture, changed: 0 } }]);
    expect(same).toMatch(/looks the same as before/);
  });

  test.each([
    ['there is none', { ...withPicture, picture: null }],
    ['the delivery is not ready', { ...withPicture, ready: false, url: null }],
    ['it is withdrawn', withdrawn(withPicture)],
    ['its address was withheld', { ...withPicture, picture: { ...picture, url: null as unknown as string } }],
  ])('is not shown where %s', (_, one) => {
    expect(composeSummary([one])).not.toContain('<img');
  });

  test('is part of the comment as well, also of several files', () => {
    for (const reports of [[withPicture], [withPicture, reportWith()]]) {
      expect(composeComment(reports, context)).toContain(ADDRESS);
    }
  });
});
