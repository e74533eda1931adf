import { expect, test } from '@jest/globals';
import { getLastCommits } from '../../../src/github/api/history.ts';
import { BATCH } from '../../../src/protocol/limits.ts';
import { FakeGitHub } from '../fake-github.ts';

const HEAD = 'a'.repeat(40);
const pathsUpTo = (count: number): string[] => Array.from({ length: count }, (_, nth) => `папка/${nth}.html`);

test('getLastCommits requests 500 paths in ten queries, each path with its own variable', async () => {
  const paths = pathsUpTo(500);
  const commits_of_path = ({ path }: { path: string }) => [{ sha: path, commit: { message: path } }];
  const github = new FakeGitHub({ commits_of_path });
  const commits = await getLastCommits(github, HEAD, paths);
  expect(paths.map((path) => commits.get(path)?.message)).toEqual(paths);
  expect(github.names).toEqual(Array(500 / BATCH.history).fill('graphql'));
});

test.each([null, {}, { repository: null }, { repository: { object: null } }, { repository: { object: {} } }])(
  'getLastCommits fails where the query is answered with %j',
  async (data) => {
    const github = new FakeGitHub({ graphql: { data } });
    await expect(getLastCommits(github, HEAD, pathsUpTo(4))).rejects.toMatchObject({
      code: 'HOST_ERROR',
      hint: expect.stringMatching(/try again/),
    });
  },
);
