import { describe, expect, test } from '@jest/globals';
import type { ScreenView } from '../../../src/browser/screen-view.ts';
import { createUncheckedView } from '../../../src/browser/screen-view.ts';
import { judgeView } from '../../../src/delivery/screen/screen-report.ts';
import { viewWith } from '../../support/fake-screen.ts';

const BLANK = viewWith({ verdict: 'not-shown', reason: 'nothing was painted within 10 s' });
const NOT_SHOWN = 'a browser does not show the page';
const NO_BROWSER = createUncheckedView('no browser was found', 'set `CHROME_PATH`');

const missing = (url: string) => ({ error: '404', url });

/** Each kind of fault, and how it is told. */
const FAULTS: readonly (readonly [string, Partial<ScreenView>, RegExp])[] = [
  ['an exception', { exceptions: ['Error: no data'] }, /^uncaught exception: Error: no data$/],
  ['a failed request', { failedRequests: [missing('/site/app.js')] }, /^failed request: 404 \/site\/app\.js/],
  [
    'a blocked request',
    { blockedRequests: ['http://127.0.0.1/'] },
    /^request to an internal address, which was blocked: http:/,
  ],
  ['a console error', { consoleErrors: ['x'.repeat(5_000)] }, /^console error: x{200}…$/],
  ['an invisible marker', { isMarkerVisible: false }, /^the marker is not visible on the page$/],
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
    const [first, , ...others] = judgeView(viewWith({ failedRequests }), false).notes;
    expect([first, others]).toEqual(['failed request: 404 /1', ['failed request: 404 /3 and 2 more']]);
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
      'add the missing file to the delivered folder, or correct its URL: /app/data.json; `screen: off` skips this check',
    );
    const foreign = { ...lacking, cause: '404 https://cdn.dev/count.js' };
    expect(judgeView(foreign, false).failure?.hint).toMatch(
      /^deliver copies of .* \(here: 404 https:\/\/cdn\.dev\/count\.js\), or open the page in a browser/,
    );
  });

  test('names the same exception once', () => {
    const thrown = { ...BLANK, reason: 'it is blank: boom', cause: 'boom', exceptions: ['boom'] };
    expect(judgeView(thrown, false).failure?.message).toBe(`${NOT_SHOWN}: it is blank: boom`);
  });

  test.each(FAULTS)('notes %s with auto and fails with enforce', (_, more, line) => {
    const auto = judgeView(viewWith(more), false);
    expect(auto).toMatchObject({ failure: null, unknown: [], notes: [expect.stringMatching(line)] });
    const enforced = judgeView(viewWith(more), true);
    expect(enforced.failure).toMatchObject({ code: 'NOT_SHOWN' });
    expect(enforced.failure?.message).toContain(auto.notes[0]);
    expect(enforced.failure?.hint).toContain('`screen: auto`');
  });

  test('leaves open whether all is shown where a script failed and the host lacks something', () => {
    const faults = { exceptions: ['Error: no wasm'], failedRequests: [missing('/site/a.wasm')] };
    expect(judgeView(viewWith(faults), false).unknown).toEqual([
      'whether the page shows all that it should: a script of it failed (Error: no wasm), and 404 /site/a.wasm',
    ]);
    expect(judgeView(viewWith({ ...faults, exceptions: [] }), false).unknown).toEqual([]);
  });

  test('never fails for a page that is too wide for a phone', () => {
    const { failure, notes } = judgeView(viewWith({ overflow: 120 }), true);
    expect(failure).toBeNull();
    expect(notes).toEqual(['at the width of a phone the page is 120 pixels too wide']);
  });

  test('says which browser would be used where there is none', () => {
    const unknown = ['whether a browser shows the page: no browser was found (set `CHROME_PATH`)'];
    expect(judgeView(NO_BROWSER, false).unknown).toEqual(unknown);
    const hint = 'set `CHROME_PATH`; or set `screen: auto` to deliver without a browser';
    expect(judgeView(NO_BROWSER, true).failure?.hint).toBe(hint);
  });
});
