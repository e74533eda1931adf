import { Readable } from 'node:stream';
import { forEachItem } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { getBranchHead, parentFolders } from '../../github/api/branch.ts';
import { commitChanges } from '../../github/api/git-data.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import type { Change } from '../../github/change.ts';
import { getRunConclusion, nameRun } from '../../github/workflow-run.ts';
import { nameFew } from '../../plain-text.ts';
import { type RetryPorts, withRetries } from '../../retry.ts';
import type { PlacedTask, Placement } from '../channel.ts';
import { SentWrites } from '../sent-writes.ts';
import { type BranchTree, blobAt, filesBelow } from './branch-reader.ts';
import { listKept } from './claims.ts';
import { describeDelivered, formatCommitMessage, parseMessage } from './commit-message.ts';
import { addressesOfHeld } from './held-files.ts';
import { findDeliveredTo } from './ownership.ts';
import { isFolderPath, type PagesTask } from './target.ts';

type Placed = PlacedTask<PagesTask>;

/**
 * Puts back what this tool delivered before to the places of deliveries that are not proven: a new commit each, which
 * gives every path that the delivery changed what it held before. Nothing is written where the branch points to
 * anything but a commit of this step: somebody may build on what is there. Nor is what anybody wrote between its pushes.
 *
 * @param step every placement of the step
 */
export async function restoreBefore(
  failed: readonly Placed[],
  step: readonly Placed[],
  ports: RetryPorts,
): Promise<readonly Result<Placement>[]> {
  const own = new Set(step.flatMap(({ placement }) => placement.commitSha ?? []));
  // One after the other: each is written on top of the one before.
  return forEachItem(
    failed,
    async (one) => {
      const restored = await restore(one, own, ports);
      own.add(restored.commitSha ?? '');
      return restored;
    },
    1,
  );
}

async function restore(
  { task, placement: { written, commitSha } }: Placed,
  own: ReadonlySet<string>,
  ports: RetryPorts,
): Promise<Placement> {
  const { github, branch, readEntries } = task.target;
  if (!written || commitSha === undefined) throw notRestoredError('this step wrote nothing there');
  const goal = await findGoal(task, commitSha);
  const { message, undone, after } = goal;
  const writes = new SentWrites();
  const put = async (): Promise<string> => {
    const head = await getBranchHead(github, branch);
    if (!own.has(head)) {
      const last = writes.mayHaveArrived ? await readCommit(task, head) : null;
      // An earlier attempt, whose answer was lost.
      if (last?.text === message && own.has(last.parent ?? '')) return head;
      throw notRestoredError(`somebody wrote to the branch ${branch} since`);
    }
    const now = head === after.head ? after : { head, entries: await readEntries(head) };
    const change = { message, replaces: null, ...undoAll(undone, now, task.place) };
    const [sha = ''] = await writes.send(() => commitChanges(github, [change], { branch, planned: head }));
    return sha;
  };
  const back = await resultOf(() => withRetries(ports, put));
  if (hasFailed(back)) throw writes.explain(back);
  return describeRestored(task, back, goal);
}

async function readCommit({ target: { github } }: PagesTask, sha: string) {
  const { data } = await github.rest.git.getCommit({ ...github.repository, commit_sha: sha });
  return { text: data.message, parent: data.parents?.[0]?.sha };
}

/** What the branch had before a commit, and with it. */
type Undone = readonly [before: BranchTree, after: BranchTree];

/** What is put back. */
interface Goal {
  readonly files: readonly TreeFile[];
  readonly message: string;
  /** The commits that are undone for it, the newest first. */
  readonly undone: readonly Undone[];
  /** The branch before all of them, and with the newest. */
  readonly before: BranchTree;
  readonly after: BranchTree;
  readonly unknown: readonly string[];
}

/** GitHub's words for a run that was stopped: what it committed was neither proven nor put back. */
const STOPPED = ['cancelled', 'timed_out'];
/** How many deliveries of such runs are passed over. */
const PASSED_OVER = 5;

/** Finds the newest delivery before a commit whose run is not known to have been stopped. */
async function findGoal(task: PagesTask, commit: string, newer: readonly Undone[] = []): Promise<Goal> {
  const { place, target } = task;
  const { parent } = await readCommit(task, commit);
  if (parent === undefined) throw notRestoredError('nothing was there before');
  const readTree = async (head: string) => ({ head, entries: await target.readEntries(head) });
  const before = await readTree(parent);
  const after = await readTree(commit);
  const { files, sha, message } = await findDeliveredTo(place, target, before);
  if (files.length === 0) {
    throw notRestoredError('what was there before, if anything, is no delivery of this tool');
  }
  const undone: readonly Undone[] = [...newer, [before, after]];
  const { from } = parseMessage(message) ?? {};
  const end = from && (await getRunConclusion(target.github, from));
  if (!STOPPED.includes(end ?? '')) {
    const whose = from === undefined ? `commit ${sha.slice(0, 7)}` : nameRun(from);
    return {
      files,
      message: formatRestored(place, files, message, before),
      undone,
      before,
      after: newer[0]?.[1] ?? after,
      unknown: end === 'success' ? [] : [`whether the delivery of ${whose}, which was put back, was proven`],
    };
  }
  if (undone.length <= PASSED_OVER) return findGoal(task, sha, undone);
  throw notRestoredError(`the runs of the last ${undone.length} deliveries before it were stopped`);
}

