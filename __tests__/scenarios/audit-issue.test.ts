import { describe, expect, test } from '@jest/globals';
import { readMemory } from '../../src/action/comment-memory.ts';
import { runWith } from '../action/current-runs.ts';
import type { TestRepository } from '../world/repository.ts';
import { LOGINS } from '../world/tokens.ts';
import { addCommits, replaceBranch } from './branch-of-others.ts';
import { type Played, proven, requestsOf, setUpPlay } from './play.ts';
import { createPage, waitForAll } from './scenario.ts';

const play = setUpPlay();
const MARK = /^<!-- screen-delivery:audit:[0-9a-f]{16} \{.*\} -->\n/;

const listIssues = ({ issues }: TestRepository) => issues.list();

const deliverPage = (repository: TestRepository, path = 'one.html') => {
  const inputs = { channel: 'K1', path, overwrite: 'true' };
  return proven(play.deliver({ repository, files: { 'page.html': createPage() }, inputs }));
};

async function repositoryWithPage(): Promise<TestRepository> {
  const repository = await play.repository();
  await deliverPage(repository);
  return repository;
}

const lose = (repository: TestRepository) => play.alterSite(repository, 'one.html', { status: 404 });

const audit = (
  repository: TestRepository,
  permissions: object = { issues: 'write' },
  login?: string,
  inputs: object = {},
): Promise<Played> =>
  play.deliver({
    repository,
    run: runWith({ eventName: 'schedule', repository: { owner: repository.owner, repo: repository.name } }),
    token: play.world.token(permissions, login),
    inputs: { operation: 'audit', issue: 'true', timeout: '10', ...inputs },
  });

test('one issue is opened if a delivery is lost, updated, closed if all is well, and opened again', async () => {
  const repository = await repositoryWithPage();
  await audit(repository);
  expect(await listIssues(repository)).toEqual([]);

  const loss = lose(repository);
  await audit(repository);
  await audit(repository);
  const [opened, ...others] = await listIssues(repository);
  expect(others).toEqual([]);
  expect(opened).toMatchObject({ state: 'open', title: '1 of 1 deliveries are lost or altered' });
  expect(opened?.body).toMatch(MARK);
  expect(opened?.body).toContain('HTTP 404');

  loss.remove();
  const { log } = await audit(repository);
  expect(log).toContain(`Issue ${opened?.number}: closed`);
  expect(await listIssues(repository)).toMatchObject([
    { number: opened?.number, state: 'closed', title: 'Every delivery named here is verified again' },
  ]);
  expect(requestsOf(await audit(repository), /^PATCH/)).toEqual([]);

  lose(repository);
  await audit(repository);
  expect(await listIssues(repository)).toMatchObject([{ number: opened?.number, state: 'open' }]);
});

const CLOSED = { state: 'closed', title: 'Every delivery named here is verified again' };

describe('an issue stays open while a delivery that it names is not verified', () => {
  async function repositoryThatLost(): Promise<TestRepository> {
    const repository = await repositoryWithPage();
    const asset = { repository, files: { 'data.zip': 'PK' }, inputs: { channel: 'K2', tag: 'files' } };
    await proven(play.deliver(asset));
    await repository.commit('one.html', null);
    await audit(repository);
    expect(await listIssues(repository)).toMatchObject([
      { state: 'open', title: expect.stringMatching(/^1 of 2 .* lost/) },
    ]);
    return repository;
  }
  const openTitle = 'Not verified again: 1 of the deliveries named here';

  test.each<[string, (repository: TestRepository) => unknown]>([
    ['the history no longer has it', (repository) => replaceBranch(repository, { isOrphan: true })],
    ['it is older than the commits that are read', (repository) => addCommits(repository, 1_300)],
    ['somebody put something else there', (repository) => repository.commit('one.html', 'of a person')],
  ])('although %s, until it is delivered again', async (_, change) => {
    const repository = await repositoryThatLost();
    await change(repository);
    for (let run = 0; run < 2; run += 1) {
      expect((await audit(repository)).report.ready).toBe(true);
      expect(await listIssues(repository)).toMatchObject([
        { state: 'open', title: openTitle, body: expect.stringContaining('<code>K1 one.html</code>') },
      ]);
    }
    await deliverPage(repository);
    await audit(repository);
    expect(await listIssues(repository)).toMatchObject([CLOSED]);
  });

  test('and no longer names it after a person has closed the issue', async () => {
    const repository = await repositoryThatLost();
    replaceBranch(repository, { isOrphan: true });
    const [issue] = repository.issues.all;
    if (issue) issue.state = 'closed';
    await audit(repository);
    expect(await listIssues(repository)).toMatchObject([
      { state: 'closed', title: expect.stringMatching(/lost/) },
    ]);
  });

  test('whatever the deliveries are called', async () => {
    const repository = await play.repository();
    for (const path of ['a--b.html', 'ü.html']) await deliverPage(repository, path);
    for (const path of ['a--b.html', 'ü.html']) await repository.commit(path, null);
    await audit(repository);
    const { lost } = readMemory((await listIssues(repository))[0]?.body ?? '') ?? {};
    expect(lost?.toSorted()).toEqual(['K1 a--b.html', 'K1 ü.html']);
  });
});

