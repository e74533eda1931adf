import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createWorldClient } from './client.ts';
import type { TestRepository } from './repository.ts';
import { setUpWorld } from './set-up-world.ts';

let count = 0;

const setup = setUpWorld();

const newRepository = (spec = {}): Promise<TestRepository> =>
  setup.world.repository({ owner: 'octo', name: `api-${++count}`, ...spec });
const base64 = (content: string) => Buffer.from(content).toString('base64');
const blobSha = (bytes: Buffer) =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

describe('credentials of the API', () => {
  test.each([
    ['no credentials', null, 401, 'Requires authentication'],
    ['a wrong token', 'ghs_wrong', 401, 'Bad credentials'],
  ])('the API refuses a write with %s', async (_, token, status, message) => {
    const repository = await newRepository();
    const stranger = createWorldClient(setup.world, token);
    const answer = await stranger.send(`PUT /repos/${repository.fullName}/contents/a.txt`, {});
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ message, documentation_url: expect.any(String), status: String(status) });
    await stranger.close();
  });

  test('the answer to a token without the permission names the permission that is needed', async () => {
    const { fullName } = await newRepository();
    const reader = createWorldClient(setup.world, setup.world.token({ contents: 'read', pages: 'none' }));
    const write = await reader.send(`PUT /repos/${fullName}/contents/a.txt`, {});
    expect(write.status).toBe(403);
    expect(write.json.message).toBe('Resource not accessible by integration');
    expect(write.headers['x-accepted-github-permissions']).toBe('contents=write');
    expect((await reader.send(`GET /repos/${fullName}/pages`)).status).toBe(403);
    expect((await reader.send(`GET /repos/${fullName}`)).json.permissions).toMatchObject({
      push: false,
      pull: true,
    });
    await reader.close();
  });

  test('a private repository answers 404 without a token', async () => {
    const { fullName } = await newRepository({ private: true });
    expect((await setup.anonymous.send(`GET /repos/${fullName}`)).status).toBe(404);
    expect((await setup.client.send(`GET /repos/${fullName}`)).json.private).toBe(true);
  });

  test('answers have rate limits, a request id, and an etag for conditional requests', async () => {
    const { fullName } = await newRepository();
    const { headers } = await setup.client.send(`GET /repos/${fullName}`);
    expect(headers).toMatchObject({
      'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
      'x-github-request-id': expect.any(String),
    });
    const again = await setup.client.send(`GET /repos/${fullName}`, null, {
      'if-none-match': headers.etag as string,
    });
    expect(again.status).toBe(304);
  });
});

