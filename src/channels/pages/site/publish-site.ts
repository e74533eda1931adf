import { nameFew } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { MEGABYTE, SITE } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import type { LocalSite } from '../../../rules/local-site.ts';
import { encodePath } from '../../../rules/naming.ts';
import type { PlacedPart, Placement } from '../../channel.ts';
import { countChanges, formatChangeCounts } from '../../site-changes.ts';
import type { PagesDestination } from '../destination.ts';
import { readBranchTree } from './branch-tree.ts';
import { isDone, planSite, type SitePlan } from './plan-site.ts';
import type { FolderTarget } from './site-target.ts';
import { createSiteWriter } from './write-site.ts';

/** A folder that is to be a site, and where. */
export interface SiteTask {
  readonly target: FolderTarget;
  readonly site: LocalSite;
  /** Where the entry page goes; the other files are beside it. */
  readonly destination: PagesDestination;
}

/**
 * Compares, commits and pushes a site, all of it in one commit. Each attempt compares first.
 *
 * @param onReplace is called before an existing site is changed
 * @see design 6
 */
export async function publishSite(
  { target, site, destination }: SiteTask,
  ports: Ports,
  onReplace: () => Promise<readonly string[]>,
): Promise<Placement> {
  const write = createSiteWriter(target, ports);
  let wasSent = false;
  let previousSha256: readonly string[] | undefined;
  const { plan, commitSha } = await withRetries(ports, async () => {
    const tree = await readBranchTree(target.github, target.branch);
    const compared = await planSite(site, target, tree);
    if (isDone(compared)) return { plan: compared, commitSha: compared.lastCommit };
    if (compared.changes.changed.length > 0) previousSha256 ??= await onReplace();
    wasSent = true;
    return { plan: compared, commitSha: await write(compared) };
  });
  for (const line of describeChanges(plan)) ports.logger.info(line);
  return {
    evidence: wasSent ? `commit ${commitSha}` : `commit ${commitSha} already holds this site`,
    url: entryUrl(destination.pageUrl),
    written: wasSent,
    ...(commitSha === undefined ? {} : { commitSha }),
    rawUrl: destination.rawUrl,
    bypassCache: true,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    previousSha256,
    parts: listParts(site, destination.pageUrl),
    changes: plan.changes,
    treeSha: plan.treeSha,
    servedSize: plan.totalSize,
    notes: [...destination.notes, ...describeEffects(plan)],
    unknown: [...destination.unknown, ...describeCaches(plan, site)],
  };
}

/** The address of a folder's page: that of the folder itself. */
export const entryUrl = (page: URL): URL => new URL(page.href.replace(/\/index\.html$/, '/'));

/** Every file but the entry, at its own address. */
function listParts({ files, entry }: LocalSite, page: URL): readonly PlacedPart[] {
  const base = page.href.slice(0, -encodePath(entry).length);
  return files.flatMap(({ path, file: { size, sha256 } }) =>
    path === entry ? [] : [{ path, url: new URL(base + encodePath(path)), size, sha256 }],
  );
}

/** What the delivery changed, in a few lines for people. */
export function describeChanges(plan: SitePlan): string[] {
  const counts = formatChangeCounts(countChanges(plan.changes));
  return [counts === '' ? 'no file changed' : `files: ${counts}`, ...describeEffects(plan)];
}

/** What a person should know of a delivery beside the number of changed files. */
function describeEffects({ changes: { kept, removedFolders }, totalSize }: SitePlan): string[] {
  const lines: string[] = [];
  if (kept.length > 0) lines.push(`left alone, because this action did not deliver it: ${nameFew(kept)}`);
  if (removedFolders.length > 0) lines.push(`older sites removed: ${nameFew(removedFolders)}`);
  if (totalSize > SITE.largeSize) {
    lines.push(
      `the whole Pages site has ${Math.round(totalSize / MEGABYTE)} MB; GitHub serves at most ${SITE.size / MEGABYTE}`,
    );
  }
  return lines;
}

/** Only the entry is asked as a person opens it; of the other files a cache may still keep what was there before. */
function describeCaches({ changes: { changed } }: SitePlan, { entry }: LocalSite): string[] {
  const others = changed.filter((path) => path !== entry);
  if (others.length === 0) return [];
  return [`whether a cache still shows older copies of ${nameFew(others)}, for up to ten minutes`];
}
