import { describe, expect, test } from '@jest/globals';
import { composeSummary } from '../../src/action/overview.ts';
import { describeOutcome } from '../../src/delivery/report.ts';
import { runOf } from '../action/current-runs.ts';
import { NOON } from '../support/ports.ts';
import type { TestRepository } from '../world/repository.ts';
import {
  type Played,
  type PlayedDelivery,
  proven,
  refused,
  requestsOf,
  setUpPlay,
  writesOf,
} from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const DAY = 86_400_000;
const SITE = { 'dist/index.html': createPage('site'), 'dist/a/b.css': 'p {}\n' };
const OLD = { 'older-than': '14 days' };
const CLOSED = { closed: 'true' };

const workflowOf = ({ fullName }: TestRepository, file = 'preview.yml') => ({
  deliverer: { name: `${fullName}/.github/workflows/${file}`, run: '7/1' },
});

/** Delivers a folder some days ago, by the preview workflow unless `around` says otherwise. */
async function deliver(
  repository: TestRepository,
  path: string,
  { days = 0, files = SITE, ...more }: Partial<PlayedDelivery> & { readonly days?: number } = {},
): Promise<Played> {
  const { now } = repository;
  repository.now = () => new Date(NOON - days * DAY);
  const inputs = { channel: 'K1', path, ...(files === SITE && { file: 'dist/', nojekyll: 'true' }) };
  const around = { ...workflowOf(repository), ...more.around };
  const played = play.deliver({ repository, files, ...more, around, inputs: { ...inputs, ...more.inputs } });
  const done = await proven(played);
  repository.now = now;
  return done;
}

const sweep = (repository: TestRepository, inputs: object, more: Partial<PlayedDelivery> = {}) =>
  play.deliver({
    repository,
    ...more,
    inputs: { channel: 'K1', path: 'previews/', operation: 'withdraw', ...inputs },
    around: { ...workflowOf(repository), ...more.around },
  });

/** A repository with pull requests 1 and 2 (closed) and 3 (open). */
async function repositoryWithPulls(closedAt?: string): Promise<TestRepository> {
  const repository = await play.repository();
  for (const branch of ['a', 'b', 'c']) repository.issues.openPullRequest(branch, branch);
  for (const number of [1, 2]) repository.issues.closePullRequest(number, closedAt);
  return repository;
}

const has = (repository: TestRepository, path: string): boolean => repository.entry(path) !== null;
const folderOf = (number: number | string): string => `previews/pr-${number}/`;
const sweptBy = ({ report }: Played) => report.swept?.map(({ path }) => path);

