import { describe, expect, test } from '@jest/globals';
import { getDeploymentState } from '../world/deployment-store.ts';
import type { TestRepository } from '../world/repository.ts';
import { expectNotReady } from './expect-report.ts';
import { createPage, setUpScenario } from './scenario.ts';
import { createRunCompletedEvent, openPullRequest } from './workflow-events.ts';
import {
  alterExample,
  getOnlyDelivery,
  listConclusions,
  listDeliveries,
  SITE_WITHOUT_PUSH_BUILDS,
  setUpPlayer,
} from './workflow-player.ts';

const scenario = setUpScenario();
const player = setUpPlayer(scenario);

const PREVIEW = 'examples/pull-request-preview.yml';
const BUTTON = 'examples/preview-button.yml';
const BUILD = 'examples/fork-safe-build.yml';
const PUBLISH = 'examples/fork-safe-publish.yml';

/** A commit with a page, and what builds it. */
const commit = (text: string) => ({
  'build.sh': '#!/bin/sh\nmkdir -p out dist && cp page.html out/index.html && cp page.html dist/index.html\n',
  'page.html': createPage(text),
});
/** A pull request whose first commit has a page. */
async function openPull(head = 'feature', files = commit('first')) {
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  return { repository, pull: await openPullRequest(repository, head, files) };
}
type Pull = Awaited<ReturnType<typeof openPull>>;

/** The pull request's only comment, which is about a commit and leads to an address, or to none. */
async function expectComment({ repository, pull }: Pull, says: readonly string[]) {
  const comments = await repository.issues.comments(pull.number);
  expect(comments.map(({ user }) => user.login)).toEqual(['github-actions[bot]']);
  const [{ id, body } = { id: 0, body: '' }] = comments;
  for (const text of says) expect(body).toContain(text);
  return { id, body };
}
const short = ({ sha }: { readonly sha: string }): string => sha.slice(0, 7);

/** The deployments of a repository, the newest first: their states, commits and addresses. */
const listDeployments = ({ deployments }: TestRepository): unknown[] =>
  deployments.all.map((one) => [getDeploymentState(one), one.sha, one.statuses[0]?.environmentUrl]);

describe('the button of a pull request', () => {
  test('opened, pushed to, closed: it leads to what is proven, and in the end nowhere', async () => {
    const { repository, pull } = await openPull();
    const url = `${repository.pages.url}previews/pr-${pull.number}/`;
    await player.expectShown(await player.run(BUTTON, pull.opened), url, createPage('first'));
    expect(listDeployments(repository)).toEqual([['success', pull.opened.sha, url]]);

    const push = await pull.push(commit('second'));
    expect(listConclusions(await player.run(BUTTON, push))).toEqual(['success', 'preview: success']);
    const replaced = ['inactive', pull.opened.sha, null];
    expect(listDeployments(repository)).toEqual([['success', push.sha, url], replaced]);

    const closed = await player.run(BUTTON, (await pull.close()).pull_request);
    expect(listConclusions(closed)).toEqual(['success', 'preview: success']);
    await player.expectGone(url);
    expect(listDeployments(repository)).toEqual([['inactive', push.sha, null], replaced]);
  });

  test('of a fork comes from the pair, on its own commit', async () => {
    const { repository, pull } = await openPull('human:feature');
    const withButton = {
      'comment: true': 'environment: preview',
      'pull-requests: write': 'deployments: write',
    };
    const publish = alterExample(PUBLISH, withButton);
    const built = await player.run(BUILD, pull.opened);
    const published = getOnlyDelivery(await player.run(publish, createRunCompletedEvent(built)));
    expect(listDeployments(repository)).toEqual([['success', pull.opened.sha, published.outputs.url]]);
    await player.run(publish, (await pull.close()).pull_request_target);
    expect(listDeployments(repository)).toEqual([['inactive', pull.opened.sha, null]]);
  });
});

test('a pull request opened, pushed to, closed: one comment, new bytes each time, and in the end nothing', async () => {
  const given = await openPull();
  const { repository, pull } = given;
  const url = `${repository.pages.url}previews/pr-${pull.number}/index.html`;
  const opened = await player.run(PREVIEW, pull.opened);
  await player.expectShown(opened, url, createPage('first'), 'preview');
  const { id } = await expectComment(given, [`<${url}>`, short(pull.opened)]);

  const push = await pull.push(commit('second'));
  const pushed = await player.run(PREVIEW, push);
  await player.expectShown(pushed, url, createPage('second'), 'preview');
  const same = await expectComment(given, [short(push)]);
  expect(same.body).not.toContain(short(pull.opened));

  await repository.commit('previews/pr-99/index.html', createPage('another pull request'));
  const closed = await player.run(PREVIEW, (await pull.close()).pull_request);
  expect(listConclusions(closed)).toEqual(['success', 'preview: success']);
  const withdrawn = { operation: 'withdraw', notReady: null, withdrawn: url };
  expect(getOnlyDelivery(closed).report).toMatchObject(withdrawn);
  await player.expectGone(url);
  expect(await repository.read('previews/pr-1/index.html')).toBeNull();
  expect(await repository.read('previews/pr-99/index.html')).not.toBeNull();
  const last = await expectComment(given, ['**Withdrawn** → ']);
  expect([same.id, last.id]).toEqual([id, id]);
  expect(last.body).not.toMatch(/\]\(<[^>]*github\.io/);

  // They run one after the other, and nothing of the pull request is run at its end.
  expect(new Set([opened, pushed, closed].map((run) => run?.group))).toEqual(new Set(['preview-1']));
  expect(closed?.jobs[0]?.steps).toHaveLength(1);
});

