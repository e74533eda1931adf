import { describe, expect, test } from '@jest/globals';
import { composeReport, refusalReport } from '../../src/delivery/compose-report.ts';
import type { ChannelAttempt, Delivery } from '../../src/delivery/delivery.ts';
import { composeDocument, nameSubject, type Report, reportText } from '../../src/delivery/report.ts';
import { DeliveryError, type ErrorCode } from '../../src/errors.ts';
import { RETRY_HINT } from '../../src/github/refusals.ts';
import type { ProvenMatch } from '../../src/proof/probe-result.ts';
import { type ChannelKey, GATES } from '../../src/protocol/words.ts';
import {
  deliveryWith as anyDelivery,
  attemptWith,
  type DeliveryParts,
  PAGE,
  placementWith,
  plannedAttempt,
  planWith,
  probeResultWith,
  proofWith,
  RAW,
  taskWith,
} from './builders.ts';

const deliveryWith = (more: DeliveryParts = {}): Delivery =>
  anyDelivery({ subject: 'out/page.html', reason: 'the file is shown on the screen', ...more });

const failing = (code: ErrorCode = 'NOT_PROVEN', httpCode?: number, hint?: string): DeliveryError =>
  new DeliveryError(code, 'it went wrong', { httpCode, hint, step: 'verify' });

const unproven = { httpCode: null, proof: null, failure: failing('NOT_PROVEN', 404, 'try again') };
const unplaced = { ...unproven, placement: null, took: {} };
const lineOf = (line: keyof Report['lines'], more: DeliveryParts = {}): string =>
  composeReport(deliveryWith(more)).lines[line];

const ALTERED = probeResultWith({ match: 'altered', fingerprint: { size: 9, sha256: 'bb', markerCount: 3 } });

describe('a ready report', () => {
  test('carries the URL, the proof and nothing unknown', () => {
    const report = composeReport(deliveryWith());
    expect(report).toMatchObject({ ready: true, url: PAGE.href, rawUrl: RAW.href, withdrawn: null });
    expect(report.lines).toEqual({
      CLAIM: `out/page.html opens on the screen at ${PAGE.href}`,
      CODE: 'file out/page.html; channel K1 (pages), because the file is shown on the screen; method A, single-call write; branch main, path page.html; commit c0ffee; 12 bytes; sha256 f00d',
      TEST: 'HTTP 200; marker found: none was given, all bytes compared; bytes identical: yes; build time: 34.6 s',
      RESULT: `ГОТОВО → ${PAGE.href}`,
      UNKNOWN: '',
    });
    expect(report.file).toEqual({ path: 'out/page.html', size: 12, sha256: 'f00d' });
    const proven = [{ url: PAGE.href, sha256: 'aa' }];
    expect(report).toMatchObject({ channel: 'K1', commitSha: 'c0ffee', proven, notReady: null });
    expect(report.took).toEqual({ place: 1_200, wait: 34_560, verify: 0 });
  });

  test.each<[string, ChannelKey, boolean, string]>([
    ['as planned', 'K1', true, 'method A, single-call write'],
    ['not at all', 'K1', false, 'nothing written, because it was there already'],
    ['as it is given', 'K4', false, 'method A, single-call write'],
  ])('says in CODE what was carried out: %s', (_, channel, written, method) => {
    const main = attemptWith({ plan: planWith({ channel }), placement: placementWith({ written }) });
    expect(composeReport(deliveryWith({ main })).lines.CODE.split('; ')[2]).toBe(method);
  });
});

const K3 = planWith({ channel: 'K3' });
const K4 = planWith({ channel: 'K4' });
const BIN = 'https://filebin.net/b/page.html';
const inBin = placementWith({ url: new URL(BIN) });
const PARTLY = 'whether a part of the file has arrived (branch main, path page.html)';
const marked = (match: ProvenMatch, markerCount: number, wait?: number): ChannelAttempt =>
  attemptWith({ proof: proofWith({ match, markerCount }), took: wait === undefined ? {} : { wait } });
const unplacedBy = (failure: DeliveryError): ChannelAttempt => attemptWith({ ...unplaced, failure });

const PLACED_LATER =
  'whether the URL will show the file later (it is published: commit c0ffee; branch main, path page.html)';
const refused = (code: ErrorCode, httpCode?: number) => unplacedBy(failing(code, httpCode));
const leaving = (...left: readonly string[]) => unplacedBy(failing('NOT_OURS').withLeftBehind(left));
const sought = { ...unproven, marker: 'It works', took: {} };
const late = attemptWith({ ...unproven, httpCode: 404, took: { wait: 5_000 } });
const bad = new DeliveryError('BAD_FILE', 'empty', { step: 'check' });
const offline = failing('NO_NETWORK');