export const notRestoredError = (why: string): DeliveryError =>
  new DeliveryError('NOT_OURS', why, {
    hint: 'deliver the last good version again',
    leftBehind: [],
  });

/** The message of what was delivered before, so that it is known as ours as it was. */
function formatRestored(
  place: string,
  files: readonly TreeFile[],
  message: string,
  before: BranchTree,
): string {
  const kept = isFolderPath(place) ? listKept(before, place, new Set(files.map(({ path }) => path))) : [];
  const said = parseMessage(message);
  return formatCommitMessage(place, {
    verb: 'UPDATE',
    essence: 'put back, because what replaced it is not proven',
    from: said?.from,
    confinedTo: said?.confinedTo,
    delivered: describeDelivered(place, files, kept),
  });
}

/**
 * What brings back, in every path that commits changed, what it held before. Nothing is removed beside the place: a file
 * for the whole site may be what other deliveries of the step need.
 *
 * @param now what the branch has: between two pushes of a step, anybody may have written to what the first of them left
 * @param place the folder; or the file, whose name those of its pictures begin with
 * @throws {DeliveryError} `NOT_OURS` that names what others would lose
 */
function undoAll(
  undone: readonly Undone[],
  now: BranchTree,
  place: string,
): Pick<Change, 'writes' | 'removals'> {
  const entries = new Map(now.entries);
  for (const [before, after] of undone) {
    const removed = [...filesBelow(after, place).keys()].filter((path) => !before.entries.has(path));
    const old = [...filesBelow(before, '')].filter(([path]) => idAt(before, path) !== idAt(after, path));
    // A file in the place of a folder would be replaced by that folder.
    const changed = [...old.map(([path]) => path), ...removed].filter(
      (path) =>
        idAt(after, path) !== idAt({ entries }, path) ||
        parentFolders(path).some((one) => idAt({ entries }, one)),
    );
    if (changed.length > 0) throw notRestoredError(`another commit changed since: ${nameFew(changed)}`);
    for (const path of removed) entries.delete(path);
    for (const [path, entry] of old) entries.set(path, entry);
  }
  const back = [...filesBelow({ entries }, '')].filter(
    ([path]) => idAt({ entries }, path) !== idAt(now, path),
  );
  const removals = [...filesBelow(now, '').keys()].filter((path) => !entries.has(path));
  if (back.length + removals.length === 0)
    throw notRestoredError('the branch has just what was there before');
  const writes = back.map(([path, { size, sha: blobSha, mode }]) => {
    if (mode !== '100644') throw notRestoredError(`${path} was no plain file before`);
    // The host has the blob: nothing is read or sent.
    return { path, file: { size, blobSha, read: () => Readable.from([]) } };
  });
  return { writes, removals };
}

/** What a tree has at a path; empty for nothing, or a folder. */
function idAt({ entries }: Pick<BranchTree, 'entries'>, path: string): string {
  const { type = 'tree', mode, sha } = entries.get(path) ?? {};
  return type === 'tree' ? '' : `${mode} ${sha}`;
}

/** Where it is served again, and what was there meanwhile. */
function describeRestored(task: PagesTask, commitSha: string, goal: Goal): Placement {
  const { files, undone, before, after, unknown } = goal;
  const { destination } = task;
  const all = files.map((one) => one.path);
  const page = all.includes(destination.path) ? destination.path : (all[0] ?? destination.path);
  const paths = [page, ...all.filter((one) => one !== page)];
  const earlierAt = (path: string) =>
    before.entries.get(path)?.sha === after.entries.get(path)?.sha
      ? undefined
      : blobAt([after.entries], path);
  // A rendered page never has the file's bytes.
  const isRendered = destination.rivals !== undefined;
  const placed = addressesOfHeld(paths, before.entries, task, { isRendered, earlierAt });
  const beside = undone.flatMap(([old, { entries }]) =>
    [...filesBelow({ entries }, '').keys()].filter(
      (path) => !old.entries.has(path) && !path.startsWith(task.place),
    ),
  );
  const passed = undone.slice(1).map(([, { head }]) => head?.slice(0, 7) ?? '');
  const notes = [
    ...(passed.length === 0 ? [] : [`passed over, because their runs were stopped: ${nameFew(passed)}`]),
    ...(beside.length === 0 ? [] : [`beside it stays what was committed: ${nameFew(beside)}`]),
  ];
  const evidence = `commit ${commitSha} puts back what commit ${before.head} had`;
  const earlier = earlierAt(page);
  const told = { bypassCache: true, written: true, notes, unknown };
  return { ...told, ...placed, commitSha, evidence, ...(earlier && { earlier }) };
}
