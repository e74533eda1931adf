import { Readable } from 'node:stream';
import { forEachItem } from '../../async.ts';
import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import { getBranchHead, parentFolders } from '../../github/api/branch.ts';
import { commitChanges } from '../../github/api/git-data.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import { getRunConclusion, nameDeliverer } from '../../github/workflow-run.ts';
import { lineIf, namedLine, nameFew } from '../../plain-text.ts';
import { type RetryPorts, withRetries } from '../../retry.ts';
import type { PlacedTask, Placement } from '../channel.ts';
import { SentWrites } from '../sent-writes.ts';
import { type BranchTree, blobAt, filesBelow } from './branch-reader.ts';
import {
  type DeliveryMessage,
  describeDelivered,
  formatCommitMessage,
  parseMessage,
} from './commit-message.ts';
import { listKept } from './delivery-records.ts';
import { findDeliveredTo } from './ownership.ts';
import { checksOfFiles, fileAt } from './site-checks.ts';
import { isFolderPath, type PagesTask } from './target.ts';

type Placed = PlacedTask<PagesTask>;

/**
 * Puts back what this tool delivered before what is not proven, by a new commit each. If the branch points to a commit
 * of anybody else, nothing is written: somebody may build on what is there.
 *
 * @param step every placement of the step
 */
export async function restoreBefore(failed: readonly Placed[], batch: readonly Placed[], ports: RetryPorts) {
  const ownCommits = new Set(batch.flatMap(({ placement }) => placement.commitSha ?? []));
  // One after the other: each is written on top of the one before.
  return forEachItem(
    failed,
    async (item) => {
      const restored = await restoreItem(item, ownCommits, ports);
      ownCommits.add(restored.commitSha ?? '');
      return restored;
    },
    1,
  );
}

async function restoreItem(
  { task, placement: { written, commitSha } }: Placed,
  ownCommits: ReadonlySet<string>,
  ports: RetryPorts,
): Promise<Placement> {
  const { github, branch, readEntries } = task.target;
  if (!written || commitSha === undefined) throw notRestoredError('this step wrote nothing there');
  const goal = await findGoal(task, commitSha);
  const { message, undone, after } = goal;
  const writes = new SentWrites();
  const put = async (): Promise<string> => {
    const head = await getBranchHead(github, branch);
    if (!ownCommits.has(head)) {
      const last = writes.mayHaveArrived ? await readCommit(task, head) : null;
      // An earlier attempt, whose answer was lost.
      if (last?.text === message && ownCommits.has(last.parent ?? '')) return head;
      throw notRestoredError(`somebody wrote to the branch ${branch} since`);
    }
    const now = head === after.head ? after : { head, entries: await readEntries(head) };
    const change = { message, replaces: null, ...undoAll(undone, now, task.itemPath) };
    const [sha = ''] = await writes.send(() => commitChanges(github, [change], { branch, planned: head }));
    return sha;
  };
  const restoration = await resultOf(() => withRetries(ports, put));
  if (hasFailed(restoration)) throw writes.explain(restoration);
  return describeRestored(task, restoration, goal);
}

async function readCommit({ target: { github } }: PagesTask, sha: string) {
  const { data } = await github.rest.git.getCommit({ ...github.repository, commit_sha: sha });
  return { text: data.message, parent: data.parents?.[0]?.sha };
}

type Undone = readonly [before: BranchTree, after: BranchTree];

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
const PASSED_OVER = 5;

/** Finds the newest delivery before a commit whose run is not known to have been stopped. */
async function findGoal(task: PagesTask, newest: string): Promise<Goal> {
  const { itemPath, target } = task;
  const readTree = async (head: string) => ({ head, entries: await target.readEntries(head) });
  const after = await readTree(newest);
  const undone: Undone[] = [];
  for (let commit = newest; undone.length <= PASSED_OVER; ) {
    const { parent } = await readCommit(task, commit);
    if (parent === undefined) throw notRestoredError('nothing was there before');
    const before = await readTree(parent);
    undone.push([before, await readTree(commit)]);
    const { files, sha, message } = await findDeliveredTo(itemPath, target, before);
    if (files.length === 0) {
      throw notRestoredError('what was there before, if anything, is no delivery of this tool');
    }
    const parsed = parseMessage(message);
    const end = parsed?.from && (await getRunConclusion(target.github, parsed.from));
    if (!STOPPED.includes(end ?? '')) {
      const whose = parsed?.from ? nameDeliverer(parsed.from) : `commit ${sha.slice(0, 7)}`;
      const doubt = `whether the delivery of ${whose}, which was put back, was proven`;
      const unknown = lineIf(end !== 'success', doubt);
      return {
        files,
        message: formatRestored(itemPath, files, parsed, before),
        undone,
        before,
        after,
        unknown,
      };
    }
    commit = sha;
  }
  throw notRestoredError(`the runs of the last ${undone.length} deliveries before it were stopped`);
}

