import { forEachItem, resultsOfAll } from '../../async.ts';
import { hasFailed, type Result, resultOf, toDeliveryError } from '../../errors.ts';
import type { Change } from '../../github/change.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import { isFolderPath } from '../../rules/naming.ts';
import type { Placement } from '../channel.ts';
import { SentWrites } from '../sent-writes.ts';
import { countChanges, formatChangeCounts } from '../site-changes.ts';
import type { ComparedItem } from './compare.ts';
import { compareFiles } from './compare-files.ts';
import { compareSite } from './compare-folder.ts';
import { compareRemovedFolder } from './compare-removal.ts';
import { withCommit } from './placement.ts';
import { describeSetup } from './set-up.ts';
import { type CommitTarget, isRemoval, type PagesTask } from './target.ts';
import { BranchWriter, refuseUnwritable } from './write-changes.ts';

type Tasks = readonly PagesTask[];

export function withPictures(task: PagesTask): PagesTask {
  const { itemPath, files, pictures = [] } = task;
  const folder = itemPath.slice(0, itemPath.lastIndexOf('/') + 1);
  return { ...task, files: [...files, ...pictures.map((file) => ({ path: folder + file.name, file }))] };
}

/** Everything that one update writes: all single files, or one folder. */
interface CommitGroup {
  readonly tasks: Tasks;
  readonly target: CommitTarget;
  readonly folders: readonly string[];
}

/** Order: files first, then folders (a folder may take a file over). When removing: folders first. */
function groupTasks(all: Tasks): readonly CommitGroup[] {
  const folders = all.filter(({ itemPath }) => isFolderPath(itemPath));
  const files = all.filter(({ itemPath }) => !isFolderPath(itemPath));
  const single = folders.map((folder) => [folder]);
  const paths = folders.map(({ itemPath }) => itemPath);
  return (all.some(isRemoval) ? [...single, files] : [files, ...single]).flatMap((tasks) =>
    tasks[0] === undefined ? [] : [{ tasks, target: tasks[0].target, folders: paths }],
  );
}

async function compareGroup(group: CommitGroup): Promise<readonly Result<ComparedItem>[]> {
  const tasks = group.tasks.map(withPictures);
  const [first] = tasks;
  if (first === undefined || !isFolderPath(first.itemPath)) return compareFiles(tasks);
  return [await (isRemoval(first) ? compareRemovedFolder(first) : compareSite(first, group.folders))];
}

/** Previews each commit by the first line of its message. Only reads. */
export async function previewCommits(prepared: Tasks, ports: Ports): Promise<readonly Result<string>[]> {
  const previews = new Map<PagesTask, Result<string>>();
  for (const group of groupTasks(prepared)) {
    const found = await resultsOfAll(group.tasks, () => previewGroup(group, ports));
    for (const [task, preview] of found) previews.set(task, preview);
  }
  return prepared.flatMap((task) => previews.get(task) ?? []);
}

async function previewGroup(group: CommitGroup, ports: Ports): Promise<readonly Result<string>[]> {
  const { target } = group;
  return forEachItem(await compareGroup(group), async (item) => {
    if (hasFailed(item)) throw item;
    const { change, placement } = item;
    const { changes, evidence, notes = [] } = placement;
    const setup = describeSetup(target);
    if (change === undefined) return evidence + setup;
    if (changes && !target.receipt) await refuseUnwritable(change, target, ports);
    const counts = changes && formatChangeCounts(countChanges(changes));
    const details = [...(counts ? [`files: ${counts}`] : []), ...notes];
    const further = details.length === 0 ? '' : ` (${details.join('; ')})`;
    return `${target.receipt ? 'deployment' : 'commit'} "${change.message.split('\n')[0]}"${further}${setup}`;
  });
}

/** Makes one commit for all files, and one for each folder. */
export async function commitTasks(prepared: Tasks, ports: Ports): Promise<readonly Result<Placement>[]> {
  const placements = new Map<PagesTask, Result<Placement>>();
  for (const group of groupTasks(prepared)) {
    const placed = await resultsOfAll(group.tasks, () => commitGroup(group, ports));
    for (const [task, placement] of placed) placements.set(task, placement);
  }
  return prepared.flatMap((task) => placements.get(task) ?? []);
}

/** Each attempt compares first, so nothing is committed twice. */
async function commitGroup(group: CommitGroup, ports: Ports): Promise<readonly Result<Placement>[]> {
  const writer = group.target.receipt ?? new BranchWriter(group.target, ports);
  // After a write, only the earlier comparison knows the previous content.
  let sent = new Map<number, ComparedItem>();
  const writes = new SentWrites();
  let known: readonly Result<ComparedItem>[] | null = null;
  const attempt = async (): Promise<readonly Result<Placement>[]> => {
    const items = known ?? (await compareGroup(group));
    known = null;
    const pending = items.flatMap((item) => (!hasFailed(item) && item.change ? [item] : []));
    const earlier = new Map(sent);
    for (const item of pending) sent.set(items.indexOf(item), item);
    const changes = pending.flatMap(({ change }) => change ?? []);
    const head = pending[0]?.head ?? null;
    const written = changes.length === 0 ? [] : writes.send(() => writer.write(changes, head));
    const commits = await Promise.resolve(written).catch((thrown: unknown) => {
      known = writer.method === 'A' && isStillTrue(thrown, changes) ? items : null;
      // The branch moved, so this attempt wrote nothing.
      if (toDeliveryError(thrown).code === 'CONFLICT') sent = earlier;
      throw thrown;
    });
    return items.map((item, at) => {
      const before = sent.get(at);
      if (hasFailed(item)) return before ? writes.explain(item) : item.withLeftBehind([]);
      const commit = item.change ? commits[changes.indexOf(item.change)] : item.commitSha;
      if (hasFailed(commit)) return writes.explain(commit);
      return before && writer.method ? withCommit(before, commit, writer.method) : item.placement;
    });
  };
  const done = await resultOf(() => withRetries(ports, attempt));
  if (!hasFailed(done)) return done;
  throw writes.explain(done);
}

/**
 * Whether the comparison still holds, so that many writers need half the requests: a write without a sha replaces
 * nothing.
 */
function isStillTrue(thrown: unknown, changes: readonly Change[]): boolean {
  const { code, httpCode } = toDeliveryError(thrown);
  return code === 'CONFLICT' && httpCode === 409 && changes.every(({ replaces }) => replaces === null);
}
