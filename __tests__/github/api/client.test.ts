import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../../src/errors.ts';
import { createGitHubClient } from '../../../src/github/api/client.ts';
import { API } from '../../../src/protocol/calls.ts';
import { FakeHttp, fakePorts, NOON, type Scripted } from '../../support/ports.ts';

const REPO = 'https://api.github.com/repos/octo/site';

/** A client whose host gives these answers one after the other, and then the last one for ever. */
function clientOf(...answers: (Scripted | Error)[]) {
  const host = new FakeHttp((_, nth) => answers[Math.min(nth, answers.length) - 1]);
  const ports = fakePorts(host.http);
  const options = {
    apiUrl: new URL('https://api.github.com'),
    token: 'ghs_token',
    owner: 'octo',
    repo: 'site',
  };
  return { host, ports, options, github: createGitHubClient(options, ports) };
}

describe('a call', () => {
  test('carries the token, the media type and who asks', async () => {
    const { host, github } = clientOf({ body: { private: false } });
    await expect(github.call(API.get_repository)).resolves.toEqual({ private: false });
    expect(host.seen[0]).toMatchObject({ method: 'GET', url: REPO });
    expect(host.seen[0]?.headers).toMatchObject({
      authorization: expect.stringMatching(/^(bearer|token) ghs_token$/i),
      accept: 'application/vnd.github+json',
      'user-agent': expect.stringContaining('screen-delivery/'),
    });
  });

  test('sends an encoded path as it is, and its own headers', async () => {
    const { host, github } = clientOf({ body: { sha: 'abc' } });
    const parameters = { path: 'a/%D1%8F%23.html', ref: 'main' };
    await github.call(API.get_file, parameters, { accept: 'application/vnd.github.object+json' });
    expect(host.seen[0]?.url).toBe(`${REPO}/contents/a/%D1%8F%23.html?ref=main`);
    expect(host.seen[0]?.headers.accept).toBe('application/vnd.github.object+json');
  });

  test('keeps the folder of a GitHub Enterprise address', async () => {
    const { host, ports, options } = clientOf({ body: {} });
    await createGitHubClient({ ...options, apiUrl: new URL('https://git.corp.io/api/v3/') }, ports).call(
      API.get_repository,
    );
    expect(host.seen[0]?.url).toBe('https://git.corp.io/api/v3/repos/octo/site');
  });

  test('outside the repository names none', async () => {
    const { host, github } = clientOf({ body: { data: {} } });
    await github.call(API.viewer, { graphql: 'https://git.corp.io/api/graphql', query: 'q' });
    expect(host.seen[0]).toMatchObject({
      method: 'POST',
      url: 'https://git.corp.io/api/graphql',
      body: JSON.stringify({ query: 'q' }),
    });
  });

  test('is sent again after a passing failure', async () => {
    const { host, ports, github } = clientOf({ status: 502 }, { status: 503 }, { body: { id: 1 } });
    await expect(github.call(API.get_repository)).resolves.toEqual({ id: 1 });
    expect(host.seen).toHaveLength(3);
    expect(ports.clock.slept).toEqual([750, 1_500]);
  });

  test('is given up after five attempts', async () => {
    const { host, github } = clientOf({ status: 502 });
    await expect(github.call(API.get_repository)).rejects.toMatchObject({
      code: 'HOST_ERROR',
      httpCode: 502,
    });
    expect(host.seen).toHaveLength(5);
  });

  test('is not sent again when it must not be', async () => {
    const { host, github } = clientOf({ status: 502 });
    await expect(github.callOnce(API.pages_latest)).rejects.toMatchObject({ code: 'HOST_ERROR' });
    expect(host.seen).toHaveLength(1);
  });

  const usedUp = (seconds: number): Scripted => ({
    status: 403,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOON / 1000 + seconds) },
    body: { message: 'API rate limit exceeded' },
  });

  test('waits until the limit is lifted', async () => {
    const { host, ports, github } = clientOf(usedUp(420), { body: { id: 1 } });
    await expect(github.call(API.get_repository)).resolves.toEqual({ id: 1 });
    expect([host.seen.length, ports.clock.slept]).toEqual([2, [421_500]]);
  });

  test('does not wait for a limit that lasts longer than its patience, and says for how long', async () => {
    const { host, ports, github } = clientOf(usedUp(900));
    await expect(github.call(API.get_repository)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message:
        'reading the repository answered HTTP 403: API rate limit exceeded; the limit is lifted at 03:19 UTC',
    });
    expect([host.seen.length, ports.clock.slept]).toEqual([1, []]);
  });

  test('hands a network failure up as it is', async () => {
    const unplugged = new DeliveryError('NO_NETWORK', 'unplugged');
    const { github } = clientOf(unplugged);
    await expect(github.call(API.get_repository)).rejects.toBe(unplugged);
  });

  test('ends as ABORTED when the delivery is stopped', async () => {
    const { host, ports, github } = clientOf({});
    ports.stop.abort(Object.assign(new Error('stopped'), { name: 'AbortError' }));
    await expect(github.call(API.get_repository)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(host.seen).toEqual([]);
  });

  test('says that the repository has moved, and does not follow', async () => {
    const { host, github } = clientOf({ status: 301, headers: { location: `${REPO}2` }, body: { url: 'x' } });
    await expect(github.call(API.get_repository)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      httpCode: 301,
      hint: expect.stringContaining('`repository:`'),
    });
    expect(host.seen).toHaveLength(1);
  });

  test('is not fooled by an HTTP 200 that is no JSON', async () => {
    const { host, github } = clientOf({ headers: { 'content-type': 'text/html' }, body: '<html>' });
    await expect(github.call(API.get_repository)).rejects.toMatchObject({
      code: 'HOST_ERROR',
      message: 'reading the repository was answered with something that is not JSON',
    });
    expect(host.seen).toHaveLength(5);
  });
});

describe('a write', () => {
  test('waits for its turn, and a read does not', async () => {
    const { ports, github } = clientOf({ body: { sha: 'abc' } });
    await github.callOnce(API.blob, { content: 'm' });
    await github.call(API.get_repository);
    // It goes on with a write that has begun.
    await github.call(API.commit, { message: 'm' });
    expect(ports.clock.slept).toEqual([]);
    await github.call(API.blob, { content: 'm' });
    await github.pace(async () => undefined);
    expect(ports.clock.slept).toEqual([1_000, 1_000]);
  });

  test('of a file that is answered neither 200 nor 201 is no success', async () => {
    const { host, github } = clientOf({ status: 202, body: { commit: { sha: 'abc' } } });
    await expect(github.callOnce(API.put_file_le1mb, { path: 'a.html', message: 'm' })).rejects.toMatchObject(
      {
        code: 'HOST_ERROR',
        httpCode: 202,
        message: 'writing the file answered HTTP 202 and not 200 or 201',
      },
    );
    expect(JSON.parse(host.seen[0]?.body ?? '')).toEqual({ message: 'm' });
  });

  test('that is answered without a body succeeds', async () => {
    const { github } = clientOf({ status: 204 });
    await expect(github.call(API.delete_asset, { id: 7 })).resolves.toBeUndefined();
  });
});
