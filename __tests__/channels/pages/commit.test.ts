import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { commitTasks } from '../../../src/channels/pages/commit.ts';
import { compareFiles } from '../../../src/channels/pages/compare-files.ts';
import type { CommitTarget } from '../../../src/channels/pages/target.ts';
import { chooseMethod } from '../../../src/channels/pages/target.ts';
import { hasFailed, stoppedError } from '../../../src/errors.ts';
import type { LocalFile } from '../../../src/rules/inspect.ts';
import { absent, type FakeGitHub, failure } from '../../github/fake-github.ts';
import { localFile, temporaryFolder } from '../../support/files.ts';
import { FakeHttp, fakePorts } from '../../support/ports.ts';
import {
  type BranchFiles,
  branchWith,
  commitTargetWith,
  existingFile,
  FOREIGN_MESSAGE,
  pagesTaskWith,
  type TargetOptions,
} from '../fake-branch.ts';

const { PATH } = process.env;
// Without git, several files are written through the API, whose calls the fake records.
beforeEach(async () => {
  process.env.PATH = await temporaryFolder();
});
afterEach(() => {
  process.env.PATH = PATH;
});

type LocalFiles = Readonly<Record<string, LocalFile>>;

const createFiles = async (files: Readonly<Record<string, string>>): Promise<LocalFiles> =>
  Object.fromEntries(
    await Promise.all(Object.entries(files).map(async ([path, bytes]) => [path, await localFile(bytes)])),
  );

/** An API that accepts every blob and answers its sha. */
const acceptingHost = () =>
  new FakeHttp(({ body }) => {
    const { content } = JSON.parse(body) as { content: string };
    return { status: 201, body: { sha: blobShas.get(Buffer.from(content, 'base64').toString()) ?? '?' } };
  });
const blobShas = new Map<string, string>();

/** What became of each file, in short. */
async function commitFiles(
  files: LocalFiles,
  target: CommitTarget,
  ports: ReturnType<typeof fakePorts>,
): Promise<readonly (object | string)[]> {
  const tasks = Object.entries(files).map(([path, file]) => ({
    plan: {} as never,
    data: pagesTaskWith(target, path, { [path]: file }),
  }));
  const done = await commitTasks(tasks, ports);
  return done.map((result) => {
    if (hasFailed(result)) return (result as { readonly code: string }).code;
    const { commitSha, written, method } = result;
    return { commitSha, written, ...(written && { method }) };
  });
}

/** Starts to commit files with these contents by path. */
async function startCommit(
  github: FakeGitHub,
  contents: Readonly<Record<string, string>>,
  more: TargetOptions = {},
) {
  const files = await createFiles(contents);
  for (const [path, bytes] of Object.entries(contents)) blobShas.set(bytes, files[path]?.blobSha ?? '');
  const host = acceptingHost();
  const ports = fakePorts(host.http);
  const method = await chooseMethod(Object.values(files), ports.signal);
  const work = commitFiles(files, commitTargetWith(github, { method, ...more }), ports);
  return { files, host, ports, work };
}

const B = 'method B, object API';

/** What a path needs, or why it must not be changed. */
async function compareOne(path: string, sha: string | null, target: CommitTarget): Promise<object> {
  const task = pagesTaskWith(target, path, sha === null ? {} : { [path]: sha });
  const [state] = (await compareFiles([task], target, new Set())).places;
  return state && !hasFailed(state) ? { change: undefined, ...state, ...state.change } : (state ?? {});
}