describe('a sweep by age', () => {
  test('removes the old folders in one commit, and verifies that they are gone', async () => {
    const repository = await play.repository();
    for (const days of [30, 14, 13]) await deliver(repository, folderOf(days), { days });
    const commits = repository.log().length;
    const played = await proven(sweep(repository, OLD));
    expect(sweptBy(played)?.toSorted()).toEqual([folderOf(14), folderOf(30)]);
    expect(played.report).toMatchObject({ result: 'withdrawn', leavesFiles: false, wasAbsent: false });
    expect(describeOutcome(played.report)).toBe('Withdrawn: what was due in previews/ is removed');
    expect(played.report.gone).toContain(`${repository.pages.url}${folderOf(30)}`);
    expect(played.report.notes.join()).toContain('removed, because it is old');
    expect(repository.log()).toHaveLength(commits + 1);
    expect([30, 14, 13].map((days) => has(repository, `${folderOf(days)}index.html`))).toEqual([
      false,
      false,
      true,
    ]);
    const audited = await play.deliver({ repository, inputs: { operation: 'audit', path: 'previews/' } });
    const verdicts = audited.reports.map(({ file, verdict }) => [file?.path, verdict]);
    expect(Object.fromEntries(verdicts)).toEqual({
      [folderOf(30)]: 'withdrawn',
      [folderOf(14)]: 'withdrawn',
      [folderOf(13)]: 'as-delivered',
    });
  });

  test('counts from the last delivery, also of a folder of single files', async () => {
    const repository = await play.repository();
    const files = { 'out/page.html': createPage('page'), 'out/b/log.html': createPage('log') };
    const inputs = { file: 'out/**' };
    for (const path of ['previews/x/', 'previews/y/'])
      await deliver(repository, path, { days: 20, files, inputs });
    await deliver(repository, 'previews/y/later.html', { days: 1, files: { 'p.html': createPage('later') } });
    expect(sweptBy(await proven(sweep(repository, OLD)))).toEqual(['previews/x/']);
    expect(has(repository, 'previews/x')).toBe(false);
    expect(has(repository, 'previews/y/page.html')).toBe(true);
  });

  test.each<[string, (repository: TestRepository) => Promise<unknown>]>([
    ['is of a person', (repository) => repository.commit('previews/pr-9/index.html', 'mine')],
    [
      'has a file of a person',
      async (repository) => {
        await deliver(repository, folderOf(9), { days: 90 });
        await repository.commit(`${folderOf(9)}notes.txt`, 'mine');
      },
    ],
    [
      'was changed by a person',
      async (repository) => {
        await deliver(repository, folderOf(9), { days: 90 });
        await repository.commit(`${folderOf(9)}index.html`, 'mine');
      },
    ],
    [
      'has our message on the files of a person',
      async (repository) => {
        await deliver(repository, folderOf(8), { days: 90 });
        const [{ message } = { message: '' }] = repository.log();
        await repository.commit('previews/pr-9/index.html', 'mine', message.replaceAll('pr-8', 'pr-9'));
      },
    ],
    [
      'is of another workflow',
      (repository) =>
        deliver(repository, folderOf(9), { days: 90, around: workflowOf(repository, 'other.yml') }),
    ],
    [
      'has a delivery of another workflow',
      async (repository) => {
        await deliver(repository, folderOf(9), { days: 90 });
        const around = workflowOf(repository, 'other.yml');
        await deliver(repository, `${folderOf(9)}more/`, { days: 80, around });
      },
    ],
    [
      'is a part of a larger delivery',
      (repository) =>
        deliver(repository, 'previews/', {
          days: 90,
          files: { 'dist/index.html': createPage(), 'dist/pr-9/index.html': createPage('part') },
          inputs: { file: 'dist/' },
        }),
    ],
    ['is not directly below', (repository) => deliver(repository, 'other/pr-9/', { days: 90 })],
  ])('leaves a folder that %s, also with `closed`', async (_, make) => {
    const repository = await play.repository();
    repository.now = () => new Date(NOON - 90 * DAY);
    await make(repository);
    repository.now = () => new Date(NOON);
    const before = repository.entry('previews/pr-9') ?? repository.entry('other/pr-9');
    for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      repository.issues.openPullRequest('x', `b${number}`);
      repository.issues.closePullRequest(number);
    }
    const { report } = await proven(sweep(repository, { ...OLD, ...CLOSED }));
    expect(report.swept?.map(({ path }) => path) ?? []).not.toContain(folderOf(9));
    expect(repository.entry('previews/pr-9') ?? repository.entry('other/pr-9')).toBe(before);
  });

  test("takes another workflow's folder with `overwrite`, but never a person's, and says why both stay", async () => {
    const repository = await play.repository();
    await deliver(repository, folderOf(1), { days: 90, around: workflowOf(repository, 'other.yml') });
    repository.now = () => new Date(NOON - 90 * DAY);
    await repository.commit('previews/mine/index.html', 'mine');
    const { report } = await proven(sweep(repository, OLD));
    expect(report.notes).toEqual([
      `still there, because another workflow delivered it, and only a sweep in the same file counts it: ${folderOf(1)}`,
      'still there, because it is not as this tool delivered it: previews/mine/',
    ]);
    const played = await proven(sweep(repository, { ...OLD, overwrite: 'true' }));
    expect(sweptBy(played)).toEqual([folderOf(1)]);
    expect(has(repository, 'previews/mine/index.html')).toBe(true);
    repository.issues.closePullRequest(repository.issues.openPullRequest('a', 'a'));
    await deliver(repository, folderOf(1));
    const person = { around: { deliverer: undefined } };
    expect(sweptBy(await proven(sweep(repository, { ...CLOSED, overwrite: 'true' }, person)))).toEqual([
      folderOf(1),
    ]);
  });

  test('takes a folder with several deliveries, and never that of an open pull request', async () => {
    const repository = await repositoryWithPulls();
    await deliver(repository, `${folderOf(2)}site/`, { days: 40 });
    await deliver(repository, `${folderOf(2)}coverage/`, { days: 30 });
    await deliver(repository, `${folderOf(2)}docs/page.html`, {
      days: 20,
      files: { 'p.html': createPage('p') },
    });
    await deliver(repository, folderOf(3), { days: 90 });
    const played = await proven(sweep(repository, OLD));
    expect(sweptBy(played)).toEqual([folderOf(2)]);
    expect(played.report.notes).toContain(`still there, because its pull request is open: ${folderOf(3)}`);
    expect(has(repository, folderOf(2).slice(0, -1))).toBe(false);
  });

  test('keeps a folder whose name ends in the number of an open pull request, whatever is before it', async () => {
    const repository = await repositoryWithPulls();
    const names = ['pr-3', 'k8s-pr-3', 'app2-pr-3', 'web.pr-3', '2026-pr-3', 'PR#3', 'docs-v2-3', 'pr-03'];
    const old = ['k8s-pr-1', 'v3.0', '2026-11-13', 'pr-33'];
    for (const name of [...names, ...old]) await deliver(repository, `previews/${name}/`, { days: 90 });
    const unread = { status: 403, body: '{"message":"Resource not accessible"}' };
    play.intercept({ url: /\/pulls\?/, times: 1 }, unread);
    const { report } = await proven(sweep(repository, OLD));
    expect([report.swept ?? [], report.unknown.join()]).toEqual([
      [{ path: 'previews/v3.0/', url: expect.anything() }],
      expect.stringMatching(/so it is still there: .*k8s-pr-3/),
    ]);
    const played = await proven(sweep(repository, { ...OLD, ...CLOSED }));
    expect(sweptBy(played)?.toSorted()).toEqual([
      'previews/2026-11-13/',
      'previews/k8s-pr-1/',
      'previews/pr-33/',
    ]);
    expect(names.filter((name) => !has(repository, `previews/${name}/index.html`))).toEqual([]);
    expect(played.report.notes.join()).toMatch(/because its pull request is open: .*k8s-pr-3/);
    expect(played.report.notes.join()).not.toContain('v3.0');
  });

  test('passes and writes nothing if nothing is due, and a dry run lists what is', async () => {
    const repository = await play.repository();
    await deliver(repository, folderOf(1), { days: 3 });
    const idle = await proven(sweep(repository, OLD));
    expect(idle.report).toMatchObject({ result: 'withdrawn', ready: true, wasAbsent: true });
    expect(idle.report.lines.CLAIM).toBe('previews/ is unchanged: no folder that this tool delivered is due');
    expect(writesOf(idle)).toEqual([]);
    const planned = await sweep(repository, { ...OLD, 'dry-run': 'true' });
    expect(planned.report.result).toBe('planned');
    expect(describeOutcome(planned.report)).toBe(
      'Nothing to withdraw: no folder that this tool delivered is due',
    );
    expect(composeSummary([planned.report])).not.toMatch(/Next:|Plan:/);
    expect(composeSummary([idle.report])).not.toContain('the channel');
    const empty = await proven(sweep(repository, { ...OLD, path: 'nothing/' }));
    expect(empty.report.ready).toBe(true);
    const { report, ...dry } = await sweep(repository, { 'older-than': '2 days', 'dry-run': 'true' });
    expect(report.result).toBe('planned');
    expect(report.lines.CODE).toContain(
      `removed, because it is old or its pull request is closed: ${folderOf(1)}`,
    );
    expect(writesOf(dry)).toEqual([]);
  });

  test('sends no request for each folder, and finds folders behind a long history', async () => {
    const repository = await play.repository();
    const names = Array.from({ length: 11 }, (_, nth) => `dist/${nth === 0 ? 'index' : nth}.html`);
    const files = Object.fromEntries(names.map((name) => [name, createPage(name)]));
    const inputs = { file: 'dist/' };
    for (let nth = 1; nth <= 10; nth += 1)
      await deliver(repository, folderOf(nth), { days: 40, files, inputs });
    const played = await proven(sweep(repository, { ...OLD }));
    expect(sweptBy(played)).toHaveLength(10);
    expect(played.report.unknown).toContain(
      'whether 10 more removed files are gone: 100 URLs were checked, pages first',
    );
    expect(requestsOf(played, /\/commits\?/)).toEqual([]);
    expect(requestsOf(played, /api\.github\.com/).length).toBeLessThan(25);
  });
});

