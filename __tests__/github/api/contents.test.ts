import { describe, expect, test } from '@jest/globals';
import { getBlobSha, putFile } from '../../../src/github/api/contents.ts';
import { absent, FakeGitHub, failure } from '../fake-github.ts';

const FILE = { branch: 'main', path: 'папка/a.html' };

describe('getBlobSha', () => {
  test('returns the sha of the file on the branch', async () => {
    const github = new FakeGitHub({ get_file: { type: 'file', sha: 'b10b' } });
    await expect(getBlobSha(github, FILE)).resolves.toBe('b10b');
    expect(github.sent('get_file')).toEqual([{ path: FILE.path, ref: 'main' }]);
  });

  test('returns null where the branch has no such file', async () => {
    await expect(getBlobSha(new FakeGitHub({ get_file: absent }), FILE)).resolves.toBeNull();
  });

  test('returns null where the answer has no sha', async () => {
    await expect(getBlobSha(new FakeGitHub({ get_file: { type: 'file' } }), FILE)).resolves.toBeNull();
  });

  test.each([
    ['as an object', { type: 'dir', sha: 'x' }],
    ['as a list', []],
  ])('refuses a path that is a folder, answered %s', async (_, record) => {
    await expect(getBlobSha(new FakeGitHub({ get_file: record }), FILE)).rejects.toMatchObject({
      code: 'NOT_OURS',
      hint: expect.stringMatching(/^set `path: папка\/a\.html\/`: /),
    });
  });

  test.each([
    ['a moved repository', failure('NOT_FOUND', 301)],
    ['a missing permission', failure('NO_PERMISSION', 403)],
  ])('throws the failure of %s instead of returning null', async (_, thrown) => {
    await expect(getBlobSha(new FakeGitHub({ get_file: thrown }), FILE)).rejects.toBe(thrown);
  });
});

describe('putFile', () => {
  const answer = { commit: { sha: 'c0ffee' } };
  const write = { ...FILE, message: 'ADD a', content: Buffer.from('hello'), replaces: null };

  test('creates a new file without a sha', async () => {
    const github = new FakeGitHub({ put_file_le1mb: answer });
    await expect(putFile(github, write)).resolves.toBe('c0ffee');
    expect(github.calls).toEqual([
      {
        name: 'put_file_le1mb',
        parameters: { path: FILE.path, message: 'ADD a', content: 'aGVsbG8=', branch: 'main' },
      },
    ]);
  });

  test('replaces exactly the blob that was found', async () => {
    const github = new FakeGitHub({ put_file_le1mb: answer });
    await putFile(github, { ...write, replaces: 'b10b' });
    expect(github.sent('put_file_le1mb')[0]).toMatchObject({ sha: 'b10b' });
  });
});
