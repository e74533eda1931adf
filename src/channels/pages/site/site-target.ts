import type { CommitTarget } from '../commit-methods.ts';

/** What a site needs of the inputs. */
export interface FolderSettings {
  /** Whether owned files that are no longer part of the site are removed. */
  readonly prune: boolean;
  /** How many owned folders beside each other to keep, the delivered one included; `undefined` keeps all. */
  readonly keep: number | undefined;
  /** Whether the file that switches Jekyll off is put at the root of what Pages serves. */
  readonly nojekyll: boolean;
}

/** A folder of the branch, and how it is written to. */
export interface FolderTarget extends CommitTarget {
  /** Empty for the branch's root, or ending in `/`. */
  readonly folder: string;
  /** The root of all that Pages serves, in the same form. */
  readonly siteRoot: string;
  readonly options: FolderSettings;
  /** The folders that the same step delivers, this one included: `keep` counts them and removes none. */
  readonly together?: readonly string[];
}
