import { forEachItem, resultsOfAll } from '../../async.ts';
import { hasFailed, type Result, resultOf, toDeliveryError } from '../../errors.ts';
import type { Change } from '../../github/change.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { Placement } from '../channel.ts';
import { SentWrites } from '../sent-writes.ts';
import { countChanges, formatChangeCounts } from '../site-changes.ts';
import type { ComparedPlace } from './compare.ts';
import { compareFiles } from './compare-files.ts';
import { compareSite } from './compare-folder.ts';
import { compareRemovedFolder } from './compare-removal.ts';
import { listPictures } from './pictures.ts';
import { withCommit } from './placement.ts';
import { describeSetup } from './set-up.ts';
import { type CommitTarget, isFolderPath, isRemoval, type PagesTask } from './target.ts';
import { BranchWriter, refuseUnwritable } from './write-changes.ts';

type Tasks = readonly PagesTask[];

/** The task with the pictures of its page among its files. */
export const withPictures = (task: PagesTask): PagesTask => ({
  ...task,
  files: [...task.files, ...(task.pictures ? listPictures(task.pictures, task.destination.path) : [])],
});

/** What is written together: all files of a step, or one folder. */
interface CommitGroup {
  readonly tasks: Tasks;
  readonly target: CommitTarget;
  /** The folders of the step. */
  readonly folders: readonly string[];
}

/** Files come before the folders that take them over, and after the folders that are removed. */
function groupTasks(all: Tasks): readonly CommitGroup[] {
  const folders = all.filter(({ place }) => isFolderPath(place));
  const files = all.filter(({ place }) => !isFolderPath(place));
  const single = folders.map((one) => [one]);
  const paths = folders.map(({ place }) => place);
  return (all.some(isRemoval) ? [...single, files] : [files, ...single]).flatMap((tasks) =>
    tasks[0] === undefined ? [] : [{ tasks, target: tasks[0].target, folders: paths }],
  );
}

/** Compares a group with the branch as it is now. */
async function compareGroup(group: CommitGroup): Promise<readonly Result<ComparedPlace>[]> {
  const tasks = group.tasks.map(withPictures);
  const [first] = tasks;
  if (first === undefined || !isFolderPath(first.place)) return compareFiles(tasks);
  return [await (isRemoval(first) ? compareRemovedFolder(first) : compareSite(first, group.folders))];
}

/** What committing would do: the first line of each commit's message, or that nothing has to be done. Reads only. */
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
  return forEachItem(await compareGroup(group), async (place) => {
    if (hasFailed(place)) throw place;
    const { change, placement } = place;
    const { changes, evidence, notes = [] } = placement;
    const setup = describeSetup(target);
    if (change === undefined) return evidence + setup;
    if (changes) await refuseUnwritable(change, target, ports);
    const counts = changes && formatChangeCounts(countChanges(changes));
    const told = [...(counts ? [`files: ${counts}`] : []), ...notes];
    const further = told.length === 0 ? '' : ` (${told.join('; ')})`;
    return `commit "${change.message.split('\n')[0]}"${further}${setup}`;
  });
}

/** Makes a commit for all files and one for each folder. */
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
  const writer = new BranchWriter(group.target, ports);
  // What was sent last to each place tells more of what was there before than a look at the result.
  const sent = new Map<number, ComparedPlace>();
  const writes = new SentWrites();
  let known: readonly Result<ComparedPlace>[] | null = null;
  const attempt = async (): Promise<readonly Result<Placement>[]> => {
    const places = known ?? (await compareGroup(group));
    known = null;
    const open = places.flatMap((one) => (!hasFailed(one) && one.change ? [one] : []));
    for (const one of open) sent.set(places.indexOf(one), one);
    const changes = open.flatMap(({ change }) => change ?? []);
    const head = open[0]?.head ?? null;
    const written = changes.length === 0 ? [] : writes.send(() => writer.write(changes, head));
    const commits = await Promise.resolve(written).catch((thrown: unknown) => {
      known = writer.method === 'A' && isStillTrue(thrown, changes) ? places : null;
      throw thrown;
    });
    return places.map((one, at) => {
      const before = sent.get(at);
      if (hasFailed(one)) return before ? writes.explain(one) : one.withLeftBehind([]);
      const commit = one.change ? commits[changes.indexOf(one.change)] : one.commitSha;
      if (hasFailed(commit)) return writes.explain(commit);
      return before && writer.method ? withCommit(before, commit, writer.method) : one.placement;
    });
  };
  const done = await resultOf(() => withRetries(ports, attempt));
  if (!hasFailed(done)) return done;
  throw writes.explain(done);
}

/**
 * Whether the comparison need not be repeated: the host refused the write because the branch moved, and a write
 * without a sha replaces nothing. With many writers at once this saves half of all calls.
 */
function isStillTrue(thrown: unknown, changes: readonly Change[]): boolean {
  const { code, httpCode } = toDeliveryError(thrown);
  return code === 'CONFLICT' && httpCode === 409 && changes.every(({ replaces }) => replaces === null);
}