describe('compareFiles', () => {
  const OWN = existingFile('0ld');
  const FOREIGN = existingFile('0ld', FOREIGN_MESSAGE);
  const SAME = { commitSha: 'last a/p.html', change: undefined };
  const UPDATE = { message: 'UPDATE', replaces: '0ld' };
  const REMOVE = { message: 'REMOVE', replaces: '0ld', writes: [], removals: ['a/p.html'] };

  test.each<[string, string | null, BranchFiles[string] | undefined, boolean, object]>([
    ['nothing exists', 'new', undefined, false, { message: 'ADD', replaces: null }],
    ['an owned file exists', 'new', OWN, false, UPDATE],
    ['an owned file with the same bytes exists', 'same', existingFile('same'), false, SAME],
    ['a foreign one with the same bytes exists', 'same', { ...FOREIGN, blob: 'same' }, false, SAME],
    ['a foreign file exists', 'new', FOREIGN, false, { code: 'NOT_OURS' }],
    ['a foreign file exists and overwrite is set', 'new', FOREIGN, true, UPDATE],
    ['nothing is to be removed', null, undefined, false, { commitSha: undefined, change: undefined }],
    ['an owned file is to be removed', null, OWN, false, REMOVE],
    ['a foreign file is to be removed', null, FOREIGN, false, { code: 'NOT_OURS' }],
    ['a foreign file is to be removed and overwrite is set', null, FOREIGN, true, REMOVE],
  ])('finds what the path needs where %s', async (_, sha, existing, overwrite, expected) => {
    const github = branchWith(existing === undefined ? {} : { 'a/p.html': existing });
    const compared = await compareOne('a/p.html', sha, commitTargetWith(github, { overwrite }));
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
});

describe('commitTasks on a branch that others write to', () => {
  test('reads everything in one commit, and never by a name that a tag could have as well', async () => {
    const { blobSha } = await localFile('a');
    const github = branchWith({ 'a.html': existingFile(blobSha) });
    const { work } = await startCommit(github, { 'a.html': 'a' });
    await work;
    expect(github.sent('get_ref')).toEqual([{ ref: 'heads/main' }]);
    expect(new Set(github.sent('get_file').map(({ ref }) => ref))).toEqual(new Set(['base']));
    expect(github.sent('graphql')).toMatchObject([{ variables: { head: 'base' } }]);
  });

  test('fails where the last commit cannot be read', async () => {
    const denied = failure('NO_PERMISSION', 403);
    const github = branchWith({ 'a.html': existingFile('0ld') }, { commits_of_path: denied });
    const { work } = await startCommit(github, { 'a.html': 'a' });
    expect(await work).toEqual(['NO_PERMISSION']);
  });

  test('says that a branch does not exist', async () => {
    const { work } = await startCommit(branchWith({}, { get_ref: absent }), { 'a.html': 'a' });
    expect(await work).toEqual(['NOT_FOUND']);
  });
});

describe('commitTasks with several files', () => {
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
    expect(await work).toEqual([{ commitSha: 'commit3', written: true, method: B }, 'NOT_OURS']);
    expect(github.sent('put_file_le1mb')).toEqual([]);
    expect(host.seen).toHaveLength(2);
  });

  test('finds the files after a lost answer, and commits nothing twice', async () => {
    const lost = failure('CONNECTION', undefined, { retryable: true });
    const files: BranchFiles = {};
    const github = branchWith(files, {
      update_ref: () => {
        for (const [path, { blobSha }] of Object.entries(sent)) files[path] = existingFile(blobSha);
        return lost;
      },
    });
    const { files: sent, work } = await startCommit(github, { 'a.html': 'a', 'b.html': 'b' });
    await expect(work).resolves.toEqual([
      { commitSha: 'last a.html', written: true, method: B },
      { commitSha: 'last b.html', written: true, method: B },
    ]);
    expect(github.sent('update_ref')).toHaveLength(1);
  });

  test('fails as a whole where the update of the branch is refused for good', async () => {
    const refused = failure('FORBIDDEN_BY_RULE', 422);
    const { work } = await startCommit(branchWith({}, { update_ref: refused }), {
      'a.html': 'a',
      'b.html': 'b',
    });
    expect(await work).toEqual(['FORBIDDEN_BY_RULE', 'FORBIDDEN_BY_RULE']);
  });
});

describe('a stop of the delivery during commitTasks', () => {
  const stopDuringUpdate = async (arrives: readonly string[]) => {
    const files: BranchFiles = {};
    const reason = stoppedError();
    const scripted = branchWith(files, {
      update_ref: () => {
        for (const path of arrives) files[path] = existingFile(sent[path]?.blobSha ?? '');
        ports.stop.abort(reason);
        return failure('ABORTED');
      },
    });
    const sent = await createFiles({ 'a.html': 'a', 'b.html': 'b' });
    for (const name of ['a', 'b']) blobShas.set(name, sent[`${name}.html`]?.blobSha ?? '');
    const ports = fakePorts(acceptingHost().http);
    // After a stop, the client only answers calls that are made with another signal.
    const github = scripted.withSignal(ports.signal);
    return commitFiles(sent, commitTargetWith(github, { method: 'B' }), ports);
  };

  test('returns the commits that have arrived', async () => {
    await expect(stopDuringUpdate(['a.html', 'b.html'])).resolves.toEqual([
      { commitSha: 'last a.html', written: true, method: B },
      { commitSha: 'last b.html', written: true, method: B },
    ]);
  });

  test('fails as canceled for each file that has not arrived', async () => {
    expect(await stopDuringUpdate(['a.html'])).toEqual([
      { commitSha: 'last a.html', written: true, method: B },
      'ABORTED',
    ]);
    expect(await stopDuringUpdate([])).toEqual(['ABORTED', 'ABORTED']);
  });
});
