import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { getDeploymentState } from '../world/deployment-store.ts';
import type { TestRepository } from '../world/repository.ts';
import { parseWorkflowDefinition } from '../world/workflow/definition.ts';
import { expectNotReady } from './expect-report.ts';
import { createPage, listRequests, setUpScenario } from './scenario.ts';
import { createRunCompletedEvent, openPullRequest } from './workflow-events.ts';
import { setUpPlayer } from './workflow-player.ts';
import {
  expectGone,
  getOnlyDelivery,
  listConclusions,
  listDeliveries,
  SITE_WITHOUT_PUSH_BUILDS,
} from './workflow-results.ts';

const scenario = setUpScenario();
const player = setUpPlayer(scenario);

const PREVIEW = 'examples/pull-request-preview.yml';
const BUTTON = 'examples/preview-button.yml';
const BUILD = 'examples/fork-safe-build.yml';
const PUBLISH = 'examples/fork-safe-publish.yml';

/** A commit with a page, and what builds it. */
const commit = (text: string) => ({
  'build.sh': '#!/bin/sh\nmkdir -p out && cp page.html out/index.html\n',
  'page.html': createPage(text),
});

/** The pull request's only comment. */
async function commentOn({ issues }: TestRepository, number: number) {
  const comments = await issues.comments(number);
  expect(comments.map(({ user }) => user.login)).toEqual(['github-actions[bot]']);
  const [{ id, body } = { id: 0, body: '' }] = comments;
  return { id, body, links: body.match(/\]\(<[^>]+>\)/g) ?? [] };
}

/** The deployments of a repository, the newest first: their states, commits and addresses. */
const listDeployments = ({ deployments }: TestRepository): unknown[] =>
  deployments.all.map((one) => [getDeploymentState(one), one.sha, one.statuses[0]?.environmentUrl]);

describe('the button of a pull request', () => {
  const build = { 'build.sh': '#!/bin/sh\nmkdir -p dist && cp page.html dist/index.html\n' };

  test('opened, pushed to, closed: it leads to what is proven, and in the end nowhere', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const pull = await openPullRequest(repository, 'feature', { ...commit('first'), ...build });
    const url = `${repository.pages.url}previews/pr-${pull.number}/`;
    const opened = await player.run(BUTTON, pull.opened);
    await player.expectShown(opened, url, createPage('first'));
    expect(listDeployments(repository)).toEqual([['success', pull.opened.sha, url]]);

    const push = await pull.push({ ...commit('second'), ...build });
    expect(listConclusions(await player.run(BUTTON, push))).toEqual(['success', 'preview: success']);
    const replaced = ['inactive', pull.opened.sha, null];
    expect(listDeployments(repository)).toEqual([['success', push.sha, url], replaced]);

    const closed = await player.run(BUTTON, (await pull.close()).pull_request);
    expect(listConclusions(closed)).toEqual(['success', 'preview: success']);
    await expectGone(scenario, url);
    expect(listDeployments(repository)).toEqual([['inactive', push.sha, null], replaced]);
  });

  test('of a fork comes from the pair, on its own commit', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const pull = await openPullRequest(repository, 'human:feature', commit('first'));
    const publish = parseWorkflowDefinition(
      readFileSync(new URL(`../../${PUBLISH}`, import.meta.url), 'utf8')
        .replaceAll('comment: true', 'environment: preview')
        .replaceAll('pull-requests: write', 'deployments: write'),
    );
    const built = await player.run(BUILD, pull.opened);
    const published = getOnlyDelivery(await player.run(publish, createRunCompletedEvent(built)));
    expect(listDeployments(repository)).toEqual([['success', pull.opened.sha, published.outputs.url]]);
    await player.run(publish, (await pull.close()).pull_request_target);
    expect(listDeployments(repository)).toEqual([['inactive', pull.opened.sha, null]]);
  });
});

describe('a pull request of the repository itself', () => {
  test('opened, pushed to, closed: one comment, new bytes each time, and in the end nothing', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const pull = await openPullRequest(repository, 'feature', commit('first'));
    const url = `${repository.pages.url}previews/pr-${pull.number}/index.html`;

    const opened = await player.run(PREVIEW, pull.opened);
    await player.expectShown(opened, url, createPage('first'), 'preview');
    const comment = await commentOn(repository, pull.number);
    expect(comment.body).toContain(`<${url}>`);
    expect(comment.body).toContain(pull.opened.sha.slice(0, 7));

    const push = await pull.push(commit('second'));
    const pushed = await player.run(PREVIEW, push);
    await player.expectShown(pushed, url, createPage('second'), 'preview');
    const same = await commentOn(repository, pull.number);
    expect(same.id).toBe(comment.id);
    expect(same.body).toContain(push.sha.slice(0, 7));
    expect(same.body).not.toContain(pull.opened.sha.slice(0, 7));

    await repository.commit('previews/pr-99/index.html', createPage('another pull request'));
    const closed = await player.run(PREVIEW, (await pull.close()).pull_request);
    expect(listConclusions(closed)).toEqual(['success', 'preview: success']);
    expect(getOnlyDelivery(closed).report).toMatchObject({
      operation: 'withdraw',
      notReady: null,
      withdrawn: new URL('./', url).href,
    });
    await expectGone(scenario, url);
    expect(await repository.read('previews/pr-1/index.html')).toBeNull();
    expect(await repository.read('previews/pr-99/index.html')).not.toBeNull();
    const last = await commentOn(repository, pull.number);
    expect(last.id).toBe(comment.id);
    expect(last.body).toContain('**Withdrawn** → ');
    expect(last.links.filter((link) => link.includes('github.io'))).toEqual([]);

    // They run one after the other, and nothing of the pull request is run at its end.
    expect(new Set([opened, pushed, closed].map((run) => run?.group))).toEqual(new Set(['preview-1']));
    expect(closed?.jobs[0]?.steps).toHaveLength(1);
  });

  test('goes through the pair for forks as well', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const pull = await openPullRequest(repository, 'feature', commit('first'));
    const build = await player.run(BUILD, pull.opened);
    const published = await player.run(PUBLISH, createRunCompletedEvent(build));
    const url = `${repository.pages.url}previews/octo/feature/index.html`;
    await player.expectShown(published, url, createPage('first'));
    expect((await commentOn(repository, pull.number)).body).toContain(`<${url}>`);
  });
});