describe('the contents API', () => {
  test('shows a submodule as such, as a file in the list of its folder, and nothing below it', async () => {
    const repository = await newRepository();
    const sha = await repository.addSubmodule('lib/other');
    const contents = `GET /repos/${repository.fullName}/contents`;
    expect((await setup.client.send(`${contents}/lib/other`)).json).toMatchObject({
      type: 'submodule',
      sha,
      size: 0,
      submodule_git_url: 'https://github.com/octo/other.git',
    });
    expect((await setup.client.send(`${contents}/lib`)).json).toMatchObject([{ type: 'file', sha }]);
    expect((await setup.client.send(`${contents}/lib/other/a.html`)).status).toBe(404);
    const head = await repository.head();
    const list = await setup.client.send(`GET /repos/${repository.fullName}/git/trees/${head}?recursive=1`);
    expect(list.json.tree).toContainEqual({ path: 'lib/other', mode: '160000', type: 'commit', sha });
  });

  test('creates, replaces and deletes a file, and refuses a replacement without the right SHA', async () => {
    const repository = await newRepository();
    const path = `/repos/${repository.fullName}/contents/docs%2F${encodeURIComponent('привет мир.html')}`;
    const put = (content: string, extra = {}) =>
      setup.client.send(`PUT ${path}`, {
        message: 'ADD x',
        content: base64(content),
        branch: 'main',
        ...extra,
      });
    const created = await put('<p>1</p>', { sha: '0'.repeat(40) });
    expect(created.status).toBe(201);
    const { sha } = created.json.content;
    expect(sha).toBe(blobSha(Buffer.from('<p>1</p>')));
    expect(await put('<p>2</p>')).toMatchObject({
      status: 422,
      text: expect.stringContaining("wasn't supplied"),
    });
    const stale = await put('<p>2</p>', { sha: '0'.repeat(40) });
    expect(stale.status).toBe(409);
    expect(stale.json.message).toBe(`docs/привет мир.html does not match ${'0'.repeat(40)}`);
    expect((await put('<p>2</p>', { sha })).status).toBe(200);
    expect((await repository.read('docs/привет мир.html'))?.toString()).toBe('<p>2</p>');
    const next = (await setup.client.send(`GET ${path}`)).json.sha;
    const deleted = await setup.client.send(`DELETE ${path}`, {
      message: 'DELETE x',
      sha: next,
      branch: 'main',
    });
    expect(deleted).toMatchObject({ status: 200, json: { content: null } });
    expect((await setup.client.send(`GET ${path}`)).status).toBe(404);
    expect((await repository.log()).map(({ message }) => message)).toEqual([
      'DELETE x',
      'ADD x',
      'ADD x',
      'Initial commit',
    ]);
  });

  test.each([
    ['an unknown branch', 'a.txt', { branch: 'nowhere' }, 404, 'Branch nowhere not found'],
    ['bad base64', 'a.txt', { content: '%%%' }, 422, 'content is not valid Base64'],
    ['a leading slash', '%2Fa.txt', {}, 422, 'path cannot start with a slash'],
    ['an empty component', 'a%2F%2Fb.txt', {}, 422, 'path contains a malformed path component'],
    ['a climbing component', 'a%2F..%2Fb.txt', {}, 422, 'path contains a malformed path component'],
  ])('refuses PUT with %s', async (_, path, extra, status, message) => {
    const { fullName } = await newRepository();
    const body = { message: 'ADD', content: base64('x'), ...extra };
    const answer = await setup.client.send(`PUT /repos/${fullName}/contents/${path}`, body);
    expect([answer.status, answer.json.message]).toEqual([status, message]);
  });

  test('accepts only one of two concurrent writes', async () => {
    const { fullName } = await newRepository();
    const put = (name: string) =>
      setup.client.send(`PUT /repos/${fullName}/contents/${name}`, { message: 'ADD', content: base64(name) });
    const answers = await Promise.all([put('a'), put('b')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 409)?.json.message).toMatch(
      /^is at \w{40} but expected \w{40}$/,
    );
  });

  test('reads files, folders and other refs in the requested media type', async () => {
    const repository = await newRepository({ files: { 'a/b.txt': 'old', 'a/c/d.txt': 'd' } });
    const before = await repository.head();
    await repository.commit('a/b.txt', 'new');
    const contents = `GET /repos/${repository.fullName}/contents`;
    const object = { accept: 'application/vnd.github.object+json' };
    const raw = { accept: 'application/vnd.github.raw+json' };
    const read = async (rest: string, headers = {}) =>
      (await setup.client.send(contents + rest, null, headers)).json;
    expect((await read('/a')).map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
      ['b.txt', 'file'],
      ['c', 'dir'],
    ]);
    expect(await read('/a', object)).toMatchObject({
      type: 'dir',
      entries: [{ path: 'a/b.txt' }, { path: 'a/c' }],
    });
    expect(Buffer.from((await read(`/a/b.txt?ref=${before}`)).content, 'base64').toString()).toBe('old');
    expect((await setup.client.send(`${contents}/a/b.txt`, null, raw)).text).toBe('new');
    expect((await setup.client.send(`${contents}/a/b.txt?ref=nowhere`)).status).toBe(404);
  });

  test('returns no inline content of a file above 1 MB', async () => {
    const bytes = randomBytes(1_200_000);
    const { fullName } = await newRepository({ files: { 'big.bin': bytes } });
    const operation = `GET /repos/${fullName}/contents/big.bin`;
    const asObject = await setup.client.send(operation, null, {
      accept: 'application/vnd.github.object+json',
    });
    expect(asObject.json).toMatchObject({
      sha: blobSha(bytes),
      size: 1_200_000,
      content: '',
      encoding: 'none',
    });
    expect((await setup.client.send(operation)).status).toBe(403);
  });

  test('creates the first file of an empty repository', async () => {
    const repository = await newRepository({ empty: true });
    const contents = `/repos/${repository.fullName}/contents/a.txt`;
    expect((await setup.client.send(`GET ${contents}`)).json.message).toBe('This repository is empty.');
    const ref = await setup.client.send(`GET /repos/${repository.fullName}/git/ref/heads/main`);
    expect([ref.status, ref.json.message]).toEqual([409, 'Git Repository is empty.']);
    expect(
      (await setup.client.send(`PUT ${contents}`, { message: 'ADD', content: base64('x') })).status,
    ).toBe(201);
    expect(await repository.log()).toHaveLength(1);
  });
});

