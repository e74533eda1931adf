import { describe, expect, test } from '@jest/globals';
import type { PagesOptions } from '../../../src/channels/pages/destination.ts';
import { createPagesChannels } from '../../../src/channels/pages/publish.ts';
import type { RepositoryContext } from '../../../src/github/api/repository.ts';
import { createMemoryFile } from '../../../src/rules/inspect.ts';
import { siteOfFile } from '../../../src/rules/local-site.ts';
import { type Answers, absent, FakeGitHub, failure } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts } from '../../support/ports.ts';
import { pagesOptionsWith } from '../pages-options.ts';
import { accessWith, siteWith } from '../repository-context.ts';

interface Situation {
  readonly answers?: Answers;
  readonly options?: Partial<PagesOptions>;
  readonly site?: RepositoryContext['pagesSettings'];
}

const NEW_SITE = {
  html_url: 'https://octo.github.io/site/',
  source: { branch: 'gh-pages', path: '/' },
  public: true,
};
const WRITES: Answers = {
  blob: () => ({ sha: 'unused' }),
  tree: { sha: 'newtree' },
  commit: { sha: 'c0ffee' },
  create_ref: {},
  create_pages_site: NEW_SITE,
  commits_of_path: [],
};

const shaOfSent = (body: string): string =>
  createMemoryFile('x', Buffer.from(JSON.parse(body).content, 'base64')).blobSha;

/** A file for the new branch `gh-pages` of a repository without a site, unless the situation says otherwise. */
async function prepare({ answers = {}, options = {}, site = null }: Situation = {}) {
  const file = await localFile('<p>hello</p>');
  const github = new FakeGitHub({ get_ref: absent, ...WRITES, ...answers });
  // Blobs are streamed past the API's methods.
  const host = new FakeHttp(({ url, body }) =>
    url.endsWith('/git/blobs') ? { status: 201, body: { sha: shaOfSent(body) } } : { status: 404 },
  );
  const ports = fakePorts(host.http);
  const given = pagesOptionsWith({ branch: 'gh-pages', setup: true, ...options });
  const action = createPagesChannels(given, accessWith(github, { pagesSettings: site }), ports).publish;
  const prepared = action.prepare([{ site: siteOfFile(file), name: 'page.html' }]);
  return { github, ports, action, prepared };
}

async function perform(situation: Situation = {}) {
  const { action, prepared, ...rest } = await prepare(situation);
  const tasks = await prepared;
  const [placed] = await action.perform(tasks as never);
  return { ...rest, tasks, result: placed };
}

test('a missing branch that somebody else creates in the meantime is used as it is', async () => {
  let isThere = false;
  const { github, result } = await perform({
    answers: {
      get_ref: () => (isThere ? { object: { sha: 'theirs' } } : absent),
      get_file: absent,
      get_commit: { tree: { sha: 'theirtree' } },
      tree_below: { sha: 'theirtree', tree: [{ path: 'a', type: 'blob' }] },
      update_ref: {},
      create_ref: () => {
        isThere = true;
        return failure('CONFLICT', 422, { retryable: true });
      },
    },
  });
  expect(github.sent('create_ref')).toHaveLength(1);
  expect(github.sent('commit').at(-1)).toMatchObject({ parents: ['theirs'] });
  expect(github.sent('update_ref')).toEqual([{ ref: 'heads/gh-pages', sha: 'c0ffee', force: false }]);
  expect(result).toMatchObject({ written: true });
});

