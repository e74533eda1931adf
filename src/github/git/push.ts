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
import { noGitError } from './failures.ts';
import { hasGit } from './process.ts';
import { createGitRepository, type GitRemote, type RunGitCommand } from './repository.ts';

export interface PushOptions extends GitRemote {
  readonly branch: string;
  readonly changes: readonly FileChange[];
  readonly author?: GitIdentity;
}

interface GitIdentity {
  readonly name: string;
  readonly email: string;
}

const AUTHOR: GitIdentity = { name: 'screen-delivery', email: 'screen-delivery@users.noreply.github.com' };

/** Where the fetched branch is kept, and the commits that are put on it. */
const BASE = 'refs/screen-delivery/base';
const NEXT = 'refs/screen-delivery/next';

/** Paths that one command looks at, so that its line and its answer stay short. */
const PATHS_AT_ONCE = 20;

/**
 * Method C: a commit for each change through git's own protocol, for files that the blob API won't take
 * and for many at once. The branch is fetched without its history, its blobs and a checkout into a
 * temporary folder; the commits are built one on the other and pushed together, never by force. Losing a
 * race leaves nothing; the caller starts again.
 *
 * @returns the commits' shas, in the changes' order
 * @throws {DeliveryError} `CONFLICT` when one of the paths or the branch moved meanwhile; `BAD_INPUT`
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
    await refuseChanged(git, push, base);
    const commits = await writeCommits(git, push, base, ports.clock);
    await sendCommits(git, push, ports);
    return commits;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function fetchBranch(git: RunGitCommand, { branch }: PushOptions): Promise<string> {
  const bare = ['--quiet', '--depth=1', '--filter=blob:none', '--no-tags', '--no-recurse-submodules'];
  const refspec = `+refs/heads/${branch}:${BASE}`;
  await git({
    args: ['fetch', ...bare, 'origin', refspec],
    does: `fetching the branch ${branch}`,
    online: true,
  });
  const sha = await git({ args: ['rev-parse', '--verify', BASE], does: 'reading the branch' });
  return sha.trim();
}

/** Somebody else's file would be lost in a tree that is built over it. @see protocol 7 (prohibition 4) */
async function refuseChanged(git: RunGitCommand, { changes }: PushOptions, base: string): Promise<void> {
  for (let at = 0; at < changes.length; at += PATHS_AT_ONCE) {
    const some = changes.slice(at, at + PATHS_AT_ONCE);
    const places = new Set(some.flatMap(({ path }) => [path, ...parentFolders(path)]));
    const listed = await git({
      args: ['ls-tree', '-z', base, '--', ...places],
      does: 'looking at the paths',
    });
    // No path that is taken holds a line break: one would be the mark of a list that was cut.
    if (listed.includes('\n')) throw new DeliveryError('INTERNAL', 'git listed more than is read of it');
    const entries = listed.split('\0').map((entry) => /^\d+ (\w+) ([0-9a-f]+)\t(.*)$/s.exec(entry));
    const standing = new Map(entries.map((found) => [found?.[3], { type: found?.[1], sha: found?.[2] }]));
    const type = (place: string): string => standing.get(place)?.type ?? 'tree';
    for (const { path, replaces } of some) {
      const file = parentFolders(path).find((folder) => type(folder) !== 'tree');
      // Unlike an index, fast-import would put a folder in the file's place.
      if (file !== undefined) throw belowFileError(path, file);
      if ((standing.get(path)?.sha ?? null) !== replaces) throw pathChangedError(path);
    }
  }
}

/**
 * Unlike `hash-object`, `fast-import` holds no large blob in memory, and it needs neither an index nor the
 * blobs beside ours, which were never fetched. A blob that is not what was checked has another name, and
 * the commit then refers to nothing: git refuses it.
 */
async function writeCommits(
  git: RunGitCommand,
  push: PushOptions,
  base: string,
  clock: Pick<Clock, 'now'>,
): Promise<string[]> {
  const { changes, author = AUTHOR } = push;
  const committer = `${author.name} <${author.email}> ${Math.floor(clock.now() / SECOND)} +0000`;
  async function* commands(): AsyncGenerator<Buffer | string> {
    yield 'feature done\n';
    for (const { file } of changes) {
      if (file === null) continue;
      yield `blob\ndata ${file.size}\n`;
      yield* file.read();
      yield '\n';
    }
    for (const [at, { path, message, file }] of changes.entries()) {
      const quoted = `"${path.replace(/["\\]/g, '\\$&')}"`;
      const change = file === null ? `D ${quoted}` : `M 100644 ${file.blobSha} ${quoted}`;
      yield `commit ${NEXT}\nmark :${at + 1}\ncommitter ${committer}\n`;
      yield `data ${Buffer.byteLength(message)}\n${message}\n`;
      yield `${at === 0 ? `from ${base}\n` : ''}${change}\n\nget-mark :${at + 1}\n`;
    }
    yield 'done\n';
  }
  const said = await git({
    args: ['fast-import', '--quiet', '--date-format=raw'],
    input: Readable.from(commands(), { objectMode: false }),
    does: 'building the commits',
  });
  return said.trim().split('\n');
}

async function sendCommits(
  git: RunGitCommand,
  { branch, changes }: PushOptions,
  { logger }: Pick<Ports, 'logger'>,
): Promise<void> {
  const size = changes.reduce((sum, { file }) => sum + (file?.size ?? 0), 0);
  const meter = logger.progress('uploaded', size, 'bytes');
  const how = ['--porcelain', '--progress', '--no-verify', '--recurse-submodules=no'];
  try {
    await git({
      args: ['push', ...how, 'origin', `${NEXT}:refs/heads/${branch}`],
      listen: transferMeter(meter, size),
      does: `pushing to the branch ${branch}`,
      online: true,
    });
  } finally {
    meter.end();
  }
}

const UNITS: Readonly<Record<string, number>> = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Reads from git's own progress how many bytes of the pack are on their way, and advances the meter so. */
function transferMeter(meter: Pick<Progress, 'advance'>, total: number): (said: string) => void {
  let done = 0;
  let rest = '';
  return (said) => {
    const lines = (rest + said).split(/[\r\n]/);
    rest = (lines.pop() ?? '').slice(-200);
    for (const line of lines) {
      const [, amount, unit = ''] = /^Writing objects: .*, ([\d.]+) (bytes|[KMG]iB)\b/.exec(line) ?? [];
      // The pack holds a few trees besides.
      const now = Math.min(Number(amount) * (UNITS[unit] ?? 0), total);
      if (!(now > done)) continue;
      meter.advance(now - done);
      done = now;
    }
  };
}
