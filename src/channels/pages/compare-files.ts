import { forEachItem } from '../../async.ts';
import { type DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { type BranchEntry, getExistingBlobs } from '../../github/api/branch.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { getLastCommits, type LastCommit } from '../../github/api/history.ts';
import { listRivals, MARKDOWN } from '../../rules/jekyll.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import { type BranchTree, blobsIn } from './branch-reader.ts';
import { parseMessage } from './commit-message.ts';
import { type ComparedItem, planChange } from './compare.ts';
import { listTaken, pageOf, switchFileOf } from './jekyll.ts';
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

/**
 * Compares single files with the branch. Reads nothing but their paths, and those of the pictures that pages may have:
 * the page's own commit does not tell, because its bytes may be older, or newer, than its picture.
 */
export async function compareFiles(tasks: readonly PagesTask[]): Promise<readonly Result<ComparedItem>[]> {
  const [first] = tasks;
  if (first === undefined) return [];
  const { github } = first.target;
  const head = await readTargetHead(first.target);
  const read: ReadPaths = { head, entries: new Map(), failures: new Map(), commits: new Map() };
  const own = new Set(
    tasks.flatMap(({ itemPath, files, destination: { rivals = [] } }) => [
      itemPath,
      ...files.map(({ path }) => path),
      ...rivals,
    ]),
  );
  // What is not there now may have been there before: a cache may still have it.
  await readPaths([...own], github, read, new Set(tasks.map(({ itemPath }) => itemPath)));
  // A new page has no picture, which spares its delivery two requests.
  const mayHavePictures = (task: PagesTask): boolean =>
    isHtml(task.itemPath) && (isRemoval(task) || read.entries.has(task.itemPath));
  const pictures = tasks.filter(mayHavePictures).flatMap(({ itemPath }) => listPicturePaths(itemPath));
  const further = new Set([...pictures, ...tasks.flatMap((task) => listTakers(task, read.entries))]);
  await readPaths(
    [...further].filter((path) => !own.has(path)),
    github,
    read,
  );
  const rest = await readOtherFiles(tasks, head, own);
  return forEachItem(tasks, async (task) => {
    const old = listPicturePaths(task.itemPath).filter((path) => !own.has(path));
    return compareFile(task, read, old, rest);
  });
}

/** @param mayBeGone the paths whose history is read even where nothing is there now */
async function readPaths(
  paths: readonly string[],
  github: GitHubClient,
  { head, entries, failures, commits }: ReadPaths,
  mayBeGone: ReadonlySet<string> = new Set(),
): Promise<void> {
  if (head === null || paths.length === 0) return;
  const blobs = await getExistingBlobs(github, head, paths);
  const touched = paths.filter((path) => typeof blobs.get(path) === 'string' || mayBeGone.has(path));
  const found = await getLastCommits(github, head, touched);
  for (const path of paths) {
    const sha = blobs.get(path) ?? null;
    const last = found.get(path) ?? null;
    commits.set(path, last);
    if (hasFailed(sha)) failures.set(path, sha);
    else if (sha !== null) {
      const size = last?.blobs.find((blob) => blob.sha === sha)?.size ?? 0;
      // It is not known who made what is there so, where no commit did.
      entries.set(path, { type: 'blob', sha, size, mode: last === null ? '' : '100644' });
    }
  }
}

/** The other files of the branch, where one of them may have the address of a page that is removed. */
async function readOtherFiles(tasks: readonly PagesTask[], head: string | null, own: ReadonlySet<string>) {
  const isPage = (path: string): boolean => isHtml(path) || MARKDOWN.test(path);
  const page = tasks.find(
    (task) => isRemoval(task) && isPage(task.itemPath) && task.destination.builtBy === 'branch',
  );
  if (page === undefined || head === null) return new Map();
  const { readEntries } = page.target;
  const entries = await resultOf(() => readEntries(head));
  // Where GitHub does not list so many files, every address must be empty.
  return hasFailed(entries) ? new Map() : new Map([...entries].filter(([path]) => !own.has(path)));
}

/** The paths that tell whether a new page takes the address of another. */
function listTakers({ files, destination }: PagesTask, entries: BranchTree['entries']): readonly string[] {
  const [file] = files;
  if (file === undefined || entries.has(file.path) || destination.builtBy !== 'branch') return [];
  const names = listRivals(pageOf(destination, file));
  return names.length === 0 ? [] : [switchFileOf(destination), ...names];
}

/** @throws {DeliveryError} `NOT_OURS` where Jekyll shows another file at the page's address */
function refuseTakenAddress(
  task: PagesTask,
  { entries }: ReadPaths,
  isOurs: (path: string) => boolean,
): void {
  // What is served may be the other file's page, which may have the same marker.
  const rival = task.destination.rivals?.find((path) => entries.has(path));
  if (rival !== undefined) throw takenPageError(task, { rival, path: task.itemPath }, false);
  const taken = task.target.options.overwrite ? [] : listTaken(task, entries);
  const foreign = taken.find((file) => !isOurs(file.rival));
  if (foreign !== undefined) throw takenPageError(task, foreign);
}

/**
 * @param old the paths that pictures of the page may have, beside those that are delivered
 * @param rest the other files of the branch
 */
function compareFile(task: PagesTask, read: ReadPaths, old: readonly string[], rest: BranchTree['entries']) {
  const { itemPath, files, target, destination } = task;
  const { rivals = [] } = destination;
  const wanted = [itemPath, ...files.map(({ path }) => path)];
  for (const path of [...wanted, ...old, ...rivals, ...listTakers(task, read.entries)]) {
    const failure = read.failures.get(path);
    // A folder is no picture, and no rival; what can't be read may be one.
    if (failure && (wanted.includes(path) || failure.code !== 'NOT_OURS')) throw failure;
  }
  const isOurs = (path: string, page?: string): boolean => {
    const { message = '' } = read.commits.get(path) ?? {};
    const object = { path, sha: read.entries.get(path)?.sha ?? '' };
    return isOwned(message, object, page) && !isOfOthers(message, target.options);
  };
  if (!isRemoval(task)) refuseTakenAddress(task, read, isOurs);
  // A removal takes along what its address would show without it.
  const alike = isRemoval(task) ? [itemPath, ...rivals] : [itemPath];
  const counted = new Set([...wanted, ...old, ...alike]);
  const entries = new Map([...read.entries].filter(([path]) => counted.has(path)));
  const owned = [...entries.keys()].filter((path) =>
    isOurs(path, alike.includes(path) ? undefined : itemPath),
  );
  const last = read.commits.get(itemPath);
  const versions = new Map(last?.blobs.map((blob) => [blob.sha, blob]));
  versions.delete(files.find(({ path }) => path === itemPath)?.file.blobSha ?? '');
  const state = { head: read.head, entries, owned: new Set(owned), last };
  const planned = planChange(task, state);
  const previous = [itemPath, [...versions.values()]] as const;
  const removedBlobs = blobsIn([entries], planned.change?.removals ?? []);
  const replaced = (state.owned.has(itemPath) && last) || undefined;
  const wasOurs = last?.messages.some((message) => parseMessage(message) !== null) === true;
  const placement = isRemoval(task)
    ? { ...describeRemoved(planned, new Map([...removedBlobs, previous]), rest), wasOurs }
    : describePublished(planned, {
        previous: new Map([previous]),
        goneFiles: removedBlobs,
        entries,
        replaced,
      });
  return { ...planned, placement };
}
