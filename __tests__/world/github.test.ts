import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { createWorldClient, type WorldClient } from './client.ts';
import { getDeploymentState } from './deployment-store.ts';
import type { RepositoryOptions, TestRepository } from './repository.ts';
import { setUpWorld } from './set-up-world.ts';
import { FORK_PERMISSIONS, LOGINS, type TokenPermissions } from './tokens.ts';

/**
 * What is known of GitHub and what its description does not say: words, refusals, and what one call changes for the
 * next. The product must live with each of them, so the local GitHub must not be kinder.
 */

const setup = setUpWorld();
const TAG = 'files-20260101';
const PUT = { message: 'ADD', content: 'eA==' };
const FILE = { mode: '100644', type: 'blob' };
const LARGE_BLOB = { content: Buffer.alloc(40_000_000).toString('base64'), encoding: 'base64' };
const COMMIT = { message: 'ADD', tree: '{tree.sha}', parents: ['{head.sha}'] };
const STATUSES = 'POST deployments/{made.id}/statuses as deployer';

/** Who asks: the permissions of a token, and whose it is. */
const TOKENS: Readonly<Record<string, readonly [Partial<TokenPermissions>, string?]>> = {
  job: [{}],
  deployer: [{ deployments: 'write' }],
  dispatcher: [{ actions: 'write' }],
  administrator: [{ administration: 'write' }, LOGINS.human],
  'administrating job': [{ administration: 'write' }],
  'administrating app': [{ administration: 'write', pages: 'read' }, LOGINS.app],
  reader: [{ contents: 'read', pages: 'none' }],
  'pages reader': [{ pages: 'read' }],
  'pull reader': [{ pull_requests: 'read' }],
  'issue writer': [{ pull_requests: 'none', issues: 'write' }],
  fork: [FORK_PERMISSIONS],
  app: [{}, LOGINS.app],
  human: [{}, LOGINS.human],
};

function clientOf(name: string): WorldClient {
  const [permissions = {}, login] = TOKENS[name] ?? [];
  const others = name === 'nobody' ? null : 'ghs_wrong';
  return createWorldClient(setup.world, name in TOKENS ? setup.world.token(permissions, login) : others);
}

/**
 * `name = METHOD path as somebody`, the status, what the answer's text or headers hold, and the body where it differs
 * from the usual one. The path is below the repository unless it begins with a slash or names a host; a job asks where
 * nobody is named. `{name.id}` in a later step is a field of the named answer.
 */
type Call = readonly [ask: string, status: number, says?: RegExp, body?: object | string];
/** A call, something that happens meanwhile, or, as the first one, what the repository is like. */
type Step = Call | ((repository: TestRepository) => unknown) | Partial<RepositoryOptions>;
const isCall = (step: Step): step is Call => Array.isArray(step);

/** What is usually sent, by method and the path's first part. */
const USUAL: Readonly<Record<string, object | string>> = {
  'PUT contents': PUT,
  'POST releases': { tag_name: TAG },
  'POST https:': 'x',
  'POST pages': { source: { branch: 'main' } },
  'POST actions': { ref: 'main' },
  'POST deployments': { ref: '{head.sha}', environment: 'preview', auto_merge: false, required_contexts: [] },
};

