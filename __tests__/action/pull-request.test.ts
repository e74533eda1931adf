import { describe, expect, test } from '@jest/globals';
import { findCommit, findPullRequest } from '../../src/action/current-run.ts';
import { FakeGitHub } from '../github/fake-github.ts';
import { runOf } from './current-runs.ts';

const SHA = 'c0ffee0123456789c0ffee0123456789c0ffee01';
const ours = { id: 1, full_name: 'octo/site' };
const theirs = { id: 2, full_name: 'human/site' };
const after = (repo: object) => ({ workflow_run: { head_sha: SHA, head_repository: repo } });
const pullOf = (repo: object | null) => ({ number: 7, head: { sha: SHA, repo }, base: { repo: ours } });

describe('findPullRequest, if the event names the pull request', () => {
  test.each<[string, object, string | null]>([
    ['pull_request', { pull_request: pullOf(ours) }, SHA],
    ['pull_request_target', { pull_request: pullOf(theirs) }, SHA],
    ['pull_request_review', { pull_request: pullOf(theirs) }, SHA],
    ['pull_request', { pull_request: pullOf(null) }, SHA],
    ['issue_comment', { issue: { number: 7, pull_request: { url: 'x' } } }, null],
  ])('finds it in %s', async (name, payload, headSha) => {
    const github = new FakeGitHub();
    const found = { number: 7, headSha };
    await expect(findPullRequest(runOf(payload, name), () => github)).resolves.toEqual(found);
    expect(github.calls).toEqual([]);
  });
});

test.each<[string, string, object, string | undefined]>([
  ['the run', 'push', {}, 'c0ffee02'],
  ['the head of an own pull request', 'pull_request', { pull_request: pullOf(ours) }, SHA],
  ['none, for a fork', 'pull_request_target', { pull_request: pullOf(theirs) }, undefined],
  ['none, for a deleted fork', 'pull_request', { pull_request: pullOf(null) }, undefined],
  [
    'the merge, once it is merged',
    'pull_request',
    { pull_request: { ...pullOf(theirs), merged: true, merge_commit_sha: 'd00d' } },
    'd00d',
  ],
  ['the run before', 'workflow_run', after(ours), SHA],
  ['none, for the run of a fork', 'workflow_run', after(theirs), undefined],
])('findCommit gives a new tag the commit of %s, in %s', (_, name, payload, sha) => {
  expect(findCommit(runOf({ repository: ours, ...payload }, name))).toBe(sha);
});

describe('findPullRequest, if the event names no pull request', () => {
  test.each<[string, object]>([
    ['in a push', { ref: 'refs/heads/main', repository: ours }],
    ['in a comment on an issue', { issue: { number: 7 } }],
    ['in an empty event', {}],
  ])('finds none %s', async (_, payload) => {
    await expect(findPullRequest(runOf(payload), () => new FakeGitHub())).resolves.toBeNull();
  });
});

describe('findPullRequest, in a workflow that follows another one', () => {
  const previousRun = (more: object = {}) => ({
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
    findPullRequest(runOf(payload, 'workflow_run'), () => github);

  test('finds the pull request of its own repository in the event', async () => {
    const foreign = { number: 3, base: { repo: theirs } };
    const github = new FakeGitHub();
    const found = await follow(previousRun({ pull_requests: [foreign, pullOf(ours)] }), github);
    expect(found).toEqual({ number: 7, headSha: SHA });
    expect(github.calls).toEqual([]);
  });

  test.each<[string, readonly (readonly [number: number, state: string, sha: string])[], number | null]>([
    [
      'the open one',
      [
        [5, 'open', 'another'],
        [6, 'closed', SHA],
        [7, 'open', SHA],
      ],
      7,
    ],
    ['a closed one if no open one matches', [[6, 'closed', SHA]], 6],
    ['none if it has a newer commit', [[6, 'closed', 'newer']], null],
  ])('finds %s by the branch of a fork and the commit at its head', async (_, pulls, number) => {
    const list_pulls = pulls.map(([number, state, sha]) => ({ number, state, head: { sha } }));
    const github = new FakeGitHub({ list_pulls });
    const expected = number === null ? null : { number, headSha: SHA };
    await expect(follow(previousRun(), github)).resolves.toEqual(expected);
    expect(github.sent('list_pulls')).toEqual([{ head: 'human:feature/x', state: 'all', per_page: 100 }]);
  });

  test.each([
    ['was not for a pull request', { event: 'push' }],
    ['names no branch', { head_branch: null }],
    ['names no commit', { head_sha: '' }],
    ['came from a deleted fork', { head_repository: null }],
    ['names neither its pull requests nor its event', { pull_requests: null, event: undefined }],
  ])('sends no request if the previous run %s', async (_, more) => {
    const github = new FakeGitHub();
    await expect(follow(previousRun(more), github)).resolves.toBeNull();
    expect(github.calls).toEqual([]);
  });
});