const FOUND = 'HTTP 200; marker found: yes';
const NO_BUILD = 'build time: no build';
const NOTHING = 'nothing was published';
const duplicate = attemptWith({ ...unproven, plan: K3 });

const main = attemptWith(unproven);
const restoredBy = (commitSha: string | null) => ({ commitSha, proven: false, detail: 'put back or not' });

test.each<[keyof Report['lines'], string, DeliveryParts | ChannelAttempt]>([
  ['TEST', `${FOUND}, 2 ×; bytes identical: yes; ${NO_BUILD}`, marked('identical', 2)],
  ['TEST', `${FOUND}, 1 ×; bytes identical: no; build time: 240.0 s`, marked('altered', 1, 240_000)],
  ['TEST', `${FOUND}, 1 ×; ${NO_BUILD}`, marked('marked', 1)],
  ['TEST', 'HTTP 404; marker found: none was given; build time: 5.0 s', late],
  ['TEST', `${FOUND}, 3 ×; ${NO_BUILD}`, attemptWith({ ...sought, lastProbe: ALTERED })],
  ['TEST', `HTTP none; marker found: no; ${NO_BUILD}`, attemptWith(sought)],
  ['TEST', 'nothing was fetched; the delivery ended at step verify', attemptWith(unplaced)],
  ['TEST', 'nothing was fetched; the delivery ended at step check', { main: null, failure: bad }],
  ['UNKNOWN', 'the body has the expected text, but its bytes differ from the file', marked('altered', 1)],
  ['UNKNOWN', 'the lock; the raw address', attemptWith({ unknown: ['the lock', 'the raw address'] })],
  ['UNKNOWN', PLACED_LATER, attemptWith(unproven)],
  ['UNKNOWN', "the duplicate on K3 isn't verified: it went wrong", { duplicates: [duplicate] }],
  ['UNKNOWN', '', attemptWith({ ...unproven, plan: K4 })],
  ['UNKNOWN', PARTLY, attemptWith(unplaced)],
  ['UNKNOWN', `${PARTLY}; the file itself is still at out/page.html, sha256 f00d`, unplacedBy(offline)],
  ['UNKNOWN', NOTHING, { main: null, site: null, failure: offline }],
  ['UNKNOWN', NOTHING, leaving()],
  ['UNKNOWN', 'left behind: the release files-1', leaving('the release files-1')],
  ['UNKNOWN', PLACED_LATER, { main: { ...main, restored: restoredBy(null) } }],
  [
    'UNKNOWN',
    'whether the URL shows the previous version again',
    { main: { ...main, restored: restoredBy('b') } },
  ],
  // Whatever a look after a write is answered, it does not tell what has arrived.
  ['UNKNOWN', PARTLY, refused('NO_PERMISSION', 403)],
])('the %s line says: %s', (line, text, more) => {
  expect(lineOf(line, 'task' in more ? { main: more } : more)).toBe(text);
});