describe('the rate limit', () => {
  const limits = ({ headers }: { headers: Readonly<Record<string, string | undefined>> }) =>
    ['limit', 'used', 'remaining', 'resource'].map((name) => headers[`x-ratelimit-${name}`]);

  test('counts the requests of all jobs of a repository together, and refuses the next after 1,000', async () => {
    const repository = await newRepository();
    const path = `/repos/${repository.fullName}`;
    expect(limits(await setup.client.send(`GET ${path}`))).toEqual(['1000', '1', '999', 'core']);
    const job = createWorldClient(setup.world);
    expect(limits(await job.send(`GET ${path}`))).toEqual(['1000', '2', '998', 'core']);
    expect(setup.world.rateLimits.getUsed(repository)).toBe(2);
    setup.world.rateLimits.setLeft(repository, 1, 90);
    expect((await job.send(`GET ${path}`)).status).toBe(200);
    const refused = await setup.client.send(`GET ${path}`);
    expect(refused).toMatchObject({
      status: 403,
      json: { message: expect.stringMatching(/^API rate limit exceeded for installation/) },
    });
    expect(limits(refused)).toEqual(['1000', '1000', '0', 'core']);
    const wait = Number(refused.headers['x-ratelimit-reset']) - Date.now() / 1000;
    expect(wait).toBeGreaterThan(60);
    expect(wait).toBeLessThanOrEqual(91);
    await job.close();
  });

  test('counts other tokens and other repositories apart', async () => {
    const repository = await newRepository();
    setup.world.rateLimits.setLeft(repository, 0);
    const user = createWorldClient(setup.world, setup.world.token({}, 'human'));
    expect(limits(await user.send(`GET /repos/${repository.fullName}`))[0]).toBe('5000');
    const other = await newRepository();
    expect((await setup.client.send(`GET /repos/${other.fullName}`)).status).toBe(200);
    await user.close();
  });

  test('does not count an answer that has not changed', async () => {
    const repository = await newRepository();
    const path = `GET /repos/${repository.fullName}/git/ref/heads/main`;
    const { headers } = await setup.client.send(path);
    const again = await setup.client.send(path, null, { 'if-none-match': headers.etag as string });
    expect(again.status).toBe(304);
    expect(setup.world.rateLimits.getUsed(repository)).toBe(1);
  });
});

test.each([
  ['2022-11-28', 200],
  ['2026-03-10', 200],
  ['2021-01-01', 400],
])('the API version %s is answered %d', async (version, status) => {
  const { fullName } = await newRepository();
  const answer = await setup.client.send(`GET /repos/${fullName}`, null, { 'x-github-api-version': version });
  expect(answer.status).toBe(status);
  if (status === 400) expect(answer.json.message).toContain('is not a supported version');
});

