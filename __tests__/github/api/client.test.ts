import { describe, expect, test } from '@jest/globals';
import { getEntry } from '../../../src/github/api/branch.ts';
import { createGitHubClient } from '../../../src/github/api/client.ts';
import { FakeHttp, fakePorts, type Scripted } from '../../support/ports.ts';

const REPO = 'https://api.github.com/repos/octo/site';
const OPTIONS = {
  apiUrl: new URL('https://api.github.com'),
  token: 'ghs_token',
  repository: { owner: 'octo', repo: 'site' },
};

/** A client whose host gives these answers in order, and then repeats the last one. */
function createTestClient(...answers: (Scripted | Error)[]) {
  const host = new FakeHttp((_, nth) => answers[Math.min(nth, answers.length) - 1]);
  const ports = fakePorts(host.http);
  const github = createGitHubClient(OPTIONS, ports);
  const getRepository = async () => (await github.rest.repos.get(github.repository)).data;
  return { host, ports, github, getRepository };
}

test('createGitHubClient encodes a path once and keeps the media type that a call sets itself', async () => {
  const { host, github } = createTestClient({ body: { sha: 'abc', object: { sha: 'abc' } } });
  await expect(getEntry(github, 'main', 'a/я#%41.html')).resolves.toMatchObject({ sha: 'abc' });
  await github.rest.git.getRef({ ...github.repository, ref: 'heads/docs/ä#1?x' });
  expect(host.seen.map(({ url }) => url)).toEqual([
    `${REPO}/contents/a%2F%D1%8F%23%2541.html?ref=main`,
    `${REPO}/git/ref/heads%2Fdocs%2F%C3%A4%231%3Fx`,
  ]);
  expect(host.seen[0]?.headers.accept).toBe('application/vnd.github.object+json');
});

test.each([
  ['https://api.github.com', 'https://api.github.com/graphql'],
  ['https://api.octo.ghe.com/', 'https://api.octo.ghe.com/graphql'],
  ['https://git.corp.io/api/v3', 'https://git.corp.io/api/graphql'],
  ['https://git.corp.io/api/v3/', 'https://git.corp.io/api/graphql'],
])(
  'createGitHubClient sends a GraphQL query of the API %s to %s, under the same rules',
  async (apiUrl, address) => {
    const { host, ports } = createTestClient({ status: 502 }, { body: { data: { viewer: 'me' } } });
    const github = createGitHubClient({ ...OPTIONS, apiUrl: new URL(apiUrl) }, ports);
    await expect(github.graphql('query { viewer }')).resolves.toEqual({ viewer: 'me' });
    expect(host.seen).toHaveLength(2);
    expect(host.seen[1]).toMatchObject({
      method: 'POST',
      url: address,
      body: JSON.stringify({ query: 'query { viewer }' }),
    });
  },
);

test('createGitHubClient refuses to send a request that is not in the table of API calls', async () => {
  const { host, github } = createTestClient({ body: {} });
  await expect(github.rest.repos.listBranches(github.repository)).rejects.toThrow(
    'GET /repos/{owner}/{repo}/branches is not in the table of API calls',
  );
  expect(host.seen).toEqual([]);
});

describe('createGitHubClient: errors of GraphQL, which come with HTTP 200', () => {
  const query = 'query { viewer { login } }';
  const FAULT = 'Something went wrong while executing your query. This may be the result of a timeout.';

  test('are no answer, even with a part of the data, and the query is sent again', async () => {
    const partial = { data: { viewer: { login: null } }, errors: [{ message: FAULT }] };
    const { host, github } = createTestClient({ body: partial }, { body: { data: { viewer: 'me' } } });
    await expect(github.graphql(query)).resolves.toEqual({ viewer: 'me' });
    expect(host.seen).toHaveLength(2);
  });

  test.each([
    [{ message: FAULT }, 'HOST_ERROR', 5],
    [{ type: 'NOT_FOUND', message: 'Could not resolve to a Repository' }, 'NOT_FOUND', 1],
    [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }, 'NO_PERMISSION', 1],
    [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for user ID 1.' }, 'RATE_LIMITED', 3],
    [{ type: 'INSUFFICIENT_SCOPES', message: 'Your token has not been granted' }, 'NO_PERMISSION', 1],
  ])(
    'end as a failure of the host, after as many attempts as can help: %j',
    async (error, code, attempts) => {
      const { host, github } = createTestClient({ body: { data: null, errors: [error, error] } });
      const message = `querying the GraphQL API failed with HTTP 200: ${error.message}`;
      await expect(github.graphql(query)).rejects.toMatchObject({ code, httpCode: 200, message });
      expect(host.seen).toHaveLength(attempts);
    },
  );
});

