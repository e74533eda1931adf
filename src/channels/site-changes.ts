import type { SiteChanges } from './channel.ts';

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
export function formatChangeCounts({ added, changed, removed }: ChangeCounts): string {
  const counts = [
    [added, 'added'],
    [changed, 'changed'],
    [removed, 'removed'],
  ] as const;
  return counts.flatMap(([count, verb]) => (count === 0 ? [] : [`${count} ${verb}`])).join(', ');
}
