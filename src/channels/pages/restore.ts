import { Readable } from 'node:stream';
import { forEachItem } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { getBranchHead, parentFolders } from '../../github/api/branch.ts';
import { commitChanges } from '../../github/api/git-data.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import type { Change } from '../../github/change.ts';
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
  const readCommit = async (sha: string) => {
    const { data } = await github.rest.git.getCommit({ ...github.repository, commit_sha: sha });
    return { text: data.message, parent: data.parents?.[0]?.sha };
  };
  if (!written || commitSha === undefined) throw notRestoredError('this step wrote nothing there');
  const readTree = async (sha: string) => ({ head: sha, entries: await readEntries(sha) });
  const { parent } = await readCommit(commitSha);
  if (parent === undefined) throw notRestoredError('nothing was there before');
  const before = await readTree(parent);
  const after = await readTree(commitSha);
  const { files, message } = await findDeliveredTo(task.place, task.target, before);
  if (files.length === 0) {
    throw notRestoredError('what was there before, if anything, is no delivery of this tool');
  }
  const told = { message: formatRestored(task.place, files, message, before), replaces: null };
  const writes = new SentWrites();
  const put = async (): Promise<string> => {
    const head = await getBranchHead(github, branch);
    if (!own.has(head)) {
      const last = writes.mayHaveArrived ? await readCommit(head) : null;
      // An earlier attempt, whose answer was lost.
      if (last?.text === told.message && own.has(last.parent ?? '')) return head;
      throw notRestoredError(`somebody wrote to the branch ${branch} since`);
    }
    const now = head === commitSha ? after : await readTree(head);
    const change = { ...told, ...compareTrees(before, after, now, task.place) };
    const [sha = ''] = await writes.send(() => commitChanges(github, [change], { branch, planned: head }));
    return sha;
  };
  const back = await resultOf(() => withRetries(ports, put));
  if (hasFailed(back)) throw writes.explain(back);
  return describeRestored(task, back, files, [before, after]);
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
 * What brings back one state of the branch in every path that another one has otherwise. Nothing is removed beside the
 * place: a file for the whole site may be what other deliveries of the step need.
 *
 * @param now what the branch has: between two pushes of a step, anybody may have written to what the first of them left
 * @param place the folder; or the file, whose name those of its pictures begin with
 * @throws {DeliveryError} `NOT_OURS` that names what others would lose
 */
function compareTrees(
  before: BranchTree,
  after: BranchTree,
  now: BranchTree,
  place: string,
): Pick<Change, 'writes' | 'removals'> {
  const idAt = ({ entries }: BranchTree, path: string): string => {
    const { type = 'tree', mode, sha } = entries.get(path) ?? {};
    return type === 'tree' ? '' : `${mode} ${sha}`;
  };
  const old = [...filesBelow(before, '')].filter(([path]) => idAt(before, path) !== idAt(after, path));
  const removals = [...filesBelow(after, place).keys()].filter((path) => !before.entries.has(path));
  // A file in the place of a folder would be replaced by that folder.
  const changed = [...old.map(([path]) => path), ...removals].filter(
    (path) => idAt(after, path) !== idAt(now, path) || parentFolders(path).some((one) => idAt(now, one)),
  );
  if (changed.length > 0) throw notRestoredError(`another commit changed since: ${nameFew(changed)}`);
  const writes = old.map(([path, { size, sha: blobSha, mode }]) => {
    if (mode !== '100644') throw notRestoredError(`${path} was no plain file before`);
    // The host has the blob: nothing is read or sent.
    return { path, file: { size, blobSha, read: () => Readable.from([]) } };
  });
  return { writes, removals };
}

/** Where it is served again, and what was there meanwhile. */
function describeRestored(
  task: PagesTask,
  commitSha: string,
  files: readonly TreeFile[],
  [before, after]: readonly [BranchTree, BranchTree],
): Placement {
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
  const beside = [...filesBelow(after, '').keys()].filter(
    (path) => !before.entries.has(path) && !path.startsWith(task.place),
  );
  const notes = beside.length === 0 ? [] : [`beside it stays what was committed: ${nameFew(beside)}`];
  const evidence = `commit ${commitSha} puts back what commit ${before.head} had`;
  const earlier = earlierAt(page);
  const told = { bypassCache: true, written: true, notes };
  return { ...told, ...placed, commitSha, evidence, ...(earlier && { earlier }) };
}