describe('a sweep of closed pull requests', () => {
  test('removes only folders whose pull request is closed, and says in their comments how to renew', async () => {
    const repository = await repositoryWithPulls();
    const { owner, name } = repository;
    for (const number of [1, 2, 3]) {
      const pull_request = { number, state: 'open', head: { sha: 'd00d'.repeat(10) } };
      const run = { ...runOf({ pull_request }), repository: { owner, repo: name } };
      const token = play.world.token({ pull_requests: 'write' });
      const comment = { comment: 'true' };
      await deliver(repository, folderOf(number), { days: 60, run, token, inputs: comment });
    }
    const run = { ...runOf({}, 'schedule'), repository: { owner, repo: name } };
    const token = play.world.token({ pull_requests: 'write' });
    const played = await proven(sweep(repository, { ...CLOSED, ...OLD, comment: 'true' }, { run, token }));
    expect(sweptBy(played)?.toSorted()).toEqual([folderOf(1), folderOf(2)]);
    expect(played.report.notes).toContain(`still there, because its pull request is open: ${folderOf(3)}`);
    expect(requestsOf(played, /\/pulls\?/)).toHaveLength(1);
    for (const [number, isRemoved] of [
      [1, true],
      [2, true],
      [3, false],
    ] as const) {
      const [{ body = '' } = {}] = repository.issues.comments(number);
      expect(body.includes('To renew it, reopen the pull request')).toBe(isRemoved);
      expect(body.includes(`](<${repository.pages.url}${folderOf(number)}>)`)).toBe(!isRemoved);
    }
  });

  test('says in the comment that a preview is removed, even if the site still shows it', async () => {
    const repository = await repositoryWithPulls();
    const { owner, name } = repository;
    const token = play.world.token({ pull_requests: 'write' });
    const runWith = (payload: object) => ({ ...runOf(payload), repository: { owner, repo: name } });
    const run = runWith({ pull_request: { number: 1, head: { sha: 'd00d'.repeat(10) } } });
    await deliver(repository, folderOf(1), { run, token, inputs: { comment: 'true' } });
    if (repository.site) repository.site.live = false;
    const inputs = { ...CLOSED, comment: 'true', timeout: '20' };
    const { report } = await sweep(repository, inputs, { run: runWith({}), token });
    expect(report).toMatchObject({ ready: false, swept: [{ path: folderOf(1) }] });
    expect(repository.issues.comments(1)[0]?.body).toContain('To renew it, reopen the pull request');
  });

  test.each<[string, object, (repository: TestRepository) => void]>([
    [
      'if the pull requests can’t be read',
      {},
      () =>
        play.intercept(
          { url: /\/pulls\?/, times: 99 },
          { status: 403, body: '{"message":"Resource not accessible"}' },
        ),
    ],
    [
      'if another repository delivered it',
      { deliverer: { name: 'octo/app/.github/workflows/p.yml', run: '1/1' } },
      (repository) => repository.issues.closePullRequest(repository.issues.openPullRequest('x', 'y')),
    ],
  ])('keeps and names a folder %s, also if it is old', async (_, around, make) => {
    const repository = await repositoryWithPulls();
    await deliver(repository, folderOf(4), { days: 90, around });
    make(repository);
    const { report, ...played } = await proven(sweep(repository, { ...CLOSED, ...OLD }, { around }));
    expect(report.unknown.join()).toMatch(
      /^whether the pull request is closed \(.*HTTP (?:403: .*; give the job `pull-requests: read`|404.*)\), so it is still there: previews\/pr-4\//,
    );
    expect(writesOf(played)).toEqual([]);
  });

  test('reads no number from a version or a date, and nothing without a number', async () => {
    const repository = await repositoryWithPulls();
    for (const name of ['v1.2', 'v2', '2026-11-02', 'main', 'pr-02', 'pr-2-old'])
      await deliver(repository, `previews/${name}/`, { days: 9 });
    await deliver(repository, 'previews/2/');
    expect(sweptBy(await proven(sweep(repository, CLOSED)))).toEqual(['previews/2/']);
  });

  test.each([[[1, 2]], [[1]]])('keeps a folder that is delivered meanwhile, of %j', async (numbers) => {
    const repository = await repositoryWithPulls();
    for (const number of numbers) await deliver(repository, folderOf(number), { days: 30 });
    await repository.commit('previews/index.html', createPage('all previews'));
    play.meanwhile({ method: 'POST', url: /\/git\/trees/ }, async () => {
      await repository.commit(`${folderOf(1)}new.html`, 'delivered again');
    });
    const played = sweep(repository, CLOSED);
    if (numbers.length > 1) {
      expect(sweptBy(await proven(played))).toEqual([folderOf(2)]);
      expect((await played).report.leavesFiles).toBe(true);
    } else
      await refused(played, /^place: the folders that were due changed meanwhile, so nothing was removed →/);
    expect((await played).report.swept?.map(({ path }) => path) ?? []).not.toContain(folderOf(1));
    expect(has(repository, `${folderOf(1)}index.html`)).toBe(true);
  });

  test('keeps what was delivered after the pull request of its number was closed, and what has no pull request', async () => {
    const repository = await repositoryWithPulls(new Date(NOON - 5 * DAY).toISOString());
    repository.issues.open('an issue', null, 'octo');
    await deliver(repository, folderOf(1), { days: 6 });
    for (const name of ['fix-login-2', 'release-1', 'issue-4', 'run-57'])
      await deliver(repository, `previews/${name}/`, { days: 3 });
    const played = await proven(sweep(repository, CLOSED));
    expect(sweptBy(played)).toEqual([folderOf(1)]);
    expect(played.report.notes).toContain(
      'still there, because it was delivered after its pull request was closed: previews/fix-login-2/, previews/release-1/',
    );
    const old = await proven(sweep(repository, { ...CLOSED, 'older-than': '2 days' }));
    expect(sweptBy(old)).toHaveLength(4);
  });

  test("reads the pull requests of the workflow's own repository, if it delivers to another one", async () => {
    const [site, repository] = [await repositoryWithPulls(), await repositoryWithPulls()];
    repository.issues.closePullRequest(repository.issues.openPullRequest('d', 'd'));
    const around = { ...workflowOf(repository), openPull: 3 };
    site.issues.closePullRequest(3);
    for (const number of [3, 4]) await deliver(site, folderOf(number), { around });
    expect(sweptBy(await proven(sweep(site, CLOSED, { around })))).toEqual([folderOf(4)]);
  });
});

