import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import type { ExistingBlobs } from '../../github/api/branch.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import { nameFew } from '../../plain-text.ts';
import type { Ports } from '../../ports.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';
import type { Channel, FailedFile, PlacedTask, Placement } from '../channel.ts';
import { watchBuilds } from './build.ts';
import { commitTasks, previewCommits, withPictures } from './commit.ts';
import { type DeployTarget, deployBranch, deploySite, withDeployment } from './deploy/deploy.ts';
import { recheckSite } from './deploy/deploy-record.ts';
import { contentOfFiles, sizeOf } from './deploy/site-content.ts';
import type { PagesOptions } from './destination.ts';
import { withCompared } from './other-folder.ts';
import { describePublished } from './placement.ts';
import { isInBranch, prepareItems } from './prepare.ts';
import { notRestoredError, restoreBefore } from './restore.ts';
import { finishSetup } from './set-up.ts';
import type { PagesTask } from './target.ts';

/** GitHub Pages: find the destination, read the branch, compare, write the change, verify. @see protocol 4.2 */
export function createPagesChannels(
  inputs: PagesOptions,
  access: RepositoryContext,
  ports: Ports,
): Readonly<Record<'publish' | 'remove', Channel<PagesTask>>> {
  const channelFor = (options: PagesOptions): Channel<PagesTask> => ({
    prepare: (items) => prepareItems(items, options, access, ports),
    async preview(tasks, absent) {
      if (findWholeSite(tasks, absent) === null) return previewCommits(tasks, ports);
      const hosts = tasks.map(({ destination }) => destination.rootUrl.hostname);
      return hosts.map((host) => `would be deployed as the whole site ${host}`);
    },
    async perform(tasks, absent) {
      const whole = findWholeSite(tasks, absent);
      if (whole !== null) return deployFiles(tasks, whole, ports);
      const [first] = tasks;
      if (first === undefined) return [];
      const { branch, deploy } = first.target;
      const committed = await commitTasks(tasks, ports);
      if (deploy !== null) return deployBranch(committed, branch, deploy, ports);
      return finishSetup(committed, first.target, ports);
    },
    watch: () => watchBuilds(access, options, ports),
    recheck: (placed) => recheck(placed, ports),
  });
  const removal = { ...inputs, setup: false, isRemoval: true };
  return {
    publish: { ...channelFor(inputs), restore: (failed, batch) => restoreAndDeploy(failed, batch, ports) },
    remove: { ...channelFor(removal), holds: ({ name }) => isInBranch(name, removal, access) },
  };
}

type Tasks = readonly PagesTask[];

/** The deployment of a whole site. @throws {DeliveryError} for a missing file, because the site would lose it */
function findWholeSite([first]: Tasks, absent?: FailedFile) {
  const { deploy = null, options } = first?.target ?? {};
  if (deploy === null || options?.branch !== undefined) return null;
  if (absent === undefined) return deploy;
  throw new DeliveryError('BAD_INPUT', `the site would be deployed without ${absent.subject}, which failed`, {
    hint: 'fix that file first',
    leftBehind: [],
  });
}

async function restoreAndDeploy(failed: readonly Placed[], batch: readonly Placed[], ports: Ports) {
  if (findWholeSite(failed.map(({ task }) => task)) !== null) {
    throw notRestoredError('a site without a branch keeps no earlier version');
  }
  const restored = await restoreBefore(failed, batch, ports);
  const { branch = '', deploy = null } = failed[0]?.task.target ?? {};
  return deploy === null ? restored : deployBranch(restored, branch, deploy, ports);
}

async function recheck(placed: readonly Placed[], ports: Ports) {
  const tasks = placed.map(({ task }) => task);
  const whole = findWholeSite(tasks);
  if (whole === null) return recheckBranch(placed);
  const files = tasks.flatMap((task) => withPictures(task).files);
  const site = await recheckSite(whole, files, ports);
  return placed.map(() => site);
}

