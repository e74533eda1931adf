import { expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { composeDocument, type Report, reportText } from '../../src/delivery/report.ts';
import { formatAnswer, sayToHuman } from '../../src/mcp/tool-answer.ts';
import { planned, provenFile, unprovenFile } from '../action/reports.ts';

test.each<[string, readonly Report[]]>([
  ['ready', [provenFile('a.html')]],
  ['planned', [planned('a.html')]],
  ['not-ready', [unprovenFile('a.html')]],
])('the text of an answer that is %s begins with it, and holds the report', (result, reports) => {
  const document = composeDocument(reports.map((report) => ({ ...report, notes: ['a note'] })));
  const answer = { ...document, say: sayToHuman(document, undefined) };
  const text = formatAnswer(answer);
  expect(text.startsWith(`${result}: ${answer.url || answer.reason}\n\n`)).toBe(true);
  for (const report of reports) expect(text).toContain(`${reportText(report)}\nNote: a note`);
  expect(answer.say).toContain(answer.url);
  expect(answer.say).toMatch(/^[A-Z].*\S$/s);
});

test('the text of an answer names what failed also where it is the last of many', () => {
  const many = Array.from({ length: 60 }, (_, at) => provenFile(`${at}.html`));
  const failed = unprovenFile('last.html');
  const [first, second = ''] = formatAnswer({ ...composeDocument([...many, failed]), say: '' }).split('\n\n');
  expect(first).toMatch(/^not-ready: 1 of 61 are not ready; last\.html/);
  expect(second).toBe(reportText(failed));
});

const URL_OF = provenFile('a.html').url;

test.each<[string, Partial<Report>, RegExp]>([
  ['downloads', { verb: 'downloads' }, RegExp(`^It is ready, and I verified that it downloads: ${URL_OF}$`)],
  [
    'expires',
    { verb: 'is available', notes: ['it is public', 'the bin expires'] },
    RegExp(`it is available: ${URL_OF}\nPlease note: it is public; the bin expires\\.$`),
  ],
  [
    'may not open again',
    { unknown: ['whether the file can be downloaded again'] },
    RegExp(`${URL_OF}\nNot certain: whether the file can be downloaded again\\.$`),
  ],
  ['was removed', { result: 'withdrawn' }, /^It is removed, .* no longer shows it\.$/],
  [
    'was removed in part',
    { result: 'withdrawn', unknown: ['what stays in ./: b.html'] },
    /^It is removed, .*\nNot certain: what stays in \.\/: b\.html\.$/,
  ],
  [
    'had nothing to remove',
    {
      result: 'withdrawn',
      wasAbsent: true,
      withdrawn: 'https://octo.github.io/demo/rael/',
      notes: ['a note'],
    },
    /^There was nothing to remove: https:\/\/octo\.github\.io\/demo\/rael\/$/,
  ],
])('a human is told that a page %s', (_, more, says) => {
  expect(sayToHuman(composeDocument([{ ...provenFile('a.html'), ...more }]), undefined)).toMatch(says);
});

test.each([
  ['deliver', /^There is no link to give you: /],
  ['withdraw', /^I couldn't verify that it is removed: /],
  ['audit', /^I couldn't verify that everything is as it was delivered: /],
] as const)('a human is told what failed by %s', (operation, says) => {
  const report: Report = { ...unprovenFile('a.html'), operation };
  expect(sayToHuman(composeDocument([report]), undefined)).toMatch(says);
});

test('a human is told the page and the code alone', () => {
  const asked = { userCode: 'ABCD-0001', page: 'https://github.com/login/device', handle: 'a-handle' };
  const say = sayToHuman(composeDocument([unprovenFile('a.html')]), asked);
  expect(say).toMatch(/^Please open https:\/\/github\.com\/login\/device and enter the code ABCD-0001, /);
  expect(say).not.toContain('a-handle');
});
