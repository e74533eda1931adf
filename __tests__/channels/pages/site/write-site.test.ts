import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CommitTarget } from '../../../../src/channels/pages/target.ts';
import { BranchWriter } from '../../../../src/channels/pages/write-changes.ts';
import { hasFailed } from '../../../../src/errors.ts';
import type { Change } from '../../../../src/github/change.ts';
import { SITE, SIZE } from '../../../../src/protocol/limits.ts';
import { FakeGitHub } from '../../../github/fake-github.ts';
import { temporaryFolder } from '../../../support/files.ts';
import { fakePorts } from '../../../support/ports.ts';
import type { TestRepository } from '../../../world/repository.ts';
import { type GitHubWorld, startWorld } from '../../../world/world.ts';
import { commitTargetWith } from '../../fake-branch.ts';
import { heldFiles, MemoryBranch, shaOf } from './memory-branch.ts';
import { memoryFile } from './memory-files.ts';
import { connect, planFolder } from './site-runs.ts';

const { env: original } = process;
const CONTENTS = { 'index.html': 'page', 'css/a.css': 'style' };

/** Plans one commit for a folder, and opens the branch to write it. */
async function prepareWrite(
  connection: Parameters<typeof planFolder>[0],
  folder: string,
  contents: Readonly<Record<string, string>>,
  options: Parameters<typeof planFolder>[3],
) {
  const { change, head, target } = await planFolder(connection, folder, contents, options);
  if (change === undefined) throw new Error('nothing has to be changed');
  return { change, head, target, write: createOneWriter(target, connection.ports) };
}

/** Writes one change, and returns its commit or throws. */
function createOneWriter(target: CommitTarget, ports = fakePorts()) {
  const writer = new BranchWriter({ ...target, method: 'C' }, ports);
  return async (change: Change, head: string | null): Promise<string> => {
    const [written] = await writer.write([change], head);
    if (written === undefined || hasFailed(written)) throw written;
    return written as string;
  };
}

describe('writing a site through git', () => {
  let world: GitHubWorld;
  let repository: TestRepository;
  let repositories = 0;

  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());

  beforeEach(async () => {
    process.env = { ...original, ...world.env, RUNNER_TEMP: await temporaryFolder() };
    repositories += 1;
    const files = { 'README.md': 'theirs', 'docs/p/old/index.html': 'old' };
    repository = await world.repository({ owner: 'octo', name: `site-${repositories}`, files });
    world.traffic.clear();
  });
  afterEach(() => {
    process.env = original;
  });

  const runHostGit = (...args: string[]): string => {
    const folder = join(world.folder, `octo--${repository.name}.git`);
    return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();
  };

  /** A client whose answers about the branch are those of git. */
  function createGitHub(rules: readonly object[] = []): FakeGitHub {
    const listTree = () =>
      runHostGit('ls-tree', '-r', '-t', 'main')
        .split('\n')
        .map((line) => {
          const [, mode, type, sha, path] = /^(\d+) (\w+) (\w+)\t(.*)$/.exec(line) ?? [];
          return { mode, type, sha, path };
        });
    const github = new FakeGitHub({
      get_ref: () => ({ object: { sha: runHostGit('rev-parse', 'main') } }),
      get_commit: () => ({ tree: { sha: runHostGit('rev-parse', 'main^{tree}') } }),
      tree_below: () => ({
        sha: runHostGit('rev-parse', 'main^{tree}'),
        truncated: false,
        tree: listTree(),
      }),
      commits_of_path: [],
      branch_rules: rules,
      graphql: { data: { viewer: { login: 'octo', databaseId: 1 } } },
    });
    return Object.assign(github, {
      repository: { owner: 'octo', repo: repository.name },
      token: world.token(),
    });
  }

  const prepare = (folder: string, more: Parameters<typeof planFolder>[3] = {}) =>
    prepareWrite({ github: createGitHub(), ports: fakePorts() }, folder, CONTENTS, {
      siteRoot: 'docs/',
      ...more,
    });

  test('writes nothing where somebody commits meanwhile', async () => {
    const { change, head: base, write } = await prepare('docs/p/1/');
    const head = await repository.commit('docs/p/1/index.html', 'theirs');
    await expect(write(change, base)).rejects.toMatchObject({ code: 'CONFLICT', retryable: true });
    expect(await repository.head()).toBe(head);
  });

  test('commits the root of the branch where nobody else does', async () => {
    const { change, head: base, write } = await prepare('', { siteRoot: '' });
    await write(change, base);
    expect(String(await repository.read('index.html'))).toBe('page');
    expect(String(await repository.read('README.md'))).toBe('theirs');
  });

  test('removes files before it writes others in their place', async () => {
    const github = createGitHub();
    const change = {
      message: 'ADD 1: a site',
      removals: ['docs/p/old/index.html'],
      writes: [{ path: 'docs/p/old', file: memoryFile('a file now') }],
      replaces: null,
    };
    await createOneWriter(commitTargetWith(github))(change, runHostGit('rev-parse', 'main'));
    expect(String(await repository.read('docs/p/old'))).toBe('a file now');
  });
});