test('an audit that finds no delivery does not report a loss', async () => {
  const repository = await repositoryWithPage();
  addCommits(repository, 1_300);
  await audit(repository, undefined, undefined, { channel: 'K1' });
  expect(await listIssues(repository)).toMatchObject([
    {
      state: 'open',
      title: 'The audit found nothing that was delivered',
      body: expect.stringContaining('deliveries before the newest 1200 commits'),
    },
  ]);
});

test('two audits at once keep one issue', async () => {
  const repository = await repositoryWithPage();
  lose(repository);
  // Both find no issue, and both open one.
  play.meanwhile({ method: 'GET', url: /\/issues\?/, times: 2 }, waitForAll(2));
  await Promise.all([audit(repository), audit(repository)]);
  const issues = await listIssues(repository);
  expect(issues).toHaveLength(2);
  expect(issues.filter(({ state }) => state === 'open')).toHaveLength(1);
  await audit(repository);
  expect((await listIssues(repository)).filter(({ state }) => state === 'open')).toHaveLength(1);
});

test("another person's issue with our mark stays unchanged", async () => {
  const repository = await repositoryWithPage();
  const loss = lose(repository);
  await audit(repository, { issues: 'write' }, LOGINS.app);
  const [others] = await listIssues(repository);
  await audit(repository);
  expect(await listIssues(repository)).toMatchObject([
    others,
    { state: 'open', body: expect.stringMatching(MARK) },
  ]);
  loss.remove();
  await audit(repository);
  expect(await listIssues(repository)).toMatchObject([others, { state: 'closed' }]);
});

test('without the permission, the audit continues and a warning names the change', async () => {
  const repository = await repositoryWithPage();
  lose(repository);
  const { report, log } = await audit(repository, { pull_requests: 'read' });
  expect(report.verdict).toBe('lost');
  expect(log).toMatch(
    /warning: Could not update the issue \(the delivery is not affected\): .* To fix: give the job `permissions: \{ contents: read, pages: read, issues: write \}`/,
  );
  expect(await listIssues(repository)).toEqual([]);
});

test('an audit without a result leaves the issue unchanged', async () => {
  const repository = await repositoryWithPage();
  lose(repository);
  await audit(repository);
  const [before] = await listIssues(repository);
  play.intercept({ method: 'GET', url: /\/commits\?/, times: 99 }, { status: 500 });
  const { log } = await audit(repository);
  expect(log).toContain('The issue is unchanged');
  expect(await listIssues(repository)).toEqual([before]);
});

test.each([
  ['the tag', { channel: 'K2', tag: 'v1' }, { channel: 'K2', tag: 'v2' }],
  ['the case of the path', { path: 'Docs/' }, { path: 'docs/' }],
])('audits that differ by %s have separate issues', async (_, ofLost, ofOther) => {
  const repository = await play.repository();
  for (const inputs of [ofLost, ofOther]) {
    const files = { 'page.html': createPage() };
    expect(
      (await play.deliver({ repository, files, inputs: { channel: 'K1', ...inputs } })).report.ready,
    ).toBe(true);
  }
  const lost = play.intercept({ url: /Docs\/page|download\/v1/, times: 999 }, { status: 404 });
  await audit(repository, undefined, undefined, ofLost);
  await audit(repository, undefined, undefined, ofOther);
  expect(await listIssues(repository)).toMatchObject([
    { state: 'open', title: expect.stringMatching(/^1 of 1 .* lost/) },
  ]);
  lost.remove();
});

test("part of a folder can't be audited, and isn't reported as lost", async () => {
  const repository = await play.repository();
  const files = { 'dist/index.html': createPage() };
  await play.deliver({ repository, files, inputs: { channel: 'K1', file: 'dist/', path: 'p/' } });
  const { report } = await audit(repository, undefined, undefined, { path: 'p/index.html' });
  expect(report.notReady).toMatchObject({ code: 'BAD_INPUT', step: 'check' });
  expect(await listIssues(repository)).toEqual([]);
});
