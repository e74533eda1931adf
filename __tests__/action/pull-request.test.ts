import { describe, expect, test } from '@jest/globals';
import { findPullRequest } from '../../src/action/current-run.ts';
import { FakeGitHub } from '../github/fake-github.ts';
import { runOf } from './current-runs.ts';

const SHA = 'c0ffee0123456789c0ffee0123456789c0ffee01';
const ours = { id: 1, full_name: 'octo/site' };
const theirs = { id: 2, full_name: 'human/site' };
const pullOf = (repo: object | null) => ({ number: 7, head: { sha: SHA, repo }, base: { repo: ours } });

describe('findPullRequest, if the event names the pull request', () => {
  test.each<[string, object, object]>([
    ['pull_request', { pull_request: pullOf(ours) }, { number: 7, headSha: SHA, readOnlyFor: null }],
    ['pull_request_target', { pull_request: pullOf(theirs) }, { number: 7, headSha: SHA, readOnlyFor: null }],
    [
      'pull_request_review',
      { pull_request: pullOf(theirs) },
      { number: 7, headSha: SHA, readOnlyFor: 'human/site' },
    ],
    [
      'pull_request',
      { pull_request: pullOf(null) },
      { number: 7, headSha: SHA, readOnlyFor: 'a deleted fork' },
    ],
    [
      'issue_comment',
      { issue: { number: 7, pull_request: { url: 'x' } } },
      { number: 7, headSha: null, readOnlyFor: null },
    ],
  ])('finds it in %s', async (name, payload, expected) => {
    const github = new FakeGitHub();
    await expect(findPullRequest(runOf(payload, name), () => github)).resolves.toEqual(expected);
    expect(github.calls).toEqual([]);
  });
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
    expect(found).toEqual({ number: 7, headSha: SHA, readOnlyFor: null });
    expect(github.calls).toEqual([]);
  });

  test('finds the pull request of a fork by its branch and the commit at its head', async () => {
    const github = new FakeGitHub({
      list_pulls: [
        { number: 5, state: 'open', head: { sha: 'another' } },
        { number: 6, state: 'closed', head: { sha: SHA } },
        { number: 7, state: 'open', head: { sha: SHA } },
      ],
    });
    await expect(follow(previousRun(), github)).resolves.toEqual({
      number: 7,
      headSha: SHA,
      readOnlyFor: null,
    });
    expect(github.sent('list_pulls')).toEqual([{ head: 'human:feature/x', state: 'all', per_page: 100 }]);
  });

  test.each([
    ['a closed one if no open one matches', SHA, { number: 6 }],
    ['none if it has a newer commit', 'newer', null],
  ])('finds %s', async (_, sha, expected) => {
    const found = await follow(
      previousRun(),
      new FakeGitHub({ list_pulls: [{ number: 6, state: 'closed', head: { sha } }] }),
    );
    expect(found === null ? null : { number: found.number }).toEqual(expected);
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
