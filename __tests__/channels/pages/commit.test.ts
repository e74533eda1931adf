import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { commitCompared } from '../../../src/channels/pages/commit.ts';
import { compareFiles } from '../../../src/channels/pages/compare-files.ts';
import { type CommitTarget, chooseMethod, type WantedFile } from '../../../src/channels/pages/target.ts';
import { hasFailed, type Result, stoppedError } from '../../../src/errors.ts';
import { absent, type FakeGitHub, failure } from '../../github/fake-github.ts';
import { localFile, temporaryFolder } from '../../support/files.ts';
import { FakeHttp, fakePorts } from '../../support/ports.ts';
import {
  type BranchFiles,
  branchWith,
  commitTargetWith,
  existingFile,
  FOREIGN_MESSAGE,
  ownMessage,
  type TargetOptions,
} from '../fake-branch.ts';
import { resultsFor } from '../prepare-one.ts';

const { PATH } = process.env;
// Without git, several files are written through the API, whose calls the fake records.
beforeEach(async () => {
  process.env.PATH = await temporaryFolder();
});
afterEach(() => {
  process.env.PATH = PATH;
});

const createWanted = async (files: Readonly<Record<string, string>>): Promise<WantedFile[]> =>
  Promise.all(Object.entries(files).map(async ([path, bytes]) => ({ path, file: await localFile(bytes) })));

/** An API that accepts every blob and answers its sha. */
const acceptingHost = () =>
  new FakeHttp(({ body }) => {
    const { content } = JSON.parse(body) as { content: string };
    return { status: 201, body: { sha: blobShas.get(Buffer.from(content, 'base64').toString()) ?? '?' } };
  });
const blobShas = new Map<string, string>();

/** What became of each file, without what was compared before. */
async function commitFiles(
  wanted: readonly WantedFile[],
  target: CommitTarget,
  ports: ReturnType<typeof fakePorts>,
): Promise<readonly Result<object>[]> {
  const plan = (now: CommitTarget, sent: ReadonlySet<WantedFile>) => compareFiles(wanted, now, sent);
  const done = await commitCompared(plan, target, ports);
  return resultsFor(done, wanted).map((result) => {
    if (hasFailed(result)) return result;
    const { place, ...more } = result as Exclude<typeof result, Error>;
    return more;
  });
}

/** Starts to commit files with these contents by path. */
async function startCommit(
  github: FakeGitHub,
  files: Readonly<Record<string, string>>,
  more: TargetOptions = {},
) {
  const wanted = await createWanted(files);
  for (const [at, bytes] of Object.values(files).entries())
    blobShas.set(bytes, wanted[at]?.file?.blobSha ?? '');
  const host = acceptingHost();
  const ports = fakePorts(host.http);
  const method = await chooseMethod(
    wanted.map(({ file }) => file),
    ports.signal,
  );
  return {
    wanted,
    host,
    ports,
    work: commitFiles(wanted, commitTargetWith(github, { method, ...more }), ports),
  };
}

/** Each value, or the code of its error. */
const getCodes = (results: readonly Result<object>[]) =>
  results.map((result) => (hasFailed(result) ? result.code : result));

/** What a path needs, or why it must not be changed. */
async function compareOne(item: WantedFile, target: CommitTarget): Promise<object | undefined> {
  const [state] = resultsFor((await compareFiles([item], target)).places, [item]);
  return hasFailed(state) ? state : { change: undefined, ...state, ...state?.change };
}