describe('a protected branch', () => {
  const CLASSIC_RULES = [
    ['classic-pull-request', 'Changes must be made through a pull request.'],
    ['classic-status-check', 'Required status check "ci" is expected.'],
    ['classic-status-checks', '2 of 2 required status checks are expected.'],
    ['classic-review', 'At least 1 approving review is required by reviewers with write access.'],
    ['classic-push-access', "You're not authorized to push to this branch."],
  ] as const;
  const put = ({ fullName }: TestRepository, path: string, extra: object = {}) =>
    setup.client.send(`PUT /repos/${fullName}/contents/${path}`, {
      message: 'ADD',
      content: base64('x'),
      ...extra,
    });
  const writeCommit = async ({ fullName }: TestRepository, head: string | null, authors: object = {}) => {
    const base = (await setup.client.send(`GET /repos/${fullName}/git/commits/${head}`)).json;
    const body = { message: 'ADD', tree: base.tree.sha, parents: [head], ...authors };
    return (await setup.client.send(`POST /repos/${fullName}/git/commits`, body)).json.sha;
  };
  const moveMain = ({ fullName }: TestRepository, sha: string) =>
    setup.client.send(`PATCH /repos/${fullName}/git/refs/heads/main`, { sha });

  test('with a ruleset refuses both ways of writing', async () => {
    const repository = await newRepository();
    repository.protect(true);
    const refused = await put(repository, 'a.txt');
    expect(refused.status).toBe(409);
    expect(refused.json.message).toContain('Changes must be made through a pull request.');
    const moved = await moveMain(repository, (await repository.head()) as string);
    expect(moved.status).toBe(422);
    expect(moved.json.message).toContain('Repository rule violations found');
    expect(await repository.log()).toHaveLength(1);
  });

  test.each(CLASSIC_RULES)('with the rule %s refuses in its own words', async (rule, words) => {
    const repository = await newRepository({ files: { 'old.txt': 'old' } });
    repository.protect(rule);
    const created = await put(repository, 'a.txt');
    expect(created.status).toBe(409);
    expect(created.json.message).toContain(`Could not create file: ${words}`);
    const replaced = await put(repository, 'old.txt', { sha: blobSha(Buffer.from('old')) });
    expect(replaced.json.message).toContain(`Could not update file: ${words}`);
    const moved = await moveMain(repository, await writeCommit(repository, await repository.head()));
    expect(moved).toMatchObject({ status: 422, json: { message: expect.stringContaining(words) } });
    expect(await repository.log()).toHaveLength(1);
  });

  test('leaves the other branches alone', async () => {
    const repository = await newRepository();
    await repository.commit('b.txt', 'b', 'Other', 'other');
    repository.protect('classic-review', ['main']);
    expect((await put(repository, 'a.txt')).status).toBe(409);
    expect((await put(repository, 'a.txt', { branch: 'other' })).status).toBe(201);
  });

  test.each(['signatures', 'classic-signatures'] as const)(
    'with the rule %s takes what GitHub signs and refuses the rest',
    async (rule) => {
      const repository = await newRepository();
      repository.protect(rule);
      const author = { name: 'Somebody', email: 'somebody@example.com' };
      expect((await put(repository, 'a.txt')).status).toBe(201);
      const refused = await put(repository, 'b.txt', { author });
      expect(refused).toMatchObject({
        status: 409,
        json: { message: expect.stringContaining('Commits must have verified signatures.') },
      });
      const head = await repository.head();
      expect((await moveMain(repository, await writeCommit(repository, head, { author }))).status).toBe(422);
      expect((await moveMain(repository, await writeCommit(repository, head))).status).toBe(200);
    },
  );

  test('with a signature rule refuses the commits of a user, which GitHub does not sign', async () => {
    const repository = await newRepository();
    repository.protect('signatures');
    const user = createWorldClient(setup.world, setup.world.token({}, 'human'));
    const body = { message: 'ADD', content: base64('x') };
    const answer = await user.send(`PUT /repos/${repository.fullName}/contents/a.txt`, body);
    expect(answer.status).toBe(409);
    await user.close();
  });

  test('lists the rules of rulesets, and only those', async () => {
    const repository = await newRepository();
    const list = async () =>
      (await setup.client.send(`GET /repos/${repository.fullName}/rules/branches/main`)).json;
    expect(await list()).toEqual([]);
    repository.protect('signatures');
    expect(await list()).toMatchObject([{ type: 'required_signatures' }]);
    repository.protect('classic-review');
    expect(await list()).toEqual([]);
  });
});

