import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Environment } from '../../src/action/inputs.ts';
import { findPullRequest } from '../../src/action/pull-request.ts';
import { FakeGitHub } from '../github/fake-github.ts';
import { temporaryFolder } from '../support/files.ts';

const SHA = 'c0ffee0123456789c0ffee0123456789c0ffee01';
const ours = { id: 1, full_name: 'octo/site' };
const theirs = { id: 2, full_name: 'human/site' };
const pullOf = (repo: object | null) => ({ number: 7, head: { sha: SHA, repo }, base: { repo: ours } });

async function envOf(payload: object | string, name = 'pull_request'): Promise<Environment> {
  const path = join(await temporaryFolder(), 'event.json');
  await writeFile(path, typeof payload === 'string' ? payload : JSON.stringify(payload));
  return { GITHUB_EVENT_PATH: path, GITHUB_EVENT_NAME: name };
}

describe('the event names the pull request', () => {
  test.each<[string, object, object]>([
    ['pull_request', { pull_request: pullOf(ours) }, { number: 7, headSha: SHA, readOnlyFor: null }],
    ['pull_request_target', { pull_request: pullOf(theirs) }, { number: 7, headSha: SHA, readOnlyFor: null }],
    [
      'pull_request_review',
      { pull_request: pullOf(theirs) },
      { number: 7, headSha: SHA, readOnlyFor: 'human/site' },
    ],
    [
      'issue_comment',
      { issue: { number: 7, pull_request: { url: 'x' } } },
      { number: 7, headSha: null, readOnlyFor: null },
    ],
  ])('%s', async (name, payload, expected) => {
    const github = new FakeGitHub();
    await expect(findPullRequest(await envOf(payload, name), () => github)).resolves.toEqual(expected);
    expect(github.calls).toEqual([]);
  });

  test.each([
    ['whose fork stands', theirs, 'human/site'],
    ['whose fork is gone', null, 'a fork that is gone'],
  ])('pull_request %s, so that its token may only read', async (_, repo, readOnlyFor) => {
    const env = await envOf({ pull_request: pullOf(repo) });
    await expect(findPullRequest(env, () => new FakeGitHub())).resolves.toMatchObject({ readOnlyFor });
  });
});

describe('there is no pull request', () => {
  test.each<[string, object | string]>([
    ['in a push', { ref: 'refs/heads/main', repository: ours }],
    ['in a comment on an issue', { issue: { number: 7 } }],
    ['in an event without a number', { pull_request: { head: { sha: SHA } } }],
    ['in an event with a number that is none', { pull_request: { ...pullOf(ours), number: '7/../8' } }],
    ['in an event with half a number', { pull_request: { ...pullOf(ours), number: 7.5 } }],
    ['in an event that is no object', '"push"'],
    ['in a broken event', '{'],
  ])('%s', async (_, payload) => {
    await expect(findPullRequest(await envOf(payload), () => new FakeGitHub())).resolves.toBeNull();
  });

  test.each<Environment>([{}, { GITHUB_EVENT_PATH: '/nowhere/event.json' }])(
    'without an event: %j',
    async (env) => {
      await expect(findPullRequest(env, () => new FakeGitHub())).resolves.toBeNull();
    },
  );
});

describe('a workflow that follows another one', () => {
  const runOf = (more: object = {}) => ({
    repository: ours,
    workflow_run: {
      event: 'pull_request',
      head_sha: SHA,
      head_branch: 'feature/x',
      head_repository: { owner: { login: 'human' } },
      pull_requests: [],
      ...more,
    },
  });
  const follow = async (payload: object, github: FakeGitHub) =>
    findPullRequest(await envOf(payload, 'workflow_run'), () => github);

  test('is told the pull request of its own repository', async () => {
    const foreign = { number: 3, base: { repo: theirs } };
    const github = new FakeGitHub();
    const found = await follow(runOf({ pull_requests: [foreign, pullOf(ours)] }), github);
    expect(found).toEqual({ number: 7, headSha: SHA, readOnlyFor: null });
    expect(github.calls).toEqual([]);
  });

  test('finds a fork’s by the branch, whose head the run saw', async () => {
    const github = new FakeGitHub({
      list_pulls: [
        { number: 5, state: 'open', head: { sha: 'another' } },
        { number: 6, state: 'closed', head: { sha: SHA } },
        { number: 7, state: 'open', head: { sha: SHA } },
      ],
    });
    await expect(follow(runOf(), github)).resolves.toEqual({ number: 7, headSha: SHA, readOnlyFor: null });
    expect(github.sent('list_pulls')).toEqual([{ head: 'human:feature/x', state: 'all', per_page: 100 }]);
  });

  test('takes a closed one where no open one fits', async () => {
    const github = new FakeGitHub({ list_pulls: [{ number: 6, state: 'closed', head: { sha: SHA } }] });
    await expect(follow(runOf(), github)).resolves.toMatchObject({ number: 6 });
  });

  test('takes none that has moved on', async () => {
    const github = new FakeGitHub({ list_pulls: [{ number: 5, state: 'open', head: { sha: 'newer' } }] });
    await expect(follow(runOf(), github)).resolves.toBeNull();
  });

  test.each([
    ['was no pull request’s', { event: 'push' }],
    ['names no branch', { head_branch: null }],
    ['names no commit', { head_sha: '' }],
    ['came from a fork that is gone', { head_repository: null }],
    ['says nothing of pull requests, nor of its event', { pull_requests: null, event: undefined }],
  ])('asks nobody when the run %s', async (_, more) => {
    const github = new FakeGitHub();
    await expect(follow(runOf(more), github)).resolves.toBeNull();
    expect(github.calls).toEqual([]);
  });
});