describe("a fork's pull request, in two workflows", () => {
  test('opened, pushed to, closed: its own runs only build, and nothing of it is run with more rights', async () => {
    const given = await openPull('human:feature/one');
    const { repository, pull } = given;
    const path = 'previews/human/feature/one/index.html';
    const url = `${repository.pages.url}${path}`;
    const build = await player.run(BUILD, pull.opened);
    expect(listConclusions(build)).toEqual(['success', 'build: success']);
    expect(listDeliveries(build)).toEqual([]);
    const published = await player.run(PUBLISH, createRunCompletedEvent(build));
    expect(listConclusions(published)).toEqual(['success', 'deliver: success', 'withdraw: skipped']);
    await player.expectShown(published, url, createPage('first'));
    const { id } = await expectComment(given, [`<${url}>`, short(pull.opened)]);

    const push = await pull.push(commit('second'));
    const republished = await player.run(PUBLISH, createRunCompletedEvent(await player.run(BUILD, push)));
    await player.expectShown(republished, url, createPage('second'));
    const same = await expectComment(given, [short(push)]);

    const withdrawn = await player.run(PUBLISH, (await pull.close()).pull_request_target);
    expect(listConclusions(withdrawn)).toEqual(['success', 'deliver: skipped', 'withdraw: success']);
    const report = { operation: 'withdraw', withdrawn: new URL('./', url).href };
    expect(getOnlyDelivery(withdrawn).report).toMatchObject(report);
    await player.expectGone(url);
    const last = await expectComment(given, ['**Withdrawn** → ']);
    expect([same.id, last.id]).toEqual([id, id]);

    // All that the fork has brought about in the repository.
    const touched = (await repository.log()).slice(0, -1).flatMap(({ files }) => files);
    expect(touched).toEqual([path, path, path]);
    const jobs = [published?.jobs[0], republished?.jobs[0], withdrawn?.jobs[1]];
    expect(jobs.map((job) => job?.steps.length)).toEqual([2, 2, 1]);
    // What is published and what is withdrawn waits for each other.
    expect(new Set(jobs.map((job) => job?.group))).toEqual(new Set(['preview-human-feature/one']));
  });

  test('closing ends a build, and what ended without one is not published', async () => {
    const { repository, pull } = await openPull('human:late');
    const { 'page.html': _, ...broken } = commit('');
    const failed = await player.run(BUILD, await pull.push(broken));
    expect(listConclusions(failed)).toEqual(['failure', 'build: failure']);
    const ended = await player.run(BUILD, (await pull.close()).pull_request);
    expect(listConclusions(ended)).toEqual(['skipped', 'build: skipped']);
    expect(ended?.group).toBe(failed?.group);
    for (const build of [failed, ended]) {
      const published = await player.run(PUBLISH, createRunCompletedEvent(build));
      expect(listConclusions(published)).toEqual(['skipped', 'deliver: skipped', 'withdraw: skipped']);
    }
    expect(await repository.log()).toHaveLength(1);
  });

  test('what it built is looked at like any file', async () => {
    const page = '<!doctype html><script src="https://cdn.example.com/miner.js"></script>';
    const { repository, pull } = await openPull('human:miner', { ...commit(''), 'page.html': page });
    const build = await player.run(BUILD, pull.opened);
    const published = await player.run(PUBLISH, createRunCompletedEvent(build));
    expect(listConclusions(published)).toEqual(['failure', 'deliver: failure', 'withdraw: skipped']);
    expectNotReady(getOnlyDelivery(published), 'check', /is not self-contained/);
    expect(await repository.issues.comments(pull.number)).toEqual([]);
  });
});

test("a fork's pull request, in the workflow for one's own, is refused by the host: a fork’s token may only read", async () => {
  const { repository, pull } = await openPull('human:feature');
  const opened = await player.run(PREVIEW, pull.opened);
  expect(listConclusions(opened)).toEqual(['failure', 'preview: failure']);
  expectNotReady(getOnlyDelivery(opened), 'place', /Resource not accessible by integration/, {
    httpCode: 403,
    hint: /^the token of a run for the fork human\/\S+ may only read: publish it from two workflows, as examples\/fork-safe-build\.yml/,
  });
  // Closing it finds nothing to take down, and needs no rights for that.
  const closed = await player.run(PREVIEW, (await pull.close()).pull_request);
  expect(listConclusions(closed)).toEqual(['success', 'preview: success']);
  expect(await repository.log()).toHaveLength(1);
  expect(await repository.issues.comments(pull.number)).toEqual([]);
});
