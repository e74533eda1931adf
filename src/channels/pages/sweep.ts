import { hasFailed, type Result, resultOf } from '../../errors.ts';
import type { BranchEntry } from '../../github/api/branch.ts';
import { type PullState, readPullStates } from '../../github/api/pull-requests.ts';
import { lineIf, namedLine } from '../../plain-text.ts';
import { SITE } from '../../protocol/limits.ts';
import { isFolderPath, pullNumberOf } from '../../rules/naming.ts';
import { filesBelow, holdsFile } from './branch-reader.ts';
import { listAlone, parseMessage } from './commit-message.ts';
import { type ComparedItem, planChange } from './compare.ts';
import { addressOf } from './destination.ts';
import { type FolderInBranch, findSingleFiles, isFromSame, listSiblings } from './ownership.ts';
import { describeRemoved } from './placement.ts';
import type { PagesTask, Sweep } from './target.ts';

/** A folder directly below the swept one, with the commit message that delivered each of its files. */
interface Child {
  readonly path: string;
  readonly files: ReadonlyMap<string, BranchEntry>;
  /** With `undefined` for files that this tool didn't deliver there, or that changed since. */
  readonly messages: ReadonlySet<string | undefined>;
  readonly delivered: number;
}

/**
 * Finds the folders directly below that the same workflow delivered, with nothing else in them, and that are old or
 * whose pull request is closed.
 */
export async function planSweep(task: PagesTask, folder: FolderInBranch, now: number): Promise<Sweep> {
  const { options } = task.target;
  const children = await listChildren(task, folder);
  const isOwn = ({ messages }: Child): boolean =>
    [...messages].every((message) => message !== undefined && isFromSame(message, options));
  const [own, others] = [children.filter(isOwn), children.filter((child) => !isOwn(child))];
  const { verdicts, why } = await judgeChildren(own, task, now);
  const pathsOf = (verdict: Verdict) => (verdicts.get(verdict) ?? []).map(({ path }) => path);
  const swept = verdicts.get('due') ?? [];
  const marked = others.filter(({ messages }) => [...messages].some((message) => message !== undefined));
  const ended = swept.flatMap(({ messages }) => [...messages]);
  const delivered = ended.flatMap((message) => parseMessage(message ?? '')?.delivered?.itemPath ?? []);
  return {
    ...{ now, head: folder.tree.head, due: pathsOf('due') },
    files: new Map(swept.flatMap(({ files }) => [...files])),
    itemPaths: [...new Set([...pathsOf('due'), ...delivered])],
    notes: [
      ...namedLine('removed, because it is old or its pull request is closed', pathsOf('due')),
      ...namedLine('still there, because its pull request is open', pathsOf('open')),
      ...namedLine(
        'still there, because it has files that somebody else delivered or changed',
        marked.map(({ path }) => path),
      ),
      ...lineIf(children.length === SITE.siblings, `only the first ${SITE.siblings} folders were checked`),
    ],
    unknown: namedLine(`whether the pull request is closed${why}, so it is still there`, pathsOf('unread')),
  };
}

type Verdict = PullState | 'due' | 'young' | 'unread';

/** With `closed`, the pull request alone decides on a folder that is named after one. */
async function judgeChildren(
  children: readonly Child[],
  { target: { github, options } }: PagesTask,
  now: number,
) {
  const { olderThan = Number.POSITIVE_INFINITY, closed } = options;
  const numbers = closed ? children.flatMap(({ path }) => pullNumberOf(path) ?? []) : [];
  const states: Result<ReadonlyMap<number, PullState>> =
    numbers.length === 0 ? new Map() : await resultOf(() => readPullStates(github, numbers));
  const { owner, repo } = github.repository;
  const home = `${owner}/${repo}/`.toLowerCase();
  // The same number may be another pull request in another repository.
  const isHere = ({ messages }: Child): boolean =>
    [...messages].every((text = '') => parseMessage(text)?.deliverer?.name.toLowerCase().startsWith(home));
  const verdicts = Map.groupBy(children, (child): Verdict => {
    const number = closed ? pullNumberOf(child.path) : null;
    if (number === null) return now - child.delivered >= olderThan ? 'due' : 'young';
    const state = hasFailed(states) || !isHere(child) ? undefined : states.get(number);
    return state === 'closed' ? 'due' : (state ?? 'unread');
  });
  return { verdicts, why: hasFailed(states) ? ` (${states.message})` : '' };
}

