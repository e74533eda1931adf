import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  COMMIT_METHODS,
  chooseMethod,
  createCommitWriter,
  methodFor,
} from '../../../src/channels/pages/commit-methods.ts';
import { hasFailed } from '../../../src/errors.ts';
import type { FileChange } from '../../../src/github/api/git-data.ts';
import { MEGABYTE } from '../../../src/protocol/limits.ts';
import type { LocalFile } from '../../../src/rules/inspect.ts';
import { fileWith } from '../../delivery/builders.ts';
import { changeWith } from '../../github/changes.ts';
import { failure } from '../../github/fake-github.ts';
import { localFile, temporaryFolder } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../../support/ports.ts';
import { branchWith, committingTo } from '../branch.ts';

const { env } = process;
beforeEach(() => {
  process.env = { ...env };
});
afterEach(() => {
  process.env = env;
});

describe('the way to commit', () => {
  const sized = (size: number | null): LocalFile | null => (size === null ? null : fileWith({ size }));

  test.each<[string, (number | null)[], 'A' | 'B' | 'C', 'A' | 'B' | 'C']>([
    ['a small file', [1], 'A', 'A'],
    ['a file of 1 MB', [MEGABYTE], 'A', 'A'],
    ['a file above 1 MB', [MEGABYTE + 1], 'B', 'B'],
    ['a file of 35 MB', [35 * MEGABYTE], 'B', 'B'],
    ['a file above 35 MB', [35 * MEGABYTE + 1], 'C', 'C'],
    ['a file to take away', [null], 'B', 'B'],
    ['two small files', [1, 1], 'C', 'B'],
    ['files of any size', [1, 50 * MEGABYTE, null], 'C', 'B'],
    ['nothing', [], 'B', 'B'],
  ])('of %s', (_, sizes, withGit, without) => {
    const files = sizes.map(sized);
    expect([methodFor(files, true), methodFor(files, false)]).toEqual([withGit, without]);
  });

  test('has a name in the report', () => {
    expect(Object.keys(COMMIT_METHODS)).toEqual(['A', 'B', 'C']);
  });
});

/** Nobody listens there: git gets no further than to ask. */
const NOWHERE = new URL('https://localhost:1');

interface Written {
  readonly path: string;
  readonly bytes: string | Buffer | null;
  readonly replaces?: string;
}

/** Writes once; the host takes blobs as it is told, by how many came before. */
async function writing(
  all: readonly Written[],
  github = branchWith(),
  blob: (nth: number, sha: string) => Scripted = (_, sha) => ({ status: 201, body: { sha } }),
) {
  const changes: FileChange[] = [];
  for (const { path, bytes, replaces = null } of all) {
    const file = bytes === null ? null : await localFile(bytes);
    changes.push(changeWith({ path, message: `ADD ${path}`, replaces, file }));
  }
  const shas = changes.flatMap(({ file }) => file?.blobSha ?? []);
  const host = new FakeHttp((_, nth) => blob(nth, shas[nth - 1] ?? ''));
  const ports = fakePorts(host.http);
  const method = await chooseMethod(
    changes.map(({ file }) => file),
    ports.signal,
  );
  const write = createCommitWriter(committingTo(github, { serverUrl: NOWHERE, method }), ports);
  return { changes, github, host, ports, write, codes: async () => codesOf(await write(changes)) };
}

const codesOf = (commits: readonly unknown[]) =>
  commits.map((one) => (hasFailed(one as never) ? (one as { code: string }).code : one));

const TOO_LARGE = { status: 422, body: { message: 'Sorry, your input was too large to process' } };

