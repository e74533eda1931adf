import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { DeliveryError } from '../../errors.ts';
import type { Clock, Ports, Progress } from '../../ports.ts';
import { SECOND } from '../../protocol/limits.ts';
import { belowFileError } from '../api/contents.ts';
import { parentFolders } from '../api/existing-blobs.ts';
import { type FileChange, pathChangedError } from '../api/git-data.ts';
import type { CommitIdentity } from '../api/token-owner.ts';
import { noGitError } from './failures.ts';
import { hasGit } from './process.ts';
import { createGitRepository, type GitRemote, type RunGitCommand } from './repository.ts';

export interface PushOptions extends GitRemote {
  readonly branch: string;
  readonly changes: readonly FileChange[];
  /** Author and committer of the commits. */
  readonly author: CommitIdentity;
}

/** References to the fetched branch, and to the commits on top of it. */
const BASE = 'refs/screen-delivery/base';
const NEXT = 'refs/screen-delivery/next';

/** Paths in one `ls-tree`, which keeps the command line and the output short. */
const PATHS_AT_ONCE = 20;

/**
 * Method C: one commit per change through git's own protocol, for files that are too large for the blob API
 * and for many at once. The branch is fetched into a temporary folder without history, blobs and checkout;
 * the commits are created each on top of the one before and pushed together, never by force. When another
 * writer is first, nothing is left behind, and the caller starts again.
 *
 * @returns the commits' shas, in the order of the changes
 * @throws {DeliveryError} `CONFLICT` when the branch or one of the paths changed meanwhile; `BAD_INPUT`
 * without git.
 * @see protocol 4.2
 */
