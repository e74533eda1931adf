import type { GitStore } from '../git/git-store.ts';
import { getReadmeIndex, isExcluded, listBuiltPaths } from './jekyll.ts';

export interface SiteFile {
  readonly sha: string;
  /** Its content, if it came in an artifact and is not in the repository. */
  readonly bytes?: Buffer;
  /** Its path in the site's source; differs from its address when Jekyll made it. */
  readonly source: string;
  /** Whether Jekyll may change its bytes. */
  readonly isRendered: boolean;
}

/** The result of one build: addresses (without the leading slash) and their files. */
export interface SiteVersion {
  readonly commit: string;
  readonly builtAt: Date;
  readonly files: ReadonlyMap<string, SiteFile>;
}

/** Builds the site of a commit from a folder of its tree (`/` or `/docs`). */
export function buildSiteVersion(git: GitStore, commit: string, folder: string): SiteVersion {
  const prefix = folder === '/' ? '' : `${folder.slice(1)}/`;
  const entries = git.listTree(commit, { recursive: true });
  const sources = entries
    .filter(({ type, path }) => type === 'blob' && path.startsWith(prefix))
    .map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) }));
  const builtByJekyll = !sources.some(({ path }) => path === '.nojekyll');
  const kept = builtByJekyll ? sources.filter(({ path }) => !isExcluded(path)) : sources;
  const files = new Map<string, SiteFile>();
  const add = ({ path, sha }: (typeof kept)[number], address: string, isRendered: boolean): void => {
    // A file replaces a rendered file with the same URL.
    if (address !== path && files.has(address)) return;
    files.set(address, { sha, source: path, isRendered });
  };
  for (const entry of kept) {
    const built = builtByJekyll
      ? listBuiltPaths(entry.path, () => git.readBlob(entry.sha))
      : [[entry.path, false] as const];
    for (const [address, isRendered] of built) add(entry, address, isRendered);
  }
  for (const entry of kept) {
    const index = builtByJekyll && files.get(entry.path)?.isRendered === false && getReadmeIndex(entry.path);
    if (index) add(entry, index, true);
  }
  return { commit, builtAt: new Date(), files };
}
