/** Paths that a delivery changed, relative to its folder. */
export interface SiteChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly kept: readonly string[];
  readonly removedFolders: readonly string[];
}

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

/** @returns text such as `1 added, 2 changed`; empty if nothing changed */
export const formatChangeCounts = (counts: ChangeCounts): string =>
  (['added', 'changed', 'removed'] as const)
    .flatMap((kind) => (counts[kind] === 0 ? [] : [`${counts[kind]} ${kind}`]))
    .join(', ');
