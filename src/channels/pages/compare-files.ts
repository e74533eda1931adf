import { forEachItem } from '../../async.ts';
import { type DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import type { BranchEntry } from '../../github/api/branch.ts';
import type { LastCommit } from '../../github/api/history.ts';
import { listRivals, MARKDOWN } from '../../rules/jekyll.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import { type BranchTree, blobsIn, type SiteHistory } from './branch-reader.ts';
import { listAlone, parseMessage } from './commit-message.ts';
import { type ComparedItem, planChange } from './compare.ts';
import { listTaken, pageOf, switchFileOf, writeSwitch } from './jekyll.ts';
import { takenPageError } from './not-ours.ts';
import { isOfOthers, isOwned } from './ownership.ts';
import { listPicturePaths } from './pictures.ts';
import { describePublished, describeRemoved } from './placement.ts';
import { isRemoval, type PagesTask, readTargetHead } from './target.ts';

interface ReadPaths extends BranchTree {
  readonly entries: Map<string, BranchEntry>;
  readonly failures: Map<string, DeliveryError>;
  readonly commits: Map<string, LastCommit | null>;
}

/** Compares files. It reads only their paths and those of pictures, which may be older or newer than their page. */
export async function compareFiles(tasks: readonly PagesTask[]): Promise<readonly Result<ComparedItem>[]> {
  const [first] = tasks;
  if (first === undefined) return [];
  const { history } = first.target;
  const head = await readTargetHead(first.target);
  const read: ReadPaths = { head, entries: new Map(), failures: new Map(), commits: new Map() };
  const taskPaths = new Set(
    tasks.flatMap(({ itemPath, files, destination: { rivals = [] } }) => [
      itemPath,
      ...files.map(({ path }) => path),
      ...rivals,
    ]),
  );
  // A cache may still serve a file that is missing now.
  await readPaths([...taskPaths], history, read, new Set(tasks.map(({ itemPath }) => itemPath)));
  const further = new Set(
    tasks.flatMap((task) => [...listRelated(task, read), ...listTakers(task, read.entries)]),
  );
  await readPaths(
    [...further].filter((path) => !taskPaths.has(path)),
    history,
    read,
  );
  const rest = await readOtherFiles(tasks, head, taskPaths);
  return forEachItem(tasks, async (task) => {
    const old = listRelated(task, read).filter((path) => !taskPaths.has(path));
    return compareFile(task, read, old, rest);
  });
}

/** @param mayBeGone paths whose history is read even if the file is missing */
async function readPaths(
  paths: readonly string[],
  history: SiteHistory,
  { head, entries, failures, commits }: ReadPaths,
  mayBeGone: ReadonlySet<string> = new Set(),
): Promise<void> {
  if (head === null || paths.length === 0) return;
  const blobs = await history.readBlobs(head, paths);
  const touched = paths.filter((path) => typeof blobs.get(path) === 'string' || mayBeGone.has(path));
  const found = await history.readLastCommits(head, touched);
  for (const path of paths) {
    const sha = blobs.get(path) ?? null;
    const last = found.get(path) ?? null;
    commits.set(path, last);
    if (hasFailed(sha)) failures.set(path, sha);
    else if (sha !== null) {
      const size = last?.blobs.find((blob) => blob.sha === sha)?.size ?? 0;
      // Without a commit, nothing tells who created the file.
      entries.set(path, { type: 'blob', sha, size, mode: last === null ? '' : '100644' });
    }
  }
}

/** Lists the branch's other files if one of them may be served at a removed page's URL. */
async function readOtherFiles(
  tasks: readonly PagesTask[],
  head: string | null,
  taskPaths: ReadonlySet<string>,
) {
  const isPage = (path: string): boolean => isHtml(path) || MARKDOWN.test(path);
  const page = tasks.find(
    (task) => isRemoval(task) && isPage(task.itemPath) && task.destination.builtBy === 'branch',
  );
  if (page === undefined || head === null) return new Map();
  const entries = await resultOf(() => page.target.history.readEntries(head));
  // Without a list of files, every URL must answer 404.
  return hasFailed(entries) ? new Map() : new Map([...entries].filter(([path]) => !taskPaths.has(path)));
}

/** The page whose delivery put this path beside it; otherwise the path itself. */
const pageWith = ({ itemPath }: PagesTask, { commits }: ReadPaths): string => {
  const { delivered } = parseMessage(commits.get(itemPath)?.message ?? '') ?? {};
  return delivered?.beside.some(({ path }) => path === itemPath) ? delivered.itemPath : itemPath;
};

/** Paths that belong to the item's page: pictures of any age, and what the page's commit names. */
function listRelated(task: PagesTask, read: ReadPaths): readonly string[] {
  const { itemPath } = task;
  const page = isRemoval(task) ? pageWith(task, read) : itemPath;
  const { delivered } = parseMessage(read.commits.get(itemPath)?.message ?? '') ?? {};
  const named = delivered?.itemPath === page ? listAlone(delivered).map(({ path }) => path) : [];
  // A new page has no picture yet, so two requests are saved.
  const mayHavePictures = isHtml(page) && (isRemoval(task) || read.entries.has(page));
  const all = [...named, ...(mayHavePictures ? listPicturePaths(page) : [])];
  return [...new Set(all)].filter((path) => path !== itemPath);
}

function listTakers(task: PagesTask, entries: BranchTree['entries']): readonly string[] {
  const { files, destination, target } = task;
  if (target.options.nojekyll) return [switchFileOf(destination)];
  if (destination.builtBy !== 'branch') return [];
  const added = files.filter(({ path }) => !entries.has(path));
  const names = added.flatMap((file) => listRivals(pageOf(destination, file)));
  return names.length === 0 ? [] : [switchFileOf(destination), ...names];
}

/** @throws {DeliveryError} `NOT_OURS` if Jekyll serves another file at the page's URL */
function refuseTakenAddress(
  task: PagesTask,
  { entries }: ReadPaths,
  isOurs: (path: string) => boolean,
): void {
  // The other file's page may contain the same marker.
  const rival = task.destination.rivals?.find((path) => entries.has(path));
  if (rival !== undefined) throw takenPageError(task, { rival, path: task.itemPath }, false);
  const { overwrite, nojekyll } = task.target.options;
  const taken = overwrite || nojekyll ? [] : listTaken(task, entries);
  const foreign = taken.find((file) => !isOurs(file.rival));
  if (foreign !== undefined) throw takenPageError(task, foreign);
}

/** The earlier contents of a path, without the delivered one. */
function listEarlierBlobs({ files }: PagesTask, path: string, { commits }: ReadPaths) {
  const versions = new Map(commits.get(path)?.blobs.map((blob) => [blob.sha, blob]));
  versions.delete(files.find((file) => file.path === path)?.file.blobSha ?? '');
  return [path, [...versions.values()]] as const;
}

/** @param old paths of earlier pictures, beside the delivered ones @param rest other files of the branch */
function compareFile(task: PagesTask, read: ReadPaths, old: readonly string[], rest: BranchTree['entries']) {
  const { itemPath, files, target, destination } = task;
  const { rivals = [] } = destination;
  const wanted = [itemPath, ...files.map(({ path }) => path)];
  for (const path of [...wanted, ...old, ...rivals, ...listTakers(task, read.entries)]) {
    const failure = read.failures.get(path);
    // A folder is neither a picture nor a rival; an unreadable path may be either.
    if (failure && (wanted.includes(path) || failure.code !== 'NOT_OURS')) throw failure;
  }
  const isOurs = (path: string, page?: string): boolean => {
    const { message = '' } = read.commits.get(path) ?? {};
    const object = { path, sha: read.entries.get(path)?.sha ?? '' };
    return isOwned(message, object, page) && !isOfOthers(message, target.options);
  };
  if (!isRemoval(task)) refuseTakenAddress(task, read, isOurs);
  // Removing the page alone would let a rival show at the same URL.
  const alike = isRemoval(task) ? [itemPath, ...rivals] : wanted;
  const counted = new Set([...wanted, ...old, ...alike]);
  const entries = new Map([...read.entries].filter(([path]) => counted.has(path)));
  const pictures = listPicturePaths(itemPath);
  const owned = [...entries.keys()].filter((path) =>
    isOurs(path, alike.includes(path) && !pictures.includes(path) ? undefined : pageWith(task, read)),
  );
  const last = read.commits.get(itemPath);
  const writes = isRemoval(task) ? [] : writeSwitch(task, read.entries);
  const state = { head: read.head, entries, owned: new Set(owned), last, writes };
  const planned = planChange(task, state);
  const shown = new Set(
    [itemPath, ...files.map(({ path }) => path)].filter((path) => !pictures.includes(path)),
  );
  const previous = [...shown].map((path) => listEarlierBlobs(task, path, read));
  const goneFiles = blobsIn([entries], planned.change?.removals ?? []);
  const replaced = (state.owned.has(itemPath) && last) || undefined;
  const wasOurs = last?.messages.some((message) => parseMessage(message) !== null) === true;
  const placement = isRemoval(task)
    ? { ...describeRemoved(planned, new Map([...goneFiles, ...previous]), rest), wasOurs }
    : describePublished(planned, { previous: new Map(previous), goneFiles, entries, replaced });
  return { ...planned, placement };
}
