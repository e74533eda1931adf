import type { GitBlob } from '../../../http/fetch-back.ts';
import { nameFew } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { MEGABYTE, SITE } from '../../../protocol/limits.ts';
import { getBrowserDisplay } from '../../../rules/browser-display.ts';
import type { LocalSite } from '../../../rules/local-site.ts';
import type { PlacedPart, Placement } from '../../channel.ts';
import { countChanges, formatChangeCounts } from '../../site-changes.ts';
import type { BranchTree } from '../branch-reader.ts';
import { type CommittedPlace, commitOne } from '../commit.ts';
import { addressOf, type PagesDestination } from '../destination.ts';
import type { FolderTask } from '../file-tasks.ts';
import { describeReplaced } from '../ownership.ts';
import type { PlacedPictures } from '../pictures.ts';
import { listLeftOut } from '../site-workflow.ts';
import { type FolderTarget, readTargetTree } from '../target.ts';
import { planSite, type SitePlan } from './plan-site.ts';

/** A folder that is to be a site. */
export interface SiteTask extends FolderTask {
  readonly site: LocalSite;
  readonly placedPictures?: PlacedPictures;
}

/** Compares, commits and pushes a site, all of it in one commit. Each attempt compares first. @see design 6 */
export async function publishSite(task: PublishedSite, ports: Ports): Promise<Placement> {
  const { site, target } = task;
  const planned = async (now: FolderTarget) => {
    const tree = await readTargetTree(now);
    const compared = await planSite(site, now, tree);
    return {
      head: tree.head,
      place: { ...compared, earlier: await findEarlierFiles(compared, tree, now, site) },
    };
  };
  const done = await commitOne(planned, target, ports);
  logPlan(done.place, ports);
  return sitePlacement(done, task);
}

/** What of a task its placement needs. */
type PublishedSite = Pick<SiteTask, 'target' | 'site' | 'destination' | 'placedPictures'>;

function sitePlacement(
  { place: plan, commitSha, written }: CommittedPlace<SitePlan & { readonly earlier: EarlierFiles }>,
  { target, site, destination, placedPictures }: PublishedSite,
): Placement {
  const { earlier } = plan;
  const asked = choosePlain(earlier, site);
  return {
    evidence: written ? `commit ${commitSha}` : `commit ${commitSha} already holds this site`,
    url: entryUrl(destination.pageUrl),
    written,
    ...(commitSha && { commitSha }),
    rawUrl: destination.rawUrl,
    bypassCache: true,
    hostMayChangeBytes: false,
    display: getBrowserDisplay(destination.pageUrl.pathname),
    mustBeExternal: false,
    ...listLeftOut(destination, target.folder || './'),
    earlier: earlier.get(site.entry) ?? [],
    parts: listSiteParts(site, target.folder, destination, asked),
    pictures: placedPictures,
    changes: plan.changes,
    treeSha: plan.treeSha,
    held: new Map(site.files.map(({ path, file }) => [target.folder + path, file.blobSha])),
    servedSize: plan.totalSize,
    notes: [
      ...destination.notes,
      ...describeReplaced(written ? plan.delivery : undefined, target.essence),
      ...describeEffects(plan),
    ],
    unknown: [...destination.unknown, ...describeUnasked(earlier, asked, site)],
  };
}

function logPlan(plan: SitePlan, { logger }: Pick<Ports, 'logger'>): void {
  const { totalSize } = plan;
  for (const line of describeChanges({ ...plan, totalSize: 0 })) logger.info(line);
  logger[totalSize > SITE.largeSize ? 'warning' : 'info'](describeSize(totalSize));
}

/** The address of a folder's page: that of the folder itself. */
export const entryUrl = (page: URL): URL => new URL(page.href.replace(/\/index\.html$/, '/'));

