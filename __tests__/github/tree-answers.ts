import type { HeldFiles } from '../channels/pages/site/memory-branch.ts';
import { GitStore } from '../world/git/git-store.ts';

/** Every file and folder of some files, the folders with git's ids; and the id of the whole. */
export function treeOf(files: HeldFiles) {
  const git = new GitStore('/nowhere', 'main');
  const sha = git.writeTree(
    null,
    [...files].map(([path, { mode, sha }]) => ({ path, mode, sha })),
  );
  const tree = git.listTree(sha, { recursive: true }).map(({ size: _, ...entry }) => entry);
  return { sha, tree };
}

/** What GitHub answers for the commit that holds some files, and for its tree. */
export function treeAnswers(files: HeldFiles) {
  const { sha, tree } = treeOf(files);
  return { get_commit: { tree: { sha } }, tree_below: { sha, truncated: false, tree } };
}
