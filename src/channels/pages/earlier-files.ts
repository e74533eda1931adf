import { getLastCommits } from '../../github/api/history.ts';
import type { GitBlob } from '../../http/fetch-back.ts';
import { SITE } from '../../protocol/limits.ts';
import type { LocalSite } from '../../rules/local-site.ts';
import type { BranchTree } from './branch-reader.ts';
import type { FolderTarget } from './target.ts';

/** What the branch held before at paths of a delivery that changed, the newest first; nothing for a new file. */
export type EarlierFiles = ReadonlyMap<string, readonly GitBlob[]>;

/** Of thousands of new files, one list is kept. */
const NEVER: readonly GitBlob[] = [];

/**
 * What caches may still have of a folder: what this delivery replaces, and what the newest one before it did. A run
 * that finds everything there proves as much as the one that placed it.
 *
 * @param before the commit before the newest delivery; absent where there is none
 * @returns by path within the folder
 * @see design 5
 */
export async function findEarlierFiles(
  { files, entry: page }: LocalSite,
  { github, reader, folder }: FolderTarget,
  { entries, head }: BranchTree,
  { isChanged, before }: { readonly isChanged: boolean; readonly before: string | undefined },
): Promise<EarlierFiles> {
  const trees = [
    ...(isChanged ? [entries] : []),
    ...(before === undefined ? [] : [await reader.getEntries(github, before)]),
  ];
  // The page changes most often, and a cache may be older than the last two versions.
  const commits = head === null ? undefined : await getLastCommits(github, head, [folder + page]);
  const versions = commits?.get(folder + page)?.blobs ?? [];
  const earlier = new Map<string, readonly GitBlob[]>();
  for (const { path, file } of files) {
    const found = trees.map((one) => one.get(folder + path));
    if (path !== page && (trees.length === 0 || found[0]?.sha === file.blobSha)) continue;
    const held = found.flatMap((one) => (one?.type === 'blob' ? [{ sha: one.sha, size: one.size }] : []));
    const all = new Map([...held, ...(path === page ? versions : [])].map((one) => [one.sha, one]));
    all.delete(file.blobSha);
    earlier.set(path, all.size === 0 ? NEVER : [...all.values()]);
  }
  return earlier;
}

/** The changed files beside the page whose addresses are asked as a browser asks them: replaced ones first. */
export function choosePlain(earlier: EarlierFiles, page: string): EarlierFiles {
  const others = [...earlier].filter(([path]) => path !== page);
  const replacedFirst = others.toSorted(([, one], [, other]) => other.length - one.length);
  return new Map(replacedFirst.slice(0, SITE.plainProbes));
}
