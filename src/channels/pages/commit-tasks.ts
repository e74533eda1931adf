import { forEachItem, type ItemResult } from '../../async.ts';
import { hasFailed, type Result, resultOf } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import type { Placement, PreparedTask } from '../channel.ts';
import { type BranchComparison, type CommittedPlace, type ComparedPlace, commitCompared } from './commit.ts';
import { compareFiles } from './compare-files.ts';
import { compareRemoval } from './compare-removal.ts';
import { compareSite } from './compare-site.ts';
import { listPictures, placePictures } from './pictures.ts';
import { describeChanges, describeRemoval } from './placement.ts';
import {
  COMMIT_METHODS,
  type CommitTarget,
  type FolderTarget,
  methodOf,
  type PagesTask,
  readTargetTree,
} from './target.ts';
import { refuseUnwritable } from './write-changes.ts';

interface FolderTask extends PagesTask {
  readonly target: FolderTarget;
}

type Tasks = readonly PreparedTask<PagesTask>[];
type TaskResults<Value> = readonly ItemResult<PreparedTask<PagesTask>, Value>[];

const isForFolder = (task: PagesTask): task is FolderTask => 'folder' in task.target;

/** What is compared and written together: all files of a step, or one folder. */
interface TaskGroup {
  readonly tasks: Tasks;
  /** Those of the tasks, with the pictures of their pages. */
  readonly items: readonly PagesTask[];
}

/** Files before the folders that take them over, and after those that are removed, which then are as delivered. */
function groupTasks(tasks: Tasks): readonly TaskGroup[] {
  const folders = tasks.flatMap(({ data }) => (isForFolder(data) ? [data.target.folder] : []));
  const files = tasks.filter(({ data }) => !isForFolder(data));
  const sites = tasks.filter(({ data }) => isForFolder(data) && data.site !== undefined);
  const removals = tasks.filter(({ data }) => isForFolder(data) && data.site === undefined);
  return [...removals.map((one) => [one]), files, ...sites.map((one) => [one])].map((together) => ({
    tasks: together,
    items: together.map((one) => withPictures(one, folders)),
  }));
}

/** The tasks of a step with the pictures of their pages, in their order. */
export const listTogether = (tasks: Tasks): readonly PagesTask[] => tasks.map((one) => withPictures(one, []));

/** @param together all folders of the step: one may not remove another as an old one */
function withPictures({ data, pictures }: PreparedTask<PagesTask>, together: readonly string[]): PagesTask {
  const task = isForFolder(data) ? { ...data, target: { ...data.target, together } } : data;
  if (pictures === undefined) return task;
  const placedPictures = placePictures(pictures, data.destination.pageUrl);
  return pictures.site == null
    ? { ...task, placedPictures, pictures: listPictures(pictures, data.path) }
    : { ...task, placedPictures, site: pictures.site };
}

/** Compares a group with the branch, all in the same commit of it. */
async function compareGroup(
  items: readonly PagesTask[],
  target: CommitTarget,
  sent: ReadonlySet<PagesTask> = new Set(),
): Promise<BranchComparison<PagesTask>> {
  const [first] = items;
  if (first === undefined || !isForFolder(first)) return compareFiles(items, target, sent);
  const now = { ...first.target, ...target };
  const tree = await readTargetTree(now);
  const place =
    first.site === undefined ? compareRemoval(now, tree, sent.size > 0) : compareSite(first.site, now, tree);
  return { head: tree.head, places: [{ item: first, result: await place }] };
}

/** Commits the tasks, a commit each, and gives each its placement: an update of the branch for all files, and each folder. */
export async function commitTasks(
  tasks: Tasks,
  ports: Ports,
  placementOf: (done: CommittedPlace, task: PagesTask) => Placement,
): Promise<TaskResults<Placement>> {
  return forEachGroup(tasks, async (items, target) => {
    const compare = (now: CommitTarget, sent: ReadonlySet<PagesTask>) => compareGroup(items, now, sent);
    return (await commitCompared(compare, target, ports)).map(({ item, result }) =>
      hasFailed(result) ? result : placementOf(result, item),
    );
  });
}

/** What committing would do: the first line of each message, or that nothing has to be done. Reads only. */
export async function previewCommits(
  tasks: Tasks,
  ports: Pick<Ports, 'signal'>,
  nothingIn: (place: ComparedPlace) => string,
): Promise<TaskResults<string>> {
  return forEachGroup(tasks, async (items, target) => {
    const { places } = await compareGroup(items, target);
    const described = await forEachItem(places, async ({ item, result }) => {
      if (hasFailed(result)) throw result;
      const place = result;
      if (place.change === undefined) return nothingIn(place);
      if (item.site !== undefined) await refuseUnwritable(place.change, target, ports);
      return (place.change.message.split('\n')[0] ?? '') + describeFurther(place, target);
    });
    return described.map(({ result }) => result);
  });
}

async function forEachGroup<Value>(
  tasks: Tasks,
  work: (items: readonly PagesTask[], target: CommitTarget) => Promise<readonly Result<Value>[]>,
): Promise<TaskResults<Value>> {
  const results: ItemResult<PreparedTask<PagesTask>, Value>[] = [];
  for (const { tasks: together, items } of groupTasks(tasks)) {
    const [first] = items;
    if (first === undefined) continue;
    const done = await resultOf(() => work(items, first.target));
    for (const [nth, item] of together.entries()) {
      results.push({
        item,
        result: hasFailed(done) ? done : ((done as readonly Result<Value>[])[nth] as Result<Value>),
      });
    }
  }
  return results;
}

/** What changes beside the first line of the message; the method, where it is another one than planned. */
function describeFurther({ change, delivered, removed }: ComparedPlace, target: CommitTarget): string {
  if (delivered !== undefined) return ` (${describeChanges(delivered).join('; ')})`;
  if (removed !== undefined) return ` (${describeRemoval(removed)})`;
  const method = change === undefined ? target.method : methodOf([change], target);
  if (method === target.method) return '';
  return `, by ${COMMIT_METHODS[method]}, because its pictures change with it`;
}
