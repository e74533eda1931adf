import { DeliveryError } from '../../errors.ts';
import { parentFolders } from '../../github/api/branch.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import { SITE } from '../../protocol/limits.ts';
import { type BranchTree, filesBelow } from './branch-reader.ts';
import { type Delivered, describeDelivered } from './commit-message.ts';

/**
 * What a folder keeps besides the delivered files, in short: a whole folder of others is one line.
 *
 * @param delivered paths in the branch that are delivered, or that go: everything else is kept
 * @returns paths within the folder
 * @throws {DeliveryError} `NOT_OURS` where it is too much to be named.
 */
export function listKept(
  tree: BranchTree,
  folder: string,
  delivered: ReadonlySet<string>,
): readonly TreeFile[] {
  const mixed = new Set([...delivered].flatMap(parentFolders));
  const kept = new Map<string, string>();
  for (const [path, { sha }] of filesBelow(tree, folder)) {
    if (delivered.has(path)) continue;
    const top = parentFolders(path).findLast((one) => one.length > folder.length && !mixed.has(one));
    if (top === undefined) kept.set(path.slice(folder.length), sha);
    else kept.set(`${top.slice(folder.length)}/`, tree.entries.get(top)?.sha ?? sha);
  }
  if (kept.size > SITE.kept) {
    throw new DeliveryError(
      'NOT_OURS',
      `the folder ${folder || './'} has ${kept.size} files and folders that this tool did not deliver`,
      { hint: (w) => `set ${w.input('path')} to a folder of its own` },
    );
  }
  return [...kept].map(([path, sha]) => ({ path, sha }));
}

/** Tells whether a path of the branch is among what a delivered folder kept. */
export function createKeptLookup({
  place,
  kept,
}: Pick<Delivered, 'place' | 'kept'>): (path: string) => boolean {
  const names = new Set(kept.map(({ path }) => place + path));
  return (path) =>
    names.size > 0 && (names.has(path) || parentFolders(path).some((folder) => names.has(`${folder}/`)));
}

/**
 * The files of a delivered folder by their paths in the branch, where a tree holds exactly what its commit says that it
 * delivered; `null` elsewhere. Where the branch does so now, the commit's own tree tells no more.
 */
export function listDelivered(
  entries: BranchTree['entries'],
  { place, kept, object }: Delivered,
): readonly TreeFile[] | null {
  const isKept = createKeptLookup({
    place,
    kept: kept.filter(({ path, sha }) => entries.get(place + path.replace(/\/$/, ''))?.sha === sha),
  });
  const files = [...filesBelow({ entries }, place)].map(([path, { sha }]) => ({ path, sha }));
  const delivered = files.filter(({ path }) => !isKept(path));
  return describeDelivered(place, delivered).object === object ? delivered : null;
}