/** Deploys files and folders as the whole site, without a commit. */
async function deployFiles(prepared: Tasks, target: DeployTarget, ports: Ports): Promise<Placement[]> {
  const tasks = prepared.map(withPictures);
  const files = new Map(tasks.flatMap((task) => task.files).map((file) => [file.path, file]));
  // The deployment must name an existing commit.
  const { live, runtime } = target;
  const content = contentOfFiles([...files.values()], runtime.commit);
  const source = { readHead: async () => runtime.commit, readContent: async () => content };
  const deployment = await deploySite(source, target, ports);
  const before = live === null || typeof live === 'string' ? new Map<string, GitBlob>() : live.files;
  const previousAt = (path: string): [string, GitBlob[]] => [path, [before.get(path) ?? []].flat()];
  const removed = [...before.keys()].filter((path) => !files.has(path));
  const servedSize = sizeOf(content.deployRecord);
  const evidence = `artifact of ${files.size} files`;
  return tasks.map((task, nth) => {
    const differing = task.files.filter(({ path, file }) => before.get(path)?.sha !== file.blobSha);
    const paths = differing.map(({ path }) => path);
    const added = paths.filter((path) => !before.has(path));
    const changed = paths.filter((path) => before.has(path));
    const changes = { added, changed, removed, kept: [], removedFolders: [] };
    const previous = new Map(paths.map(previousAt));
    const removedBlobs = new Map(nth === 0 ? removed.map(previousAt) : []);
    const placement = describePublished(
      { task, siteChanges: changes },
      { previous, goneFiles: removedBlobs, entries: before, servedSize },
    );
    const deployed = withDeployment({ ...placement, written: true, evidence }, deployment);
    return withCompared(deployed, task, null);
  });
}

type Placed = PlacedTask<PagesTask>;

/**
 * After the proof: a URL may still show what somebody removed.
 * @returns UNKNOWN lines if the branch can't be read; `NOT_PROVEN` if a path changed
 */
async function recheckBranch(placed: readonly Placed[]): Promise<readonly Result<readonly string[]>[]> {
  const firstLook = await compareBranch(placed);
  // GitHub may answer with an old copy once, so a change must be seen twice.
  const isSame = firstLook.every(({ changed }) => changed.length === 0);
  return (isSame ? firstLook : await compareBranch(placed)).map(({ task, placement, changed, unread }) => {
    const { branch } = task.target;
    if (changed.length > 0) {
      const what = `somebody removed or replaced on the branch ${branch}: ${nameFew(changed)}`;
      return new DeliveryError('NOT_PROVEN', `while it was verified, ${what}`, {
        hint: (w) => `run it again, or set ${w.input('path')} to a path that nothing else uses`,
        leftBehind: [placement.evidence],
      });
    }
    if (unread === undefined) return [];
    if (placement.first.expect.is === 'built') return unread;
    return [`whether the branch ${branch} still holds it after the verification: ${unread.message}`];
  });
}

/** Finds paths that changed since the delivery, and paths that can't be read. */
async function compareBranch(placed: readonly Placed[]) {
  const existing = await resultOf(() => readDelivered(placed));
  return placed.map((item) => {
    const changed: string[] = [];
    let unread: DeliveryError | undefined;
    for (const [path, blobSha] of existing === null ? [] : (item.placement.expectedBlobs ?? [])) {
      const blob = hasFailed(existing) ? existing : (existing?.get(path) ?? null);
      // The branch was deleted, or the path is a folder now.
      const isGone = hasFailed(blob) && (blob.code === 'NOT_FOUND' || blob.code === 'NOT_OURS');
      if (hasFailed(blob) && !isGone) unread = blob;
      else if ((isGone ? null : blob) !== blobSha) changed.push(path);
    }
    return { ...item, changed, unread };
  });
}

/** Reads the delivered paths; `null` if the branch still points to the delivered commit. */
async function readDelivered(placed: readonly Placed[]): Promise<ExistingBlobs | null> {
  const [first] = placed;
  if (first === undefined) return null;
  const { history } = first.task.target;
  const head = await history.readHead();
  // With two pushes, the last commit can't show a change in between. A rival file may be older than both.
  const isOwn = ({ task, placement }: Placed): boolean =>
    placement.commitSha === head && task.destination.rivals === undefined;
  if (placed.every(isOwn)) return null;
  const paths = placed.flatMap(({ placement: { expectedBlobs } }) => [...(expectedBlobs?.keys() ?? [])]);
  return history.readBlobs(head, paths);
}
