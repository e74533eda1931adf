import { countFiles, nameFew } from '../../plain-text.ts';
import type { Logger } from '../../ports.ts';
import { AUDIT, MEGABYTE, SITE } from '../../protocol/limits.ts';
import type { LocalSiteFile } from '../../rules/local-site.ts';
import { getBrowserDisplay } from '../../rules/media-type.ts';
import { entryUrl } from '../../rules/naming.ts';
import type { PlacedPart, Placement } from '../channel.ts';
import { countChanges, formatChangeCounts } from '../site-changes.ts';
import type { CommittedPlace, ComparedPlace } from './commit.ts';
import { describeReplaced } from './commit-message.ts';
import { addressOf, type PagesDestination } from './destination.ts';
import { choosePlain, type EarlierFiles } from './recheck.ts';
import { listLeftOut } from './site-workflow.ts';
import { COMMIT_METHODS, type CommitMethod, type PagesTask } from './target.ts';

/** What every placement on a branch has. */
export const ON_BRANCH = { bypassCache: true } as const;

/** A task as a site: of one file, it is that file and its pictures. */
function asSite({ site, file, path, pictures = [], target }: PagesTask): {
  readonly folder: string;
  readonly entry: string;
  readonly files: readonly LocalSiteFile[];
} {
  if (site !== undefined && 'folder' in target) return { ...site, folder: target.folder };
  return { folder: '', entry: path, files: file === null ? [] : [{ path, file }, ...pictures] };
}

/** The files of a task, by their paths in the branch. */
export function filesOf(task: PagesTask): readonly LocalSiteFile[] {
  const { folder, files } = asSite(task);
  return files.map(({ path, file }) => ({ path: folder + path, file }));
}

/** The evidence and the addresses of a file or a folder that was committed. */
export function describePublished(
  { commitSha, written, method, place }: CommittedPlace,
  task: PagesTask,
  logger: Logger,
): Placement {
  const { destination, target, placedPictures } = task;
  const { earlier = new Map(), gone = new Map(), delivered } = place;
  const isSite = delivered !== undefined;
  const { folder, entry, files } = asSite(task);
  const asked = choosePlain(earlier, entry);
  if (isSite) logDelivered(delivered, logger);
  return {
    ...ON_BRANCH,
    evidence: `commit ${commitSha}${written ? '' : ` already holds ${isSite ? 'this site' : 'these bytes'}`}`,
    url: isSite ? entryUrl(destination.pageUrl) : destination.pageUrl,
    written,
    ...(method && !isSite && { method: COMMIT_METHODS[method] }),
    ...(commitSha && {
      commitSha,
      rawUrl: destination.rawUrl,
      held: new Map(files.map(({ path, file }) => [folder + path, file.blobSha])),
    }),
    hostMayChangeBytes: destination.hostMayChangeBytes,
    display: getBrowserDisplay(destination.pageUrl.pathname),
    ...listLeftOut(destination, isSite ? folder || './' : entry),
    ...(earlier.has(entry) && { earlier: earlier.get(entry) ?? [] }),
    ...((isSite || placedPictures) && { parts: placeParts(task, asked) }),
    ...(gone.size > 0 && { removed: placeRemoved(gone, destination) }),
    ...(placedPictures && { pictures: placedPictures }),
    ...(isSite && {
      changes: delivered.changes,
      ...(delivered.treeSha && { treeSha: delivered.treeSha }),
      servedSize: delivered.totalSize,
    }),
    notes: [
      ...destination.notes,
      ...describeReplaced(written ? place.replaced : undefined, target.options.essence),
      ...(isSite ? describeEffects(delivered) : []),
    ],
    unknown: [...destination.unknown, ...describeUnasked(earlier, asked, entry), ...describeLeft(gone)],
  };
}

function placeParts(task: PagesTask, asked: EarlierFiles): readonly PlacedPart[] {
  const { folder, entry, files } = asSite(task);
  return files.flatMap(({ path, file: { size, sha256 } }) => {
    const earlier = asked.get(path);
    const part = { path, url: addressOf(task.destination, folder + path), size, sha256 };
    return path === entry ? [] : [earlier === undefined ? part : { ...part, earlier }];
  });
}

