import type { GitStore } from '../git/bare-repository.ts';
import { getBuiltPath, isExcluded } from './jekyll.ts';

/** A file of a built site. */
export interface SiteFile {
  readonly sha: string;
  readonly size: number;
  /** Its path in the site's source; differs from its address when Jekyll made it. */
  readonly source: string;
}

/** The result of one build: addresses (without the leading slash) and their files. */
export interface SiteVersion {
  readonly commit: string;
  readonly builtAt: Date;
  readonly builtByJekyll: boolean;
  readonly files: ReadonlyMap<string, SiteFile>;
}

/** Builds the site of a commit from a folder of its tree (`/` or `/docs`). */
export async function buildSiteVersion(git: GitStore, commit: string, folder: string): Promise<SiteVersion> {
  const prefix = folder === '/' ? '' : `${folder.slice(1)}/`;
  const entries = await git.listTree(commit, { recursive: true });
  const sources = entries
    .filter(({ type, path }) => type === 'blob' && path.startsWith(prefix))
    .map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) }));
  const builtByJekyll = !sources.some(({ path }) => path === '.nojekyll');
  const files = new Map<string, SiteFile>();
  for (const { path, sha, size } of sources) {
    if (builtByJekyll && isExcluded(path)) continue;
    files.set(builtByJekyll ? getBuiltPath(path) : path, { sha, size: size ?? 0, source: path });
  }
  return { commit, builtAt: new Date(), builtByJekyll, files };
}