describe('compareFiles', () => {
  test.each<[string, string | null, BranchFiles[string] | undefined, boolean, object]>([
    ['nothing exists', 'new', undefined, false, { message: 'ADD', basis: new Map([['a/p.html', null]]) }],
    [
      'an owned file exists',
      'new',
      existingFile('0ld'),
      false,
      { message: 'UPDATE', basis: new Map([['a/p.html', '0ld']]) },
    ],
    [
      'an owned file with the same bytes exists',
      'same',
      existingFile('same'),
      false,
      { commitSha: 'last a/p.html', change: undefined },
    ],
    [
      'a foreign file with the same bytes exists',
      'same',
      existingFile('same', FOREIGN_MESSAGE),
      false,
      { commitSha: 'last a/p.html', change: undefined },
    ],
    ['a foreign file exists', 'new', existingFile('0ld', FOREIGN_MESSAGE), false, { code: 'NOT_OURS' }],
    [
      'a foreign file exists and overwrite is set',
      'new',
      existingFile('0ld', FOREIGN_MESSAGE),
      true,
      { message: 'UPDATE', basis: new Map([['a/p.html', '0ld']]) },
    ],
    [
      'nothing exists that could be removed',
      null,
      undefined,
      false,
      { commitSha: undefined, change: undefined },
    ],
    [
      'an owned file is to be removed',
      null,
      existingFile('0ld'),
      false,
      { message: 'REMOVE', basis: new Map([['a/p.html', '0ld']]), writes: [], removals: ['a/p.html'] },
    ],
    [
      'a foreign file is to be removed',
      null,
      existingFile('0ld', FOREIGN_MESSAGE),
      false,
      { code: 'NOT_OURS' },
    ],
    [
      'a foreign file is to be removed and overwrite is set',
      null,
      existingFile('0ld', FOREIGN_MESSAGE),
      true,
      { message: 'REMOVE', basis: new Map([['a/p.html', '0ld']]), writes: [], removals: ['a/p.html'] },
    ],
  ])('finds what the path needs where %s', async (_, sha, existing, overwrite, expected) => {
    const file = sha === null ? null : { ...(await localFile('x')), blobSha: sha };
    const github = branchWith(existing === undefined ? {} : { 'a/p.html': existing });
    const item = { path: 'a/p.html', file };
    const compared = await compareOne(item, commitTargetWith(github, { overwrite }));
    const { message, ...rest } = expected as { message?: string };
    expect(compared).toMatchObject(rest);
    if (message !== undefined) {
      const object = sha === null ? '' : `\nDelivered-object: ${sha} a/p.html`;
      expect(compared).toMatchObject({
        message: `${message} p.html: from run 7 of Deliver\n\nDelivered-by: screen-delivery${object}`,
      });
    }
    expect(github.writes).toEqual([]);
  });

  test.each([
    ['replace', 'new'],
    ['remove', null],
  ])('refuses a foreign file with a hint that names overwrite: %s', async (verb, bytes) => {
    const file = bytes === null ? null : await localFile(bytes);
    const github = branchWith({ 'p.html': existingFile('0ld', FOREIGN_MESSAGE) });
    const item = { path: 'p.html', file };
    const compared = await compareOne(item, commitTargetWith(github));
    expect(compared).toMatchObject({
      hint: expect.stringMatching(new RegExp(`overwrite: true.*if you may ${verb} that file$`)),
    });
  });
});

describe('commitCompared on a branch that others write to', () => {
  test('reads everything in one commit, and never by a name that a tag could have as well', async () => {
    const { blobSha } = await localFile('a');
    const github = branchWith({ 'a.html': existingFile(blobSha) });
    const { work } = await startCommit(github, { 'a.html': 'a' });
    await work;
    expect(github.sent('get_ref')).toEqual([{ ref: 'heads/main' }]);
    expect(new Set(github.sent('get_file').map(({ ref }) => ref))).toEqual(new Set(['base']));
    expect(github.sent('graphql')).toMatchObject([{ variables: { head: 'base' } }]);
  });

  test('refuses a file whose last commit names other bytes than the branch holds', async () => {
    const amended = existingFile('0ther', ownMessage('b10b', 'a.html'));
    const { work } = await startCommit(branchWith({ 'a.html': amended }), { 'a.html': 'a' });
    expect(getCodes(await work)).toEqual(['NOT_OURS']);
  });

  test('fails where the last commit cannot be read', async () => {
    const denied = failure('NO_PERMISSION', 403);
    const github = branchWith({ 'a.html': existingFile('0ld') }, { commits_of_path: denied });
    const { work } = await startCommit(github, { 'a.html': 'a' });
    await expect(work).rejects.toMatchObject({ ...denied, message: denied.message, leftBehind: [] });
  });

  test('says that a branch does not exist', async () => {
    const { work } = await startCommit(branchWith({}, { get_ref: absent }), { 'a.html': 'a' });
    await expect(work).rejects.toMatchObject({
      code: 'NOT_FOUND',
      httpCode: 404,
      message: 'the branch main of octo/site does not exist for this token',
      leftBehind: [],
    });
  });
});

