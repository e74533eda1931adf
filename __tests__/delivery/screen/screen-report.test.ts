import { describe, expect, test } from '@jest/globals';
import type { ScreenView } from '../../../src/browser/screen-view.ts';
import { createUncheckedView } from '../../../src/browser/screen-view.ts';
import { judgeView } from '../../../src/delivery/screen/screen-report.ts';
import { toolFace } from '../../../src/request/faces.ts';
import { advise } from '../../../src/words.ts';
import { viewWith } from '../../support/fake-screen.ts';

const BLANK = viewWith({ verdict: 'not-shown', reason: 'nothing was painted within 10 s' });
const NOT_SHOWN = 'a browser does not show the page';
const NO_BROWSER = createUncheckedView('no browser was found', 'set `CHROME_PATH`');

const missing = (url: string) => ({ error: '404', url });

/** Each kind of fault, and how it is told. */
const FAULTS: readonly (readonly [string, Partial<ScreenView>, RegExp])[] = [
  ['an exception', { exceptions: ['Error: no data'] }, /^uncaught exception: Error: no data$/],
  ['a failed request', { failedRequests: [missing('/site/app.js')] }, /^not loaded: 404 \/site\/app\.js/],
  [
    'a blocked request',
    { blockedRequests: ['http://127.0.0.1/'] },
    /^request to an internal address, which was blocked: http:/,
  ],
  ['a console error', { consoleErrors: ['x'.repeat(5_000)] }, /^console error: x{200}…$/],
  ['a template tag', { unfilledTags: ['{{ a }}'] }, /^template tag that nothing filled in: \{\{ a \}\}$/],
  ['an invisible marker', { isMarkerVisible: false }, /^the expected text is not visible on the page$/],
];

describe('the judgement of a view', () => {
  test('of a page without a fault says nothing', () => {
    for (const mode of [false, true]) {
      const judged = judgeView(viewWith({ isMarkerVisible: true }), mode);
      expect(judged).toEqual({ failure: null, notes: [], unknown: [] });
    }
  });

  test('names three problems of a kind, and counts the others', () => {
    const failedRequests = [1, 2, 3, 4, 5].map((nth) => missing(`/${nth}`));
    const [first, , ...others] = judgeView(viewWith({ failedRequests }), false).unknown;
    expect([first, others]).toEqual(['not loaded: 404 /1', ['not loaded: 404 /3 and 2 more']]);
  });

  test.each([false, true])('fails a blank page with its evidence, enforced: %s', (mode) => {
    const { failure } = judgeView({ ...BLANK, exceptions: ['boom'] }, mode);
    const message = `${NOT_SHOWN}: nothing was painted within 10 s; uncaught exception: boom`;
    expect(failure).toMatchObject({
      code: 'NOT_SHOWN',
      message,
      hint: expect.stringMatching('`screen: off`'),
    });
  });

  test('says to add what the host lacks, where that is why', () => {
    const failedRequests = [missing('https://cdn.dev/count.js'), missing('/app/data.json')];
    const lacking = { ...BLANK, cause: '404 /app/data.json', failedRequests };
    expect(judgeView(lacking, false).failure?.hint).toBe(
      'deliver a folder in which the page finds /app/data.json, or write the data into the page, or set `screen: off`, which skips this check',
    );
    const foreign = { ...lacking, cause: '404 https://cdn.dev/count.js' };
    expect(judgeView(foreign, false).failure?.hint).toMatch(
      /^deliver copies of .* \(here: 404 https:\/\/cdn\.dev\/count\.js\), or write into the HTML what the page must show, or set /,
    );
  });

  test('names an agent no way around the check, and its human neither', () => {
    const told: [string, boolean][] = [];
    const face = toolFace('deliver', [], undefined, (...way) => void told.push(way));
    const lacking = { ...BLANK, cause: '404 /a.json', failedRequests: [missing('/a.json')] };
    const otherHosts = [{ host: 'a.dev', requests: 1 }];
    const failures = [
      ...[BLANK, lacking].map((view) => judgeView(view, false)),
      ...[viewWith({ exceptions: ['boom'] }), NO_BROWSER].map((view) => judgeView(view, true)),
      judgeView(viewWith({ otherHosts }), false, true),
    ];
    expect(failures.map(({ failure }) => advise(failure?.advice ?? '', face))).toEqual([
      'correct what its scripts load or compute, or write into the HTML what the page must show',
      'deliver a folder in which the page finds /a.json, or write the data into the page',
      'correct the page',
      'set `CHROME_PATH`',
      'put what its scripts load into the page',
    ]);
    expect(told.map(([, isSecret]) => isSecret)).toEqual([true, true, true, true, true]);
  });

  test('names the same exception once', () => {
    const thrown = { ...BLANK, reason: 'it is blank: boom', cause: 'boom', exceptions: ['boom'] };
    expect(judgeView(thrown, false).failure?.message).toBe(`${NOT_SHOWN}: it is blank: boom`);
  });

  test.each(FAULTS)('names %s in UNKNOWN with auto and fails with enforce', (_, more, line) => {
    const auto = judgeView(viewWith(more), false);
    expect(auto).toMatchObject({ failure: null, notes: [], unknown: [expect.stringMatching(line)] });
    const enforced = judgeView(viewWith(more), true);
    expect(enforced.failure).toMatchObject({ code: 'NOT_SHOWN' });
    expect(enforced.failure?.message).toContain(auto.unknown[0]);
    expect(enforced.failure?.hint).toContain('`screen: auto`');
  });

  test('names the other hosts that a page asked, which only a page that needs none may not do', () => {
    const otherHosts = ['a.dev', 'b.dev', 'c.dev', 'd.dev'].map((host, at) => ({ host, requests: at + 1 }));
    const view = viewWith({ otherHosts });
    const line = 'requests to other hosts: a.dev (1), b.dev (2), c.dev (3) and 1 more';
    expect(judgeView(view, true)).toMatchObject({ failure: null, unknown: [line] });
    const { failure, unknown } = judgeView(view, false, true);
    expect(failure?.message).toBe(`the page is not self-contained when a browser opens it: ${line}`);
    expect([failure?.hint, unknown]).toEqual([expect.stringContaining('`self-contained: warn`'), []]);
    const counter = viewWith({ otherHosts: [{ host: 'www.googletagmanager.com', requests: 1 }] });
    expect(judgeView(counter, false, true).failure).toBeNull();
  });

  test('names what is missing once, but refuses it with `screen: enforce`', () => {
    const view = viewWith({
      isMarkerVisible: true,
      failedRequests: [missing('/a/B.PNG'), missing('/c.png')],
    });
    expect(judgeView(view, false, false, ['/a/B.PNG']).unknown).toEqual(['not loaded: 404 /c.png']);
    expect(judgeView(view, true, false, ['/a/B.PNG']).failure?.message).toContain('404 /a/B.PNG');
  });

  test('never fails for a page that is too wide for a phone', () => {
    const { failure, notes } = judgeView(viewWith({ overflow: 120 }), true);
    expect(failure).toBeNull();
    expect(notes).toEqual(['at the width of a phone the page is 120 pixels too wide']);
  });

  test('says which browser would be used where there is none', () => {
    const unknown = ['whether a browser shows the page: no browser was found (set `CHROME_PATH`)'];
    expect(judgeView(NO_BROWSER, false).unknown).toEqual(unknown);
    const hint = 'set `CHROME_PATH`, or set `screen: auto` to deliver without a browser';
    expect(judgeView(NO_BROWSER, true).failure?.hint).toBe(hint);
  });
});
