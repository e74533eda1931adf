import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { nameFew } from '../../plain-text.ts';
import { SITE } from '../../protocol/limits.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import { blobsIn, filesBelow } from './branch-reader.ts';
import { type ComparedPlace, planChange } from './compare.ts';
import { compareFiles } from './compare-files.ts';
import { listVanished, readBefore, readFolderInBranch } from './compare-folder.ts';
import { type FolderInBranch, findSingleFiles } from './ownership.ts';
import type { PagesTask } from './target.ts';

/**
 * Compares single files that are removed with the branch, and reads its other files, where one of these may have the
 * address of a page that is removed.
 */
export async function compareRemovedFiles(
  tasks: readonly PagesTask[],
): Promise<readonly Result<ComparedPlace>[]> {
  const places = await compareFiles(tasks);
  const page = places.find(isHtmlOfBranch);
  if (page === undefined || hasFailed(page) || page.head === null) return places;
  const { head, task } = page;
  const { github, readEntries } = task.target;
  const entries = await resultOf(() => readEntries(github, head));
  const own = new Set(tasks.map(({ place }) => place));
  // Where GitHub does not list so many files, every address must be empty.
  const rest = new Map([...(hasFailed(entries) ? [] : entries)].filter(([path]) => !own.has(path)));
  return places.map((one) => (hasFailed(one) ? one : { ...one, rest }));
}

const isHtmlOfBranch = (one: Result<ComparedPlace>): boolean =>
  !hasFailed(one) && isHtml(one.task.place) && one.task.destination.builtBy === 'branch';

/**
 * Compares a folder that is removed with the branch: what goes is everything of this tool in it, however deep; with
 * `overwrite`, all that is there.
 *
 * @param wasSent whether an earlier attempt may have removed it
 */
export async function compareRemovedFolder(task: PagesTask, wasSent: boolean): Promise<ComparedPlace> {
  const folder = await readFolderInBranch(task);
  const { tree, postponed, last } = folder;
  const { place, target, destination } = task;
  const existing = filesBelow(tree, place);
  const sites = [...folder.sites].filter(([, { files }]) => files.length > 0);
  const owned = new Set(sites.flatMap(([, { files }]) => files.map(({ path }) => path)));
  const others = [...existing.keys()].filter(
    (path) => !owned.has(path) && !postponed.some((one) => path.startsWith(one)),
  );
  const single = target.options.overwrite
    ? others.filter((path) => existing.get(path)?.type === 'blob')
    : await findSingleFiles(target, tree, others);
  for (const path of single) owned.add(path);
  const left = others.filter((path) => !owned.has(path));
  const isOurs = owned.size > 0 || wasSent || left.length === 0 || place === destination.siteRoot;
  if (!isOurs) throw nothingOursError(place, folder, left);
  const removedFolders = sites.map(([one]) => one);
  // What an earlier run removed may be served until the site is built without it.
  const older = owned.size === 0 ? await readBefore(target, folder) : new Map();
  return {
    ...planChange(task, { ...tree, owned, last, removedFolders }),
    earlier: new Map(),
    gone: blobsIn([tree.entries, older], [...owned, ...listVanished(task, tree, older)]),
    rest: new Map([...tree.entries].filter(([path]) => !owned.has(path))),
    unknown: describeStaying(place, postponed, left),
  };
}

/** What stays of a folder once everything of ours is removed. */
function describeStaying(
  place: string,
  postponed: readonly string[],
  left: readonly string[],
): readonly string[] {
  const why =
    left.length > SITE.singleFiles
      ? `of which more than ${SITE.singleFiles} are no part of a folder that was delivered, too many to look at`
      : 'because it is not as this tool delivered it';
  const reasons = [
    ...(left.length === 0 ? [] : [`${why}: ${nameFew(left)}`]),
    ...(postponed.length === 0 ? [] : [`because one run removes no more (try again): ${nameFew(postponed)}`]),
  ];
  return reasons.length === 0 ? [] : [`what stays in ${place || './'}, ${reasons.join('; and ')}`];
}

/** All of the folder would still be served. */
function nothingOursError(
  place: string,
  { isComplete }: FolderInBranch,
  left: readonly string[],
): DeliveryError {
  const name = place || './';
  const [code, why] =
    left.length > SITE.singleFiles
      ? (['TOO_LARGE', `${name} has more than ${SITE.singleFiles} files, too many to look at`] as const)
      : isComplete
        ? (['NOT_OURS', `nothing in ${name} is as this tool delivered it`] as const)
        : (['TOO_LARGE', `the history of ${name} is too long to be searched whole`] as const);
  return new DeliveryError(code, `${why}, so nothing was removed: ${nameFew(left)}`, {
    hint: (w) =>
      `set ${w.input('path')} to the folder that was delivered itself, or remove these files with git`,
    leftBehind: [],
  });
}