export const notRestoredError = (why: string): DeliveryError =>
  new DeliveryError('NOT_OURS', why, {
    hint: 'deliver the last good version again',
    leftBehind: [],
  });

function formatRestored(
  itemPath: string,
  files: readonly TreeFile[],
  parsed: DeliveryMessage | null,
  before: BranchTree,
): string {
  const kept = isFolderPath(itemPath)
    ? listKept(before, itemPath, new Set(files.map(({ path }) => path)))
    : [];
  return formatCommitMessage(itemPath, {
    verb: 'UPDATE',
    essence: 'put back, because what replaced it is not proven',
    from: parsed?.from,
    delivered: { ...describeDelivered(itemPath, files, kept), page: parsed?.delivered?.page },
  });
}

/**
 * Gives every path that the commits changed what it held before. Nothing is removed beside the place, because other
 * deliveries of the step may need it.
 *
 * @param now what the branch has, and anybody may have written
 * @throws {DeliveryError} `NOT_OURS` that names what others would lose
 */
function undoAll(undone: readonly Undone[], now: BranchTree, itemPath: string) {
  const goal = { ...now, entries: new Map(now.entries) };
  for (const [before, after] of undone) {
    const removed = [...filesBelow(after, itemPath).keys()].filter((path) => !before.entries.has(path));
    const old = [...filesBelow(before, '')].filter(([path]) => idAt(before, path) !== idAt(after, path));
    // A file in the place of a folder would be replaced by that folder.
    const changed = [...old.map(([path]) => path), ...removed].filter(
      (path) =>
        idAt(after, path) !== idAt(goal, path) || parentFolders(path).some((folder) => idAt(goal, folder)),
    );
    if (changed.length > 0) throw notRestoredError(`another commit changed since: ${nameFew(changed)}`);
    for (const path of removed) goal.entries.delete(path);
    for (const [path, entry] of old) goal.entries.set(path, entry);
  }
  const restored = [...filesBelow(goal, '')].filter(([path]) => idAt(goal, path) !== idAt(now, path));
  const removals = [...filesBelow(now, '').keys()].filter((path) => !goal.entries.has(path));
  if (restored.length + removals.length === 0) throw notRestoredError('the branch has what was there before');
  const writes = restored.map(([path, { size, sha: blobSha, mode }]) => {
    if (mode !== '100644') throw notRestoredError(`${path} was no plain file before`);
    // The host has the blob: nothing is read or sent.
    return { path, file: { size, blobSha, read: () => Readable.from([]) } };
  });
  return { writes, removals };
}

/** What a tree has at a path; empty for nothing, or a folder. */
function idAt({ entries }: BranchTree, path: string): string {
  const { type = 'tree', mode, sha } = entries.get(path) ?? {};
  return type === 'tree' ? '' : `${mode} ${sha}`;
}

function describeRestored(task: PagesTask, commitSha: string, goal: Goal): Placement {
  const { files, undone, before, after, unknown } = goal;
  const { destination } = task;
  const page = files.find(({ path }) => path === destination.entryPath) ?? files[0];
  const entries = files.map(({ path }) => {
    const isSame = before.entries.get(path)?.sha === after.entries.get(path)?.sha;
    return fileAt(before.entries, path, isSame ? undefined : blobAt([after.entries], path));
  });
  // A rendered page never has the file's bytes.
  const shown = destination.rivals === undefined ? 'bytes' : 'source';
  const placed = checksOfFiles(entries, page?.path ?? destination.entryPath, task, shown);
  const beside = undone.flatMap(([old, { entries }]) =>
    [...filesBelow({ entries }, '').keys()].filter(
      (path) => !old.entries.has(path) && !path.startsWith(task.itemPath),
    ),
  );
  const passed = undone.slice(1).map(([, { head }]) => head?.slice(0, 7) ?? '');
  const notes = [
    ...namedLine('passed over, because their runs were stopped', passed),
    ...namedLine('beside it stays what was committed', beside),
  ];
  const evidence = `commit ${commitSha} puts back what commit ${before.head} had`;
  return { ...placed, written: true, commitSha, evidence, notes, unknown };
}
