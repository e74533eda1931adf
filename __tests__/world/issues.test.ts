import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createWorldClient, type WorldClient } from './client.ts';
import type { TestRepository } from './repository.ts';
import { FORK_PERMISSIONS, LOGINS, type TokenPermissions } from './tokens.ts';
import { type GitHubWorld, startWorld } from './world.ts';

let world: GitHubWorld;
let repository: TestRepository;
let number: number;
const clients: WorldClient[] = [];

beforeAll(async () => {
  world = await startWorld();
  repository = await world.repository({ owner: 'octo', name: 'talk' });
  number = await repository.issues.openPullRequest('A page', 'page');
});

afterAll(async () => {
  for (const client of clients) await client.close();
  await world.stop();
});

function clientWith(
  permissions: Partial<TokenPermissions> = {},
  login: string = LOGINS.workflow,
): WorldClient {
  const client = createWorldClient(world, world.token(permissions, login));
  clients.push(client);
  return client;
}

const commentsOf = (pull: number): string => `/repos/${repository.fullName}/issues/${pull}/comments`;

describe('comments on a pull request', () => {
  test('are stored under the login of the token', async () => {
    const own = await repository.issues.openPullRequest('Authors', 'authors');
    for (const login of [LOGINS.workflow, LOGINS.app, LOGINS.human]) {
      const posted = await clientWith({}, login).send(`POST ${commentsOf(own)}`, { body: 'Ready' });
      expect(posted).toMatchObject({ status: 201, json: { user: { login } } });
    }
  });

  test('can be changed and deleted', async () => {
    const client = clientWith();
    const own = await repository.issues.openPullRequest('Changes', 'changes');
    const { json } = await client.send(`POST ${commentsOf(own)}`, { body: 'Ready' });
    const comment = `/repos/${repository.fullName}/issues/comments/${json.id}`;
    expect((await client.send(`PATCH ${comment}`, { body: 'Ready now' })).status).toBe(200);
    expect(await repository.issues.comments(own)).toMatchObject([{ body: 'Ready now' }]);
    expect((await client.send(`DELETE ${comment}`)).status).toBe(204);
    expect((await client.send(`DELETE ${comment}`)).status).toBe(404);
  });

  test('are refused above 65,536 characters', async () => {
    const client = clientWith();
    const post = (length: number) => client.send(`POST ${commentsOf(number)}`, { body: 'я'.repeat(length) });
    expect((await post(65_536)).status).toBe(201);
    const refused = await post(65_537);
    expect(refused).toMatchObject({ status: 422, json: { message: 'Validation Failed' } });
    expect(refused.json.errors[0].message).toBe('Body is too long (maximum is 65536 characters)');
  });

  test('are listed in pages with a Link header', async () => {
    const own = await repository.issues.openPullRequest('Pages', 'pages');
    for (let at = 0; at < 5; at += 1) await repository.issues.comment(own, `Comment ${at}`);
    const answer = await clientWith().send(`GET ${commentsOf(own)}?per_page=2&page=2`);
    expect(answer.json).toMatchObject([{ body: 'Comment 2' }, { body: 'Comment 3' }]);
    expect(answer.headers.link).toContain(
      `<https://api.github.com${commentsOf(own)}?per_page=2&page=3>; rel="next"`,
    );
  });

  test.each<[string, Partial<TokenPermissions>]>([
    ['pull_requests: read', { pull_requests: 'read' }],
    ['issues: write alone', { pull_requests: 'none', issues: 'write' }],
    ['a fork’s token', FORK_PERMISSIONS],
  ])('need `pull_requests: write` and are refused with %s', async (_, permissions) => {
    await repository.issues.comment(number, 'Whatever');
    const [{ id } = { id: 0 }] = await repository.issues.comments(number);
    const comment = `/repos/${repository.fullName}/issues/comments/${id}`;
    const client = clientWith(permissions);
    for (const write of [`POST ${commentsOf(number)}`, `PATCH ${comment}`, `DELETE ${comment}`]) {
      const refused = await client.send(write, { body: 'No' });
      expect(refused).toMatchObject({
        status: 403,
        json: { message: 'Resource not accessible by integration' },
        headers: { 'x-accepted-github-permissions': 'pull_requests=write' },
      });
    }
  });
});

describe('the login of a token', () => {
  test.each([
    [LOGINS.workflow, 403],
    [LOGINS.app, 403],
    [LOGINS.human, 200],
  ])('of the kind %s: GET /user answers %d, and GraphQL returns the login', async (login, status) => {
    const client = clientWith({}, login);
    const user = await client.send('GET /user');
    expect(user.status).toBe(status);
    if (status === 200) expect(user.json.login).toBe(login);
    const viewer = await client.send('POST /graphql', {
      query: 'query { viewer { login databaseId } }',
    });
    expect(viewer.json).toEqual({ data: { viewer: { login, databaseId: expect.any(Number) } } });
  });

  test.each(['GET /user', 'POST /graphql'])('is not returned by %s without a token', async (call) => {
    const anonymous = createWorldClient(world, null);
    clients.push(anonymous);
    expect((await anonymous.send(call)).status).toBe(401);
  });
});

test('a pull request from a fork is found by its branch', async () => {
  const forked = await repository.issues.openPullRequest('From a fork', 'human:page');
  const pull = await repository.issues.pullRequest(forked);
  expect(pull.head.repo.full_name).toBe('human/talk');
  const found = await clientWith().send(
    `GET /repos/${repository.fullName}/pulls?head=human%3Apage&state=all`,
  );
  expect(found.json).toMatchObject([{ number: forked, head: { sha: pull.head.sha } }]);
});
