import { Readable } from 'node:stream';
import { forEachItem } from '../../async.ts';
import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import { parentFolders } from '../../github/api/branch.ts';
import { commitChanges } from '../../github/api/git-data.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import { getRunConclusion, nameDeliverer } from '../../github/workflow-run.ts';
import { lineIf, namedLine, nameFew } from '../../plain-text.ts';
import { type RetryPorts, withRetries } from '../../retry.ts';
import { isFolderPath } from '../../rules/naming.ts';
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
import type { PagesTask } from './target.ts';

type Placed = PlacedTask<PagesTask>;

/**
 * Restores what each failed item replaced, with a new commit. If others committed since, nothing is written.
 * @param batch everything that was placed together
 */
export async function restoreBefore(failed: readonly Placed[], batch: readonly Placed[], ports: RetryPorts) {
  const ownCommits = new Set(batch.flatMap(({ placement }) => placement.commitSha ?? []));
  // One at a time: each commit builds on the one before.
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
  const { github, branch, history } = task.target;
  if (!written || commitSha === undefined) throw notRestoredError('this step wrote nothing there');
  const goal = await findGoal(task, commitSha);
  const { message, undone, after } = goal;
  const writes = new SentWrites();
  const put = async (): Promise<string> => {
    const head = await history.readHead();
    if (!ownCommits.has(head)) {
      const last = writes.mayHaveArrived ? await readCommit(task, head) : null;
      // An earlier attempt arrived, but its answer was lost.
      if (last?.text === message && ownCommits.has(last.parent ?? '')) return head;
      throw notRestoredError(`somebody wrote to the branch ${branch} since`);
    }
    const now = head === after.head ? after : { head, entries: await history.readEntries(head) };
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
  readonly undone: readonly Undone[];
  /** The branch before all undone commits, and after the newest. */
  readonly before: BranchTree;
  readonly after: BranchTree;
  readonly unknown: readonly string[];
}

/** Stopped runs neither verified nor restored what they committed. */
const STOPPED = ['cancelled', 'timed_out'];
const PASSED_OVER = 5;

/** Finds the newest earlier delivery whose run isn't known to have been stopped. */
async function findGoal(task: PagesTask, newest: string): Promise<Goal> {
  const { itemPath, target } = task;
  const readTree = async (head: string) => ({ head, entries: await target.history.readEntries(head) });
  const after = await readTree(newest);
  const undone: Undone[] = [];
  for (let commit = newest; undone.length <= PASSED_OVER; ) {
    const { parent } = await readCommit(task, commit);
    if (parent === undefined) throw notRestoredError('nothing was there before');
    const before = await readTree(parent);
    undone.push([before, await readTree(commit)]);
    const { files, sha, message } = await findDeliveredTo(itemPath, target, before);
    if (files.length === 0) {
      throw notRestoredError("this tool didn't deliver the previous content");
    }
    const parsed = parseMessage(message);
    const end = parsed?.deliverer && (await getRunConclusion(target.github, parsed.deliverer));
    if (!STOPPED.includes(end ?? '')) {
      const whose = parsed?.deliverer ? nameDeliverer(parsed.deliverer) : `commit ${sha.slice(0, 7)}`;
      const doubt = `whether the restored delivery of ${whose} was ever verified`;
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
    essence: 'restored, because what replaced it was not verified',
    deliverer: parsed?.deliverer,
    delivered: { ...describeDelivered(itemPath, files, kept), page: parsed?.delivered?.page },
  });
}

/**
 * Undoes the commits. Files outside the item stay, because other deliveries may need them.
 * @throws {DeliveryError} `NOT_OURS` that names what others would lose
 */
function undoAll(undone: readonly Undone[], now: BranchTree, itemPath: string) {
  const goal = { ...now, entries: new Map(now.entries) };
  for (const [before, after] of undone) {
    const removed = [...filesBelow(after, itemPath).keys()].filter((path) => !before.entries.has(path));
    const old = [...filesBelow(before, '')].filter(([path]) => idAt(before, path) !== idAt(after, path));
    // A restored file must not replace a folder with somebody else's files.
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
  if (restored.length + removals.length === 0)
    throw notRestoredError('the branch already has the previous content');
  const writes = restored.map(([path, { size, sha: blobSha, mode }]) => {
    if (mode !== '100644') throw notRestoredError(`${path} wasn't a plain file before`);
    // GitHub already has the blob, so nothing is sent.
    return { path, file: { size, blobSha, read: () => Readable.from([]) } };
  });
  return { writes, removals };
}

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
  // A rendered page never equals its file.
  const shown = destination.rivals === undefined ? 'bytes' : 'source';
  const placed = checksOfFiles(entries, page?.path ?? destination.entryPath, task, shown);
  const beside = undone.flatMap(([old, { entries }]) =>
    [...filesBelow({ entries }, '').keys()].filter(
      (path) => !old.entries.has(path) && !path.startsWith(task.itemPath),
    ),
  );
  const passed = undone.slice(1).map(([, { head }]) => head?.slice(0, 7) ?? '');
  const notes = [
    ...namedLine('skipped, because their runs were stopped', passed),
    ...namedLine('other files of the undone commits stay', beside),
  ];
  const evidence = `commit ${commitSha} puts back what commit ${before.head} had`;
  return { ...placed, written: true, commitSha, evidence, notes, unknown };
}
