import { expect, test } from '@jest/globals';
import { createWorldClient, type WorldClient } from './client.ts';
import { getDeploymentState } from './deployment-store.ts';
import type { RepositoryOptions, TestRepository } from './repository.ts';
import { setUpWorld } from './set-up-world.ts';
import { FORK_PERMISSIONS, LOGINS, type TokenPermissions } from './tokens.ts';

/**
 * GitHub's behavior that its API description lacks. The product must live with it, so the local GitHub must not be
 * kinder.
 */

const setup = setUpWorld();
const TAG = 'files-20260101';
const PUT = { message: 'ADD', content: 'eA==' };
const FILE = { mode: '100644', type: 'blob' };
const COMMIT = { message: 'ADD', tree: '{tree.sha}', parents: ['{head.sha}'] };
const STATUSES = 'POST deployments/{made.id}/statuses as deployer';

/** The client: the permissions and the owner of its token. */
const TOKENS: Readonly<Record<string, readonly [Partial<TokenPermissions>, string?]>> = {
  job: [{}],
  deployer: [{ deployments: 'write' }],
  reader: [{ contents: 'read', pages: 'none' }],
  'pull reader': [{ pull_requests: 'read' }],
  'issue writer': [{ pull_requests: 'none', issues: 'write' }],
  fork: [FORK_PERMISSIONS],
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
/** A call, an event between calls, or, as the first step, the repository's settings. */
type Step = Call | ((repository: TestRepository) => unknown) | Partial<RepositoryOptions>;
const isCall = (step: Step): step is Call => Array.isArray(step);

/** The default body, by method and the path's first part. */
const USUAL: Readonly<Record<string, object | string>> = {
  'PUT contents': PUT,
  'POST releases': { tag_name: TAG },
  'POST https:': 'x',
  'POST deployments': { ref: '{head.sha}', environment: 'preview', auto_merge: false, required_contexts: [] },
};

/** Plays the steps one after the other in a new repository. */
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
    const head = repository.head() ?? '';
    Object.assign(known, { head: { sha: head }, root: { sha: repository.git.commit(head).tree } });
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

const expectStates =
  (...states: string[]) =>
  ({ deployments }: TestRepository) =>
    expect(deployments.all.map(getDeploymentState)).toEqual(states);

const STORIES: Readonly<Record<string, readonly Step[]>> = {
  'credentials are asked for, and a refusal names the permission': [
    ['PUT contents/a.txt as nobody', 401, /"Requires authentication".*"status":"401"/],
    ['PUT contents/a.txt as stranger', 401, /"Bad credentials"/],
    ['PUT contents/a.txt as reader', 403, /not accessible by integration[\s\S]*s: contents=write/],
    ['POST /graphql as nobody', 401],
  ],
  'a private repository is not there for others, nor are its files and assets': [
    { private: true },
    ['GET . as nobody', 404],
    ['GET https://raw.githubusercontent.com/{repository.fullName}/main/README.md as nobody', 404],
    ['release = POST releases', 201],
    ['asset = POST {release.upload_url}?name=a.txt', 201],
    ['GET {asset.browser_download_url} as nobody', 404],
  ],
  'a branch only moves forward, and a tree grows from a tree': [
    (repository) => repository.commit('a.txt', 'a'),
    ['PATCH git/refs/heads/main', 422, /Update is not a fast forward/, { sha: '{first.sha}' }],
    ['POST git/trees', 422, /base_tree is not a valid tree oid/, { base_tree: '{first.sha}', tree: [] }],
    ['POST git/trees', 422, /GitRPC::BadObjectState/, { tree: [{ ...FILE, path: 'absent', sha: null }] }],
    ['PUT contents/a.txt', 422, /\\"sha\\" wasn't supplied/],
    ['PUT contents/b.txt', 422, /content is not valid Base64/, { content: '%%%' }],
  ],
  'a ruleset refuses both ways of writing, and takes what GitHub itself signs where it demands signatures': [
    (repository) => repository.protect(true),
    ['PATCH git/refs/heads/main', 422, /Repository rule violations found/, { sha: '{head.sha}' }],
    (repository) => repository.protect('signatures'),
    ['PUT contents/b.txt', 409, /must have verified signatures/, { author: { name: 'A', email: 'a@b.c' } }],
    ['PUT contents/b.txt as human', 409],
    ['tree = GET git/trees/{root.sha}', 200],
    ['own = POST git/commits', 201, /./, COMMIT],
    ['PATCH git/refs/heads/main', 200, /./, { sha: '{own.sha}' }],
  ],
  'the storage of assets takes its own signature alone, and never shows a page': [
    ['release = POST releases', 201],
    ['asset = POST {release.upload_url}?name=page.html', 201],
    ['POST {release.upload_url}?name=page.html', 422, /"resource":"ReleaseAsset","code":"already_exists"/],
    ['found = GET {asset.browser_download_url} as nobody', 302, /location: https:\/\/release-assets\./],
    ['GET {found.location} as nobody', 200, /octet-stream[\s\S]*: attachment; filename=page\.html/],
    ['GET {found.location}', 400, /Only one auth mechanism allowed/],
    ['GET {found.location}0 as nobody', 403],
  ],
  'a draft has no tag, is not found by it, and is hidden': [
    ['draft = POST releases', 201, /"draft":true/, { draft: true }],
    [`GET releases/tags/${TAG}`, 404],
    ['asset = POST {draft.upload_url}?name=a.txt', 201],
    ['GET {asset.browser_download_url} as nobody', 404],
    ['GET releases/{draft.id} as reader', 404],
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
  ],
  'the latest release goes by how each was published, and a new tag is at a branch or commit': [
    ['POST releases', 201, /./, { tag_name: 'v1.10.0', make_latest: 'legacy' }],
    ['POST releases', 201, /"prerelease":true/, { tag_name: 'v2.0.0-rc.1', prerelease: true }],
    ['POST releases', 201, /./, { tag_name: 'files-20260102', make_latest: 'false' }],
    ['POST releases', 201, /./, { tag_name: 'v1.9.0', make_latest: 'legacy' }],
    ['GET releases/latest', 200, /"tag_name":"v1\.10\.0"/],
    ['POST releases', 201, /./, { tag_name: 'v0.1.0' }],
    ['GET releases/latest', 200, /"tag_name":"v0\.1\.0"/],
    ['POST releases', 422, /target_commitish/, { tag_name: 'v3', target_commitish: 'v1.9.0' }],
  ],
  'comments on a pull request need `pull_requests: write`': [
    (repository) => repository.issues.openPullRequest('A page', 'page'),
    ['comment = POST issues/1/comments', 201, /./, { body: 'Yes' }],
    ...['pull reader', 'issue writer', 'fork'].flatMap((who): Call[] => [
      [`PATCH issues/comments/{comment.id} as ${who}`, 403, /pull_requests=write/, { body: 'No' }],
      [`DELETE issues/comments/{comment.id} as ${who}`, 403, /pull_requests=write/],
    ]),
  ],
  'a success ends the other deployments in its environment unless it is told not to': [
    ['POST deployments as deployer', 409, /Conflict merging main/, { auto_merge: undefined }],
    ['POST deployments as deployer', 409, /status checks failed/, { required_contexts: undefined }],
    ['made = POST deployments as deployer', 201],
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

/** The files that Jekyll skips, and how it shows the rest. */
const SITE: readonly (readonly [path: string, content: string, address: string, shows: RegExp | number])[] = [
  ['_hidden.html', 'hidden', '_hidden.html', 404],
  ['.dot.html', 'dot', '.dot.html', 404],
  ['node_modules/x.html', 'module', 'node_modules/x.html', 404],
  ['~tilde.html', 'tilde', '~tilde.html', 404],
  ['doc.md', '# Title', 'doc.html', /<h1>Title<\/h1>/],
  ['front.md', '---\ntitle: x\n---\n# Title', 'front.md', 404],
  ['guide/README.md', '# Guide', 'guide/', /<h1>Guide<\/h1>/],
  ['LICENSE.md', '# License', 'LICENSE.html', 404],
  ['matter.html', '---\ntitle: x\n---\nbody', 'matter.html', /^body$/],
];

test.each([true, false])(
  'a site that Jekyll builds (%s) has other addresses than its files',
  async (builds) => {
    const files = Object.fromEntries(SITE.map(([path, content]) => [path, content]));
    const { pages } = await setup.repository({ files: { ...files, ...(!builds && { '.nojekyll': '' }) } });
    for (const [path, content, address, shows] of SITE) {
      const { status, text } = await clientOf('nobody')(`GET ${pages.url}${builds ? address : path}`);
      if (builds && shows === 404) expect([address, status]).toEqual([address, 404]);
      else
        expect([address, text]).toEqual([address, builds ? expect.stringMatching(shows as RegExp) : content]);
    }
  },
);
