import { expect, test } from '@jest/globals';
import { createBranchReader } from '../../../src/channels/pages/branch-reader.ts';
import { FakeGitHub } from '../../github/fake-github.ts';

test('the last commit of a path is read once, and that of another head anew', async () => {
  const github = new FakeGitHub({ commits_of_path: [{ sha: 'last', commit: { message: 'Before' } }] });
  const reader = createBranchReader();
  for (const head of ['a', 'a', 'b']) {
    const commits = await reader.getCommits(github, head.repeat(40), ['a.html']);
    expect(commits.get('a.html')).toEqual({ sha: 'last', message: 'Before', committedAt: null, blobs: [] });
  }
  expect(github.sent('graphql')).toHaveLength(2);
});
