import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../../src/errors.ts';
import { createGitHubClient } from '../../../src/github/api/client.ts';
import { getBlobSha, putFile } from '../../../src/github/api/contents.ts';
import { FakeHttp, fakePorts, NOON, type Scripted } from '../../support/ports.ts';

const REPO = 'https://api.github.com/repos/octo/site';
const OPTIONS = {
  apiUrl: new URL('https://api.github.com'),
  token: 'ghs_token',
  owner: 'octo',
  repo: 'site',
};

/** A client whose host gives these answers one after the other, and then repeats the last one. */
function createTestClient(...answers: (Scripted | Error)[]) {
  const host = new FakeHttp((_, nth) => answers[Math.min(nth, answers.length) - 1]);
  const ports = fakePorts(host.http);
  const github = createGitHubClient(OPTIONS, ports);
  const getRepository = async () => (await github.rest.repos.get(github.repository)).data;
  return { host, ports, github, getRepository };
}

describe('createGitHubClient: requests', () => {
  test('sends the token, the media type and the user agent with every request', async () => {
    const { host, getRepository } = createTestClient({ body: { private: false } });
    await expect(getRepository()).resolves.toEqual({ private: false });
    expect(host.seen[0]).toMatchObject({ method: 'GET', url: REPO });
    expect(host.seen[0]?.headers).toMatchObject({
      authorization: expect.stringMatching(/^(bearer|token) ghs_token$/i),
      accept: 'application/vnd.github+json',
      'user-agent': expect.stringContaining('screen-delivery/'),
    });
  });

  test('encodes a path once and keeps the media type that a call sets itself', async () => {
    const { host, github } = createTestClient({ body: { sha: 'abc' } });
    await expect(getBlobSha(github, { branch: 'main', path: 'a/я#%41.html' })).resolves.toBe('abc');
    expect(host.seen[0]?.url).toBe(`${REPO}/contents/a%2F%D1%8F%23%2541.html?ref=main`);
    expect(host.seen[0]?.headers.accept).toBe('application/vnd.github.object+json');
  });

  test('encodes the name of a branch, so that no character of it ends the address', async () => {
    const { host, github } = createTestClient({ body: { object: { sha: 'abc' } } });
    await github.rest.git.getRef({ ...github.repository, ref: 'heads/docs/ä#1?x' });
    expect(host.seen[0]?.url).toBe(`${REPO}/git/ref/heads%2Fdocs%2F%C3%A4%231%3Fx`);
  });

  test('keeps the folder of a GitHub Enterprise Server API address', async () => {
    const { host, ports } = createTestClient({ body: {} });
    const apiUrl = new URL('https://git.corp.io/api/v3/');
    const github = createGitHubClient({ ...OPTIONS, apiUrl }, ports);
    await github.rest.repos.get(github.repository);
    expect(host.seen[0]?.url).toBe('https://git.corp.io/api/v3/repos/octo/site');
  });

  test.each([
    ['https://api.github.com', 'https://api.github.com/graphql'],
    ['https://api.octo.ghe.com/', 'https://api.octo.ghe.com/graphql'],
    ['https://git.corp.io/api/v3', 'https://git.corp.io/api/graphql'],
    ['https://git.corp.io/api/v3/', 'https://git.corp.io/api/graphql'],
  ])('sends a GraphQL query of the API %s to %s, under the same rules', async (apiUrl, address) => {
    const { host, ports } = createTestClient({ status: 502 }, { body: { data: { viewer: 'me' } } });
    const github = createGitHubClient({ ...OPTIONS, apiUrl: new URL(apiUrl) }, ports);
    await expect(github.graphql('query { viewer }')).resolves.toEqual({ viewer: 'me' });
    expect(host.seen).toHaveLength(2);
    expect(host.seen[1]).toMatchObject({
      method: 'POST',
      url: address,
      headers: { accept: 'application/vnd.github+json' },
      body: JSON.stringify({ query: 'query { viewer }' }),
    });
  });

  test('refuses to send a request that is not in the table of API calls', async () => {
    const { host, github } = createTestClient({ body: {} });
    await expect(github.rest.repos.listBranches(github.repository)).rejects.toThrow(
      'GET /repos/{owner}/{repo}/branches is not in the table of API calls',
    );
    expect(host.seen).toEqual([]);
  });

  test('logs nothing for an expected failure, and a deprecation as one debug line', async () => {
    const sunset = { deprecation: 'true', sunset: 'Fri, 01 Jan 2027 00:00:00 GMT' };
    const { ports, getRepository } = createTestClient({ status: 404 }, { headers: sunset, body: {} });
    await expect(getRepository()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(ports.logger.lines).toEqual([]);
    await getRepository();
    await getRepository();
    expect(ports.logger.lines).toEqual([
      `debug: [@octokit/request] "GET ${REPO}" is deprecated. It is scheduled to be removed on Fri, 01 Jan 2027 00:00:00 GMT`,
    ]);
  });
});

describe('createGitHubClient: attempts', () => {
  test('waits for the rate limit of GraphQL, which answers HTTP 200', async () => {
    const limited = { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for user ID 1.' }] };
    const reset = String(NOON / 1_000 + 30);
    const { host, ports, github } = createTestClient(
      { headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, body: limited },
      { body: { data: { viewer: { login: 'octo' } } } },
    );
    await expect(github.graphql('query { viewer { login } }')).resolves.toEqual({
      viewer: { login: 'octo' },
    });
    expect(host.seen).toHaveLength(2);
    expect(ports.clock.slept).toEqual([31_500]);
  });

  test('names the version of the API in every request', async () => {
    const { host, getRepository } = createTestClient({ body: { id: 1 } });
    await getRepository();
    expect(host.seen[0]?.headers).toMatchObject({ 'x-github-api-version': '2022-11-28' });
  });

  test('sends a repeatable call again after a retryable failure', async () => {
    const { host, ports, getRepository } = createTestClient(
      { status: 502 },
      { status: 503 },
      { body: { id: 1 } },
    );
    await expect(getRepository()).resolves.toEqual({ id: 1 });
    expect(host.seen).toHaveLength(3);
    expect(ports.clock.slept).toEqual([750, 1_500]);
  });

  test('gives a repeatable call up after five attempts', async () => {
    const { host, getRepository } = createTestClient({ status: 502 });
    await expect(getRepository()).rejects.toMatchObject({ code: 'HOST_ERROR', httpCode: 502 });
    expect(host.seen).toHaveLength(5);
  });

  test('sends a call that is not repeatable only once', async () => {
    const { host, github } = createTestClient({ status: 502 });
    await expect(github.rest.repos.getLatestPagesBuild(github.repository)).rejects.toMatchObject({
      code: 'HOST_ERROR',
    });
    expect(host.seen).toHaveLength(1);
  });

  const limitedFor = (seconds: number): Scripted => ({
    status: 403,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOON / 1000 + seconds) },
    body: { message: 'API rate limit exceeded' },
  });

  test('waits until a rate limit is lifted', async () => {
    const { host, ports, getRepository } = createTestClient(limitedFor(420), { body: { id: 1 } });
    await expect(getRepository()).resolves.toEqual({ id: 1 });
    expect([host.seen.length, ports.clock.slept]).toEqual([2, [421_500]]);
  });

  test('does not wait for a rate limit that lasts too long, and reports when it is lifted', async () => {
    const { host, ports, getRepository } = createTestClient(limitedFor(900));
    await expect(getRepository()).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message:
        'reading the repository answered HTTP 403: API rate limit exceeded; the limit is lifted at 03:19 UTC',
    });
    expect([host.seen.length, ports.clock.slept]).toEqual([1, []]);
  });
});

