import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Ports, Progress } from '../../ports.ts';
import { SECOND } from '../../protocol/limits.ts';
import { createTemporaryFolder } from '../../system.ts';
import type { CommitIdentity } from '../api/token-owner.ts';
import { type Change, commitsOf, conflictError } from '../change.ts';
import { createGitRepository, type GitRemote, type RunGitCommand } from './repository.ts';

export interface PushOptions extends GitRemote {
  readonly branch: string;
  readonly changes: readonly Change[];
  readonly author: CommitIdentity;
  /** The commit that the changes were made for; `null` for a new branch. */
  readonly planned: string | null;
}

const BASE = 'refs/screen-delivery/base';
const NEXT = 'refs/screen-delivery/next';

/**
 * Method C: pushes with git, never by force, for large or many files. It fetches no history and no files.
 * @returns the commits' shas. @throws {DeliveryError} `CONFLICT` if the branch has moved. @see protocol 4.2
 */
export async function pushChanges(push: PushOptions, ports: Ports): Promise<string[]> {
  const folder = await createTemporaryFolder(ports.tempFolder, 'git-');
  try {
    const git = await createGitRepository(folder, push, ports);
    await fetchBase(git, push);
    const commits = await writeCommits(git, push, ports.clock.date());
    await pushToBranch(git, push, ports);
    return commits;
  } finally {
    // A failed cleanup must not hide that the push succeeded.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  }
}

const bytesOf = ({ changes }: PushOptions): number =>
  changes.flatMap(({ writes }) => writes).reduce((sum, { file }) => sum + file.size, 0);

async function fetchBase(git: RunGitCommand, { branch, planned }: PushOptions): Promise<void> {
  if (planned === null) return;
  const options = ['--quiet', '--depth=1', '--filter=blob:none', '--no-tags', '--no-recurse-submodules'];
  await git({
    args: ['fetch', ...options, 'origin', `+refs/heads/${branch}:${BASE}`],
    description: `fetching the branch ${branch}`,
    online: true,
  });
  const sha = await git({ args: ['rev-parse', '--verify', BASE], description: 'reading the branch' });
  if (sha.trim() !== planned) throw conflictError(branch);
}

/** `fast-import` needs no index and no other blobs. It refuses a file that has changed since its check. */
async function writeCommits(git: RunGitCommand, push: PushOptions, now: number): Promise<string[]> {
  const output = await git({
    args: ['fast-import', '--quiet', '--date-format=raw'],
    size: bytesOf(push),
    input: Readable.from(formatFastImport(push, now), { objectMode: false }),
    description: 'creating the commits',
  });
  return output.trim().split('\n');
}

/** @see https://git-scm.com/docs/git-fast-import */
async function* formatFastImport({ changes, author, planned }: PushOptions, now: number) {
  const committer = `${author.name} <${author.email}> ${Math.floor(now / SECOND)} +0000`;
  yield 'feature done\n';
  const sent = new Set<string>();
  for (const { file } of changes.flatMap(({ writes }) => writes)) {
    if (sent.has(file.blobSha)) continue;
    sent.add(file.blobSha);
    yield `blob\ndata ${file.size}\n`;
    yield* file.read();
    yield '\n';
  }
  const commits = changes.flatMap((change) =>
    commitsOf(change).map((commit) => ({ ...commit, isLast: commit === change })),
  );
  for (const [index, { message, writes, removals, isLast }] of commits.entries()) {
    yield `commit ${NEXT}\nmark :${index + 1}\ncommitter ${committer}\n`;
    yield `data ${Buffer.byteLength(message)}\n${message}\n`;
    if (index === 0 && planned !== null) yield `from ${planned}\n`;
    // Removals first: a file may replace a folder.
    for (const path of removals) yield `D ${quotePath(path)}\n`;
    for (const { path, file } of writes) yield `M 100644 ${file.blobSha} ${quotePath(path)}\n`;
    yield isLast ? `\nget-mark :${index + 1}\n` : '\n';
  }
  yield 'done\n';
}

/** Escapes other bytes as octal: a line break in a name would start another command. */
const quotePath = (path: string): string =>
  `"${Buffer.from(path)
    .toString('latin1')
    .replace(/["\\]|[^ -~]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`;

async function pushToBranch(git: RunGitCommand, push: PushOptions, { logger }: Ports): Promise<void> {
  const { branch } = push;
  const size = bytesOf(push);
  const meter = logger.progress('uploaded', size, 'bytes');
  const options = ['--porcelain', '--progress', '--no-verify', '--recurse-submodules=no'];
  try {
    await git({
      args: ['push', ...options, 'origin', `${NEXT}:refs/heads/${branch}`],
      onOutput: createPushMeter(meter, size),
      size,
      description: `pushing to the branch ${branch}`,
      online: true,
    });
  } finally {
    meter.end();
  }
}

const UNITS: Readonly<Record<string, number>> = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

function createPushMeter(meter: Pick<Progress, 'advance'>, total: number): (output: string) => void {
  let sent = 0;
  return (output) => {
    for (const [, amount, unit = ''] of output.matchAll(
      /^Writing objects: .*, ([\d.]+) (bytes|[KMG]iB)\b/gm,
    )) {
      const now = Math.min(Math.round(Number(amount) * (UNITS[unit] ?? 0)), total);
      meter.advance(Math.max(now - sent, 0));
      sent = Math.max(now, sent);
    }
  };
}