test.each<[string, Situation, object]>([
  [
    'a missing branch without `setup`',
    { options: { setup: false }, site: siteWith({ branch: 'gh-pages' }) },
    { code: 'NOT_FOUND', hint: expect.stringContaining('`setup: true` to create it') },
  ],
  [
    'a missing branch that no workflow knows',
    {
      site: siteWith({ builtBy: 'workflow', branch: null }),
      answers: { graphql: { data: { viewer: { login: 'octo' } } } },
    },
    { code: 'BAD_INPUT', hint: expect.stringContaining('leave `token:` out') },
  ],
  [
    'unreadable settings',
    { site: 'unreadable' },
    { code: 'NO_PERMISSION', hint: expect.stringMatching(/pages: read/) },
  ],
  [
    'a workflow for a site that is built from a branch',
    { options: { siteWorkflow: 'pages.yml' }, answers: { get_workflow: { state: 'active' } } },
    { code: 'BAD_INPUT', hint: expect.stringContaining('`site-workflow:`') },
  ],
  ['an unreadable branch', { answers: { get_ref: failure('HOST_ERROR', 500) } }, { httpCode: 500 }],
])('nothing is made or written for %s', async (_, situation, error) => {
  const { github, action, prepared } = await prepare(situation);
  const refused = prepared.then(async (all) => {
    const [placed] = await action.perform(all as never);
    throw placed;
  });
  await expect(refused).rejects.toMatchObject(error);
  expect(github.writes).toEqual([]);
});

describe('Pages', () => {
  test('stays as it is if it is on, or if the files have another host', async () => {
    const own = { pagesBase: new URL('https://pages.dev/') };
    for (const situation of [{ site: siteWith({ branch: 'gh-pages' }) }, { options: own }]) {
      const { github, result } = await perform(situation);
      expect(github.writes).toEqual(['tree', 'commit', 'create_ref']);
      expect(result).toMatchObject({ notes: ['the branch gh-pages was created'] });
    }
  });

  test('that another job switched on in the meantime is used if it serves this branch', async () => {
    const taken = failure('HOST_ERROR', 409, { retryable: true });
    const used = await perform({ answers: { create_pages_site: taken, pages_site: NEW_SITE } });
    expect(used.result).toMatchObject({
      first: { url: new URL('https://octo.github.io/site/page.html') },
    });
    const pages_site = { ...NEW_SITE, source: { branch: 'main', path: '/' } };
    const other = await perform({ answers: { create_pages_site: taken, pages_site } });
    const message = expect.stringContaining('from branch main');
    expect(other.result).toMatchObject({ code: 'BAD_INPUT', message });
  });

  test('is checked after a lost answer, before it is switched on again', async () => {
    const lost = failure('CONNECTION', undefined, { retryable: true });
    const { github, result } = await perform({ answers: { create_pages_site: lost, pages_site: NEW_SITE } });
    expect(github.sent('create_pages_site')).toHaveLength(1);
    expect(result).toMatchObject({ written: true });
  });

  test.each([
    ['at another path', { html_url: 'https://octo.github.io/' }, 'NOT_PROVEN'],
    ['at a domain of its own', { html_url: 'https://www.octo.dev/site/' }, 'NOT_PROVEN'],
    ['for members only', { public: false }, 'NOT_EXTERNAL'],
  ])('%s hands over nothing, and says what the branch has', async (_, more, code) => {
    const { result } = await perform({ answers: { create_pages_site: { ...NEW_SITE, ...more } } });
    expect(result).toMatchObject({ code, leftBehind: ['commit c0ffee on the branch gh-pages'] });
  });

  test.each([
    [failure('NO_PERMISSION', 403), /may not switch Pages on/, /"Deploy from a branch" and .*gh-pages/],
    [failure('NOT_FOUND', 404), /may not switch Pages on/, /`token:`/],
    [failure('HOST_ERROR', 422, { hint: 'a plan' }), /could not be switched on/, /Settings → Pages .*a plan/],
  ])('that can not be switched on (%s) names the clicks', async (refusal, reason, hint) => {
    const { github, result } = await perform({ answers: { create_pages_site: refusal } });
    expect(result).toMatchObject({
      httpCode: refusal.httpCode,
      message: expect.stringMatching(/^the branch gh-pages was created \(commit c0ffee\), and /),
      hint: expect.stringMatching(hint),
      leftBehind: [],
    });
    expect(result).toMatchObject({ message: expect.stringMatching(reason) });
    expect(github.sent('create_ref')).toHaveLength(1);
  });
});