describe("a fork's pull request, in two workflows", () => {
  test('opened, pushed to, closed: its own runs only build, and nothing of it is run with more rights', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const pull = await openPullRequest(repository, 'human:feature/one', commit('first'));
    const path = 'previews/human/feature/one/index.html';
    const url = `${repository.pages.url}${path}`;

    const build = await player.run(BUILD, pull.opened);
    expect(listConclusions(build)).toEqual(['success', 'build: success']);
    expect(listDeliveries(build)).toEqual([]);
    if (build === null) return;
    const published = await player.run(PUBLISH, createRunCompletedEvent(build));
    expect(listConclusions(published)).toEqual(['success', 'deliver: success', 'withdraw: skipped']);
    await player.expectShown(published, url, createPage('first'));
    const comment = await commentOn(repository, pull.number);
    expect(comment.body).toContain(`<${url}>`);
    expect(comment.body).toContain(pull.opened.sha.slice(0, 7));

    const push = await pull.push(commit('second'));
    const rebuild = await player.run(BUILD, push);
    const republished = await player.run(PUBLISH, createRunCompletedEvent(rebuild));
    await player.expectShown(republished, url, createPage('second'));
    const same = await commentOn(repository, pull.number);
    expect(same.id).toBe(comment.id);
    expect(same.body).toContain(push.sha.slice(0, 7));

    const end = await pull.close();
    const withdrawn = await player.run(PUBLISH, end.pull_request_target);
    expect(listConclusions(withdrawn)).toEqual(['success', 'deliver: skipped', 'withdraw: success']);
    expect(getOnlyDelivery(withdrawn).report).toMatchObject({
      operation: 'withdraw',
      withdrawn: new URL('./', url).href,
    });
    await expectGone(scenario, url);
    const last = await commentOn(repository, pull.number);
    expect(last.id).toBe(comment.id);
    expect(last.body).toContain('**Withdrawn** → ');

    // All that the fork has brought about in the repository.
    const touched = (await repository.log()).slice(0, -1).flatMap(({ files }) => files);
    expect(touched).toEqual([path, path, path]);
    for (const run of [published, republished]) expect(run?.jobs[0]?.steps).toHaveLength(2);
    expect(withdrawn?.jobs[1]?.steps).toHaveLength(1);
    // What is published and what is withdrawn waits for each other.
    const groups = [published?.jobs[0], republished?.jobs[0], withdrawn?.jobs[1]].map((job) => job?.group);
    expect(new Set(groups)).toEqual(new Set(['preview-human-feature/one']));
  });

  test('closing ends a build, and what ended without one is not published', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const pull = await openPullRequest(repository, 'human:late', commit('first'));
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
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const page = '<!doctype html><script src="https://cdn.example.com/miner.js"></script>';
    const pull = await openPullRequest(repository, 'human:miner', { ...commit(''), 'page.html': page });
    const build = await player.run(BUILD, pull.opened);
    const published = await player.run(PUBLISH, createRunCompletedEvent(build));
    expect(listConclusions(published)).toEqual(['failure', 'deliver: failure', 'withdraw: skipped']);
    expectNotReady(getOnlyDelivery(published), 'check', /is not self-contained/);
    expect(await repository.issues.comments(pull.number)).toEqual([]);
  });
});

describe("a fork's pull request, in the workflow for one's own", () => {
  test('K1 is refused by the host, and the report says that a fork’s token may only read', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const pull = await openPullRequest(repository, 'human:feature', commit('first'));
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

  test('K3 needs no rights: the delivery stands, and a warning names the two workflows instead of a comment', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const pull = await openPullRequest(repository, 'human:feature', commit('first'));
    const preview = readFileSync(new URL(`../../${PREVIEW}`, import.meta.url), 'utf8');
    const opened = await player.run(
      parseWorkflowDefinition(preview.replace('channel: pages', 'channel: filebin')),
      pull.opened,
    );
    expect(listConclusions(opened)).toEqual(['success', 'preview: success']);
    const delivery = getOnlyDelivery(opened);
    expect((await scenario.fetchPublic(delivery.outputs.url ?? '')).toString()).toBe(createPage('first'));
    expect(delivery.stdout).toMatch(
      /^::warning::Could not update the comment on pull request 1 \(the delivery is not affected\): .*\. To change: the token of a run for the fork human\/\S+ may only read: .*fork-safe-publish\.yml/m,
    );
    expect(await repository.issues.comments(pull.number)).toEqual([]);
    expect(listRequests(scenario, /^PATCH|^PUT/).filter(({ url }) => url.includes('api.github.com'))).toEqual(
      [],
    );
  });
});
