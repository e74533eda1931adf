import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { chooseMethod } from '../../../src/channels/pages/target.ts';
import { BranchWriter } from '../../../src/channels/pages/write-changes.ts';
import { hasFailed, type Result } from '../../../src/errors.ts';
import { MEGABYTE, SITE } from '../../../src/protocol/limits.ts';
import type { LocalFile } from '../../../src/rules/inspect.ts';
import { fileWith } from '../../delivery/builders.ts';
import { changeWith } from '../../github/changes.ts';
import { failure } from '../../github/fake-github.ts';
import { localFile, temporaryFolder, withRead } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../../support/ports.ts';
import { branchWith, commitTargetWith } from '../fake-branch.ts';

const { env } = process;
beforeEach(() => {
  process.env = { ...env };
});
afterEach(() => {
  process.env = env;
});

const fileOfSize = (size: number | null): LocalFile | null => (size === null ? null : fileWith({ size }));

test.each<[string, (number | null)[], 'A' | 'B' | 'C', 'A' | 'B' | 'C']>([
  ['a small file', [1], 'A', 'A'],
  ['a file of 1 MB', [MEGABYTE], 'A', 'A'],
  ['a file above 1 MB', [MEGABYTE + 1], 'B', 'B'],
  ['a file of 35 MB', [35 * MEGABYTE], 'B', 'B'],
  ['a file above 35 MB', [35 * MEGABYTE + 1], 'C', 'C'],
  ['a file to remove', [null], 'B', 'B'],
  ['two small files', [1, 1], 'C', 'B'],
  ['files of any size', [1, 50 * MEGABYTE, null], 'C', 'B'],
  ['no file', [], 'B', 'B'],
])(
  'chooseMethod chooses the method for %s, with git and without it',
  async (_, sizes, withGit, withoutGit) => {
    const choose = () => chooseMethod(sizes.map(fileOfSize), fakePorts());
    expect(await choose()).toBe(withGit);
    process.env.PATH = await temporaryFolder();
    expect(await choose()).toBe(withoutGit);
  },
);

/** No server listens there, so the first git command fails. */
const UNREACHABLE_HOST = new URL('https://localhost:1');

const BASE = 'base';

/** Prepares a commit writer for files; the host answers each blob as scripted. */
async function createWriter(
  contents: Readonly<Record<string, string | Buffer>>,
  github = branchWith(),
  blob: (nth: number) => Scripted | undefined = () => undefined,
) {
  const paths = Object.keys(contents);
  const files = await Promise.all(Object.values(contents).map((bytes) => localFile(bytes)));
  const changes = files.map((file, nth) => {
    const path = paths[nth] ?? '';
    return changeWith({ path, message: `ADD ${path}`, replaces: '0ld', file });
  });
  const stored = (nth: number) => ({ status: 201, body: { sha: files[nth - 1]?.blobSha } });
  const host = new FakeHttp((_, nth) => blob(nth) ?? stored(nth));
  const ports = fakePorts(host.http);
  const method = await chooseMethod(files, ports);
  const target = commitTargetWith(github, { serverUrl: UNREACHABLE_HOST, method });
  const writer = new BranchWriter(target, ports);
  return { changes, github, host, ports, writer, files, write: () => writer.write(changes, BASE) };
}

const getCodes = (results: readonly Result<string>[]) =>
  results.map((result) => (hasFailed(result) ? result.code : result));

const TOO_LARGE = { status: 422, body: { message: 'Sorry, your input was too large to process' } };

test('committing one file is one PUT for at most 1 MB, whether git is installed or not', async () => {
  const { github, host, write } = await createWriter({ 'ä/b.html': 'b' });
  expect(getCodes(await write())).toEqual(['put']);
  const content = Buffer.from('b').toString('base64');
  const put = { path: 'ä/b.html', message: 'ADD ä/b.html', content, branch: 'main', sha: '0ld' };
  expect(github.calls).toEqual([{ name: 'put_file_le1mb', parameters: put }]);
  expect(host.seen).toEqual([]);
});

