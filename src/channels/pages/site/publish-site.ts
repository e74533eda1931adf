import { mapConcurrently } from '../../../async.ts';
import { toDeliveryError } from '../../../errors.ts';
import type { GitBlob } from '../../../http/fetch-back.ts';
import { nameFew } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { MEGABYTE, PROBE_TIME, SITE } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import { getBrowserDisplay } from '../../../rules/browser-display.ts';
import type { LocalSite } from '../../../rules/local-site.ts';
import { encodePath } from '../../../rules/naming.ts';
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
  const { plan, commitSha, wasSent, ...before } = await commitSite(
    { target, site, destination },
    ports,
    fetchOld,
  );
  logPlan(plan, ports);
  const { old, earlier } = before;
  const added = divideAdded(before, site);
  return {
    evidence: wasSent ? `commit ${commitSha}` : `commit ${commitSha} already holds this site`,
    url: entryUrl(destination.pageUrl),
    written: wasSent,
    ...(commitSha === undefined ? {} : { commitSha }),
    rawUrl: destination.rawUrl,
    bypassCache: true,
    hostMayChangeBytes: false,
    display: getBrowserDisplay(destination.pageUrl.pathname),
    mustBeExternal: false,
    previousSha256: old?.entry,
    previousBlob: earlier.files.get(site.entry),
    parts: listParts(site, destination.pageUrl).map(withCopies({ old, earlier, added })),
    pictures,
    changes: plan.changes,
    treeSha: plan.treeSha,
    servedSize: plan.totalSize,
    notes: [...destination.notes, ...describeEffects(plan)],
    unknown: [
      ...destination.unknown,
      ...describeUnasked(plan, site, { old, earlier }),
      ...describeUnaskedNew(added),
    ],
  };
}

/** A site that was committed, or that is on the branch already. */
interface CommittedSite {
  readonly plan: SitePlan;
  readonly commitSha: string | undefined;
  /** Whether anything was sent. */
  readonly wasSent: boolean;
  readonly old: OldCopies | undefined;
  readonly earlier: EarlierFiles;
  /** The files that were not there before, this run or an earlier one. */
  readonly added: readonly string[];
}

async function commitSite(
  { target, site, destination }: SiteTask,
  ports: Ports,
  fetchOld: typeof fetchOldCopies,
): Promise<CommittedSite> {
  const write = createSiteWriter(target, ports);
  let wasSent = false;
  let old: OldCopies | undefined;
  let earlier: EarlierFiles = NO_EARLIER_FILES;
  let added: readonly string[] | undefined;
  const { plan, commitSha } = await withRetries(ports, async () => {
    const tree = await readTargetTree(target);
    const compared = await planSite(site, target, tree);
    if (isDone(compared)) {
      if (!wasSent) earlier = await findEarlierFiles(compared, target, site);
      added ??= earlier.added;
      return { plan: compared, commitSha: compared.lastCommit };
    }
    if (compared.changes.changed.length > 0) {
      old ??= await fetchOldFiles(compared, { target, site, destination }, ports, fetchOld);
    }
    wasSent = true;
    added = compared.changes.added;
    return { plan: compared, commitSha: await write(compared) };
  }).catch((thrown: unknown) => {
    throw wasSent ? thrown : toDeliveryError(thrown).withLeftBehind([]);
  });
  return { plan, commitSha, wasSent, old, earlier, added: added ?? [] };
}

function logPlan(plan: SitePlan, { logger }: Pick<Ports, 'logger'>): void {
  const { totalSize } = plan;
  for (const line of describeChanges({ ...plan, totalSize: 0 })) logger.info(line);
  logger[totalSize > SITE.largeSize ? 'warning' : 'info'](describeSize(totalSize));
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

/** What the newest delivery replaced, by path within the site. */
interface EarlierFiles {
  readonly files: ReadonlyMap<string, GitBlob>;
  /** Those beyond the number whose addresses are asked. */
  readonly unasked: readonly string[];
  /** What it added. */
  readonly added: readonly string[];
}

const NO_EARLIER_FILES: EarlierFiles = { files: new Map(), unasked: [], added: [] };

/**
 * A run that finds everything there proves as much as the one that placed it: also of what that one replaced, a cache
 * may still have the old file.
 *
 * @see design 5
 */
async function findEarlierFiles(
  { parent }: SitePlan,
  { github, reader, folder }: FolderTarget,
  { files, entry }: LocalSite,
): Promise<EarlierFiles> {
  if (parent === undefined) return NO_EARLIER_FILES;
  const before = await reader.getEntries(github, parent);
  const replaced = files.flatMap(({ path, file: { blobSha } }) => {
    const { type, sha, size } = before.get(folder + path) ?? { type: 'none', sha: '', size: 0 };
    return type === 'blob' && sha !== blobSha ? [[path, { sha, size }] as const] : [];
  });
  const others = replaced.filter(([path]) => path !== entry);
  const page = replaced.filter(([path]) => path === entry);
  return {
    files: new Map([...page, ...others.slice(0, SITE.plainProbes)]),
    unasked: others.slice(SITE.plainProbes).map(([path]) => path),
    added: files.flatMap(({ path }) => (before.has(folder + path) ? [] : [path])),
  };
}

/** New files but the entry, whose address is asked in any case. */
interface AddedFiles {
  /** Those whose addresses are asked as a browser asks them. */
  readonly asked: ReadonlySet<string>;
  readonly count: number;
}

/** As many addresses are asked as those of the replaced files leave. */
function divideAdded(
  { old, earlier, added }: Pick<CommittedSite, 'old' | 'earlier' | 'added'>,
  { entry }: LocalSite,
): AddedFiles {
  const replaced = (old?.files.size ?? 0) + earlier.files.size;
  const others = added.filter((path) => path !== entry);
  return {
    asked: new Set(others.slice(0, Math.max(SITE.plainProbes - replaced, 0))),
    count: others.length,
  };
}

/** Of more new files than are asked as a browser asks them, a cache may have kept that nothing was there. */
function describeUnaskedNew({ asked, count }: AddedFiles): string[] {
  const left = count - asked.size;
  if (left === 0) return [];
  return [
    `whether a cache still answers that ${left} of ${count} new files are missing, for up to ten minutes`,
  ];
}

/** Tells of each file what its address may still answer, as far as so many addresses are asked. */
function withCopies({
  old,
  earlier,
  added: { asked },
}: Pick<CommittedSite, 'old' | 'earlier'> & { readonly added: AddedFiles }): (
  part: PlacedPart,
) => PlacedPart {
  return (part) => {
    const previousSha256 = old?.files.get(part.path);
    const previousBlob = earlier.files.get(part.path);
    return {
      ...part,
      ...(previousSha256 && { previousSha256 }),
      ...(previousBlob && { previousBlob }),
      ...(asked.has(part.path) && { isNew: true }),
    };
  };
}

/** Of more changed files than are asked as a browser asks them, a cache may still have what was there before. */
function describeUnasked(
  plan: SitePlan,
  site: LocalSite,
  { old, earlier }: { readonly old: OldCopies | undefined; readonly earlier: EarlierFiles },
): string[] {
  const changed = changedParts(plan, site).filter((path) => !old?.files.has(path));
  const others = [...changed, ...earlier.unasked];
  if (others.length === 0) return [];
  return [`whether a cache still shows older copies of ${nameFew(others)}, for up to ten minutes`];
}
