import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type CommitTarget,
  commitFiles,
  comparePaths,
  type WantedFile,
} from '../../../src/channels/pages/commit.ts';
import { chooseMethod } from '../../../src/channels/pages/commit-methods.ts';
import { hasFailed } from '../../../src/errors.ts';
import { TRAILER } from '../../../src/protocol/words.ts';
import { type FakeGitHub, failure } from '../../github/fake-github.ts';
import { localFile, temporaryFolder } from '../../support/files.ts';
import { FakeHttp, fakePorts } from '../../support/ports.ts';
import { branchWith, committingTo, held, THEIRS } from '../branch.ts';

const { PATH } = process.env;
// Without git, several files go through the API, whose calls are noted here.
beforeEach(async () => {
  process.env.PATH = await temporaryFolder();
});
afterEach(() => {
  process.env.PATH = PATH;
});

const blobs = async (files: Readonly<Record<string, string>>): Promise<WantedFile[]> =>
  Promise.all(Object.entries(files).map(async ([path, bytes]) => ({ path, file: await localFile(bytes) })));

/** An API that takes every blob by its name. */
const taking = () =>
  new FakeHttp(({ body }) => {
    const { content } = JSON.parse(body) as { content: string };
    return { status: 201, body: { sha: names.get(Buffer.from(content, 'base64').toString()) ?? '?' } };
  });
const names = new Map<string, string>();

async function committing(
  github: FakeGitHub,
  files: Readonly<Record<string, string>>,
  more: Partial<CommitTarget> = {},
  onReplace?: (path: string) => Promise<void>,
) {
  const wishes = await blobs(files);
  for (const [at, bytes] of Object.values(files).entries()) names.set(bytes, wishes[at]?.file?.blobSha ?? '');
  const host = taking();
  const ports = fakePorts(host.http);
  const wished = wishes.map(({ file }) => file);
  const method = await chooseMethod(wished, ports.signal);
  const work = commitFiles(wishes, committingTo(github, { method, ...more }), ports, onReplace);
  return { wishes, host, ports, work };
}

const codes = (results: readonly unknown[]) =>
  results.map((one) => (hasFailed(one as never) ? (one as { code: string }).code : one));

describe('looking at what is wished', () => {
  test.each<[string, string | null, ReturnType<typeof held> | undefined, boolean, object]>([
    ['nothing stands', 'new', undefined, false, { message: 'ADD', replaces: null }],
    ['ours stands', 'new', held('0ld'), false, { message: 'UPDATE', replaces: '0ld' }],
    [
      'ours of the same bytes stands',
      'same',
      held('same'),
      false,
      { commitSha: 'last a/p.html', written: false },
    ],
    [
      'theirs of the same bytes stands',
      'same',
      held('same', THEIRS),
      false,
      { commitSha: 'last a/p.html', written: false },
    ],
    ['theirs stands', 'new', held('0ld', THEIRS), false, { code: 'NOT_OURS' }],
    [
      'theirs stands, and may be replaced',
      'new',
      held('0ld', THEIRS),
      true,
      { message: 'UPDATE', replaces: '0ld' },
    ],
    ['nothing stands to take away', null, undefined, false, { written: false }],
    [
      'ours stands to take away',
      null,
      held('0ld'),
      false,
      { message: 'REMOVE', replaces: '0ld', file: null },
    ],
    ['theirs stands to take away', null, held('0ld', THEIRS), false, { code: 'NOT_OURS' }],
    [
      'theirs stands, and may be taken away',
      null,
      held('0ld', THEIRS),
      true,
      { message: 'REMOVE', replaces: '0ld', file: null },
    ],
  ])('where %s', async (_, wished, standing, overwrite, expected) => {
    const file = wished === null ? null : { ...(await localFile('x')), blobSha: wished };
    const github = branchWith(standing === undefined ? {} : { 'a/p.html': standing });
    const [seen] = await comparePaths([{ path: 'a/p.html', file }], committingTo(github, { overwrite }));
    const { message, ...rest } = expected as { message?: string };
    expect(seen).toMatchObject(rest);
    if (message !== undefined) {
      expect(seen).toMatchObject({ message: `${message} p.html: from run 7 of Deliver\n\n${TRAILER}` });
    }
    expect(github.writes).toEqual([]);
  });

  test.each([
    ['replace', 'new'],
    ['take away', null],
  ])('says what may be done where somebody else’s file is to be another: %s', async (verb, wished) => {
    const file = wished === null ? null : await localFile(wished);
    const github = branchWith({ 'p.html': held('0ld', THEIRS) });
    const [seen] = await comparePaths([{ path: 'p.html', file }], committingTo(github));
    expect(seen).toMatchObject({
      hint: expect.stringMatching(new RegExp(`overwrite: true.*yours to ${verb}$`)),
    });
  });
});

