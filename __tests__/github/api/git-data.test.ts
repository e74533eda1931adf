import { describe, expect, test } from '@jest/globals';
import { commitChanges, commitTree, createBlob } from '../../../src/github/api/git-data.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../../support/ports.ts';
import { changeWith } from '../changes.ts';
import { FakeGitHub, failure } from '../fake-github.ts';

async function creatingBlob(...answers: Scripted[]) {
  const file = await localFile('hello, blob');
  const host = new FakeHttp((_, nth) => answers[Math.min(nth, answers.length) - 1]);
  const ports = fakePorts(host.http);
  const github = new FakeGitHub();
  return { file, host, ports, github, blob: createBlob(github, file, ports) };
}

const blobAnswer = async (): Promise<Scripted> => ({
  status: 201,
  body: { sha: (await localFile('hello, blob')).blobSha },
});

describe('createBlob', () => {
  test('streams the file as base64 with its length, paced among the writes', async () => {
    const { host, github, blob } = await creatingBlob(await blobAnswer());
    await blob;
    expect(github.paced).toBe(1);
    const [seen] = host.seen;
    expect(seen).toMatchObject({
      method: 'POST',
      url: 'https://api.github.com/repos/octo/site/git/blobs',
      headers: { authorization: 'Bearer ghs_0123456789abcdef', 'content-length': String(seen?.body.length) },
    });
    const content = Buffer.from('hello, blob').toString('base64');
    expect(JSON.parse(seen?.body ?? '')).toEqual({ encoding: 'base64', content });
  });

  test('sends a new body after a retryable failure', async () => {
    const { host, blob } = await creatingBlob({ status: 502, body: '<html>' }, await blobAnswer());
    await blob;
    expect(host.seen[1]?.body).toBe(host.seen[0]?.body);
  });

  test('fails without another attempt where GitHub accepts no blob of this size', async () => {
    const { host, blob } = await creatingBlob({ status: 422, body: { message: 'your input was too large' } });
    await expect(blob).rejects.toMatchObject({
      code: 'TOO_LARGE',
      httpCode: 422,
      hint: expect.stringContaining('K2'),
    });
    expect(host.seen).toHaveLength(1);
  });

  test.each([
    ['another sha', { sha: 'deadbeef' }],
    ['no JSON', '<html>'],
  ])('fails where GitHub answers HTTP 201 with %s', async (_, body) => {
    const { blob } = await creatingBlob({ status: 201, body });
    await expect(blob).rejects.toMatchObject({ code: 'HOST_ERROR' });
  });
});