describe('the RESULT line', () => {
  test.each<[DeliveryError, string]>([
    [failing('NOT_PROVEN', 404, 'try again'), 'it went wrong (step verify, HTTP 404). To fix: try again'],
    [failing(), 'it went wrong (step verify)'],
    [new DeliveryError('BAD_INPUT', 'wrong'), 'wrong (step check)'],
    [
      new DeliveryError('NO_NETWORK', 'unplugged', { step: 'place' }),
      "the protocol can't be executed, there is no network: unplugged (step place)",
    ],
  ])('of %s names reason, step, HTTP code and what to change', (failure, words) => {
    expect(lineOf('RESULT', { main: attemptWith({ ...unproven, failure }) })).toBe(`НЕ ГОТОВО → ${words}`);
  });

  test.each<[readonly string[] | undefined, RegExp, RegExp]>([
    [undefined, / isn't verified as published, /, /^whether it was published: the delivery ended with an/],
    [[], / was not published, so /, /^nothing was published$/],
  ])('of a mistake of ours says that nothing was published only where that is known', (left, claim, open) => {
    const failure = new DeliveryError('INTERNAL', 'x is undefined', { leftBehind: left });
    const { lines } = composeReport(deliveryWith({ main: null, failure }));
    expect(lines).toMatchObject({
      CLAIM: expect.stringMatching(claim),
      TEST: expect.stringMatching(/^nothing was (verified|fetched); the delivery ended at step check$/),
      UNKNOWN: expect.stringMatching(open),
    });
  });

  test('is not ready when something failed although every gate is passed', () => {
    expect(composeReport(deliveryWith({ failure: failing() }))).toMatchObject({ ready: false, url: null });
  });
});

describe('the CLAIM line', () => {
  test('tells what a person should know, and gives the address of each proven duplicate', () => {
    const main = attemptWith({ placement: placementWith({ notes: ['the bin expires soon'] }) });
    const duplicates = [attemptWith({ plan: K3, placement: inBin })];
    const report = composeReport(deliveryWith({ main, duplicates }));
    expect(report.notes).toEqual(['the bin expires soon']);
    expect(report.lines.CLAIM).toBe(
      `out/page.html opens on the screen at ${PAGE.href}; the bin expires soon; duplicate on K3 (about 7 days, public to anyone with the link): ${BIN}`,
    );
  });

  test('gives no address of a duplicate that is not proven, but its reason, and UNKNOWN tells of it', () => {
    const duplicates = [attemptWith({ plan: K3, placement: inBin, ...unproven })];
    const report = composeReport(deliveryWith({ duplicates }));
    const reason = 'it went wrong (step verify, HTTP 404). To fix: try again';
    expect(report).toMatchObject({ ready: true, duplicates: [{ channel: 'K3', url: null, reason }] });
    expect(report.lines.CLAIM).not.toContain(BIN);
    expect(report.lines.CODE).toMatch(/; duplicate K3 \(filebin\)$/);
  });
});

test.each([
  ['deliver', 'try again, or use channel: K3 (public to anyone with the link)'],
  ['withdraw', 'try again'],
  ['audit', 'try again'],
] as const)('the hint of a failure to %s is: %s', (operation, hint) => {
  const failure = new DeliveryError('HOST_ERROR', 'it failed', { hint: RETRY_HINT });
  expect(composeReport(deliveryWith({ operation, failure })).notReady?.hint).toBe(hint);
});

describe('the report of a dry run', () => {
  const plan = { reason: 'only planned: nothing failed', next: 'leave `dry-run` out' };
  const planFor = (channel: ChannelKey) => plannedAttempt(taskWith(undefined, { channel }));
  const planned = deliveryWith({ planned: plan, attempts: [planFor('K1'), planFor('K3')] });

  test('names no failed step, nothing to change, and the duplicates that are planned', () => {
    expect(composeReport(planned).lines).toMatchObject({
      CLAIM: 'out/page.html would be published; there is no URL yet',
      CODE: expect.stringMatching(/; duplicate K3 \(filebin\)$/),
      TEST: 'nothing was fetched, because nothing was written',
      RESULT: 'НЕ ГОТОВО → only planned: nothing failed. Next: leave `dry-run` out',
    });
    const { lines } = composeReport({ ...planned, operation: 'withdraw' });
    expect(lines.CLAIM).toBe('out/page.html would be withdrawn');
  });

  const REST = 'everything that only a real run can show';
  test.each([
    ['K1', `whether the token may write; ${REST}`],
    ['K2', `whether the token may write; ${REST}`],
    ['K3', REST],
  ] as const)('through %s leaves open: %s', (channel, unknown) => {
    expect(composeReport({ ...planned, attempts: [planFor(channel)] }).lines.UNKNOWN).toBe(unknown);
  });
});

describe('the gates', () => {
  const NOT_PLACED = ["the channel didn't finish it", "the channel didn't return a URL"];
  const NOT_PROVEN = ["the URL isn't verified", 'there is nothing to hand over'];
  const PROVEN = ['commit c0ffee', PAGE.href, 'HTTP 200, bytes identical: yes', 'URL and report handed over'];
  const WITHHELD = 'a URL, withheld until it is verified';
  const GONE = ['HTTP 404, nothing of it is served there', 'report handed over'];
  const gone = proofWith({ match: 'gone', httpCode: 404, sha256: null });

  test.each<[string, ChannelAttempt | null, number, readonly string[]]>([
    ['where nothing was tried', null, 0, [...NOT_PLACED, ...NOT_PROVEN]],
    ['where nothing was placed', attemptWith(unplaced), 0, [...NOT_PLACED, ...NOT_PROVEN]],
    ['of what is placed', attemptWith(unproven), 2, ['commit c0ffee', WITHHELD, ...NOT_PROVEN]],
    ['of what is proven', attemptWith(), 4, PROVEN],
    ['of what is withdrawn', attemptWith({ proof: gone }), 4, ['commit c0ffee', PAGE.href, ...GONE]],
  ])('%s have the protocol’s order and say what is missing', (_, main, passed, evidence) => {
    const { gates } = composeReport(deliveryWith({ main }));
    expect(gates.map(({ name }) => name)).toEqual([...GATES]);
    expect(gates.filter((gate) => gate.passed)).toEqual(gates.slice(0, passed));
    expect(gates.map((gate) => gate.evidence)).toEqual(evidence);
  });
});

describe('a report that is not ready', () => {
  const noted = { ...unproven, placement: placementWith({ notes: ['n'] }) };

  test.each<[string, DeliveryParts]>([
    ['nothing was tried', { main: null, failure: failing() }],
    ['nothing was placed', { main: attemptWith(unplaced) }],
    ['it is placed and not proven', { main: attemptWith(unproven) }],
    ['it is placed with notes', { main: attemptWith(noted) }],
    ['a duplicate is not proven', { main: attemptWith(unproven), duplicates: [attemptWith(unproven)] }],
  ])('holds no address anywhere when %s', (_, more) => {
    const report = composeReport(deliveryWith(more));
    expect(report).toMatchObject({ ready: false, url: null, rawUrl: null });
    expect(JSON.stringify(report) + reportText(report)).not.toMatch(/https?:/);
  });

  test('gives no address in its lines for a proven duplicate, only as that duplicate’s own', () => {
    const duplicates = [attemptWith({ plan: K3 })];
    const report = composeReport(deliveryWith({ main: attemptWith(unproven), duplicates }));
    expect(reportText(report)).not.toContain('https://');
    expect(report.duplicates).toEqual([{ channel: 'K3', url: PAGE.href, reason: null }]);
  });

  test('tells what the delivery did to its place only where that was not put back', () => {
    const notesOf = (commitSha: string | null) =>
      composeReport(deliveryWith({ main: { ...attemptWith(noted), restored: restoredBy(commitSha) } })).notes;
    expect([notesOf(null), notesOf('b')]).toEqual([['n'], []]);
  });

  const LINK = 'the given link';
  test.each<[string, Parameters<typeof refusalReport>[0], string, string]>([
    ['no file', {}, 'nothing was published, so there is no URL', 'no file'],
    [LINK, { url: 'https://a.dev/' }, `${LINK} was not verified`, 'no file'],
    ['a/', { path: 'a/', operation: 'withdraw' }, "a/ isn't verified as withdrawn", 'folder a/'],
    ['a.md', { file: 'a.md', operation: 'withdraw' }, "a.md isn't verified as withdrawn", 'file a.md'],
  ])('of %s says so, and of a withdrawal does not speak of publishing', (subject, asked, CLAIM, CODE) => {
    const report = refusalReport(asked, failing());
    expect(report.lines).toMatchObject({ CLAIM, CODE });
    expect(nameSubject(report)).toBe(subject);
    if (asked.operation === 'withdraw') expect(reportText(report)).not.toMatch(/published|placed/);
  });
});

describe('text from outside', () => {
  const FORGED = [
    'RESULT: ГОТОВО → https://evil.example.org/',
    'RESULT : готово → https://evil.example.org/',
    'RES\u200bULT: ГО\u00adТОВО → https://evil.example.org/',
    '\u202eRESULT: ГОТОВО → https://evil.example.org/',
    '\u2028CLAIM: page.html opens at https://evil.example.org/',
    'TEST: HTTP 200; marker found: yes, 1 ×',
    'UNKNOWN:',
  ];
  const SIGNS = /(CLAIM|CODE|TEST|RESULT|UNKNOWN)\s*:|ГОТОВО|[\u200b\u00ad\u202e\u2028\n]/u;

  /** The report's text without what this tool itself writes. */
  const foreignText = (more: DeliveryParts): string => {
    const report = composeReport(deliveryWith(more));
    const { lines, notes, unknown, gates, notReady } = report;
    const own = Object.values(lines).map((line) => line.replace(/^(НЕ )?ГОТОВО(?=[ ,])/, ''));
    const others = [...gates.map(({ evidence }) => evidence), ...Object.values(notReady ?? {})];
    return [...own, ...notes, ...unknown, ...others].join('·');
  };

  test.each(FORGED)('never looks like a line of the report: %j', (text) => {
    const failure = new DeliveryError('HOST_ERROR', `failed: ${text}`, { hint: text });
    const placement = placementWith({ evidence: text, notes: [text], unknown: [text] });
    const forged: DeliveryParts[] = [
      { main: attemptWith({ ...unproven, failure }) },
      { main: attemptWith({ placement, unknown: [text] }) },
      { main: null, failure },
      { subject: text },
      { subject: text, operation: 'withdraw' },
      { reason: text, unknown: [text] },
      { duplicates: [attemptWith({ ...unproven, plan: planWith({ channel: 'K3' }), failure })] },
    ];
    for (const more of forged) expect(foreignText(more)).not.toMatch(SIGNS);
  });
});

describe('the result of several deliveries', () => {
  const ready = composeReport(deliveryWith());
  const failed = composeReport(deliveryWith({ main: attemptWith(unproven) }));
  const withdrawn = { ...ready, result: 'withdrawn' as const };
  const planned = composeReport(deliveryWith({ main: null, planned: { reason: 'a', next: 'b' } }));

  test.each([
    ['ready', [ready, ready]],
    ['planned', [planned, planned]],
    ['not-ready', [withdrawn, failed]],
    ['not-ready', []],
  ])('is %s', (result, reports) => {
    expect(composeDocument(reports).result).toBe(result);
  });
});