test('a delivery to the folder of a pull request that was closed meanwhile is refused', async () => {
  const repository = await repositoryWithPulls();
  const around = { openPull: 1 };
  const given = { repository, files: SITE, around };
  const inputs = { channel: 'K1', file: 'dist/', nojekyll: 'true' };
  const path = `${folderOf(1)}site/`;
  const late = play.deliver({ ...given, inputs: { ...inputs, path } });
  await refused(late, /^place: pull request 1 was closed meanwhile.* → reopen it/);
  await proven(play.deliver({ ...given, inputs: { ...inputs, path: 'coverage/' } }));
  await proven(play.deliver({ ...given, around: { openPull: 3 }, inputs: { ...inputs, path: folderOf(3) } }));
  play.intercept({ url: /\/pulls\?/, times: 9 }, { status: 403, body: '{}' });
  const { log } = await proven(play.deliver({ ...given, inputs: { ...inputs, path } }));
  expect(log).toContain('whether pull request 1 is open: unknown');
});

test.each<[string, object, RegExp]>([
  ['a delivery', { operation: 'deliver', file: 'a' }, /only for a withdrawal/],
  ['a file', { path: 'previews/a.html' }, /takes only a path that ends in a slash$/],
  ['nothing', { path: '' }, /^a sweep removes folders directly below one folder/],
  ['named files', { file: 'a.html' }, /^a sweep removes folders directly below one folder/],
  ['no time', { 'older-than': 'soon' }, /is not a number of days such as 14 days: soon/],
  ['no time at all', { 'older-than': '0 days' }, /is not a number of days/],
])('a sweep of %s is refused', async (_, inputs, says) => {
  const repository = await play.repository();
  await expect(sweep(repository, { ...OLD, ...inputs })).rejects.toThrow(says);
});

test("a sweep of a path without a slash is refused with the user's own path", async () => {
  await expect(sweep(await play.repository(), { ...OLD, path: 'a' })).rejects.toMatchObject({
    hint: 'end the path in a slash: `path: a/`',
  });
});
