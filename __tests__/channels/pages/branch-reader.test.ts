import { expect, test } from '@jest/globals';
import { createBranchReader } from '../../../src/channels/pages/branch-reader.ts';
import { hasFailed } from '../../../src/errors.ts';
import { absent, FakeGitHub, failure } from '../../github/fake-github.ts';

const HEAD = 'a'.repeat(40);
const NEXT = 'b'.repeat(40);

test('what is known of a commit is not asked for again, and a path that is new is', async () => {
  const github = new FakeGitHub({ get_file: { type: 'file', sha: 'b10b' } });
  const reader = createBranchReader();
  expect([...(await reader.getBlobs(github, HEAD, ['a.html', 'b.html']))]).toEqual([
    ['a.html', 'b10b'],
    ['b.html', 'b10b'],
  ]);
  await reader.getBlobs(github, HEAD, ['b.html', 'c.html']);
  expect(github.sent('get_file').map(({ path }) => path)).toEqual(['a.html', 'b.html', 'c.html']);
});

test('another commit is read anew', async () => {
  const github = new FakeGitHub({ get_file: absent });
  const reader = createBranchReader();
  await reader.getBlobs(github, HEAD, ['a.html']);
  await reader.getBlobs(github, NEXT, ['a.html']);
  await reader.getBlobs(github, HEAD, ['a.html']);
  expect(github.sent('get_file').map(({ ref }) => ref)).toEqual([HEAD, NEXT, HEAD]);
});

test('the absence of a file is remembered, a failure is not', async () => {
  const github = new FakeGitHub({ get_file: absent });
  const reader = createBranchReader();
  for (let turn = 0; turn < 2; turn += 1) {
    expect((await reader.getBlobs(github, HEAD, ['a.html'])).get('a.html')).toBeNull();
  }
  expect(github.sent('get_file')).toHaveLength(1);
  const failing = new FakeGitHub({ get_file: failure('HOST_ERROR', 500) });
  for (let turn = 0; turn < 2; turn += 1) {
    expect(hasFailed((await reader.getBlobs(failing, NEXT, ['a.html'])).get('a.html'))).toBe(true);
  }
  expect(failing.sent('get_file')).toHaveLength(2);
});

test('the last commit of a path is read once', async () => {
  const github = new FakeGitHub({ commits_of_path: [{ sha: 'last', commit: { message: 'Before' } }] });
  const reader = createBranchReader();
  for (let turn = 0; turn < 2; turn += 1) {
    const commits = await reader.getCommits(github, HEAD, ['a.html']);
    expect(commits.get('a.html')).toEqual({ sha: 'last', message: 'Before', committedAt: null, blobs: [] });
  }
  expect(github.sent('graphql')).toHaveLength(1);
});