describe('writing a site by the object API', () => {
  beforeEach(() => {
    process.env = { ...original };
  });
  afterEach(() => {
    process.env = original;
  });

  async function prepare() {
    const branch = new MemoryBranch(heldFiles({ 'README.md': 'theirs' }));
    const connection = connect(branch);
    const contents = { ...CONTENTS, 'same.html': 'page' };
    return { ...connection, branch, ...(await prepareWrite(connection, 'p/1/', contents, {})) };
  }

  test('makes one commit where the branch takes signed ones only, and sends equal bytes once', async () => {
    const { branch, change, head: base, write, host } = await prepare();
    const commit = await write(change, base);
    expect(branch.head).toMatchObject({ sha: commit, message: change.message });
    expect(branch.now).toMatchObject({ 'README.md': shaOf('theirs'), 'p/1/same.html': shaOf('page') });
    expect(host.seen.filter(({ url }) => url.endsWith('/git/blobs'))).toHaveLength(2);
  });

  test('asks for the rules of the branch once for all attempts', async () => {
    const { branch, change, head: base, write, host } = await prepare();
    branch.change({ 'README.md': 'x' });
    await expect(write(change, base)).rejects.toMatchObject({ code: 'CONFLICT', retryable: true });
    await expect(write(change, base)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(host.seen.filter(({ url }) => url.includes('/rules/branches/'))).toHaveLength(1);
    expect(branch.now).toEqual({ 'README.md': shaOf('x') });
  });

  test('refuses to move the branch where somebody was first', async () => {
    const { branch, change, head: base, write } = await prepare();
    branch.beforeMove = () => {
      branch.beforeMove = () => undefined;
      branch.change({ 'p/1/index.html': 'theirs' });
    };
    await expect(write(change, base)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(branch.now['p/1/index.html']).toBe(shaOf('theirs'));
  });

  const many = Array.from({ length: SITE.apiWrites + 1 }, (_, nth) => ({
    path: `p/1/${nth}`,
    file: memoryFile(String(nth)),
  }));
  const large = [{ path: 'p/1/large', file: { ...memoryFile('x'), size: SIZE.methodB + 1 } }];

  test.each([
    ['too many files', many],
    ['too large a file', large],
  ])('sends nothing of %s', async (_, writes) => {
    const { write, change, head: base, host } = await prepare();
    await expect(write({ ...change, writes }, base)).rejects.toMatchObject({
      code: 'NEEDS_SIGNATURE',
      message: expect.stringContaining(`at most ${SITE.apiWrites}`),
      leftBehind: [],
    });
    process.env.PATH = await temporaryFolder();
    const without = new FakeGitHub({ branch_rules: [] });
    const writing = createOneWriter(commitTargetWith(without))({ ...change, writes }, base);
    await expect(writing).rejects.toMatchObject({ code: 'BAD_INPUT' });
    expect(host.seen.filter(({ method, url }) => method === 'POST' && !url.endsWith('/graphql'))).toEqual([]);
    expect(without.writes).toEqual([]);
  });
});
