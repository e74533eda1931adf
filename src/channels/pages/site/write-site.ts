import { DeliveryError } from '../../../errors.ts';
import { needsSignatures } from '../../../github/api/branch-rules.ts';
import { getBranchHead, parentFolders } from '../../../github/api/existing-blobs.ts';
import { commitTree, createBlob, pathChangedError } from '../../../github/api/git-data.ts';
import { type CommitIdentity, getCommitIdentity } from '../../../github/api/token-owner.ts';
import { noGitError } from '../../../github/git/failures.ts';
import { hasGit } from '../../../github/git/process.ts';
import type { ListEntries } from '../../../github/git/push.ts';
import { SIGNATURE_HINT } from '../../../github/hints.ts';
import type { Ports } from '../../../ports.ts';
import { SITE, SIZE } from '../../../protocol/limits.ts';
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
  const { github, branch } = target;
  let author: CommitIdentity | undefined;
  let mustSign: boolean | undefined;
  return async (plan) => {
    const usesGit = await hasGit(ports.signal);
    mustSign ??= (await needsSignatures(github, branch)) === true;
    if (mustSign || !usesGit) return writeWithApi(plan, target, mustSign, ports);
    author ??= await getCommitIdentity(github);
    try {
      return await writeWithGit(plan, target, author, ports);
    } catch (thrown) {
      if (!(thrown instanceof DeliveryError) || thrown.code !== 'NEEDS_SIGNATURE') throw thrown;
      mustSign = true;
      return writeWithApi(plan, target, mustSign, ports);
    }
  };
}

async function writeWithGit(
  plan: SitePlan,
  { github, branch, serverUrl }: FolderTarget,
  author: CommitIdentity,
  ports: Ports,
): Promise<string> {
  const { pushCommits } = await import(/* webpackMode: "eager" */ '../../../github/git/push.ts');
  const remote = new URL(`/${github.repository.owner}/${github.repository.repo}.git`, serverUrl);
  const { message, writes, removals } = plan;
  const push = {
    remote,
    token: github.token,
    branch,
    author,
    commits: [{ message, writes, removals }],
    checkBase: (list: ListEntries, base: string | null) => refuseOtherBase(plan, list, base),
  };
  const [commit = ''] = await pushCommits(push, ports);
  return commit;
}

/** What the commit replaces must be what was compared. Others may have changed anything else meanwhile. */
async function refuseOtherBase(
  { basis, head }: SitePlan,
  list: ListEntries,
  base: string | null,
): Promise<void> {
  if (base === head) return;
  // Git names no id for the root, which every other commit changes.
  if (basis.has('')) throw pathChangedError('the root');
  const folders = new Set([...basis.keys()].flatMap(parentFolders));
  const entries = await list([...basis.keys(), ...folders]);
  for (const [path, sha] of basis) {
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
  { github, branch }: FolderTarget,
  mustSign: boolean,
  ports: Ports,
): Promise<string> {
  const { writes } = plan;
  const isTooMuch = writes.length > SITE.apiWrites || writes.some(({ file }) => file.size > SIZE.methodB);
  if (isTooMuch && !mustSign) throw noGitError();
  if (isTooMuch) {
    throw new DeliveryError(
      'NEEDS_SIGNATURE',
      `the branch ${branch} takes signed commits only, and this folder has ${writes.length} changed files: GitHub signs only what is sent file by file, at most ${SITE.apiWrites}`,
      { hint: SIGNATURE_HINT, leftBehind: [] },
    );
  }
  const sent = new Set<string>();
  for (const { file } of writes) {
    if (!sent.has(file.blobSha)) await createBlob(github, file, ports);
    sent.add(file.blobSha);
  }
  // The commit is made on top of exactly what was compared.
  if ((await getBranchHead(github, branch)) !== plan.head) throw pathChangedError(branch);
  return commitTree(github, branch, plan);
}
