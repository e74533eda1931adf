import { hasFailed, type Result, resultOf } from '../../errors.ts';
import { parentFolders } from '../../github/api/branch.ts';
import { findPullHome, type PullState, readPullStates } from '../../github/api/pull-requests.ts';
import { lineIf, namedLine } from '../../plain-text.ts';
import { HOUR, SITE } from '../../protocol/limits.ts';
import { pullNumberOf } from '../../rules/naming.ts';
import { type BranchTree, filesBelow, holdsFile } from './branch-reader.ts';
import { parseMessage } from './commit-message.ts';
import { type ComparedItem, planChange } from './compare.ts';
import { addressOf } from './destination.ts';
import { notOursError } from './not-ours.ts';
import { isFromSame, isOwned, listSiblings } from './ownership.ts';
import { describeRemoved } from './placement.ts';
import { type PagesTask, readTargetTree, type Sweep } from './target.ts';

/** A folder directly below the swept one. */
type Child = Awaited<ReturnType<typeof listChildren>>[number];

const NOTES = {
  open: 'still there, because its pull request is open',
  late: 'still there, because it was delivered after its pull request was closed',
  other: 'still there, because another workflow delivered it, and only a sweep in the same file counts it',
  unknown: 'still there, because it is not as this tool delivered it',
} as const;

type Verdict = keyof typeof NOTES | 'due' | 'young' | 'unread';

/**
 * Finds the folders directly below that only the same workflow delivered, and that are old or no longer needed. The
 * task is done already if there are none.
 */
export async function planSweep(task: PagesTask, now: number): Promise<PagesTask> {
  const tree = await readTargetTree(task.target);
  const children = await listChildren(task, tree);
  const { verdicts, why } = await judgeChildren(children, task, now);
  const pathsOf = (verdict: Verdict) => (verdicts.get(verdict) ?? []).map(({ path }) => path);
  const due = (verdicts.get('due') ?? []).map(({ path, messages }) => {
    const ended = messages.flatMap((message) => parseMessage(message)?.delivered?.itemPath ?? []);
    const treeSha = tree.entries.get(path.slice(0, -1))?.sha;
    return { path, treeSha, files: filesBelow(tree, path), itemPaths: [...new Set([path, ...ended])] };
  });
  const notes = [
    ...Object.entries(NOTES).flatMap(([verdict, note]) => namedLine(note, pathsOf(verdict as Verdict))),
    ...lineIf(children.length === SITE.siblings, `only the first ${SITE.siblings} folders were checked`),
  ];
  const unknown = namedLine(
    `whether the pull request is closed${why}, so it is still there`,
    pathsOf('unread'),
  );
  const idle = { reason: 'no folder that this tool delivered is due', notes };
  return { ...task, sweep: { due, notes }, unknown, ...(due.length === 0 && { idle }) };
}

/** A name may end in a pull request's number in any way, such as `k8s-pr-1/`. That keeps an old folder, and removes none. */
const endNumberOf = (folder: string): number | null => Number(/[1-9]\d*(?=\/$)/.exec(folder)?.[0]) || null;

/** Ownership decides first, then the pull request that a folder is named after, then its age. */
async function judgeChildren(
  children: readonly Child[],
  { target: { github, options } }: PagesTask,
  now: number,
) {
  const { olderThan = Number.POSITIVE_INFINITY, closed, deliverer } = options;
  const isOld = ({ delivered }: Child): boolean => now - delivered >= olderThan;
  const isOwn = ({ messages }: Child): boolean => messages.every((text) => isFromSame(text, options));
  const numberOf = (child: Child): number | null =>
    pullNumberOf(child.path) ?? (isOld(child) ? endNumberOf(child.path) : null);
  const asked = children.filter((child) => isOwn(child) && (closed || isOld(child)));
  const numbers = asked.flatMap((child) => numberOf(child) ?? []);
  const states: Result<ReadonlyMap<number, PullState>> =
    numbers.length === 0 ? new Map() : await resultOf(() => readPullStates(github, numbers, deliverer));
  const home = findPullHome(github, deliverer);
  const isHere = (text: string): boolean => findPullHome(github, parseMessage(text)?.deliverer) === home;
  const verdicts = Map.groupBy(children, (child): Verdict => {
    const { path, messages, delivered } = child;
    if (messages.includes('')) return 'unknown';
    if (!isOwn(child)) return 'other';
    const age = isOld(child) ? 'due' : 'young';
    const number = numberOf(child);
    if (number === null || !asked.includes(child)) return age;
    // A date or a version may end in the number of a pull request that is too old to be listed.
    const unlisted = pullNumberOf(path) === null ? 'none' : 'unread';
    const isRead = messages.every(isHere) && !hasFailed(states);
    const state = isRead ? (states.get(number) ?? unlisted) : 'unread';
    if (typeof state === 'string') return state === 'none' ? age : state;
    // A branch may end in the number of an older pull request. A run may end after its pull request.
    return age === 'due' || delivered <= state + HOUR ? 'due' : 'late';
  });
  if (!hasFailed(states)) return { verdicts, why: '' };
  const grant = states.code === 'NO_PERMISSION' ? '; give the job `pull-requests: read`' : '';
  return { verdicts, why: ` (${states.message}${grant})` };
}