describe('commitChanges', () => {
  const answers = {
    get_ref: { object: { sha: 'base' } },
    get_file: failure('NOT_FOUND', 404),
    get_commit: { tree: { sha: 'basetree' } },
    tree: (_: unknown, nth: number) => ({ sha: `tree${nth}` }),
    commit: (_: unknown, nth: number) => ({ sha: `commit${nth}` }),
    update_ref: {},
  };
  const entry = (path: string, sha: string | null) => ({ path, mode: '100644', type: 'blob', sha });

  test('reads the branch and the path, creates tree and commit, and moves the branch without force', async () => {
    const github = new FakeGitHub(answers);
    await expect(commitChanges(github, 'main', [changeWith({ message: 'ADD b' })])).resolves.toEqual([
      'commit1',
    ]);
    expect(github.calls).toEqual([
      { name: 'get_ref', parameters: { ref: 'heads/main' } },
      { name: 'get_file', parameters: { path: 'a/b.html', ref: 'base' } },
      { name: 'get_file', parameters: { path: 'a', ref: 'base' } },
      { name: 'get_commit', parameters: { commit_sha: 'base' } },
      {
        name: 'tree',
        parameters: { base_tree: 'basetree', tree: [entry('a/b.html', 'b10b')] },
      },
      { name: 'commit', parameters: { message: 'ADD b', tree: 'tree1', parents: ['base'] } },
      { name: 'update_ref', parameters: { ref: 'heads/main', sha: 'commit1', force: false } },
    ]);
  });

  test('creates one commit per change, each on top of the one before, and moves the branch once', async () => {
    const github = new FakeGitHub({
      ...answers,
      get_file: ({ path }: { path: string }) =>
        path === 'old.html' ? { type: 'file', sha: '0ld' } : failure('NOT_FOUND', 404),
    });
    const changes = [
      changeWith({ message: 'ADD b' }),
      changeWith({ path: 'old.html', message: 'REMOVE old', replaces: '0ld', file: null }),
    ];
    await expect(commitChanges(github, 'main', changes)).resolves.toEqual(['commit1', 'commit2']);
    expect(github.sent('tree')).toEqual([
      { base_tree: 'basetree', tree: [entry('a/b.html', 'b10b')] },
      { base_tree: 'tree1', tree: [entry('old.html', null)] },
    ]);
    expect(github.sent('commit')).toEqual([
      { message: 'ADD b', tree: 'tree1', parents: ['base'] },
      { message: 'REMOVE old', tree: 'tree2', parents: ['commit1'] },
    ]);
    expect(github.sent('update_ref')).toEqual([{ ref: 'heads/main', sha: 'commit2', force: false }]);
  });

  test.each([
    ['appeared', null, { type: 'file', sha: 'theirs' }],
    ['was replaced', '0ld', { type: 'file', sha: 'theirs' }],
    ['was removed', '0ld', failure('NOT_FOUND', 404)],
    ['became a folder', null, { type: 'dir' }],
  ])('refuses to commit over a file that %s since it was read', async (_, replaces, theirs) => {
    const github = new FakeGitHub({
      ...answers,
      get_file: ({ path }: { path: string }) => (path === 'theirs.html' ? theirs : answers.get_file),
    });
    const changes = [changeWith(), changeWith({ path: 'theirs.html', replaces })];
    await expect(commitChanges(github, 'main', changes)).rejects.toMatchObject({
      code: 'CONFLICT',
      retryable: true,
      message: 'theirs.html changed on the branch during the delivery',
    });
    expect(new Set(github.names)).toEqual(new Set(['get_ref', 'get_file']));
  });

  test('creates a new branch with commits of its own, the first without a parent', async () => {
    const github = new FakeGitHub({ ...answers, create_ref: {} });
    const changes = [changeWith(), changeWith({ path: 'c.html' })];
    await commitChanges(github, 'new', changes, async () => null);
    expect(github.sent('tree')).toEqual([
      { tree: [entry('a/b.html', 'b10b')] },
      { base_tree: 'tree1', tree: [entry('c.html', 'b10b')] },
    ]);
    expect(github.sent('commit').map(({ parents }) => parents)).toEqual([[], ['commit1']]);
    expect(github.sent('create_ref')).toEqual([{ ref: 'refs/heads/new', sha: 'commit2' }]);
    expect(github.names).not.toContain('update_ref');
  });

  test('replaces nothing on a branch that is gone', async () => {
    const github = new FakeGitHub(answers);
    const gone = commitChanges(github, 'main', [changeWith({ replaces: '0ld' })], async () => null);
    await expect(gone).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(github.calls).toEqual([]);
  });

  test('throws the conflict when the branch has moved, without another attempt', async () => {
    const moved = failure('CONFLICT', 422, { retryable: true });
    const github = new FakeGitHub({ ...answers, update_ref: moved });
    await expect(commitChanges(github, 'main', [changeWith()])).rejects.toBe(moved);
    expect(github.sent('update_ref')).toHaveLength(1);
  });
});

describe('commitTree', () => {
  const answers = {
    get_commit: { tree: { sha: 'basetree' } },
    tree: { sha: 'newtree' },
    commit: { sha: 'newcommit' },
    update_ref: {},
  };
  const commit = {
    message: 'UPDATE site: changed',
    writes: [{ path: 'site/a', file: { blobSha: 'b10b' } }],
    removals: ['site/old'],
    head: 'base',
  };
  const blob = { mode: '100644', type: 'blob' };

  test('writes and removes in one commit on top of the given one, and moves the branch without force', async () => {
    const github = new FakeGitHub(answers);
    await expect(commitTree(github, 'main', commit)).resolves.toBe('newcommit');
    expect(github.calls).toEqual([
      { name: 'get_commit', parameters: { commit_sha: 'base' } },
      {
        name: 'tree',
        parameters: {
          base_tree: 'basetree',
          tree: [
            { ...blob, path: 'site/old', sha: null },
            { ...blob, path: 'site/a', sha: 'b10b' },
          ],
        },
      },
      { name: 'commit', parameters: { message: commit.message, tree: 'newtree', parents: ['base'] } },
      { name: 'update_ref', parameters: { ref: 'heads/main', sha: 'newcommit', force: false } },
    ]);
  });

  test('throws the conflict where the branch has moved, without another attempt', async () => {
    const moved = failure('CONFLICT', 422, { retryable: true });
    const github = new FakeGitHub({ ...answers, update_ref: moved });
    await expect(commitTree(github, 'main', commit)).rejects.toBe(moved);
    expect(github.sent('update_ref')).toHaveLength(1);
  });
});
