import { expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { composeDocument, type Report } from '../../src/delivery/report.ts';
import { composeAnswer, sayToHuman } from '../../src/mcp/tool-answer.ts';
import { planned, provenFile, unprovenFile } from '../action/reports.ts';

const REPORT = 'screen-delivery://reports/1';
const DELIVER = { tool: 'deliver' } as const;
const answerTo = (reports: readonly Report[]) =>
  composeAnswer(composeDocument(reports), REPORT, { ...DELIVER, ways: [], reports });
const said = (...reports: readonly Report[]) =>
  sayToHuman(composeDocument(reports), { ...DELIVER, ways: [] });

test('an answer has what an agent needs, and no empty field', () => {
  const ready = provenFile('a.html');
  const { say: _, ...more } = answerTo([{ ...ready, opens: 'page', replaced: true, notes: ['a note'] }]);
  expect(more).toEqual({ result: 'ready', url: ready.url, opens: 'page', replaced: true, report: REPORT });
  const { say: __, unknown: ___, ...failed } = answerTo([unprovenFile('a.html')]);
  const { reason, hint, code } = composeDocument([unprovenFile('a.html')]);
  expect(failed).toEqual({ result: 'not-ready', reason, hint, code, report: REPORT });
  // That nothing was published is no open question.
  const unknownIf = (mayBeWritten: boolean) =>
    answerTo([{ ...unprovenFile('a.html'), mayBeWritten, unknown: ['x'] }]).unknown;
  expect([unknownIf(true), unknownIf(false)]).toEqual([['x'], undefined]);
});

test('an answer stays short, whatever the report holds', () => {
  const long = Array.from({ length: 200 }, (_, nth) => `whether ${nth} ${'x'.repeat(500)}`);
  const { unknown = [], say } = answerTo([{ ...provenFile('a.html'), unknown: long }]);
  expect([unknown.length, Math.max(...unknown.map(({ length }) => length))]).toEqual([10, 201]);
  expect(say.length).toBeLessThan(700);
  expect(say).toMatch(/, and 198 more\.$/);
});

const URL_OF = provenFile('a.html').url;
const PUBLIC = 'It is public: anyone with the link can';

test.each<[string, Partial<Report>, string]>([
  ['opens', { opens: 'page' }, `It is ready: ${URL_OF}\n${PUBLIC} open it as a page.`],
  [
    'downloads, and expires',
    { opens: 'download', expires: '2026-12-05T19:21:04.400Z', notes: ['the bin expires'] },
    `It is ready: ${URL_OF}\n${PUBLIC} download it until 2026-12-05.`,
  ],
  [
    'replaces another one, which a cache still shows',
    { opens: 'page', replaced: true, urlNote: 'it is late' },
    `It is ready: ${URL_OF}\n${PUBLIC} open it as a page. It replaces the earlier version.\nPlease use exactly this link: it is late.`,
  ],
  [
    'may not open again',
    { opens: 'page', unknown: ['whether it opens again'] },
    `It is ready: ${URL_OF}\n${PUBLIC} open it as a page.\nNot certain: whether it opens again.`,
  ],
  ['is a link', { channel: 'K4' }, `I checked the link, and it shows what it should to anyone: ${URL_OF}`],
  ['was removed', { result: 'withdrawn' }, 'It is removed, and I verified that its link no longer shows it.'],
  [
    "was removed, without somebody else's folder in it",
    { result: 'withdrawn', notes: ['2 files removed', 'still there: a/b/'] },
    'It is removed, and I verified that its link no longer shows it.\n2 files removed; still there: a/b/.',
  ],
  [
    'was removed in part',
    { result: 'withdrawn', leavesFiles: true, notes: ['1 file removed', 'still there: b.html'] },
    'It is removed in part, and I verified that its link no longer shows it.\n1 file removed; still there: b.html.',
  ],
  [
    'had nothing to remove',
    { result: 'withdrawn', wasAbsent: true, withdrawn: 'https://octo.github.io/demo/rael/', notes: ['x'] },
    'There was nothing to remove: https://octo.github.io/demo/rael/',
  ],
])('a human is told that a page %s', (_, more, says) => {
  expect(said({ ...provenFile('a.html'), ...more })).toBe(says);
});

test('a human is told before anything is put on the public bin', () => {
  expect(said(planned('a.html'))).toBe('I checked it and found no problem. Nothing is published yet.');
  expect(said({ ...planned('a.html'), channel: 'K3' })).toMatch(
    /^Nothing is uploaded yet\. .* Shall I do that\?$/,
  );
});

test.each([
  ['deliver', true, /^There is no link to give you, but it may be public already: /],
  ['deliver', false, /^I published nothing: /],
  ['withdraw', true, /^I couldn't verify that it is removed: /],
  ['withdraw', false, /^I removed nothing: /],
  ['audit', false, /^I couldn't verify that everything is as it was delivered: /],
  ['verify', false, /^I couldn't confirm the link: /],
] as const)(
  'a human is told what failed by %s, and whether anything changed: %s',
  (tool, mayBeWritten, says) => {
    const reports = [{ ...unprovenFile('a.html'), mayBeWritten }];
    const document = composeDocument(reports);
    expect(sayToHuman(document, { tool, reports, ways: [] })).toMatch(says);
    const ways = ['set `GITHUB_TOKEN`'];
    expect(sayToHuman(document, { tool, ways })).toContain('. You can change that: set `GITHUB_TOKEN`.');
  },
);

test.each([
  ['BAD_INPUT', [], 'I published nothing: I made a mistake in my request, and will correct it.'],
  [
    'BAD_INPUT',
    ['set `--x`'],
    'I published nothing: argument `marker` is wrong. You can change that: set `--x`.',
  ],
  ['NO_NETWORK', [], 'I published nothing: I have no network connection.'],
] as const)('a human is told no argument and no record: %s %j', (code, ways, says) => {
  const document = composeDocument([unprovenFile('a.html')]);
  expect(sayToHuman({ ...document, code, reason: 'argument `marker` is wrong' }, { ...DELIVER, ways })).toBe(
    says,
  );
});

test('a human is told the page and the code alone', () => {
  const required = { userCode: 'ABCD-0001', page: 'https://github.com/login/device' };
  const answer = composeAnswer(composeDocument([unprovenFile('a.html')]), REPORT, {
    ...DELIVER,
    required,
    ways: [],
  });
  expect(answer).toMatchObject({ result: 'authorization_required', authorization: required });
  expect(answer.say).toMatch(
    /^Please open https:\/\/github\.com\/login\/device and enter the code ABCD-0001, /,
  );
});
