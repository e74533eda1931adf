import { mapConcurrently } from '../../../async.ts';
import { toDeliveryError } from '../../../errors.ts';
import { nameFew } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { MEGABYTE, PROBE_TIME, SITE } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import type { LocalSite } from '../../../rules/local-site.ts';
import { encodePath } from '../../../rules/naming.ts';
import { isHtml } from '../../../rules/page/self-contained.ts';
import type { PlacedPart, PlacedPictures, Placement } from '../../channel.ts';
import { countChanges, formatChangeCounts } from '../../site-changes.ts';
import type { PagesDestination } from '../destination.ts';
import { fetchOldCopies } from '../old-copies.ts';
import { readTargetTree } from './branch-tree.ts';
import { isDone, planSite, type SitePlan } from './plan-site.ts';
import type { FolderTarget } from './site-target.ts';
import { createSiteWriter } from './write-site.ts';

/** A folder that is to be a site, and where. */
export interface SiteTask {
  readonly target: FolderTarget;
  readonly site: LocalSite;
  /** Where the entry page goes; the other files are beside it. */
  readonly destination: PagesDestination;
  /** Where the pictures of the entry page will be; they are files of the site. */
  readonly pictures?: PlacedPictures;
}

/**
 * Compares, commits and pushes a site, all of it in one commit. Each attempt compares first.
 *
 * @param fetchOld what an address answers before its file is replaced
 * @see design 6
 */
export async function publishSite(
  { target, site, destination, pictures }: SiteTask,
  ports: Ports,
  fetchOld: typeof fetchOldCopies = fetchOldCopies,
): Promise<Placement> {
  const write = createSiteWriter(target, ports);
  let wasSent = false;
  let old: OldCopies | undefined;
  const { plan, commitSha } = await withRetries(ports, async () => {
    const tree = await readTargetTree(target);
    const compared = await planSite(site, target, tree);
    if (isDone(compared)) return { plan: compared, commitSha: compared.lastCommit };
    if (compared.changes.changed.length > 0) {
      old ??= await fetchOldFiles(compared, { target, site, destination }, ports, fetchOld);
    }
    wasSent = true;
    return { plan: compared, commitSha: await write(compared) };
  }).catch((thrown: unknown) => {
    throw wasSent ? thrown : toDeliveryError(thrown).withLeftBehind([]);
  });
  for (const line of describeChanges({ ...plan, totalSize: 0 })) ports.logger.info(line);
  const { totalSize } = plan;
  const isLarge = totalSize > SITE.largeSize;
  ports.logger[isLarge ? 'warning' : 'info'](describeSize(totalSize));
  return {
    evidence: wasSent ? `commit ${commitSha}` : `commit ${commitSha} already holds this site`,
    url: entryUrl(destination.pageUrl),
    written: wasSent,
    ...(commitSha === undefined ? {} : { commitSha }),
    rawUrl: destination.rawUrl,
    bypassCache: true,
    hostMayChangeBytes: false,
    isPage: isHtml(destination.pageUrl.pathname),
    mustBeExternal: false,
    previousSha256: old?.entry,
    parts: listParts(site, destination.pageUrl).map((part) => withCopies(part, old)),
    pictures,
    changes: plan.changes,
    treeSha: plan.treeSha,
    servedSize: plan.totalSize,
    notes: [...destination.notes, ...describeEffects(plan)],
    unknown: [...destination.unknown, ...describeUnasked(plan, site, old)],
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
  if (totalSize > SITE.largeSize) lines.push(describeSize(totalSize));
  return lines;
}

const describeSize = (bytes: number): string =>
  `the whole Pages site has ${Math.round(bytes / MEGABYTE)} MB; GitHub serves at most ${SITE.size / MEGABYTE}`;

/** What addresses answered before their files were replaced, as SHA-256. */
interface OldCopies {
  readonly entry: readonly string[];
  /** By path within the site. */
  readonly files: ReadonlyMap<string, readonly string[]>;
}

const changedParts = ({ changes: { changed } }: SitePlan, { entry }: LocalSite): readonly string[] =>
  changed.filter((path) => path !== entry);

/** All of them together take no longer than one page may. */
async function fetchOldFiles(
  plan: SitePlan,
  { site, destination }: SiteTask,
  ports: Ports,
  fetchOld: typeof fetchOldCopies,
): Promise<OldCopies> {
  const { pageUrl } = destination;
  const entry = await fetchOld(entryUrl(pageUrl), ports);
  const limit = ports.clock.timeout(PROBE_TIME.least);
  const base = pageUrl.href.slice(0, -encodePath(site.entry).length);
  const paths = changedParts(plan, site).slice(0, SITE.plainProbes);
  const files = await mapConcurrently(paths, SITE.probes, async (path) => {
    const copies = await fetchOld(new URL(base + encodePath(path)), ports, limit);
    return [path, copies] as const;
  });
  return { entry, files: new Map(files) };
}

function withCopies(part: PlacedPart, old: OldCopies | undefined): PlacedPart {
  const previousSha256 = old?.files.get(part.path);
  return previousSha256 === undefined ? part : { ...part, previousSha256 };
}

/** Of more changed files than are asked as a browser asks them, a cache may still have what was there before. */
function describeUnasked(plan: SitePlan, site: LocalSite, old: OldCopies | undefined): string[] {
  const others = changedParts(plan, site).filter((path) => !old?.files.has(path));
  if (others.length === 0) return [];
  return [`whether a cache still shows older copies of ${nameFew(others)}, for up to ten minutes`];
}
