import { describe, expect, test } from '@jest/globals';
import { getLastCommits } from '../../../src/github/api/history.ts';
import { BATCH } from '../../../src/protocol/limits.ts';
import { branchWith, existingFile } from '../../channels/fake-branch.ts';
import { FakeGitHub } from '../fake-github.ts';

const HEAD = 'a'.repeat(40);
const pathsUpTo = (count: number): string[] => Array.from({ length: count }, (_, nth) => `папка/${nth}.html`);

describe('getLastCommits', () => {
  test('asks for a few paths in one query, from the given commit on', async () => {
    const github = branchWith({ 'a.html': existingFile('b10b', 'ADD a') });
    const commits = await getLastCommits(github, HEAD, ['a.html', 'b.html']);
    expect([...commits]).toEqual([
      ['a.html', { sha: 'last a.html', message: 'ADD a', committedAt: Date.UTC(2026, 0, 1), blobs: [] }],
      ['b.html', null],
    ]);
    expect(github.sent('graphql')).toEqual([
      expect.objectContaining({ variables: expect.objectContaining({ head: HEAD, p0: 'a.html' }) }),
    ]);
  });

  test('tells what the path holds since, and what it held before', async () => {
    const blobs = [
      { oid: 'new', size: 2 },
      { oid: 'old', size: 1 },
    ];
    const github = new FakeGitHub({ commits_of_path: [{ sha: 'c', commit: { message: 'm' }, blobs }] });
    const commits = await getLastCommits(github, HEAD, ['a.html']);
    expect(commits.get('a.html')?.blobs).toEqual(blobs.map(({ oid, size }) => ({ sha: oid, size })));
  });

  test('asks for 500 paths in ten queries, each path with its own variable', async () => {
    const paths = pathsUpTo(500);
    const github = branchWith(Object.fromEntries(paths.map((path) => [path, existingFile('b10b', path)])));
    const commits = await getLastCommits(github, HEAD, paths);
    expect(paths.map((path) => commits.get(path)?.message)).toEqual(paths);
    expect(github.names).toEqual(Array(500 / BATCH.history).fill('graphql'));
  });

  test.each([
    null,
    {},
    { repository: null },
    { repository: { object: null } },
    { repository: { object: {} } },
  ])('fails where the query is answered with %j', async (data) => {
    const github = new FakeGitHub({ graphql: { data } });
    await expect(getLastCommits(github, HEAD, pathsUpTo(4))).rejects.toMatchObject({
      code: 'HOST_ERROR',
      hint: expect.stringMatching(/try again/),
    });
  });
});