/** Some of the files that were removed, pages first. */
function placeRemoved(gone: EarlierFiles, destination: PagesDestination): readonly PlacedPart[] {
  const files = [...gone.keys()].filter((path) => path.startsWith(destination.siteRoot));
  const listed = listAddresses({ files, sites: [] }, destination).slice(0, AUDIT.gone);
  return listed.map((one) => ({ ...one, earlier: gone.get(one.path) ?? [] }));
}

const describeLeft = ({ size }: EarlierFiles): string[] =>
  size <= AUDIT.gone
    ? []
    : [`whether ${size - AUDIT.gone} more removed files are gone: ${AUDIT.gone} addresses were asked for`];

/** Of more changed files, a cache may still have what was there before, or that nothing was. */
function describeUnasked(earlier: EarlierFiles, asked: EarlierFiles, entry: string): string[] {
  const left = [...earlier.keys()].filter((path) => path !== entry && !asked.has(path)).length;
  if (left === 0) return [];
  return [
    `whether a cache still answers otherwise for ${left} more new or changed files, for up to ten minutes`,
  ];
}

type Delivered = NonNullable<ComparedPlace['delivered']>;

function logDelivered(delivered: Delivered, logger: Logger): void {
  for (const line of describeChanges({ ...delivered, totalSize: 0 })) logger.info(line);
  logger[delivered.totalSize > SITE.largeSize ? 'warning' : 'info'](describeSize(delivered.totalSize));
}

/** What the delivery of a folder changed, in a few lines for people. */
export function describeChanges(delivered: Delivered): string[] {
  const counts = formatChangeCounts(countChanges(delivered.changes));
  return [counts === '' ? 'no file changed' : `files: ${counts}`, ...describeEffects(delivered)];
}

function describeEffects({ changes: { kept, removedFolders }, totalSize }: Delivered): string[] {
  const lines: string[] = [];
  if (kept.length > 0) lines.push(`left alone, because this tool did not deliver it: ${nameFew(kept)}`);
  if (removedFolders.length > 0) lines.push(`older sites removed: ${nameFew(removedFolders)}`);
  if (totalSize > SITE.largeSize) lines.push(describeSize(totalSize));
  return lines;
}

const describeSize = (bytes: number): string =>
  `the whole Pages site has ${Math.round(bytes / MEGABYTE)} MB; GitHub serves at most ${SITE.size / MEGABYTE}`;

/** The evidence of a file or a folder that was removed, and the addresses that must be gone. */
export function describeRemoved(
  { commitSha, written, method, place: { removed, nothing = 'nothing exists there' } }: CommittedPlace,
  { destination, path }: PagesTask,
): Placement {
  const [first, ...parts] = removed === undefined ? [] : listAddresses(removed, destination);
  return {
    ...ON_BRANCH,
    evidence: written ? `commit ${commitSha} removes it` : nothing,
    url: first?.url ?? destination.pageUrl,
    written,
    ...(method && removed === undefined && { method: removalMethod(method) }),
    ...(commitSha && { commitSha }),
    ...(removed === undefined ? { rawUrl: destination.rawUrl } : { parts }),
    held: new Map((removed?.files ?? [path]).map((one) => [one, null])),
    notes: written && removed !== undefined ? [describeRemoval(removed, 'removed')] : [],
    unknown: destination.unknown,
  };
}

type Removed = NonNullable<ComparedPlace['removed']>;

export const removalMethod = (method: CommitMethod): string =>
  `a commit that removes it, ${COMMIT_METHODS[method]}`;

/** Such as `5 files removed, of 3 sites: a/, b/, c/`. */
export const describeRemoval = ({ files, sites }: Removed, verb = ''): string =>
  [
    `${countFiles(files.length)} ${verb}`.trim(),
    ...(sites.length > 1 ? [`of ${sites.length} sites: ${nameFew(sites)}`] : []),
  ].join(', ');

/** The address of each removed file: the page of each folder first, then the other pages. */
export function listAddresses(
  { files, sites }: Removed,
  destination: Pick<PagesDestination, 'siteRoot' | 'rootUrl'>,
): readonly PlacedPart[] {
  const entries = new Set(sites.map((site) => `${site}index.html`));
  const rank = (path: string): number => (entries.has(path) ? 0 : /\.html?$/i.test(path) ? 1 : 2);
  const sorted = files.toSorted((one, other) => rank(one) - rank(other));
  return sorted.map((path) => ({ path, url: entryUrl(addressOf(destination, path)), size: 0, sha256: '' }));
}
