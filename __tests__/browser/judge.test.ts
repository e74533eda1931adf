import { describe, expect, test } from '@jest/globals';
import { judge, judgeNavigationError } from '../../src/browser/judge.ts';
import { PageEvents } from '../../src/browser/page-events.ts';
import type { PageSight } from '../../src/browser/view-page.ts';

const judgeError = (errorText: string, httpCode: number | null = null, isDownload = false) =>
  judgeNavigationError(errorText, Object.assign(new PageEvents(), { httpCode }), isDownload);

describe('judge', () => {
  const judgeSilence = (more: Partial<PageEvents>, isAnswering: boolean): string =>
    judge(null, Object.assign(new PageEvents(), { httpCode: 200, ...more }), { isAnswering }).reason;

  test.each([
    [{ navigations: 6 }, false, 'the page goes from one address to the next without end'],
    [{ dialogs: 6 }, false, 'the page opens one dialog after the other'],
    [{ httpCode: 503 }, true, 'the page was answered with 503'],
    [
      { httpCode: 404, ledTo: 'https://a.dev/b' },
      true,
      'the page led to https://a.dev/b, which was answered with 404',
    ],
    [{}, false, 'the page does not respond'],
  ])('says why there is no sight of a page with %j', (events, isAnswering, reason) => {
    expect(judgeSilence(events, isAnswering)).toBe(reason);
  });
});

describe('judge of a page that asks for what it can not get here', () => {
  const judgeMissing = (httpCode: number): string =>
    judge(null, Object.assign(new PageEvents(), { httpCode }), { missing: 'a WebSocket' }).verdict;

  test('refuses it only where that is not the reason', () => {
    expect([200, 404].map(judgeMissing)).toEqual(['not-checked', 'not-shown']);
  });
});

describe('judge of a text that is only an error', () => {
  const sight: PageSight = {
    title: 'Page',
    heading: '',
    isComplete: true,
    text: 'Cannot GET /',
    painted: { characters: 10, images: 0, drawings: 0 },
    isSmall: true,
    hasMore: false,
    isErrorPage: false,
    isMarkerVisible: null,
    picture: { png: Buffer.of(), grid: { width: 0, height: 0, data: Buffer.of() } },
  };
  const judgeSight = (more: Partial<PageSight>, context = {}, contentType = 'text/html'): string =>
    judge({ ...sight, ...more }, Object.assign(new PageEvents(), { httpCode: 200, contentType }), context)
      .verdict;

  test('refuses a page that stopped answering, whatever it had painted', () => {
    const painted = { characters: 900, images: 3, drawings: 0 };
    const long = { text: 'Numbers of the week', painted, isSmall: false };
    expect(judgeSight(long)).toBe('shown');
    expect(judgeSight(long, { isAnswering: false })).toBe('not-shown');
  });

  test('refuses a page whose scripts make all of it and got none of their data', () => {
    const judgeData = (
      more: Partial<PageSight>,
      context: object,
      ownData = { missing: '404 /api.json', found: 0 },
    ) =>
      judge(
        { ...sight, text: 'Failed to load', isMarkerVisible: null, ...more },
        Object.assign(new PageEvents(), { httpCode: 200, contentType: 'text/html', ownData }),
        context,
      );
    const text = { text: 'Pets and more' };
    expect(judgeData(text, { isScripted: true })).toEqual({
      verdict: 'not-shown',
      reason: 'the page shows only "Pets and more": 404 /api.json',
    });
    expect(judgeData(text, {}).verdict).toBe('shown');
    expect(judgeData(text, { isScripted: true }, { missing: '', found: 0 }).verdict).toBe('shown');
    expect(judgeData(text, { isScripted: true }, { missing: '404 /api.json', found: 1 }).verdict).toBe(
      'shown',
    );
    expect(judgeData({ ...text, isMarkerVisible: true }, { isScripted: true }).verdict).toBe('shown');
    expect(judgeData(text, { isScripted: true, isErrorPage: true }).verdict).toBe('shown');
    const painted = { characters: 201, images: 0, drawings: 0 };
    expect(judgeData({ ...text, painted }, { isScripted: true }).verdict).toBe('shown');
  });

  test('refuses a page, but not one with more content, one that was asked for, or a file that says so', () => {
    expect(judgeSight({})).toBe('not-shown');
    expect(judgeSight({ isMarkerVisible: false })).toBe('not-shown');
    expect(judgeSight({ hasMore: true })).toBe('shown');
    expect(judgeSight({ isSmall: false })).toBe('shown');
    expect(judgeSight({ isMarkerVisible: true })).toBe('shown');
    expect(judgeSight({}, { isErrorPage: true })).toBe('shown');
    for (const type of ['text/plain', 'application/json; charset=utf-8', 'text/markdown', 'image/svg+xml']) {
      expect(judgeSight({}, {}, type)).toBe('shown');
    }
  });

  test('refuses the source of a drawing, but shows that of data', () => {
    const text = 'This XML file does not appear to have any style information associated with it.';
    expect(judgeSight({ text }, {}, 'image/svg+xml')).toBe('not-shown');
    expect(judgeSight({ text }, {}, 'application/xhtml+xml')).toBe('not-shown');
    expect(judgeSight({ text }, {}, 'application/xml')).toBe('shown');
  });
});

describe('judgeNavigationError', () => {
  test.each([
    ...['net::ERR_NAME_NOT_RESOLVED', 'net::ERR_ACCESS_DENIED', 'net::ERR_CONNECTION_FAILED'],
    ...[
      'net::ERR_INTERNET_DISCONNECTED',
      'net::ERR_CONNECTION_RESET',
      'net::ERR_TIMED_OUT',
      'net::ERR_FAILED',
    ],
    ...['net::ERR_ADDRESS_UNREACHABLE', 'net::ERR_EMPTY_RESPONSE', 'net::ERR_SOMETHING_NEW'],
  ])('does not blame the page for %s', (errorText) => {
    expect(judgeError(errorText)).toMatchObject({ verdict: 'not-checked' });
  });

  test.each([
    ['net::ERR_TOO_MANY_REDIRECTS', 302],
    ['net::ERR_INVALID_REDIRECT', 302],
    ['net::ERR_UNSAFE_REDIRECT', 302],
    ['net::ERR_BLOCKED_BY_RESPONSE', 200],
    ['net::ERR_HTTP_RESPONSE_CODE_FAILURE', 404],
    ['net::ERR_UNKNOWN_URL_SCHEME', null],
  ])('blames the page for %s', (errorText, httpCode) => {
    expect(judgeError(errorText, httpCode)).toMatchObject({ verdict: 'not-shown' });
  });

  test('says that a download is none', () => {
    expect(judgeError('net::ERR_ABORTED', 200, true).reason).toBe(
      'the browser downloads the page instead of showing it',
    );
  });
});
