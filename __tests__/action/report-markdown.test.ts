import { describe, expect, test } from '@jest/globals';
import { composeComment, composeSummary } from '../../src/action/overview.ts';
import { MAX_FACTS } from '../../src/action/report-markdown.ts';
import type { SiteChanges } from '../../src/channels/site-changes.ts';
import type { Report } from '../../src/delivery/report.ts';
import type { PictureReport } from '../../src/delivery/screen/add-picture.ts';
import { MEGABYTE, SITE } from '../../src/protocol/limits.ts';
import { memorySite } from '../channels/pages/site/memory-files.ts';
import { attemptWith, PAGE, placementWith } from '../delivery/builders.ts';
import { NOON } from '../support/ports.ts';
import { reportWith, withdrawn } from './reports.ts';
import { shown } from './runner.ts';

const context = { subject: 'Preview', now: NOON, headSha: null, runUrl: null };
const MEMORY = { mark: '<!-- m', run: null, proven: [], lost: [] };
const asSummary = (...reports: readonly Report[]): string => shown(composeSummary(reports));

test('a long text is cut', () => {
  const text = asSummary({ ...reportWith(), notes: ['😀'.repeat(1_001)] });
  expect(text).toContain(`- **Note:** ${'😀'.repeat(1_000)}…\n`);
});

/** The list of facts, below the heading and the result. */
const listFacts = (report: Report): string => {
  const [, , facts = ''] = asSummary(report).split('\n\n');
  return facts.startsWith('<details>') ? '' : facts;
};

test('facts that are left out are counted', () => {
  const unknown = Array<string>(25).fill('a doubt');
  const facts = listFacts({ ...reportWith(), rawUrl: null, unknown }).split('\n');
  expect([facts.length, facts.at(-1)]).toEqual([MAX_FACTS + 1, '- … and 5 more in the report']);
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
  identicalFiles = 4,
) {
  const none = { added: [], changed: [], removed: [], kept: [], removedFolders: [] };
  const placement = placementWith({
    url: URL_OF_SITE,
    changes: { ...none, ...changes },
    treeSha: '7ree',
    servedSize: 2.5 * MEGABYTE,
  });
  const main = attemptWith({ placement, identicalFiles });
  return reportWith({ subject: 'dist/', site: memorySite(files), main });
}

test.each<[string, Partial<SiteChanges>, string]>([
  ['nothing', {}, 'no changes since the last delivery'],
  ['new ones alone', { added: Object.keys(FILES) }, 'all files are new'],
  ['some', { removed: ['x', 'y'] }, '2 removed, 4 unchanged since the last delivery'],
  ['all', { changed: Object.keys(FILES) }, '4 changed since the last delivery'],
])('says what changed: %s', (_, changes, text) => {
  expect(listFacts(siteReport(changes))).toMatch(new RegExp(`^Verified: 4 files, .*; ${text}; `, 'm'));
});

test('counts changes beyond those that are listed', () => {
  const many = Array.from({ length: SITE.listed + 20 }, (_, at) => `${at}.html`);
  const report = siteReport({ added: many }, Object.fromEntries(many.map((path) => [path, 'x'])));
  expect(report.site?.changes?.added).toHaveLength(SITE.listed);
  expect(report.site?.changeCounts?.added).toBe(SITE.listed + 20);
  expect(asSummary(report)).toContain(`19.html and ${SITE.listed} more`);
});

test.each([
  [63, '63 bytes'],
  [1_536, '1.5 KB'],
  [MEGABYTE * 9.25, '9.3 MB'],
])('formats the size %i by its largest unit: %s', (size, text) => {
  const report = siteReport();
  expect(asSummary({ ...report, site: report.site && { ...report.site, size } })).toContain(
    `4 files, ${text}`,
  );
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

  test('that is as before says so', () => {
    const same = composeSummary([{ ...withPicture, picture: { ...picture, changed: 0 } }]);
    expect(same).toMatch(/looks the same as before/);
    expect(same.match(/<img /g)).toHaveLength(1);
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
      expect(composeComment(reports, context, MEMORY)).toContain(ADDRESS);
    }
  });
});

describe('pages that differ from another folder', () => {
  const changed = (count: number, title = 'Page') =>
    Array.from({ length: count }, (_, at) => ({
      path: `p/${at}.html`,
      title: `${title} ${at}`,
      url: `https://octo.github.io/site/p/${at}.html`,
      kind: 'changed' as const,
    }));
  const rowsOf = (text: string): readonly string[] =>
    text.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:Page|---|✅|Step)/.test(line));
  const commentOf = (changedPages: NonNullable<Report['changedPages']>): string =>
    shown(composeComment([{ ...siteReport(), changedPages }], context, MEMORY));

  test.each([
    [1, 1, ''],
    [20, 20, ''],
    [300, 20, '… and 280 more pages in the report'],
  ])('%d of them: at most 20 rows, then a count', (count, rows, more) => {
    const text = commentOf(changed(count));
    expect(rowsOf(text)).toHaveLength(rows);
    expect(rowsOf(text)[0]).toBe(
      '| [Page 0](<https://octo.github.io/site/p/0.html>)<br><code>p/0.html</code> | changed |',
    );
    expect(text.includes('more pages in the report')).toBe(more !== '');
    expect(text).toContain(more);
  });

  test('a removed page has no link, and none of them is a table without rows', () => {
    const removed = { path: 'old.html', title: 'old.html', url: null, kind: 'removed' as const };
    expect(rowsOf(commentOf([removed]))).toEqual(['| old.html | removed |']);
    expect(commentOf([])).not.toContain('| Page');
  });

  test('the first have pictures side by side, whose titles and URLs are plain text', () => {
    const [one, ...others] = changed(2, 'a"><b>@octocat');
    const pictures = { beforeUrl: `${PAGE.href}.png?"`, url: `${PAGE.href}.after.png` };
    const changedPages = [{ ...(one as (typeof others)[0]), pictures }, ...others];
    const text = composeComment([{ ...siteReport(), changedPages }], context, MEMORY);
    const [, table = ''] =
      /^<details><summary>Pictures of changed pages.*\n([\s\S]*?)<.details>/m.exec(text) ?? [];
    const image = '<a href="[^"|]+"><img width="360" alt="[^"<>@|]*" src="[^"|]+"></a>';
    expect(table).toMatch(new RegExp(`^[|] ${image} [|] ${image} [|]$`, 'm'));
    expect([table.match(/<img /g)?.length, /<b>|@octocat/.test(table)]).toEqual([2, false]);
    const withheld = { ...pictures, url: null as unknown as string };
    expect(commentOf([{ ...(one as (typeof others)[0]), pictures: withheld }])).not.toContain('Pictures of');
  });

  test("a stranger's title neither breaks the table nor mentions anybody", () => {
    const title = 'a | b\n| c | @octocat #12 [x](https://evil.example) <img src=x> `y`';
    const text = composeComment([{ ...siteReport(), changedPages: changed(1, title) }], context, MEMORY);
    const [row = '', ...others] = rowsOf(text);
    expect(others).toEqual([]);
    expect(row).toMatch(/^\| \[a &#124; b &#124; c .* \| changed \|$/);
    expect(row).not.toMatch(/@octocat|(?<!&)#12|<img|`/);
  });
});
