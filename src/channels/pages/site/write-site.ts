import { DeliveryError } from '../../../errors.ts';
import { needsSignatures } from '../../../github/api/branch-rules.ts';
import { parentFolders } from '../../../github/api/existing-blobs.ts';
import { commitTree, createBlob, pathChangedError } from '../../../github/api/git-data.ts';
import { type CommitIdentity, getCommitIdentity } from '../../../github/api/token-owner.ts';
import { hasGit } from '../../../github/git/process.ts';
import type { ListEntries } from '../../../github/git/push.ts';
import { SIGNATURE_HINT } from '../../../github/hints.ts';
import type { Ports } from '../../../ports.ts';
import { MEGABYTE, SITE, SIZE } from '../../../protocol/limits.ts';
import { nameMovedRepository } from '../moved-repository.ts';
import { readTargetHead } from '../target-branch.ts';
import type { SitePlan } from './plan-site.ts';
import type { FolderTarget } from './site-target.ts';

/** Makes the commit of a plan, and returns its sha. */
export type SiteWriter = (plan: SitePlan) => Promise<string>;

/**
 * One commit for all files of a site: through git, which sends the changed files only; by the object API where
 * the branch takes signed commits only or where there is no git, for a few changed files.
 *
 * @throws {DeliveryError} `CONFLICT` where the folder changed since it was compared: then nothing was written.
 */
export function createSiteWriter(target: FolderTarget, ports: Ports): SiteWriter {
  const { github } = target;
  let author: CommitIdentity | undefined;
  let method: WriteMethod | undefined;
  return async (plan) => {
    method ??= await findWriteMethod(target, ports);
    if (method !== 'git') return writeWithApi(plan, target, method, ports);
    author ??= await getCommitIdentity(github);
    try {
      return await writeWithGit(plan, target, author, ports);
    } catch (thrown) {
      if (!(thrown instanceof DeliveryError) || thrown.code !== 'NEEDS_SIGNATURE') throw thrown;
      method = 'signed';
      return writeWithApi(plan, target, method, ports);
    }
  };
}

/** How the commit is made: by git, or by the API, for the host's signature or because there is no git. */
type WriteMethod = 'git' | 'signed' | 'without-git';

async function findWriteMethod(
  { github, branch }: FolderTarget,
  { signal }: Pick<Ports, 'signal'>,
): Promise<WriteMethod> {
  if ((await needsSignatures(github, branch)) === true) return 'signed';
  return (await hasGit(signal)) ? 'git' : 'without-git';
}

/**
 * Whether a plan could be written, as far as that is known before.
 *
 * @throws {DeliveryError} `NEEDS_SIGNATURE` or `BAD_INPUT` as `createSiteWriter` would.
 */
export async function refuseUnwritable(
  plan: SitePlan,
  target: FolderTarget,
  ports: Pick<Ports, 'signal'>,
): Promise<void> {
  const method = await findWriteMethod(target, ports);
  if (method !== 'git') refuseTooMuch(plan, target, method);
}

async function writeWithGit(
  plan: SitePlan,
  { github, branch, serverUrl }: FolderTarget,
  author: CommitIdentity,
  ports: Ports,
): Promise<string> {
  const { pushCommits } = await import(/* webpackMode: "eager" */ '../../../github/git/push.ts');
  const remote = new URL(`/${github.repository.owner}/${github.repository.repo}.git`, serverUrl);
  const { message, writes, removals, head } = plan;
  const push = {
    remote,
    token: github.token,
    branch,
    author,
    createsBranch: head === null,
    commits: [{ message, writes, removals }],
    checkBase: (list: ListEntries, base: string | null) => refuseOtherBase(plan, list, base),
  };
  const [commit = ''] = await nameMovedRepository(github, () => pushCommits(push, ports));
  return commit;
}

/** What the commit replaces must be what was compared. Others may have changed anything else meanwhile. */
async function refuseOtherBase(
  { basis, head }: SitePlan,
  list: ListEntries,
  base: string | null,
): Promise<void> {
  // Git names no id for the root, which every other commit changes.
  if (basis.has('') && base !== head) throw pathChangedError('the root');
  // The same commit is compared as well: the host could have listed what it does not hold.
  const named = [...basis].filter(([path]) => path !== '');
  const folders = new Set(named.flatMap(([path]) => parentFolders(path)));
  const entries = await list([...named.map(([path]) => path), ...folders]);
  for (const [path, sha] of named) {
    if ((entries.get(path)?.sha ?? null) !== sha) throw pathChangedError(path);
  }
  for (const folder of folders) {
    // Unlike an index, fast-import would replace the file by a folder.
    if ((entries.get(folder)?.type ?? 'tree') !== 'tree') throw pathChangedError(folder);
  }
}

/** One request for each changed file, so for a few of them only. */
async function writeWithApi(
  plan: SitePlan,
  target: FolderTarget,
  method: Exclude<WriteMethod, 'git'>,
  ports: Ports,
): Promise<string> {
  refuseTooMuch(plan, target, method);
  const { github, branch } = target;
  const { writes } = plan;
  const sent = new Set<string>();
  for (const { file } of writes) {
    if (!sent.has(file.blobSha)) await createBlob(github, file, ports);
    sent.add(file.blobSha);
  }
  // The commit is made on top of exactly what was compared.
  if ((await readTargetHead(target)) !== plan.head) throw pathChangedError(branch);
  return commitTree(github, branch, plan);
}

function refuseTooMuch(
  { writes }: SitePlan,
  { branch }: FolderTarget,
  method: Exclude<WriteMethod, 'git'>,
): void {
  const large = writes.find(({ file }) => file.size > SIZE.methodB);
  if (writes.length <= SITE.apiWrites && large === undefined) return;
  const what = large === undefined ? `${writes.length} changed files` : `the large file ${large.path}`;
  const limit = `at most ${SITE.apiWrites} files of ${SIZE.methodB / MEGABYTE} MB`;
  if (method === 'without-git') {
    throw new DeliveryError(
      'BAD_INPUT',
      `this folder has ${what}, and no git (2.31 or later) is installed here: without it GitHub takes file by file, ${limit}`,
      { hint: 'install git', leftBehind: [] },
    );
  }
  throw new DeliveryError(
    'NEEDS_SIGNATURE',
    `the branch ${branch} takes signed commits only, and this folder has ${what}: GitHub signs only what is sent file by file, ${limit}`,
    { hint: SIGNATURE_HINT, leftBehind: [] },
  );
}