/** Plays the steps one after the other in a repository of their own. */
async function play(steps: readonly Step[]): Promise<void> {
  const [first] = steps;
  const hasOptions = first !== undefined && !isCall(first) && typeof first !== 'function';
  const repository = await setup.repository(hasOptions ? first : {});
  const { fullName } = repository;
  const known: Record<string, object> = { repository, first: { sha: await repository.head() } };
  const fill = (text: string): string =>
    text.replace(/\{(\w+)\.([\w-]+)\}/g, (_, from, field) => String(Object(known[from])[field]));
  for (const step of steps) {
    if (typeof step === 'function') await step(repository);
    if (!isCall(step)) continue;
    Object.assign(known, { head: { sha: await repository.head() }, site: { url: repository.site?.url } });
    const [ask, status, says = /(?:)/, given] = step;
    const [, name = 'last', method, path = '', who = 'job'] =
      /^(?:(\w+) = )?(\S+) (\S+)(?: as (.+))?$/.exec(fill(ask).replace('{?name,label}', '')) ?? [];
    const target = /^(?:\/|https:)/.test(path) ? path : `/repos/${fullName}${path === '.' ? '' : `/${path}`}`;
    const usual = /\/statuses/.test(path) ? {} : USUAL[`${method} ${path.split('/')[0]}`];
    const body =
      typeof given === 'string' ? given : typeof usual === 'string' ? usual : { ...usual, ...given };
    const sent = method === 'GET' ? null : typeof body === 'string' ? body : fill(JSON.stringify(body));
    const { text, headers, status: answered } = await clientOf(who)(`${method} ${target}`, sent);
    const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`);
    const seen = [text, ...lines].join('\n');
    expect([ask, answered, seen]).toEqual([ask, status, expect.stringMatching(says)]);
    known[name] = { ...headers, ...(/^\{/.test(text) ? JSON.parse(text) : {}) };
  }
}

const expectCommits = (count: number) => async (repository: TestRepository) =>
  expect(await repository.log()).toHaveLength(count);

const expectStates =
  (...states: string[]) =>
  ({ deployments }: TestRepository) =>
    expect(deployments.all.map(getDeploymentState)).toEqual(states);

const STORIES: Readonly<Record<string, readonly Step[]>> = {
  'credentials are asked for, and a refusal names the permission': [
    ['PUT contents/a.txt as nobody', 401, /"Requires authentication".*"status":"401"/],
    ['PUT contents/a.txt as stranger', 401, /"Bad credentials"/],
    ['PUT contents/a.txt as reader', 403, /not accessible by integration[\s\S]*s: contents=write/],
    ['GET pages as reader', 403],
    ['POST pages/builds as pages reader', 403, /pages=write/],
    ['POST deployments as job', 403, /deployments=write/],
    ['POST deployments as fork', 403, /deployments=write/],
  ],
  'a private repository is not there for others, nor are its files and assets': [
    { private: true },
    ['GET . as nobody', 404],
    ['GET https://raw.githubusercontent.com/{repository.fullName}/main/README.md as nobody', 404],
    ['release = POST releases', 201],
    ['asset = POST {release.upload_url}?name=a.txt', 201],
    ['GET {asset.browser_download_url} as nobody', 404],
  ],
  'a file is replaced only with the sha that it has, and a new one takes any': [
    ['PUT contents/a.txt', 201, /./, { sha: '0'.repeat(40) }],
    ['PUT contents/a.txt', 422, /\\"sha\\" wasn't supplied/],
    ['PUT contents/a.txt', 409, /a\.txt does not match 0{40}"/, { sha: '0'.repeat(40) }],
    expectCommits(2),
  ],
  'a path and a content are checked': [
    ['PUT contents/a.txt', 404, /Branch nowhere not found/, { branch: 'nowhere', sha: 'x' }],
    ['PUT contents/a.txt', 422, /content is not valid Base64/, { content: '%%%' }],
    ['PUT contents/%2Fa.txt', 422, /path cannot start with a slash/],
    ['PUT contents/a%2F%2Fb.txt', 422, /path contains a malformed path component/],
    ['PUT contents/a%2F..%2Fb.txt', 422, /path contains a malformed path component/],
  ],
  'a branch only moves forward, a tree grows from a tree, and a blob has a limit': [
    (repository) => repository.commit('a.txt', 'a'),
    ['PATCH git/refs/heads/main', 422, /Update is not a fast forward/, { sha: '{first.sha}' }],
    ['PATCH git/refs/heads/nowhere', 422, /Reference does not exist/, { sha: '{first.sha}' }],
    ['GET git/ref/heads/nowhere', 404],
    ['POST git/trees', 422, /base_tree is not a valid tree oid/, { base_tree: '{first.sha}', tree: [] }],
    ['POST git/trees', 422, /GitRPC::BadObjectState/, { tree: [{ ...FILE, path: 'absent', sha: null }] }],
    ['POST git/blobs', 422, /Sorry, your input was too large to process\./, LARGE_BLOB],
  ],
  'commits are compared, and listed for a path in pages': [
    (repository) => repository.commit('side.txt', 's', 'side', 'side'),
    (repository) => repository.commit('a.txt', '1', 'first'),
    (repository) => repository.commit('b.txt', '2', 'other'),
    (repository) => repository.commit('a.txt', '3', 'second'),
    ['GET compare/main...main', 200, /"status":"identical"/],
    ['GET compare/main...side', 200, /"status":"diverged"/],
    ['GET compare/{first.sha}...main', 200, /"status":"ahead"/],
    ['GET compare/main...{first.sha}', 200, /"status":"behind"/],
    ['GET commits?path=a.txt&per_page=1', 200, /"second"[\s\S]*page=2>; rel="next"/],
  ],
  'a ruleset refuses both ways of writing, and a classic rule in its own words': [
    (repository) => repository.protect('classic-signatures'),
    ['PUT contents/a.txt as human', 409, /"Could not create file: Commits must have verified signatures\./],
    ['GET rules/branches/main', 200, /^\[\]/],
    (repository) => repository.protect(true),
    ['PUT contents/a.txt', 409, /Repository rule violations found\\n\\nChanges must be made through a pull/],
    ['PATCH git/refs/heads/main', 422, /Repository rule violations found/, { sha: '{head.sha}' }],
    ['GET rules/branches/main', 200, /"pull_request"/],
    expectCommits(1),
  ],
  'where signatures are demanded, only what GitHub itself signs is taken': [
    (repository) => repository.protect('signatures'),
    ['PUT contents/a.txt', 201],
    ['PUT contents/b.txt', 409, /must have verified signatures/, { author: { name: 'A', email: 'a@b.c' } }],
    ['PUT contents/b.txt as human', 409],
    ['tree = GET git/trees/{head.sha}', 200],
    ['own = POST git/commits', 201, /./, COMMIT],
    ['PATCH git/refs/heads/main', 200, /./, { sha: '{own.sha}' }],
  ],
  'a release is one for a tag, its assets have names of their own, and a failed upload keeps the name': [
    ['release = POST releases', 201],
    ['POST releases', 422, /"resource":"Release","code":"already_exists","field":"tag_name"/],
    ['POST {release.upload_url}?name=a.txt as nobody', 401],
    ['POST {release.upload_url}?name=a.txt', 422, /./, ''],
    ['POST {release.upload_url}?name=my%20file%20(1).html', 201, /"name":"my\.file\.1\.html"/],
    ['two = POST {release.upload_url}?name=%D0%BE.html', 201, /"name":"default\.html"/],
    ['PATCH releases/assets/{two.id}', 422, /./, { name: 'my.file.1.html' }],
    ['PATCH releases/assets/{two.id}', 200, /\/b\.txt"/, { name: 'b.txt' }],
    (repository) => repository.addUnfinishedAsset(TAG, 'a.txt'),
    ['POST {release.upload_url}?name=a.txt', 422, /"resource":"ReleaseAsset","code":"already_exists"/],
    ['GET releases/{release.id}/assets', 200, /"state":"starter".*"size":0,"digest":null/],
    (repository) => repository.addEarlierAssets(TAG, 997),
    ['POST {release.upload_url}?name=more.txt', 422, /file_count limited to 1000 assets per release/],
    ['GET releases/{release.id}/assets', 200, /page=2>; rel="next"/],
    ['DELETE releases/{release.id}', 204],
    [`GET releases/tags/${TAG}`, 404],
  ],
  'the storage of assets takes its own signature alone, and never shows a page': [
    ['release = POST releases', 201],
    ['asset = POST {release.upload_url}?name=page.html', 201],
    ['found = GET {asset.browser_download_url} as nobody', 302, /location: https:\/\/release-assets\./],
    ['GET {found.location} as nobody', 200, /octet-stream[\s\S]*: attachment; filename=page\.html/],
    ['GET {found.location}', 400, /Only one auth mechanism allowed/],
    ['GET {found.location}0 as nobody', 403],
  ],
  'a draft has no tag, is not found by it, and is hidden; publishing gives it one once': [
    ['draft = POST releases', 201, /"draft":true/, { draft: true }],
    ['second = POST releases', 201, /./, { draft: true }],
    [`GET releases/tags/${TAG}`, 404],
    [`GET git/ref/tags/${TAG}`, 404],
    ['asset = POST {draft.upload_url}?name=a.txt', 201],
    ['GET {asset.browser_download_url} as nobody', 404],
    ['GET releases/{draft.id} as reader', 404],
    ['PATCH releases/{draft.id}', 200, new RegExp(`/releases/download/${TAG}/a\\.txt`), { draft: false }],
    [`GET git/ref/tags/${TAG}`, 200],
    ['PATCH releases/{second.id}', 422, /"code":"already_exists","field":"tag_name"/, { draft: false }],
  ],
  'a release that is published while the setting is on is immutable, and keeps its tag for ever': [
    ['before = POST releases', 201, /./, { tag_name: 'before' }],
    (repository) => repository.immutableReleases(true),
    ['POST {before.upload_url}?name=b.txt', 201],
    ['draft = POST releases', 201, /./, { draft: true }],
    ['asset = POST {draft.upload_url}?name=a.txt', 201],
    ['PATCH releases/{draft.id}', 200, /"immutable":true/, { draft: false }],
    (repository) => repository.immutableReleases(false),
    ['POST {draft.upload_url}?name=b.txt', 422, /Cannot upload assets to an immutable release\./],
    ['DELETE releases/assets/{asset.id}', 422],
    ['PATCH releases/assets/{asset.id}', 422, /./, { name: 'b.txt' }],
    ['DELETE releases/{draft.id}', 204],
    ['POST releases', 422, /tag_name was used by an immutable release/],
    ['draft = POST releases', 201, /./, { draft: true }],
    ['PATCH releases/{draft.id}', 422, /./, { draft: false }],
  ],
  'comments need `pull_requests: write`, have a longest length, and are listed in pages': [
    (repository) => repository.issues.openPullRequest('A page', 'page'),
    ['comment = POST issues/1/comments', 201, /./, { body: 'я'.repeat(65_536) }],
    ['POST issues/1/comments', 422, /Body is too long \(maximum is 65536/, { body: 'я'.repeat(65_537) }],
    ...['pull reader', 'issue writer', 'fork'].flatMap((who): Call[] => [
      [`POST issues/1/comments as ${who}`, 403, /pull_requests=write/, { body: 'No' }],
      [`PATCH issues/comments/{comment.id} as ${who}`, 403, /pull_requests=write/, { body: 'No' }],
      [`DELETE issues/comments/{comment.id} as ${who}`, 403, /pull_requests=write/],
    ]),
    ['POST issues/1/comments as human', 201, /"login":"human"/, { body: 'Yes' }],
    ['GET issues/1/comments?per_page=1', 200, /comments\?per_page=1&page=2>; rel="next"/],
  ],
  'GraphQL names the login of any token': [
    ['POST /graphql', 200, /"login":"github-actions\[bot\]"/, { query: '{ viewer { login databaseId } }' }],
    ['POST /graphql as nobody', 401],
  ],
  'a job dispatches the workflow of a site, if it may and if there is one; its commits start no run': [
    { pages: { buildType: 'workflow' } },
    ['PUT contents/a.html', 201],
    ['POST actions/workflows/pages.yml/dispatches', 403],
    ['POST actions/workflows/other.yml/dispatches as dispatcher', 404],
    ['POST actions/workflows/pages.yml/dispatches as dispatcher', 422, /./, { ref: 'nowhere' }],
    ({ pages }) => expect(pages.runs).toEqual([]),
    ['PUT contents/b.html as app', 201],
    ({ pages }) => expect(pages.runs).toHaveLength(1),
    // A site that a workflow publishes has no builds, and none can be requested.
    ['GET pages/builds/latest', 404],
    ['POST pages/builds', 422],
  ],
  'the raw host never shows a page': [
    { files: { 'b.html': '<p>raw</p>' } },
    [
      'GET https://raw.githubusercontent.com/{repository.fullName}/main/b.html as nobody',
      200,
      /<p>raw<\/p>[\s\S]*nosniff[\s\S]*text\/plain/,
    ],
  ],
  'Pages is switched on by who may, for a branch that exists, and once': [
    { pages: false },
    ['POST pages as administrating job', 403],
    ['POST pages as administrating app', 403],
    ['POST pages as app', 403],
    ['POST pages as administrator', 422, /The none branch must exist/, { source: { branch: 'none' } }],
    ({ site }) => expect(site).toBeNull(),
    ['GET pages', 404],
    ['POST pages as administrator', 201],
    ['POST pages as administrator', 409, /GitHub Pages is already enabled\./],
  ],
  'a success ends the other deployments in its environment unless it is told not to': [
    ['made = POST deployments as deployer', 201, /./, { task: 'show' }],
    ['GET deployments?environment=PREVIEW&task=show as deployer', 200, /"id"/],
    ['GET deployments?environment=preview&task=other as deployer', 200, /^\[\]/],
    ['POST deployments/{made.id}/statuses', 403, /deployments=write/, { state: 'success' }],
    [STATUSES, 201, /./, { state: 'success' }],
    ['made = POST deployments as deployer', 201],
    [STATUSES, 201, /./, { state: 'success', auto_inactive: false }],
    expectStates('success', 'success'),
    ['made = POST deployments as deployer', 201],
    [STATUSES, 201, /./, { state: 'success' }],
    expectStates('success', 'inactive', 'inactive'),
  ],
};

test.each(Object.entries(STORIES))('%s', (_, steps) => play(steps));

test.each([
  ['a merge of the default branch', { auto_merge: undefined }, 409, /Conflict merging main/],
  ['a wait for all checks', { required_contexts: undefined }, 409, /status checks failed/],
  ['an unknown commit', { ref: 'c0ffee'.padEnd(40, '0') }, 422, /No ref found for: c0ffee/],
  ['no commit', { ref: undefined }, 422, /\\"ref\\" wasn't supplied/],
])('a deployment with %s is refused', (_, body, status, says) =>
  play([['POST deployments as deployer', status, says, body]]),
);

test('only one of two concurrent writes to a branch is accepted', async () => {
  const repository = await setup.repository();
  const put = (name: string) => clientOf('job')(`PUT /repos/${repository.fullName}/contents/${name}`, PUT);
  // A longer write goes first, and ends when both have arrived.
  const { promise, resolve } = Promise.withResolvers<void>();
  const writes = jest.spyOn(repository, 'runExclusively');
  const sent = [repository.runExclusively(() => promise), put('a'), put('b')] as const;
  while (writes.mock.calls.length < sent.length) await nextTurn();
  resolve();
  const [, ...answers] = await Promise.all(sent);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  expect(answers.find(({ status }) => status === 409)?.json.message).toMatch(
    /^is at \w{40} but expected \w{40}$/,
  );
});

test('1,000 requests an hour are for all jobs of a repository together', async () => {
  const [repository, other] = [await setup.repository(), await setup.repository()];
  const left = async (who: string, { fullName } = repository) => {
    const { status, headers } = await clientOf(who)(`GET /repos/${fullName}`);
    return [status, headers['x-ratelimit-remaining']];
  };
  await left('job');
  expect(await left('deployer')).toEqual([200, '998']);
  expect(Number((await left('human'))[1])).toBeGreaterThan(4000);
  setup.world.rateLimits.setLeft(repository, 0, 90);
  expect(await left('deployer')).toEqual([403, '0']);
  expect((await left('job', other))[1]).toBe('999');
});

test.each([
  [2 ** 31 - 1, 201, ''],
  [2 ** 31, 422, 'size must be less than or equal to 2147483648'],
])('an asset that announces %d bytes is answered %d', async (size, status, says) => {
  const { fullName } = await setup.repository();
  const { json } = await clientOf('job')(`POST /repos/${fullName}/releases`, { tag_name: TAG });
  const url = new URL(json.upload_url.replace('{?name,label}', '?name=large.bin'));
  const answer = await setup.world.ask({
    method: 'POST',
    url: url.href,
    host: url.host,
    path: url.pathname,
    query: url.searchParams,
    headers: { authorization: `Bearer ${setup.world.token()}`, 'content-length': String(size) },
    body: Readable.from([Buffer.from('x')]),
  });
  expect([answer.status, String(answer.body)]).toEqual([status, expect.stringContaining(says)]);
});

test.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, RegExp | number>>]>([
  [
    'built with Jekyll',
    {},
    {
      '': /^home$/,
      'sub/': /^sub$/,
      sub: 301,
      '_hidden.html': 404,
      '.dot.html': 404,
      'node_modules/x.html': 404,
      '~tilde.html': 404,
      'doc.md': /^# Title$/,
      'doc.html': /<h1>Title<\/h1>/,
      'front.md': 404,
      'front.html': /<h1>Title<\/h1>/,
      'guide/': /<h1>Guide<\/h1>/,
      'guide/README.html': 404,
      'LICENSE.html': 404,
      'matter.html': /^body$/,
      '%D0%B8%D0%BC%D1%8F.html': /^cyrillic$/,
    },
  ],
  [
    'without Jekyll',
    { '.nojekyll': '' },
    { '_hidden.html': /^hidden$/, 'doc.html': 404, 'matter.html': /^---/ },
  ],
])('a site %s has these addresses', async (_, more, expected) => {
  const files = {
    'index.html': 'home',
    'sub/index.html': 'sub',
    '_hidden.html': 'hidden',
    '.dot.html': 'dot',
    'node_modules/x.html': 'module',
    '~tilde.html': 'tilde',
    'doc.md': '# Title',
    'front.md': '---\ntitle: x\n---\n# Title',
    'guide/README.md': '# Guide',
    'LICENSE.md': '# License',
    'matter.html': '---\ntitle: x\n---\nbody',
    'имя.html': 'cyrillic',
  };
  const { pages } = await setup.repository({ files: { ...files, ...more } });
  for (const [path, shown] of Object.entries(expected)) {
    const { status, text } = await clientOf('nobody')(`GET ${pages.url}${path}`);
    const seen = typeof shown === 'number' ? status : text;
    expect([path, seen]).toEqual([path, typeof shown === 'number' ? shown : expect.stringMatching(shown)]);
  }
});