/**
 * Lists the folders with the messages that delivered their files: `''` for a file that differs from its delivery. The
 * last commit of each path shows that, however long the history is.
 */
async function listChildren({ itemPath, target }: PagesTask, tree: BranchTree) {
  const { head, entries } = tree;
  if (head === null) return [];
  const names = listSiblings(entries, itemPath)
    .map((path) => path.slice(0, -1))
    .slice(0, SITE.siblings);
  const commits = new Map(await target.history.readLastCommits(head, names));
  const messageOf = (path: string): string => commits.get(path)?.message ?? '';
  const isAsDelivered = (path: string): boolean => {
    const { sha = '', type } = entries.get(path) ?? {};
    const { itemPath, object } = parseMessage(messageOf(path))?.delivered ?? {};
    if (type === 'tree') return itemPath === `${path}/` && object === sha;
    return holdsFile(tree, { path, sha }) && isOwned(messageOf(path), { path, sha });
  };
  // A folder may have several deliveries of this tool in it.
  const mixed = names.filter((name) => !isAsDelivered(name) && parseMessage(messageOf(name)) !== null);
  const inner = [...entries.keys()].filter((entry) => mixed.some((name) => entry.startsWith(`${name}/`)));
  const further = await target.history.readLastCommits(head, inner.slice(0, SITE.singleFiles));
  for (const [path, commit] of further) commits.set(path, commit);
  const delivered = new Set([...commits.keys()].filter(isAsDelivered));
  return names.map((name) => {
    const messages = new Set(
      [...filesBelow(tree, `${name}/`).keys()].map((file) =>
        messageOf([file, ...parentFolders(file)].find((path) => delivered.has(path)) ?? ''),
      ),
    );
    return {
      path: `${name}/`,
      messages: [...messages],
      delivered: Date.parse(commits.get(name)?.date ?? ''),
    };
  });
}

/** Removes the folders that are as they were planned. What another run removed meanwhile is verified too. */
export async function compareSweep(task: PagesTask, { due, notes }: Sweep): Promise<ComparedItem> {
  const tree = await readTargetTree(task.target);
  const swept = due.filter(({ path, treeSha }) => tree.entries.get(path.slice(0, -1))?.sha === treeSha);
  const paths = swept.map(({ path }) => path);
  const others = due.flatMap(({ path }) => (paths.includes(path) ? [] : path));
  const item = planChange(task, {
    ...{ ...tree, owned: new Set(swept.flatMap(({ files }) => [...files.keys()])) },
    named: { removed: swept.flatMap(({ itemPaths }) => itemPaths), removedFrom: [] },
    notes: [
      ...namedLine('removed, because it is old or its pull request is closed', paths),
      ...namedLine('changed meanwhile', others),
      ...notes,
    ],
  });
  const removals = new Set(item.change?.removals);
  const rest = new Map([...tree.entries].filter(([path]) => !removals.has(path)));
  const gone = due.flatMap(({ files }) => [...files].filter(([path]) => !rest.has(path)));
  if (gone.length === 0) {
    throw notOursError('the folders that were due changed meanwhile, so nothing was removed', 'run it again');
  }
  const placement = describeRemoved(item, new Map(gone.map(([path, blob]) => [path, [blob]])), rest);
  const checks = placement.others ?? [];
  const more = checks.length + 1 - SITE.plainProbes;
  const open = `whether ${more} more removed files are gone: ${SITE.plainProbes} URLs were checked, pages first`;
  const found = {
    others: checks.slice(0, SITE.plainProbes - 1),
    unknown: [...(placement.unknown ?? []), ...lineIf(more > 0, open)],
    swept: paths.map((path) => ({ path, url: addressOf(task.destination, path).href })),
    leavesFiles: others.some((path) => filesBelow({ entries: rest }, path).size > 0),
  };
  return { ...item, placement: { ...placement, ...found } };
}
