import { describe, expect, test } from '@jest/globals';
import { octokitFetch } from '../../../src/github/api/octokit-fetch.ts';
import { EXCHANGE } from '../../../src/protocol/limits.ts';
import { FakeClock, FakeHttp, type Scripted } from '../../support/ports.ts';

const URL_OF_REPO = 'https://api.github.com/repos/octo/site';

function fetchFrom(answer: Scripted) {
  const host = new FakeHttp(() => answer);
  return { host, fetch: octokitFetch(host.http, new FakeClock()) };
}

describe('fetch for Octokit', () => {
  test('sends method, address, headers and body through the one door', async () => {
    const { host, fetch } = fetchFrom({ status: 201, body: { ok: true } });
    const headers = { authorization: 'Bearer t' };
    const answer = await fetch(URL_OF_REPO, { method: 'POST', body: '{"a":1}', headers });
    expect(host.seen).toEqual([{ method: 'POST', url: URL_OF_REPO, headers, body: '{"a":1}' }]);
    expect([answer.status, await answer.json()]).toEqual([201, { ok: true }]);
  });

  test('hands a redirect over instead of following it with the credential', async () => {
    const { host, fetch } = fetchFrom({ status: 301, headers: { location: 'https://evil.example/' } });
    const answer = await fetch(URL_OF_REPO, { method: 'GET', headers: {} });
    expect([answer.status, host.seen.length]).toEqual([301, 1]);
  });

  test('keeps a header that came several times', async () => {
    const { fetch } = fetchFrom({ headers: { link: ['a', 'b'] } });
    const answer = await fetch(URL_OF_REPO, { method: 'GET', headers: {} });
    expect(answer.headers.get('link')).toBe('a,b');
  });

  test.each([204, 304])('gives HTTP %i no body', async (status) => {
    const { fetch } = fetchFrom({ status });
    const answer = await fetch(URL_OF_REPO, { method: 'DELETE', headers: {} });
    expect([answer.status, answer.body]).toEqual([status, null]);
  });

  test('refuses an answer without an end', async () => {
    const { fetch } = fetchFrom({ body: Buffer.alloc(EXCHANGE.apiBody + 1) });
    await expect(fetch(URL_OF_REPO, { method: 'GET', headers: {} })).rejects.toMatchObject({
      code: 'HOST_ERROR',
    });
  });

  test('stops with the signal it was given', async () => {
    const { host, fetch } = fetchFrom({});
    const init = { method: 'GET', headers: {}, signal: AbortSignal.abort() };
    await expect(fetch(URL_OF_REPO, init)).rejects.toMatchObject({ name: 'AbortError' });
    expect(host.seen).toEqual([]);
  });
});
