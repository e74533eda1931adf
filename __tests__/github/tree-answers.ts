import { type HeldFiles, listTree } from '../channels/pages/site/memory-branch.ts';

/** What GitHub answers for the commit that holds some files, and for its tree. */
export function treeAnswers(files: HeldFiles) {
  const { '': root, ...below } = Object.fromEntries(listTree(files));
  const tree = Object.entries(below).map(([path, { sha, mode, type }]) => ({ path, mode, type, sha }));
  const sha = root?.sha ?? '';
  return { get_commit: { tree: { sha } }, tree_below: { sha, truncated: false, tree } };
}

/** The same for regular files, by path: git's id of each. */
export const regularAnswers = (shas: Readonly<Record<string, string>>) =>
  treeAnswers(new Map(Object.entries(shas).map(([path, sha]) => [path, { sha, mode: '100644' }])));
