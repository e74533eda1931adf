import type { LocalFile } from '../../rules/inspect.ts';
import type { PlacedPictures } from '../channel.ts';
import type { CommitTarget } from './commit-methods.ts';
import type { PlacedPicture } from './compare-paths.ts';
import type { PagesDestination } from './destination.ts';
import type { SetupPlan } from './set-up.ts';
import type { SiteTask } from './site/publish-site.ts';

/** One file for the branch. */
export interface PagesTask {
  /** The folder that is committed as one; absent for a single file. */
  readonly site?: SiteTask;
  readonly target: CommitTarget;
  /** The path that the commit writes. */
  readonly path: string;
  /** `null` where the file is removed. */
  readonly file: LocalFile | null;
  readonly destination: PagesDestination;
  /** What has to be set up first, the same for all files of a step; absent or `null` where nothing has. */
  readonly setup?: SetupPlan | null;
  /** What the same commit delivers beside a page. */
  readonly pictures?: readonly PlacedPicture[];
  readonly placedPictures?: PlacedPictures;
}