describe('commitCompared with several files', () => {
  test('makes a commit for each file in one update of the branch', async () => {
    const github = branchWith();
    const { work } = await startCommit(github, { 'a.html': 'a', 'b.html': 'b' });
    await expect(work).resolves.toEqual([
      { commitSha: 'commit1', written: true, method: 'B' },
      { commitSha: 'commit2', written: true, method: 'B' },
    ]);
    expect(github.sent('update_ref')).toHaveLength(1);
    expect(github.sent('commit').map(({ message }) => String(message).split('\n')[0])).toEqual([
      'ADD a.html: from run 7 of Deliver',
      'ADD b.html: from run 7 of Deliver',
    ]);
  });

  test('leaves a foreign file unchanged and commits the others', async () => {
    const github = branchWith({ 'b.html': existingFile('0ld', FOREIGN_MESSAGE) });
    const { host, wanted, work } = await startCommit(github, { 'a.html': 'a', 'b.html': 'b', 'c.html': 'c' });
    expect(getCodes(await work)).toEqual([
      { commitSha: 'commit1', written: true, method: 'B' },
      'NOT_OURS',
      { commitSha: 'commit2', written: true, method: 'B' },
    ]);
    const entries = github.sent('tree').flatMap(({ tree }) => tree as { path: string; sha: string }[]);
    expect(entries.map(({ path, sha }) => [path, sha])).toEqual([
      ['a.html', wanted[0]?.file?.blobSha],
      ['c.html', wanted[2]?.file?.blobSha],
    ]);
    // The blob of the foreign path is not sent either.
    expect(host.seen).toHaveLength(2);
  });

  test('sends only the files that do not exist yet', async () => {
    const { blobSha } = await localFile('a');
    const github = branchWith({ 'a.html': existingFile(blobSha) });
    const { host, work } = await startCommit(github, { 'a.html': 'a', 'b.html': 'b', 'c.html': 'c' });
    await expect(work).resolves.toMatchObject([
      { commitSha: 'last a.html', written: false },
      { commitSha: 'commit1', written: true, method: 'B' },
      { commitSha: 'commit2', written: true, method: 'B' },
    ]);
    expect(host.seen).toHaveLength(2);
  });

  test('writes nothing where all files exist already', async () => {
    const [a, b] = [await localFile('a'), await localFile('b')];
    const github = branchWith({
      'a.html': existingFile(a.blobSha),
      'b.html': existingFile(b.blobSha, FOREIGN_MESSAGE),
    });
    const { host, work } = await startCommit(github, { 'a.html': 'a', 'b.html': 'b' });
    await expect(work).resolves.toMatchObject([{ written: false }, { written: false }]);
    expect([host.seen, github.sent('update_ref')]).toEqual([[], []]);
  });

  test('compares all paths again after a lost race, and sends no blob twice', async () => {
    const conflict = failure('CONFLICT', 422, { retryable: true });
    const files: BranchFiles = {};
    const github = branchWith(files, {
      update_ref: (_: unknown, nth: number) => {
        if (nth > 1) return {};
        // Somebody else has written one of the paths.
        files['b.html'] = existingFile('foreign', FOREIGN_MESSAGE);
        return conflict;
      },
    });
    const { host, work } = await startCommit(github, { 'a.html': 'a', 'b.html': 'b' });
    // The method stays the one in the plan, although only one file is left.
    expect(getCodes(await work)).toEqual([{ commitSha: 'commit3', written: true, method: 'B' }, 'NOT_OURS']);
    expect(github.sent('put_file_le1mb')).toEqual([]);
    expect(host.seen).toHaveLength(2);
  });

  test('finds the files after a lost answer, and commits nothing twice', async () => {
    const lost = failure('CONNECTION', undefined, { retryable: true });
    const files: BranchFiles = {};
    const github = branchWith(files, {
      update_ref: () => {
        for (const { path, file } of wanted) files[path] = existingFile(file?.blobSha ?? '');
        return lost;
      },
    });
    const { wanted, work } = await startCommit(github, { 'a.html': 'a', 'b.html': 'b' });
    await expect(work).resolves.toEqual([
      { commitSha: 'last a.html', written: true, method: 'B' },
      { commitSha: 'last b.html', written: true, method: 'B' },
    ]);
    expect(github.sent('update_ref')).toHaveLength(1);
  });

  test('fails as a whole where the update of the branch is refused for good', async () => {
    const refused = failure('FORBIDDEN_BY_RULE', 422);
    const { work } = await startCommit(branchWith({}, { update_ref: refused }), {
      'a.html': 'a',
      'b.html': 'b',
    });
    await expect(work).rejects.toBe(refused);
  });
});

describe('a stop of the delivery during commitCompared', () => {
  const stopDuringUpdate = async (arrives: readonly string[]) => {
    const files: BranchFiles = {};
    const reason = stoppedError();
    const scripted = branchWith(files, {
      update_ref: () => {
        for (const { path, file } of wanted) {
          if (arrives.includes(path)) files[path] = existingFile(file?.blobSha ?? '');
        }
        ports.stop.abort(reason);
        return failure('ABORTED');
      },
    });
    const wanted = await createWanted({ 'a.html': 'a', 'b.html': 'b' });
    for (const { file } of wanted) blobShas.set(String(await file?.read().toArray()), file?.blobSha ?? '');
    const ports = fakePorts(acceptingHost().http);
    // After a stop, the client only answers calls that are made with another signal.
    const github = scripted.withSignal(ports.signal);
    return commitFiles(wanted, commitTargetWith(github, { method: 'B' }), ports);
  };

  test('returns the commits that have arrived', async () => {
    await expect(stopDuringUpdate(['a.html', 'b.html'])).resolves.toEqual([
      { commitSha: 'last a.html', written: true, method: 'B' },
      { commitSha: 'last b.html', written: true, method: 'B' },
    ]);
  });

  test('fails as canceled for each file that has not arrived', async () => {
    expect(getCodes(await stopDuringUpdate(['a.html']))).toEqual([
      { commitSha: 'last a.html', written: true, method: 'B' },
      'ABORTED',
    ]);
    expect(getCodes(await stopDuringUpdate([]))).toEqual(['ABORTED', 'ABORTED']);
  });
});