describe('one file', () => {
  test('of at most 1 MB is one PUT, whatever git there is', async () => {
    const { github, host, codes } = await writing([{ path: 'ä/b.html', bytes: 'b', replaces: '0ld' }]);
    await expect(codes()).resolves.toEqual(['put']);
    expect(github.calls).toEqual([
      {
        name: 'put_file_le1mb',
        parameters: {
          path: 'ä/b.html',
          message: 'ADD ä/b.html',
          content: Buffer.from('b').toString('base64'),
          branch: 'main',
          sha: '0ld',
        },
      },
    ]);
    expect(host.seen).toEqual([]);
  });

  test('to take away is a tree without it, and sends no blob', async () => {
    const removal = { path: 'gone.html', bytes: null, replaces: '0ld' };
    const github = branchWith({ 'gone.html': { blob: '0ld', message: 'm' } });
    const { host, codes } = await writing([removal], github);
    await expect(codes()).resolves.toEqual(['commit1']);
    expect(github.sent('tree')).toMatchObject([{ tree: [{ path: 'gone.html', sha: null }] }]);
    expect(host.seen).toEqual([]);
  });
});

describe('several files where there is no git', () => {
  beforeEach(async () => {
    process.env.PATH = await temporaryFolder();
  });
  const three = ['a', 'b', 'c'].map((bytes) => ({ path: `${bytes}.html`, bytes }));

  test('go through the object API, a blob and a commit each', async () => {
    const { github, host, codes } = await writing(three);
    await expect(codes()).resolves.toEqual(['commit1', 'commit2', 'commit3']);
    expect(host.seen).toHaveLength(3);
    expect(github.sent('update_ref')).toMatchObject([{ sha: 'commit3', force: false }]);
  });

  test('of which one is too large for a blob: that one is told to bring git, the others are committed', async () => {
    const { github, write, changes } = await writing(three, branchWith(), (nth, sha) =>
      nth === 2 ? TOO_LARGE : { status: 201, body: { sha } },
    );
    const commits = await write(changes);
    expect(codesOf(commits)).toEqual(['commit1', 'BAD_INPUT', 'commit2']);
    expect(commits[1]).toMatchObject({ hint: expect.stringMatching(/install git.*K2/) });
    expect(github.sent('tree').map(({ tree }) => (tree as { path: string }[])[0]?.path)).toEqual([
      'a.html',
      'c.html',
    ]);
  });

  test('of which one blob is refused: the others are committed, and it says why', async () => {
    const { codes } = await writing(three, branchWith(), (nth, sha) =>
      nth === 1 ? { status: 403, body: { message: 'no' } } : { status: 201, body: { sha } },
    );
    await expect(codes()).resolves.toEqual(['NO_PERMISSION', 'commit1', 'commit2']);
  });

  test('of which none is taken move no branch', async () => {
    const { github, codes } = await writing(three, branchWith(), () => TOO_LARGE);
    await expect(codes()).resolves.toEqual(['BAD_INPUT', 'BAD_INPUT', 'BAD_INPUT']);
    expect(github.calls).toEqual([]);
  });

  test('send each blob once, however often they are written', async () => {
    const conflict = failure('CONFLICT', 422, { retryable: true });
    const github = branchWith({}, { update_ref: (_: unknown, nth: number) => (nth === 1 ? conflict : {}) });
    const { host, write, changes } = await writing(three, github);
    await expect(write(changes)).rejects.toBe(conflict);
    await write(changes);
    expect(host.seen).toHaveLength(3);
  });
});

describe('where there is a git', () => {
  beforeEach(() => {
    Object.assign(process.env, { NO_PROXY: 'localhost', no_proxy: 'localhost' });
  });
  const unreachable = {
    code: 'NO_NETWORK',
    message: expect.stringMatching(/^fetching the branch main failed/),
  };

  test('several files go through it, and no blob through the API', async () => {
    const small = ['a', 'b'].map((bytes) => ({ path: `${bytes}.html`, bytes }));
    const { github, host, write, changes } = await writing(small);
    await expect(write(changes)).rejects.toMatchObject(unreachable);
    expect([github.calls, host.seen]).toEqual([[], []]);
  });

  test('it takes over a file that the host takes no blob of, and the log says so', async () => {
    const large = [{ path: 'a.bin', bytes: Buffer.alloc(MEGABYTE + 1) }];
    const { github, ports, write, changes } = await writing(large, branchWith(), () => TOO_LARGE);
    await expect(write(changes)).rejects.toMatchObject(unreachable);
    expect(ports.logger.lines).toContain('the host takes no blob of this size: git takes over');
    expect(github.calls).toEqual([]);
  });
});