/** Every file but the entry, at its own address. */
function listSiteParts(
  { files, entry }: LocalSite,
  folder: string,
  destination: PagesDestination,
  asked: EarlierFiles,
): readonly PlacedPart[] {
  return files.flatMap(({ path, file: { size, sha256 } }) => {
    const earlier = asked.get(path);
    const part = { path, url: addressOf(destination, folder + path), size, sha256 };
    return path === entry ? [] : [earlier === undefined ? part : { ...part, earlier }];
  });
}

/** What the delivery changed, in a few lines for people. */
export function describeChanges(plan: SitePlan): string[] {
  const counts = formatChangeCounts(countChanges(plan.changes));
  return [counts === '' ? 'no file changed' : `files: ${counts}`, ...describeEffects(plan)];
}

/** What a person should know of a delivery beside the number of changed files. */
function describeEffects({ changes: { kept, removedFolders }, totalSize }: SitePlan): string[] {
  const lines: string[] = [];
  if (kept.length > 0) lines.push(`left alone, because this tool did not deliver it: ${nameFew(kept)}`);
  if (removedFolders.length > 0) lines.push(`older sites removed: ${nameFew(removedFolders)}`);
  if (totalSize > SITE.largeSize) lines.push(describeSize(totalSize));
  return lines;
}

const describeSize = (bytes: number): string =>
  `the whole Pages site has ${Math.round(bytes / MEGABYTE)} MB; GitHub serves at most ${SITE.size / MEGABYTE}`;

/** What the branch held before at the paths of the site that changed, the newest first; nothing for a new file. */
type EarlierFiles = ReadonlyMap<string, readonly GitBlob[]>;

/**
 * What caches may still have: what this delivery replaces, and what the newest one before it did. A run that finds
 * everything there proves as much as the one that placed it.
 *
 * @see design 5
 */
async function findEarlierFiles(
  { change, before }: SitePlan,
  { entries, head }: BranchTree,
  { github, reader, folder }: FolderTarget,
  { files, entry: page }: LocalSite,
): Promise<EarlierFiles> {
  const trees = [
    ...(change === undefined ? [] : [entries]),
    ...(before === undefined ? [] : [await reader.getEntries(github, before)]),
  ];
  // The page changes most often, and a cache may be older than the last two versions.
  const commits = head === null ? undefined : await reader.getCommits(github, head, [folder + page]);
  const versions = commits?.get(folder + page)?.blobs ?? [];
  const earlier = new Map<string, readonly GitBlob[]>();
  for (const { path, file } of files) {
    const found = trees.map((one) => one.get(folder + path));
    if (path !== page && (trees.length === 0 || found[0]?.sha === file.blobSha)) continue;
    const held = found.flatMap((one) => (one?.type === 'blob' ? [{ sha: one.sha, size: one.size }] : []));
    const all = new Map([...held, ...(path === page ? versions : [])].map((one) => [one.sha, one]));
    all.delete(file.blobSha);
    earlier.set(path, all.size === 0 ? NEVER : [...all.values()]);
  }
  return earlier;
}

/** Of thousands of new files, one list is kept. */
const NEVER: readonly GitBlob[] = [];

/** The changed files whose addresses are asked as a browser asks them: replaced ones before new ones. */
function choosePlain(earlier: EarlierFiles, { entry }: LocalSite): EarlierFiles {
  const others = [...earlier].filter(([path]) => path !== entry);
  const replacedFirst = others.toSorted(([, one], [, other]) => other.length - one.length);
  return new Map(replacedFirst.slice(0, SITE.plainProbes));
}

/** Of more changed files, a cache may still have what was there before, or that nothing was. */
function describeUnasked(earlier: EarlierFiles, asked: EarlierFiles, { entry }: LocalSite): string[] {
  const left = [...earlier.keys()].filter((path) => path !== entry && !asked.has(path)).length;
  return left === 0
    ? []
    : [
        `whether a cache still answers otherwise for ${left} more new or changed files, for up to ten minutes`,
      ];
}