describe('a branch that moves between two looks', () => {
  /** Somebody replaces the file after it was seen; the history then ends with their commit. */
  const moving = async (then: object | Error) => {
    const { blobSha } = await localFile('a');
    return branchWith(
      {},
      {
        get_file: ({ ref }: { ref: string }, nth: number) =>
          nth === 1
            ? { type: 'file', sha: blobSha }
            : ref === 'theirs'
              ? then
              : { type: 'file', sha: '0ther' },
        commits_of_path: [{ sha: 'theirs', commit: { message: THEIRS } }],
      },
    );
  };

  test('is looked at again: no commit is named that does not hold the file', async () => {
    const { work } = await committing(await moving({ type: 'file', sha: '0ther' }), { 'a.html': 'a' });
    expect(codes(await work)).toEqual(['NOT_OURS']);
  });

  test('is not guessed about where that commit can’t be looked into', async () => {
    const denied = failure('NO_PERMISSION', 403);
    const { work } = await committing(await moving(denied), { 'a.html': 'a' });
    await expect(work).resolves.toEqual([denied]);
  });
});

describe('committing several files', () => {
  test('is a commit for each, in one update of the branch', async () => {
    const github = branchWith();
    const { work } = await committing(github, { 'a.html': 'a', 'b.html': 'b' });
    await expect(work).resolves.toEqual([
      { commitSha: 'commit1', written: true },
      { commitSha: 'commit2', written: true },
    ]);
    expect(github.sent('update_ref')).toHaveLength(1);
    expect(github.sent('commit').map(({ message }) => String(message).split('\n')[0])).toEqual([
      'ADD a.html: from run 7 of Deliver',
      'ADD b.html: from run 7 of Deliver',
    ]);
  });

  test('of which one is somebody else’s leaves that alone, and commits the others', async () => {
    const github = branchWith({ 'b.html': held('0ld', THEIRS) });
    const { host, wishes, work } = await committing(github, { 'a.html': 'a', 'b.html': 'b', 'c.html': 'c' });
    expect(codes(await work)).toEqual([
      { commitSha: 'commit1', written: true },
      'NOT_OURS',
      { commitSha: 'commit2', written: true },
    ]);
    const entries = github.sent('tree').flatMap(({ tree }) => tree as { path: string; sha: string }[]);
    expect(entries.map(({ path, sha }) => [path, sha])).toEqual([
      ['a.html', wishes[0]?.file?.blobSha],
      ['c.html', wishes[2]?.file?.blobSha],
    ]);
    // Not even its blob is sent.
    expect(host.seen).toHaveLength(2);
  });

  test('of which one stands already sends only the others', async () => {
    const { blobSha } = await localFile('a');
    const github = branchWith({ 'a.html': held(blobSha) });
    const { host, work } = await committing(github, { 'a.html': 'a', 'b.html': 'b', 'c.html': 'c' });
    await expect(work).resolves.toMatchObject([
      { commitSha: 'last a.html', written: false },
      { commitSha: 'commit1', written: true },
      { commitSha: 'commit2', written: true },
    ]);
    expect(host.seen).toHaveLength(2);
  });

  test('that all stand already writes nothing', async () => {
    const [a, b] = [await localFile('a'), await localFile('b')];
    const github = branchWith({ 'a.html': held(a.blobSha), 'b.html': held(b.blobSha, THEIRS) });
    const { host, work } = await committing(github, { 'a.html': 'a', 'b.html': 'b' });
    await expect(work).resolves.toMatchObject([{ written: false }, { written: false }]);
    expect([host.seen, github.sent('update_ref')]).toEqual([[], []]);
  });

  test('tells of what will be replaced, once and before anything is written', async () => {
    const conflict = failure('CONFLICT', 422, { retryable: true });
    const github = branchWith(
      { 'a.html': held('0ld'), 'b.html': held('0ld') },
      { update_ref: (_: unknown, nth: number) => (nth === 1 ? conflict : {}) },
    );
    const told: [string, number][] = [];
    const { work } = await committing(
      github,
      { 'a.html': 'a', 'b.html': 'b', 'c.html': 'c' },
      {},
      async (path) => {
        told.push([path, github.sent('tree').length]);
      },
    );
    await work;
    expect(github.sent('update_ref')).toHaveLength(2);
    expect(told).toEqual([
      ['a.html', 0],
      ['b.html', 0],
    ]);
  });

  test('that lost a race looks at all of them again, and sends no blob twice', async () => {
    const conflict = failure('CONFLICT', 422, { retryable: true });
    const holding: Record<string, ReturnType<typeof held>> = {};
    const github = branchWith(holding, {
      update_ref: (_: unknown, nth: number) => {
        if (nth > 1) return {};
        // Meanwhile somebody has taken one of the paths.
        holding['b.html'] = held('theirs', THEIRS);
        return conflict;
      },
    });
    const { host, work } = await committing(github, { 'a.html': 'a', 'b.html': 'b' });
    // The way stays the one that was reported, though one file is left.
    expect(codes(await work)).toEqual([{ commitSha: 'commit3', written: true }, 'NOT_OURS']);
    expect(github.sent('put_file_le1mb')).toEqual([]);
    expect(host.seen).toHaveLength(2);
  });

  test('whose answer was lost finds them there, and commits nothing twice', async () => {
    const lost = failure('CONNECTION', undefined, { retryable: true });
    const holding: Record<string, ReturnType<typeof held>> = {};
    const github = branchWith(holding, {
      update_ref: () => {
        for (const { path, file } of wishes) holding[path] = held(file?.blobSha ?? '');
        return lost;
      },
    });
    const { wishes, work } = await committing(github, { 'a.html': 'a', 'b.html': 'b' });
    await expect(work).resolves.toEqual([
      { commitSha: 'last a.html', written: true },
      { commitSha: 'last b.html', written: true },
    ]);
    expect(github.sent('update_ref')).toHaveLength(1);
  });

  test('that is refused for good fails as a whole', async () => {
    const refused = failure('FORBIDDEN_BY_RULE', 422);
    const { work } = await committing(branchWith({}, { update_ref: refused }), {
      'a.html': 'a',
      'b.html': 'b',
    });
    await expect(work).rejects.toBe(refused);
  });
});

