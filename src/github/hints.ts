import type { Words } from '../words.ts';

/** What to change, for failures that several places report. */

export const RETRY_HINT = (w: Words) => `try again${w.orUse('K3')}`;

export const CONFLICT_HINT = (w: Words) => `another job writes here too: ${RETRY_HINT(w)}`;

export const TOKEN_HINT = (w: Words) =>
  `set ${w.input('token')} to a valid token${w.ownToken}${w.orUse('K3')}`;

export const NOT_FOUND_HINT = (w: Words) =>
  `check that ${w.input('repository')} and ${w.input('branch')} exist, and that ${w.input('token')} may write there${w.orUse('K3')}`;

export const OTHER_BRANCH_HINT = (w: Words) =>
  `build the site from a branch without this rule (Settings → Pages) and set ${w.input('branch')} to it, set ${w.input('token')} to one that may bypass the rule${w.orUse('K2', ', which pushes nothing')}`;

export const OTHER_PATH_HINT = (w: Words) => `set ${w.input('path')} to a place of its own`;

/** @param permissions such as `contents: write, pages: read` */
export const permissionHint = (permissions: string) => (w: Words) => w.grant(permissions);
