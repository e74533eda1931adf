import { describe, expect, test } from '@jest/globals';
import { getBlobSha, getLastCommit, putFile } from '../../../src/github/api/contents.ts';
import { TRAILER } from '../../../src/protocol/words.ts';
import { absent, FakeGitHub, failure } from '../fake-github.ts';

const SPOT = { branch: 'main', path: 'папка/a.html' };
const ENCODED = '%D0%BF%D0%B0%D0%BF%D0%BA%D0%B0/a.html';

describe('the blob at a spot', () => {
  test('is read from the branch, by the percent-encoded path', async () => {
    const github = new FakeGitHub({ get_file: { type: 'file', sha: 'b10b' } });
    await expect(getBlobSha(github, SPOT)).resolves.toBe('b10b');
    expect(github.sent('get_file')).toEqual([{ path: ENCODED, ref: 'main' }]);
  });

  test('is null where nothing stands', async () => {
    await expect(getBlobSha(new FakeGitHub({ get_file: absent }), SPOT)).resolves.toBeNull();
  });

  test('is null where the record names none', async () => {
    await expect(getBlobSha(new FakeGitHub({ get_file: { type: 'file' } }), SPOT)).resolves.toBeNull();
  });

  test.each([
    ['as an object', { type: 'dir', sha: 'x' }],
    ['as a list', []],
  ])('is refused where a folder stands, told %s', async (_, record) => {
    await expect(getBlobSha(new FakeGitHub({ get_file: record }), SPOT)).rejects.toMatchObject({
      code: 'NOT_OURS',
      hint: 'to place the file in it, set `path: папка/a.html/`',
    });
  });

  test.each([
    ['a moved repository', failure('NOT_FOUND', 301)],
    ['a missing permission', failure('NO_PERMISSION', 403)],
  ])('is not taken for absent because of %s', async (_, thrown) => {
    await expect(getBlobSha(new FakeGitHub({ get_file: thrown }), SPOT)).rejects.toBe(thrown);
  });
});

describe('the last commit of a path', () => {
  const lastOf = (message: string) =>
    getLastCommit(new FakeGitHub({ commits_of_path: [{ sha: 'c1', commit: { message } }] }), SPOT);

  test('is ours when a line of its own is our trailer', async () => {
    await expect(lastOf(`ADD a.html: x\n\n${TRAILER}`)).resolves.toEqual({ sha: 'c1', owned: true });
  });

  test.each([
    ['no trailer', 'ADD a.html'],
    ['the trailer inside a line', `see "${TRAILER}" below`],
  ])('is not ours with %s', async (_, message) => {
    await expect(lastOf(message)).resolves.toEqual({ sha: 'c1', owned: false });
  });

  test('is asked for on the branch, one entry', async () => {
    const github = new FakeGitHub({ commits_of_path: [] });
    await expect(getLastCommit(github, SPOT)).resolves.toBeNull();
    expect(github.sent('commits_of_path')).toEqual([{ sha: 'main', path: SPOT.path, per_page: 1 }]);
  });
});

describe('method A', () => {
  const answer = { commit: { sha: 'c0ffee' } };

  test('creates a file without a sha, once', async () => {
    const github = new FakeGitHub({ put_file_le1mb: answer });
    await expect(putFile(github, SPOT, 'ADD a', Buffer.from('hello'), null)).resolves.toBe('c0ffee');
    expect(github.calls).toEqual([
      {
        name: 'put_file_le1mb',
        once: true,
        parameters: { path: ENCODED, message: 'ADD a', content: 'aGVsbG8=', branch: 'main' },
      },
    ]);
  });

  test('replaces exactly the blob that was seen', async () => {
    const github = new FakeGitHub({ put_file_le1mb: answer });
    await putFile(github, SPOT, 'UPDATE a', Buffer.from('hello'), 'b10b');
    expect(github.sent('put_file_le1mb')[0]).toMatchObject({ sha: 'b10b' });
  });
});