async function listChildren(
  task: PagesTask,
  { tree, sites, singles }: FolderInBranch,
): Promise<readonly Child[]> {
  const { itemPath, target } = task;
  const { head, entries } = tree;
  if (head === null) return [];
  const paths = listSiblings(entries, itemPath).slice(0, SITE.siblings);
  const nameOf = (path: string): string => path.slice(0, -1);
  const commits = await target.history.readLastCommits(head, paths.map(nameOf));
  const below = Map.groupBy(filesBelow(tree, itemPath), ([path]) =>
    path.slice(0, path.indexOf('/', itemPath.length) + 1),
  );
  const found = new Map<string, string>();
  for (const { record, files } of sites.values())
    for (const { path } of files) found.set(path, record.message);
  const alone = [...filesBelow(tree, itemPath).keys()].filter(
    (path) => singles.has(path) && !found.has(path),
  );
  for (const [path, message] of await findSingleFiles(target, tree, alone)) found.set(path, message);
  return paths.map((path) => {
    const files = new Map(below.get(path));
    const { message = '', date = '' } = commits.get(nameOf(path)) ?? {};
    const isLast = createLastLookup(message, entries);
    const all = new Set(
      [...files.keys()].map((file) => found.get(file) ?? (isLast(file) ? message : undefined)),
    );
    // A part of a larger delivery is not a delivery of its own.
    const isInside = (message = ''): boolean =>
      parseMessage(message)?.delivered?.itemPath.startsWith(path) === true;
    const messages = new Set([...all].map((found) => (isInside(found) ? found : undefined)));
    return { path, files, messages, delivered: Date.parse(date) };
  });
}

/** Whether the last commit delivered a file, however long the history is. */
function createLastLookup(
  message: string,
  entries: FolderInBranch['tree']['entries'],
): (path: string) => boolean {
  const { delivered } = parseMessage(message) ?? {};
  if (delivered === undefined) return () => false;
  const { itemPath, object } = delivered;
  const alone = new Map(listAlone(delivered).map((file) => [file.path, file]));
  const isWhole = isFolderPath(itemPath) && entries.get(itemPath.slice(0, -1))?.sha === object;
  return (path) => {
    const file = alone.get(path);
    return file === undefined ? isWhole && path.startsWith(itemPath) : holdsFile({ entries }, file);
  };
}

/** Compares again if the branch moved since the plan. What another run removed meanwhile is verified too. */
export async function compareSweep(
  task: PagesTask,
  folder: FolderInBranch,
  planned: Sweep,
): Promise<ComparedItem> {
  const { tree, last } = folder;
  const isSame = tree.head === planned.head;
  const { files, itemPaths, due, notes } = isSame ? planned : await planSweep(task, folder, planned.now);
  const item = planChange(task, {
    ...{ ...tree, last, notes, owned: new Set(files.keys()) },
    named: { removed: itemPaths, removedFrom: [] },
  });
  const removals = new Set(item.change?.removals);
  const rest = new Map([...tree.entries].filter(([path]) => !removals.has(path)));
  const gone = [...planned.files, ...files].filter(([path]) => !rest.has(path));
  const placement = describeRemoved(item, new Map(gone.map(([path, blob]) => [path, [blob]])), rest);
  const swept = due.map((path) => ({ path, url: addressOf(task.destination, path).href }));
  const leavesFiles = filesBelow({ entries: rest }, task.itemPath).size > 0;
  const { others = [], unknown = [] } = placement;
  const more = others.length + 1 - SITE.plainProbes;
  const open = `whether ${more} more removed files are gone: ${SITE.plainProbes} URLs were checked, pages first`;
  const checked = {
    others: others.slice(0, SITE.plainProbes - 1),
    unknown: [...unknown, ...lineIf(more > 0, open)],
  };
  return { ...item, placement: { ...placement, ...checked, swept, leavesFiles } };
}
