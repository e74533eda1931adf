import { forEachItem } from '../../async.ts';
import { hasFailed, type Result, resultOf } from '../../errors.ts';
import { type BranchEntry, getExistingBlobs } from '../../github/api/branch.ts';
import { getLastCommits, type LastCommit } from '../../github/api/history.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import { type BranchTree, blobsIn } from './branch-reader.ts';
import { type ComparedPlace, planChange } from './compare.ts';
import { takenPageError } from './jekyll.ts';
import { isOwned } from './ownership.ts';
import { listPicturePaths } from './pictures.ts';
import { describePublished, describeRemoved } from './placement.ts';
import { type CommitTarget, isRemoval, type PagesTask, readTargetHead } from './target.ts';

/**
 * Compares single files with the branch. Reads nothing but their paths, and those of the pictures that pages may have:
 * the page's own commit does not tell, because its bytes may be older, or newer, than its picture.
 */
export async function compareFiles(tasks: readonly PagesTask[]): Promise<readonly Result<ComparedPlace>[]> {
  const [first] = tasks;
  if (first === undefined) return [];
  const { target } = first;
  const head = await readTargetHead(target);
  const own = new Set(tasks.flatMap(listPaths));
  // What is not there now may have been there before: a cache may still have it.
  const found = await readPaths([...own], target, head, new Set(tasks.map(({ place }) => place)));
  // A new page has no picture, which spares its delivery two requests.
  const listOldPictures = (task: PagesTask): readonly string[] => {
    const page = found.get(task.place);
    const mayHave = isRemoval(task) || (page && !hasFailed(page) && page.blob !== null);
    return mayHave && isHtml(task.place) ? listPicturePaths(task.place).filter((path) => !own.has(path)) : [];
  };
  const pictures = await readPaths(tasks.flatMap(listOldPictures), target, head, new Set());
  const rest = await readRest(tasks, head, own);
  const all = new Map([...found, ...pictures]);
  return forEachItem(tasks, async (task) =>
    compareFile(task, { head, found: all, rest }, listOldPictures(task)),
  );
}

/** The other files of the branch, where one of them may have the address of a page that is removed. */
async function readRest(
  tasks: readonly PagesTask[],
  head: string | null,
  own: ReadonlySet<string>,
): Promise<BranchTree['entries']> {
  const page = tasks.find(
    (one) => isRemoval(one) && isHtml(one.place) && one.destination.builtBy === 'branch',
  );
  if (page === undefined || head === null) return new Map();
  const { github, readEntries } = page.target;
  const entries = await resultOf(() => readEntries(github, head));
  // Where GitHub does not list so many files, every address must be empty.
  return hasFailed(entries) ? new Map() : new Map([...entries].filter(([path]) => !own.has(path)));
}

/** Every path that a task is about. */
const listPaths = ({ place, files, destination: { rivals = [] } }: PagesTask): readonly string[] => [
  place,
  ...files.map(({ path }) => path),
  ...rivals,
];

/** What a path holds, and the last commit that touched it. */
interface HeldPath {
  readonly blob: string | null;
  readonly last: LastCommit | null;
}

/** A path that can't be read has its error. */
type HeldPaths = ReadonlyMap<string, Result<HeldPath>>;

/** @param mayBeGone the paths whose history is read even where nothing is there now */
async function readPaths(
  paths: readonly string[],
  { github }: CommitTarget,
  head: string | null,
  mayBeGone: ReadonlySet<string>,
): Promise<HeldPaths> {
  if (head === null || paths.length === 0) return new Map();
  const blobs = await getExistingBlobs(github, head, paths);
  const touched = paths.filter((path) => typeof blobs.get(path) === 'string' || mayBeGone.has(path));
  const commits = await getLastCommits(github, head, touched);
  return new Map(
    paths.map((path) => {
      const blob = blobs.get(path) ?? null;
      return [path, hasFailed(blob) ? blob : { blob, last: commits.get(path) ?? null }];
    }),
  );
}

function refuseRivals({ place, destination: { rivals = [] } }: PagesTask, found: HeldPaths): void {
  for (const path of rivals) {
    const state = found.get(path);
    if (hasFailed(state) && state.code !== 'NOT_OURS') throw state;
    if (state && !hasFailed(state) && state.blob !== null) throw takenPageError(place, path);
  }
}

interface BranchPaths {
  readonly head: string | null;
  readonly found: HeldPaths;
  readonly rest: BranchTree['entries'];
}

/** @param old the paths that pictures of the page may have, beside those that are delivered */
function compareFile(
  task: PagesTask,
  { head, found, rest }: BranchPaths,
  old: readonly string[],
): ComparedPlace {
  const { place, files, target } = task;
  const entries = new Map<string, BranchEntry>();
  const owned = new Set<string>();
  const confinedTo = target.options.confinement?.owner;
  for (const path of [place, ...files.map((one) => one.path), ...old]) {
    const state = found.get(path);
    // A folder is no picture; what can't be read may be one.
    if (state === undefined || (hasFailed(state) && state.code === 'NOT_OURS' && old.includes(path)))
      continue;
    if (hasFailed(state)) throw state;
    const { blob: sha, last } = state;
    if (sha === null) continue;
    const size = last?.blobs.find((one) => one.sha === sha)?.size ?? 0;
    // It is not known who made what is there so, where no commit did.
    entries.set(path, { type: 'blob', sha, size, mode: last === null ? '' : '100644' });
    const by = path === place ? { confinedTo } : { confinedTo, page: place };
    if (isOwned(last?.message ?? '', { path, sha }, by)) owned.add(path);
  }
  refuseRivals(task, found);
  const page = found.get(place);
  const last = page && !hasFailed(page) ? page.last : null;
  const wanted = files.find(({ path }) => path === place)?.file.blobSha;
  const versions = new Map(last?.blobs.map((one) => [one.sha, one]));
  versions.delete(wanted ?? '');
  const planned = planChange(task, { head, entries, owned, last });
  const earlier = [place, [...versions.values()]] as const;
  const gone = blobsIn([entries], planned.change?.removals ?? []);
  const replaced = (owned.has(place) && last) || undefined;
  const placement = isRemoval(task)
    ? describeRemoved(planned, new Map([...gone, earlier]), rest)
    : describePublished(planned, { earlier: new Map([earlier]), gone, replaced });
  return { ...planned, placement };
}