describe('createGitHubClient: failures', () => {
  test('throws a network failure of our HTTP client unchanged', async () => {
    const offline = new DeliveryError('NO_NETWORK', 'offline');
    const { getRepository } = createTestClient(offline);
    await expect(getRepository()).rejects.toBe(offline);
  });

  test('throws ABORTED and sends nothing when the delivery is stopped', async () => {
    const { host, ports, getRepository } = createTestClient({});
    ports.stop.abort(Object.assign(new Error('stopped'), { name: 'AbortError' }));
    await expect(getRepository()).rejects.toMatchObject({ code: 'ABORTED' });
    expect(host.seen).toEqual([]);
  });

  test('sends requests under the new signal after withSignal', async () => {
    const { host, ports, github } = createTestClient({ body: { id: 1 } });
    const other = github.withSignal(new AbortController().signal);
    ports.stop.abort();
    await expect(other.rest.repos.get(other.repository)).resolves.toMatchObject({ data: { id: 1 } });
    expect(host.seen).toHaveLength(1);
  });

  test('reports that the repository has moved, and does not follow the redirect', async () => {
    const { host, getRepository } = createTestClient({
      status: 301,
      headers: { location: `${REPO}2` },
      body: { url: 'x' },
    });
    await expect(getRepository()).rejects.toMatchObject({
      code: 'NOT_FOUND',
      httpCode: 301,
      hint: 'the repository has moved: set `repository:` to its new name',
    });
    expect(host.seen).toHaveLength(1);
  });

  test.each([
    ['text/html', '<html>'],
    ['application/json', 'cut {'],
    ['application/octet-stream', 'bytes'],
  ])('refuses an HTTP 200 of type %s that is not JSON', async (type, body) => {
    const { host, getRepository } = createTestClient({ headers: { 'content-type': type }, body });
    await expect(getRepository()).rejects.toMatchObject({
      code: 'HOST_ERROR',
      message: 'reading the repository returned something that is not JSON',
    });
    expect(host.seen).toHaveLength(5);
  });
});

describe('createGitHubClient: writes', () => {
  test('paces whole writes, but neither reads nor the parts of a write', async () => {
    const { ports, github } = createTestClient({ body: { sha: 'abc' } });
    const { rest, repository } = github;
    const rename = () => rest.repos.updateReleaseAsset({ ...repository, asset_id: 7, name: 'a' });
    await rename();
    await rest.repos.get(repository);
    await rest.git.createCommit({ ...repository, message: 'm', tree: 't', parents: [] });
    expect(ports.clock.slept).toEqual([]);
    await rename();
    await github.pace(async () => undefined);
    expect(ports.clock.slept).toEqual([1_000, 1_000]);
  });

  test('refuses an answer to a file write that is neither 200 nor 201', async () => {
    const { host, github } = createTestClient({ status: 202, body: { commit: { sha: 'abc' } } });
    const write = { branch: 'main', path: 'a.html', message: 'm', content: Buffer.from('a'), replaces: null };
    await expect(putFile(github, write)).rejects.toMatchObject({
      code: 'HOST_ERROR',
      httpCode: 202,
      message: 'writing the file answered HTTP 202 instead of 200 or 201',
    });
    expect(JSON.parse(host.seen[0]?.body ?? '')).toEqual({ branch: 'main', message: 'm', content: 'YQ==' });
  });

  test('accepts an answer without a body', async () => {
    const { github } = createTestClient({ status: 204 });
    const deleted = github.rest.repos.deleteReleaseAsset({ ...github.repository, asset_id: 7 });
    await expect(deleted).resolves.toMatchObject({ status: 204 });
  });
});