test('committing one file sends only the bytes that were checked', async () => {
  const github = branchWith();
  const writer = new BranchWriter(commitTargetWith(github), fakePorts());
  const file = await localFile('checked');
  const changed = withRead(file, () => Readable.from([Buffer.from('changed')], { objectMode: false }));
  await expect(writer.write([changeWith({ file: changed })], BASE)).rejects.toMatchObject({
    code: 'BAD_FILE',
    message: expect.stringContaining('changed while it was delivered'),
  });
  expect(github.sent('put_file_le1mb')).toEqual([]);
});

describe('committing several files without git', () => {
  beforeEach(async () => {
    process.env.PATH = await temporaryFolder();
  });
  const three = { 'a.html': 'a', 'b.html': 'b', 'c.html': 'c' };

  test('commits the other files if one is too large for a blob, and its hint names git', async () => {
    const refuse = (nth: number) => (nth === 2 ? TOO_LARGE : undefined);
    const { github, write } = await createWriter(three, branchWith(), refuse);
    const commits = await write();
    expect(getCodes(commits)).toEqual(['commit1', 'BAD_INPUT', 'commit2']);
    expect(commits[1]).toMatchObject({ hint: expect.stringMatching(/install git.*K2/) });
    expect(github.sent('tree')).toMatchObject(['a.html', 'c.html'].map((path) => ({ tree: [{ path }] })));
  });

  test('sends each blob once, however often the files are written', async () => {
    const conflict = failure('CONFLICT', 422, { retryable: true });
    const github = branchWith({ update_ref: (_: unknown, nth: number) => (nth === 1 ? conflict : {}) });
    const { host, write } = await createWriter(three, github);
    await expect(write()).rejects.toBe(conflict);
    await write();
    expect(host.seen).toHaveLength(3);
  });
});

describe('committing with git', () => {
  beforeEach(() => {
    Object.assign(process.env, { NO_PROXY: 'localhost', no_proxy: 'localhost' });
  });
  const message = expect.stringMatching(/^fetching the branch main failed/);
  const unreachable = { code: 'NO_NETWORK', message };

  test('uses git for a file whose blob is too large for the host, and the log says so', async () => {
    const large = { 'a.bin': Buffer.alloc(MEGABYTE + 1) };
    const { github, ports, write, writer } = await createWriter(large, branchWith(), () => TOO_LARGE);
    await expect(write()).rejects.toMatchObject(unreachable);
    expect(writer.method).toBe('C');
    expect(ports.logger.lines).toContain('the host refuses a blob of this size: using git instead');
    expect(github.writes).toEqual([]);
  });

  const two = { 'a.html': 'a', 'b.bin': 'b' };
  const SIGNED = { branch_rules: [{ type: 'required_signatures' }] };

  test('sends nothing of a file that is too large for a signed commit', async () => {
    const { host, write, files } = await createWriter(two, branchWith(SIGNED));
    Object.assign(files[1] ?? {}, { size: 36 * MEGABYTE });
    const results = await write();
    expect(getCodes(results)).toEqual(['commit1', 'NEEDS_SIGNATURE']);
    const message = expect.stringMatching(/the large file b\.bin.*signed commits only.*35 MB/);
    expect(results[1]).toMatchObject({ message, hint: expect.stringMatching(/`branch:`.*K2/) });
    expect(host.seen).toHaveLength(1);
  });

  test('sends nothing of more files than the object API takes in one change', async () => {
    const { host, changes, writer } = await createWriter(two, branchWith(SIGNED));
    const [change = changeWith()] = changes;
    const many = { ...change, writes: Array(SITE.apiWrites + 1).fill(change.writes[0]) };
    const says = expect.stringContaining(`at most ${SITE.apiWrites}`);
    expect(await writer.write([many], BASE)).toMatchObject([{ code: 'NEEDS_SIGNATURE', message: says }]);
    expect(host.seen).toEqual([]);
  });

  test.each([
    ['cannot be read', failure('NO_PERMISSION', 403)],
    ['have no such rule', [{ type: 'deletion' }]],
  ])('uses git, and sends no blob, where the rules %s', async (_, branch_rules) => {
    const { github, host, write } = await createWriter(two, branchWith({ branch_rules }));
    await expect(write()).rejects.toMatchObject(unreachable);
    expect([github.names, host.seen]).toEqual([['branch_rules', 'graphql'], []]);
  });
});