describe('the git data API', () => {
  test('creates one commit from a blob, a tree and a ref update, and keeps the other files', async () => {
    const repository = await newRepository({ files: { 'kept.txt': 'kept', 'gone.txt': 'gone' } });
    const git = `/repos/${repository.fullName}/git`;
    const bytes = randomBytes(3_000_000);
    const blob = await setup.client.send(`POST ${git}/blobs`, {
      content: bytes.toString('base64'),
      encoding: 'base64',
    });
    expect(blob).toMatchObject({ status: 201, json: { sha: blobSha(bytes) } });
    const base = (await setup.client.send(`GET ${git}/ref/heads/main`)).json.object.sha;
    const baseTree = (await setup.client.send(`GET ${git}/commits/${base}`)).json.tree.sha;
    const entry = { path: 'in/big.bin', mode: '100644', type: 'blob', sha: blob.json.sha };
    const removal = { path: 'gone.txt', mode: '100644', type: 'blob', sha: null };
    const newTree = { base_tree: baseTree, tree: [entry, removal] };
    const { sha: tree } = (await setup.client.send(`POST ${git}/trees`, newTree)).json;
    const commit = (
      await setup.client.send(`POST ${git}/commits`, { message: 'ADD big.bin', tree, parents: [base] })
    ).json;
    expect(commit.verification.verified).toBe(true);
    const moved = await setup.client.send(`PATCH ${git}/refs/heads/main`, { sha: commit.sha, force: false });
    expect(moved).toMatchObject({ status: 200, json: { object: { sha: commit.sha } } });
    expect((await repository.read('in/big.bin'))?.equals(bytes)).toBe(true);
    expect(await repository.read('gone.txt')).toBeNull();
    expect((await repository.log())[0]).toEqual({
      sha: commit.sha,
      message: 'ADD big.bin',
      files: ['gone.txt', 'in/big.bin'],
    });
  });

  test.each([
    [
      'a commit as base_tree',
      (head: string) => ({ base_tree: head, tree: [] }),
      'base_tree is not a valid tree oid',
    ],
    [
      'the deletion of an absent path',
      () => ({ tree: [{ path: 'absent', mode: '100644', type: 'blob', sha: null }] }),
      'GitRPC::BadObjectState',
    ],
  ])('refuses a tree with %s', async (_, body, message) => {
    const repository = await newRepository();
    const head = (await repository.head()) as string;
    const answer = await setup.client.send(`POST /repos/${repository.fullName}/git/trees`, body(head));
    expect([answer.status, answer.json.message]).toEqual([422, message]);
  });

  test('moves only an existing ref, and only forward', async () => {
    const repository = await newRepository();
    const first = await repository.head();
    await repository.commit('a.txt', 'a');
    const patch = async (branch: string) => {
      const refs = `PATCH /repos/${repository.fullName}/git/refs/heads/${branch}`;
      return (await setup.client.send(refs, { sha: first, force: false })).json.message;
    };
    expect(await patch('main')).toBe('Update is not a fast forward');
    expect(await patch('nowhere')).toBe('Reference does not exist');
    expect((await setup.client.send(`GET /repos/${repository.fullName}/git/ref/heads/nowhere`)).status).toBe(
      404,
    );
  });

  test('refuses a blob of more than 37.5 MB', async () => {
    const { fullName } = await newRepository();
    const content = Buffer.alloc(40_000_000).toString('base64');
    const answer = await setup.client.send(`POST /repos/${fullName}/git/blobs`, {
      content,
      encoding: 'base64',
    });
    expect(answer.status).toBe(422);
    expect(answer.json.message).toMatch(/^Sorry, your input was too large to process\./);
  });
});

describe('the commits API', () => {
  test('lists the commits of one path in pages', async () => {
    const repository = await newRepository();
    for (const round of [1, 2, 3]) {
      await repository.commit('a.txt', `a${round}`, `a ${round}`);
      await repository.commit('b.txt', `b${round}`, `b ${round}`);
    }
    const list = await setup.client.send(`GET /repos/${repository.fullName}/commits?path=a.txt&per_page=2`);
    const messages = list.json.map((item: { commit: { message: string } }) => item.commit.message);
    expect(messages).toEqual(['a 3', 'a 2']);
    expect(list.headers.link).toContain('page=2>; rel="next"');
  });

  test.each([
    ['main...main', 'identical'],
    ['main...side', 'diverged'],
    ['start...main', 'ahead'],
    ['main...start', 'behind'],
  ])('compares %s as %s', async (range, status) => {
    const repository = await newRepository();
    const start = (await repository.head()) as string;
    await repository.commit('side.txt', 's', 'side', 'side');
    await repository.commit('main.txt', 'm', 'main');
    const answer = await setup.client.send(
      `GET /repos/${repository.fullName}/compare/${range.replace('start', start)}`,
    );
    expect(answer.json.status).toBe(status);
  });
});