export async function pushChanges(
  push: PushOptions,
  ports: Pick<Ports, 'signal' | 'logger' | 'clock'>,
): Promise<string[]> {
  if (!(await hasGit(ports.signal))) throw noGitError();
  const folder = await mkdtemp(join(process.env.RUNNER_TEMP || tmpdir(), 'screen-delivery-git-'));
  try {
    const git = await createGitRepository(folder, push, ports);
    const base = await fetchBranch(git, push);
    await refuseChangedPaths(git, push, base);
    const commits = await writeCommits(git, push, base, ports.clock);
    await pushCommits(git, push, ports);
    return commits;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function fetchBranch(git: RunGitCommand, { branch }: PushOptions): Promise<string> {
  const options = ['--quiet', '--depth=1', '--filter=blob:none', '--no-tags', '--no-recurse-submodules'];
  await git({
    args: ['fetch', ...options, 'origin', `+refs/heads/${branch}:${BASE}`],
    description: `fetching the branch ${branch}`,
    online: true,
  });
  const sha = await git({ args: ['rev-parse', '--verify', BASE], description: 'reading the branch' });
  return sha.trim();
}

/** A tree built over it would drop another writer's file. @see protocol 7 (prohibition 4) */
async function refuseChangedPaths(git: RunGitCommand, { changes }: PushOptions, base: string): Promise<void> {
  const paths = new Set(changes.flatMap(({ path }) => [path, ...parentFolders(path)]));
  const entries = await listEntries(git, base, [...paths]);
  for (const { path, replaces } of changes) {
    const file = parentFolders(path).find((folder) => (entries.get(folder)?.type ?? 'tree') !== 'tree');
    // Unlike an index, fast-import would replace the file by a folder.
    if (file !== undefined) throw belowFileError(path, file);
    if ((entries.get(path)?.sha ?? null) !== replaces) throw pathChangedError(path);
  }
}

interface ListedEntry {
  readonly type: string;
  readonly sha: string;
}

/**
 * The entries of a commit at these paths, by path; a path that does not exist has none. Paths of different depth
 * are asked for apart: beside a path in it, git lists the whole content of a folder.
 */
async function listEntries(
  git: RunGitCommand,
  commit: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, ListedEntry>> {
  const entries = new Map<string, ListedEntry>();
  for (const [, level] of Map.groupBy(paths, (path) => path.split('/').length)) {
    for (let start = 0; start < level.length; start += PATHS_AT_ONCE) {
      const output = await git({
        args: ['ls-tree', '-z', commit, '--', ...level.slice(start, start + PATHS_AT_ONCE)],
        description: 'reading the paths of the branch',
      });
      for (const [path, entry] of parseEntries(output)) entries.set(path, entry);
    }
  }
  return entries;
}

function parseEntries(output: string): [string, ListedEntry][] {
  // No accepted path contains a line break: one is only found where the output was shortened.
  if (output.includes('\n')) throw new DeliveryError('INTERNAL', 'the output of git ls-tree is too long');
  return output.split('\0').flatMap((line): [string, ListedEntry][] => {
    const [, type, sha, path] = /^\d+ (\w+) ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    return type === undefined || sha === undefined || path === undefined ? [] : [[path, { type, sha }]];
  });
}

/**
 * Unlike `hash-object`, `fast-import` does not load a large blob into memory, and it needs neither an
 * index nor the other blobs of the branch, which were not fetched. When the file's bytes are not those that
 * were checked, their blob has another name: git then refuses the commit, whose blob does not exist.
 */
async function writeCommits(
  git: RunGitCommand,
  push: PushOptions,
  base: string,
  clock: Pick<Clock, 'now'>,
): Promise<string[]> {
  const output = await git({
    args: ['fast-import', '--quiet', '--date-format=raw'],
    input: Readable.from(formatFastImport(push, base, clock.now()), { objectMode: false }),
    description: 'creating the commits',
  });
  return output.trim().split('\n');
}

/** @see https://git-scm.com/docs/git-fast-import */
async function* formatFastImport(
  { changes, author }: PushOptions,
  base: string,
  now: number,
): AsyncGenerator<Buffer | string> {
  const committer = `${author.name} <${author.email}> ${Math.floor(now / SECOND)} +0000`;
  yield 'feature done\n';
  for (const { file } of changes) {
    if (file === null) continue;
    yield `blob\ndata ${file.size}\n`;
    yield* file.read();
    yield '\n';
  }
  for (const [index, { path, message, file }] of changes.entries()) {
    const quoted = `"${path.replace(/["\\]/g, '\\$&')}"`;
    const change = file === null ? `D ${quoted}` : `M 100644 ${file.blobSha} ${quoted}`;
    yield `commit ${NEXT}\nmark :${index + 1}\ncommitter ${committer}\n`;
    yield `data ${Buffer.byteLength(message)}\n${message}\n`;
    yield `${index === 0 ? `from ${base}\n` : ''}${change}\n\nget-mark :${index + 1}\n`;
  }
  yield 'done\n';
}

async function pushCommits(
  git: RunGitCommand,
  { branch, changes }: PushOptions,
  { logger }: Pick<Ports, 'logger'>,
): Promise<void> {
  const size = changes.reduce((sum, { file }) => sum + (file?.size ?? 0), 0);
  const meter = logger.progress('uploaded', size, 'bytes');
  const options = ['--porcelain', '--progress', '--no-verify', '--recurse-submodules=no'];
  try {
    await git({
      args: ['push', ...options, 'origin', `${NEXT}:refs/heads/${branch}`],
      onOutput: createPushMeter(meter, size),
      description: `pushing to the branch ${branch}`,
      online: true,
    });
  } finally {
    meter.end();
  }
}

const UNITS: Readonly<Record<string, number>> = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Reads from git's progress output how many bytes were sent, and advances the meter. */
function createPushMeter(meter: Pick<Progress, 'advance'>, total: number): (output: string) => void {
  let sent = 0;
  let incomplete = '';
  return (output) => {
    const lines = (incomplete + output).split(/[\r\n]/);
    incomplete = (lines.pop() ?? '').slice(-200);
    for (const line of lines) {
      const [, amount, unit = ''] = /^Writing objects: .*, ([\d.]+) (bytes|[KMG]iB)\b/.exec(line) ?? [];
      // Besides the files, git sends some trees and commits.
      const now = Math.min(Math.round(Number(amount) * (UNITS[unit] ?? 0)), total);
      if (!(now > sent)) continue;
      meter.advance(now - sent);
      sent = now;
    }
  };
}