test('createGitHubClient sends a repeatable call again after a retryable failure', async () => {
  const { host, ports, getRepository } = createTestClient(
    { status: 502 },
    { status: 503 },
    { body: { id: 1 } },
  );
  await expect(getRepository()).resolves.toEqual({ id: 1 });
  expect(host.seen).toHaveLength(3);
  expect(ports.clock.slept).toEqual([750, 1_500]);
});

test('createGitHubClient sends a call that is not repeatable only once, and logs nothing for its failure', async () => {
  const { host, ports, github } = createTestClient({ status: 502 });
  await expect(github.rest.repos.getLatestPagesBuild(github.repository)).rejects.toMatchObject({
    code: 'HOST_ERROR',
  });
  expect(host.seen).toHaveLength(1);
  expect(ports.logger.lines).toEqual([]);
});

describe('createGitHubClient: failures', () => {
  test.each([
    [202, '{"object":{"sha":"abc"}}'],
    [200, '<html>'],
    [200, 'null'],
  ])('retries if HTTP %d has no result, %s, and reports it in the end', async (status, body) => {
    const { host, getRepository } = createTestClient({ status, body });
    const message = `reading the repository failed: HTTP ${status}, but no result`;
    await expect(getRepository()).rejects.toMatchObject({ code: 'HOST_ERROR', httpCode: status, message });
    expect(host.seen).toHaveLength(5);
  });

  const PAGE = { headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<title>Blocked</title>' };

  test.each([401, 404, 422])(
    'takes nothing about the repository from a page with HTTP %d, which another host sent',
    async (status) => {
      const { host, getRepository } = createTestClient({ ...PAGE, status });
      await expect(getRepository()).rejects.toMatchObject({
        code: 'HOST_ERROR',
        httpCode: status,
        message: `reading the repository failed with HTTP ${status}: a web page came instead of an API response`,
        hint: expect.stringContaining('`https_proxy`'),
      });
      expect(host.seen).toHaveLength(1);
    },
  );

  test('follows no redirect of a repository that has moved: the token would go there', async () => {
    const headers = { location: 'https://api.github.com/repositories/7' };
    const { host, getRepository } = createTestClient({ status: 301, headers, body: {} });
    const hint = 'the repository has moved: set `repository:` to its new name';
    await expect(getRepository()).rejects.toMatchObject({ code: 'NOT_FOUND', httpCode: 301, hint });
    expect(host.seen).toHaveLength(1);
  });
});

test('createGitHubClient paces whole writes, but neither reads nor the parts of a write', async () => {
  const { ports, github } = createTestClient({
    body: { sha: 'abc', private: false, browser_download_url: 'https://github.com/a', data: {} },
  });
  const { rest, repository } = github;
  const remove = () => rest.repos.deleteReleaseAsset({ ...repository, asset_id: 6 });
  await remove();
  // The asset that takes the name of the deleted one.
  await rest.repos.updateReleaseAsset({ ...repository, asset_id: 7, name: 'a' });
  await rest.repos.get(repository);
  await github.graphql('query { viewer { login } }');
  await rest.git.createCommit({ ...repository, message: 'm', tree: 't', parents: [] });
  expect(ports.clock.slept).toEqual([]);
  await remove();
  await github.pace(async () => undefined);
  expect(ports.clock.slept).toEqual([1_000, 1_000]);
});

test.each<[string, object]>([
  ['a branch', {}],
  ['a branch', { object: null }],
  ['releases', {}],
  ['releases', [null]],
  ['a draft', []],
])('createGitHubClient takes an answer on %s without what is read of it for none: %j', async (what, body) => {
  const { github } = createTestClient({ body });
  const { rest, repository } = github;
  const answer = {
    'a branch': () => rest.git.getRef({ ...repository, ref: 'heads/main' }),
    releases: () => rest.repos.listReleases(repository),
    'a draft': () => rest.repos.createRelease({ ...repository, tag_name: 'v1' }),
  }[what];
  await expect(answer?.()).rejects.toMatchObject({
    code: 'HOST_ERROR',
    message: expect.stringMatching(/failed: HTTP 200, but no result$/),
  });
});
