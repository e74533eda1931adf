import { hasFailed, type Result, resultOf } from '../../errors.ts';
import { type CommitSummary, getLastCommits } from '../../github/api/history.ts';
import { type PullState, readPullStates } from '../../github/api/pull-requests.ts';
import { repositoryOf } from '../../github/workflow-run.ts';
import { lineIf, namedLine } from '../../plain-text.ts';
import { HOUR, SITE } from '../../protocol/limits.ts';
import { pullNumberOf } from '../../rules/naming.ts';
import { type BranchTree, filesBelow, holdsFile } from './branch-reader.ts';
import { type DeliveredObject, describeDelivered, listAlone, parseMessage } from './commit-message.ts';
import { type ComparedItem, planChange } from './compare.ts';
import { addressOf } from './destination.ts';
import { notOursError } from './not-ours.ts';
import { isFromSame, listSiblings } from './ownership.ts';
import { describeRemoved } from './placement.ts';
import { isFolderPath, type PagesTask, readTargetTree, type Sweep } from './target.ts';

/** A folder directly below the swept one, with the commit messages that delivered its files. */
interface Child {
  readonly path: string;
  /** With `''` for files that this tool didn't deliver there, or that changed since. */
  readonly messages: readonly string[];
  readonly delivered: number;
}

const NOTES = {
  open: 'still there, because its pull request is open',
  late: 'still there, because it was delivered after its pull request was closed',
  other: 'still there, because another workflow delivered it, and only a sweep in the same file counts it',
  unknown: 'still there, because somebody else delivered or changed it',
} as const;

type Verdict = keyof typeof NOTES | 'due' | 'young' | 'unread';

/** A run that began before its pull request was closed may deliver later. */
const LATEST_END = HOUR;

/** Finds the folders directly below that only the same workflow delivered, and that are old or no longer needed. */
export async function planSweep(task: PagesTask, now: number): Promise<Sweep> {
  const tree = await readTargetTree(task.target);
  const children = await listChildren(task, tree);
  const { verdicts, why } = await judgeChildren(children, task, now);
  const pathsOf = (verdict: Verdict) => (verdicts.get(verdict) ?? []).map(({ path }) => path);
  const due = (verdicts.get('due') ?? []).map(({ path, messages }) => {
    const ended = messages.flatMap((message) => parseMessage(message)?.delivered?.itemPath ?? []);
    const treeSha = tree.entries.get(path.slice(0, -1))?.sha;
    return { path, treeSha, files: filesBelow(tree, path), itemPaths: [...new Set([path, ...ended])] };
  });
  return {
    due,
    notes: [
      ...Object.entries(NOTES).flatMap(([verdict, note]) => namedLine(note, pathsOf(verdict as Verdict))),
      ...lineIf(children.length === SITE.siblings, `only the first ${SITE.siblings} folders were checked`),
    ],
    unknown: namedLine(`whether the pull request is closed${why}, so it is still there`, pathsOf('unread')),
  };
}

/** Ownership decides first, then the pull request that a folder is named after, then its age. */
async function judgeChildren(
  children: readonly Child[],
  { target: { github, options } }: PagesTask,
  now: number,
) {
  const { olderThan = Number.POSITIVE_INFINITY, closed, deliverer } = options;
  const isOld = ({ delivered }: Child): boolean => now - delivered >= olderThan;
  const asked = children.filter((child) => closed || isOld(child));
  const numbers = asked.flatMap(({ path }) => pullNumberOf(path) ?? []);
  const states: Result<ReadonlyMap<number, PullState>> =
    numbers.length === 0 ? new Map() : await resultOf(() => readPullStates(github, numbers, deliverer));
  const isHere = ({ messages }: Child): boolean =>
    messages.every((text) => repositoryOf(parseMessage(text)?.deliverer) === repositoryOf(deliverer));
  const verdicts = Map.groupBy(children, (child): Verdict => {
    const { path, messages, delivered } = child;
    if (messages.includes('')) return 'unknown';
    if (!messages.every((message) => isFromSame(message, options))) return 'other';
    const age = isOld(child) ? 'due' : 'young';
    const number = pullNumberOf(path);
    if (number === null || !asked.includes(child)) return age;
    const state = hasFailed(states) || !isHere(child) ? 'unread' : (states.get(number) ?? 'unread');
    if (state === 'none' || (age === 'due' && typeof state === 'number')) return age;
    // The name of a branch or version may end in the number of an older pull request.
    if (typeof state === 'number') return delivered <= state + LATEST_END ? 'due' : 'late';
    return state;
  });
  return { verdicts, why: hasFailed(states) ? ` (${states.message})` : '' };
}

/** The last commit of each path shows who delivered it, however long the history is. */
async function listChildren({ itemPath, target }: PagesTask, tree: BranchTree): Promise<readonly Child[]> {
  const { head, entries } = tree;
  if (head === null) return [];
  const paths = listSiblings(entries, itemPath).slice(0, SITE.siblings);
  const names = paths.map((path) => path.slice(0, -1));
  const commits = await target.history.readLastCommits(head, names);
  const last = new Map(names.map((name) => [`${name}/`, parseMessage(commits.get(name)?.message ?? '')]));
  // A folder of several deliveries: the last one doesn't have all of its files.
  const mixed = paths.filter((path) => {
    const parsed = last.get(path) ?? null;
    return parsed !== null && parsed.delivered?.object !== entries.get(path.slice(0, -1))?.sha;
  });
  const inner = [...entries.keys()].filter((entry) => mixed.some((path) => entry.startsWith(path)));
  const further = await target.history.readLastCommits(head, inner.slice(0, SITE.singleFiles));
  const found = [...commits.values(), ...further.values()].flatMap((commit) => commit ?? []);
  const marks = findMarks(found, tree, itemPath);
  return paths.map((path) => {
    const messages = new Set([...filesBelow(tree, path).keys()].map((file) => marks.get(file) ?? ''));
    const { date = '' } = commits.get(path.slice(0, -1)) ?? {};
    return { path, messages: [...messages], delivered: Date.parse(date) };
  });
}

/** The commit message of each file that the branch holds as it was delivered. Inner deliveries come first. */
function findMarks(commits: readonly CommitSummary[], tree: BranchTree, folder: string) {
  const marks = new Map<string, string>();
  // A part of a larger delivery is not a delivery of its own.
  const isInside = ({ itemPath }: DeliveredObject): boolean =>
    itemPath.startsWith(folder) && itemPath.includes('/', folder.length);
  const found = [...new Set(commits.map(({ message }) => message))].flatMap((message) => {
    const { delivered } = parseMessage(message) ?? {};
    return delivered && isInside(delivered) ? { message, ...delivered } : [];
  });
  for (const { message, ...delivered } of found.toSorted((a, b) => b.itemPath.length - a.itemPath.length)) {
    const { itemPath, object } = delivered;
    const rest = [...filesBelow(tree, itemPath)].filter(([path]) => !marks.has(path));
    const files = isFolderPath(itemPath)
      ? rest.map(([path, { sha }]) => ({ path, sha }))
      : listAlone(delivered);
    if (describeDelivered(itemPath, files).object !== object) continue;
    for (const file of files) if (holdsFile(tree, file)) marks.set(file.path, message);
  }
  return marks;
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
    leavesFiles: filesBelow({ entries: rest }, task.itemPath).size > 0,
  };
  return { ...item, placement: { ...placement, ...found } };
}
