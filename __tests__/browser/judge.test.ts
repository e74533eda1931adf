import { describe, expect, test } from '@jest/globals';
import { judge, judgeNavigationError } from '../../src/browser/judge.ts';
import { PageEvents } from '../../src/browser/page-events.ts';

const judgeError = (errorText: string, httpCode: number | null = null, isDownload = false) =>
  judgeNavigationError(errorText, Object.assign(new PageEvents(), { httpCode }), isDownload);

describe('judge', () => {
  const judgeSilence = (more: Partial<PageEvents>, isAnswering: boolean): string =>
    judge(null, Object.assign(new PageEvents(), { httpCode: 200, ...more }), { isAnswering }).reason;

  test.each([
    [{ navigations: 6 }, false, 'the page goes from one address to the next without end'],
    [{ dialogs: 6 }, false, 'the page opens one dialog after the other'],
    [{ httpCode: 503 }, true, 'the page was answered with 503'],
    [{}, false, 'the page does not respond'],
  ])('says why there is no sight of a page with %j', (events, isAnswering, reason) => {
    expect(judgeSilence(events, isAnswering)).toBe(reason);
  });
});

describe('judgeNavigationError', () => {
  test.each([
    ...[
      'net::ERR_NAME_NOT_RESOLVED',
      'net::ERR_PROXY_CONNECTION_FAILED',
      'net::ERR_TUNNEL_CONNECTION_FAILED',
    ],
    ...[
      'net::ERR_INTERNET_DISCONNECTED',
      'net::ERR_CONNECTION_RESET',
      'net::ERR_TIMED_OUT',
      'net::ERR_FAILED',
    ],
    ...['net::ERR_CERT_AUTHORITY_INVALID', 'net::ERR_SSL_PROTOCOL_ERROR', 'net::ERR_NETWORK_CHANGED'],
    ...['net::ERR_ADDRESS_UNREACHABLE', 'net::ERR_EMPTY_RESPONSE', 'net::ERR_SOMETHING_NEW'],
  ])('does not blame the page for %s', (errorText) => {
    expect(judgeError(errorText)).toMatchObject({ verdict: 'not-checked' });
  });

  test.each([
    ['net::ERR_TOO_MANY_REDIRECTS', 302],
    ['net::ERR_INVALID_REDIRECT', 302],
    ['net::ERR_UNSAFE_REDIRECT', 302],
    ['net::ERR_BLOCKED_BY_RESPONSE', 200],
    ['net::ERR_CONTENT_DECODING_FAILED', 200],
    ['net::ERR_HTTP_RESPONSE_CODE_FAILURE', 404],
    ['net::ERR_UNKNOWN_URL_SCHEME', null],
  ])('blames the page for %s', (errorText, httpCode) => {
    expect(judgeError(errorText, httpCode)).toMatchObject({ verdict: 'not-shown' });
  });

  test('says that a download is none, and that a certificate is not trusted', () => {
    expect(judgeError('net::ERR_ABORTED', 200, true).reason).toBe(
      'the browser downloads the page instead of showing it',
    );
    expect(judgeError('net::ERR_CERT_DATE_INVALID').reason).toContain('does not trust the certificate');
  });
});
