import { describe, expect, test } from '@jest/globals';
import { octokitFetch, parseBody } from '../../../src/github/api/octokit-fetch.ts';
import { EXCHANGE } from '../../../src/protocol/limits.ts';
import { FakeClock, FakeHttp, type Scripted } from '../../support/ports.ts';

const REPOSITORY_URL = 'https://api.github.com/repos/octo/site';

function fetchFrom(answer: Scripted) {
  const host = new FakeHttp(() => answer);
  return { host, fetch: octokitFetch(host.http, new FakeClock()) };
}

describe('octokitFetch', () => {
  test('sends method, address, headers and body through our HTTP client', async () => {
    const { host, fetch } = fetchFrom({ status: 201, body: { ok: true } });
    const headers = { authorization: 'Bearer t' };
    const answer = await fetch(REPOSITORY_URL, { method: 'POST', body: '{"a":1}', headers });
    expect(host.seen).toEqual([{ method: 'POST', url: REPOSITORY_URL, headers, body: '{"a":1}' }]);
    expect([answer.status, await answer.text()]).toEqual([201, JSON.stringify({ ok: true })]);
  });

  test('returns a redirect instead of following it with the token', async () => {
    const { host, fetch } = fetchFrom({ status: 301, headers: { location: 'https://evil.example/' } });
    const answer = await fetch(REPOSITORY_URL, { method: 'GET', headers: {} });
    expect([answer.status, host.seen.length]).toEqual([301, 1]);
  });

  test('keeps all values of a repeated header', async () => {
    const { fetch } = fetchFrom({ headers: { link: ['a', 'b'] } });
    const answer = await fetch(REPOSITORY_URL, { method: 'GET', headers: {} });
    expect(answer.headers.get('link')).toBe('a,b');
  });

  test.each([204, 304])('returns HTTP %i without a body', async (status) => {
    const { fetch } = fetchFrom({ status });
    const answer = await fetch(REPOSITORY_URL, { method: 'DELETE', headers: {} });
    expect([answer.status, answer.body]).toEqual([status, null]);
  });

  test('refuses an answer that is too long', async () => {
    const { fetch } = fetchFrom({ body: Buffer.alloc(EXCHANGE.apiBody + 1) });
    await expect(fetch(REPOSITORY_URL, { method: 'GET', headers: {} })).rejects.toMatchObject({
      code: 'HOST_ERROR',
    });
  });

  test('stops when the given signal is aborted', async () => {
    const { host, fetch } = fetchFrom({});
    const init = { method: 'GET', headers: {}, signal: AbortSignal.abort() };
    await expect(fetch(REPOSITORY_URL, init)).rejects.toMatchObject({ name: 'AbortError' });
    expect(host.seen).toEqual([]);
  });
});

test.each([
  ['JSON', '{"id":1}', 'application/json; charset=utf-8', { id: 1 }],
  ['a number beyond 2^53 as a number', '[12345678901234567890]', 'application/json', [12345678901234567000]],
  ['text that is called JSON', 'oops', 'application/json', 'oops'],
  ['JSON that is called a page', '{}', 'text/html', '{}'],
  ['JSON without a type', '{}', undefined, '{}'],
  ['JSON after a byte order mark', '\ufeff{}', 'application/json', {}],
])('parseBody returns %s', (_, body, type, expected) => {
  expect(parseBody(Buffer.from(body), type)).toEqual(expected);
});