describe('a stop', () => {
  const stopping = async (arrives: readonly string[]) => {
    const holding: Record<string, ReturnType<typeof held>> = {};
    const reason = Object.assign(new Error('stopped'), { name: 'AbortError' });
    const scripted = branchWith(holding, {
      update_ref: () => {
        for (const { path, file } of wishes) {
          if (arrives.includes(path)) holding[path] = held(file?.blobSha ?? '');
        }
        ports.stop.abort(reason);
        return failure('ABORTED');
      },
    });
    const wishes = await blobs({ 'a.html': 'a', 'b.html': 'b' });
    for (const { file } of wishes) names.set(String(await file?.read().toArray()), file?.blobSha ?? '');
    const ports = fakePorts(taking().http);
    // From here on the client's calls fail, but for those that may still be made after a stop.
    const github = scripted.withSignal(ports.signal);
    return commitFiles(wishes, committingTo(github, { method: 'B' }), ports);
  };

  test('while the branch was moved says what has arrived', async () => {
    await expect(stopping(['a.html', 'b.html'])).resolves.toEqual([
      { commitSha: 'last a.html', written: true },
      { commitSha: 'last b.html', written: true },
    ]);
  });

  test('is the failure of what has not', async () => {
    expect(codes(await stopping(['a.html']))).toEqual([
      { commitSha: 'last a.html', written: true },
      'ABORTED',
    ]);
    expect(codes(await stopping([]))).toEqual(['ABORTED', 'ABORTED']);
  });
});
