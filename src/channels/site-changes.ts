/** What a delivery changed in its folder: paths within the folder, except for whole folders. */
export interface SiteChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** What others have in the folder as well; a whole folder of theirs ends in `/`. */
  readonly kept: readonly string[];
  /** Older sites beside this one that were removed with the same commit. */
  readonly removedFolders: readonly string[];
}

/** How many files of a site a delivery changed. */
export interface ChangeCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export const countChanges = ({ added, changed, removed }: SiteChanges): ChangeCounts => ({
  added: added.length,
  changed: changed.length,
  removed: removed.length,
});

/** Such as `1 added, 2 changed`; empty where nothing was changed. */
export const formatChangeCounts = (counts: ChangeCounts): string =>
  (['added', 'changed', 'removed'] as const)
    .flatMap((kind) => (counts[kind] === 0 ? [] : [`${counts[kind]} ${kind}`]))
    .join(', ');
