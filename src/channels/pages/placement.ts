import { countFiles, nameFew } from '../../plain-text.ts';
import type { Logger } from '../../ports.ts';
import { AUDIT, MEGABYTE, SITE } from '../../protocol/limits.ts';
import { getBrowserDisplay } from '../../rules/media-type.ts';
import { entryUrl } from '../../rules/naming.ts';
import type { PlacedPart, Placement } from '../channel.ts';
import { countChanges, formatChangeCounts } from '../site-changes.ts';
import type { EarlierFiles } from './branch-reader.ts';
import { describeReplaced } from './commit-message.ts';
import type { ComparedPlace } from './compare.ts';
import { addressOf } from './destination.ts';
import { addressesOfGone, addressesOfRemoved } from './held-files.ts';
import { addressesOfPictures } from './pictures.ts';
import { notDeployed } from './site-workflow.ts';
import { isFolderPath, isRemoval, type PagesTask, planMethod } from './target.ts';

/** The evidence and the addresses of what was committed, or removed: of a place that is as wanted. */
export function describePlacement(place: ComparedPlace, logger: Logger): Placement {
  const { task, writtenBy } = place;
  if (isFolderPath(task.place) && !isRemoval(task)) logFolder(place, logger);
  const placement = isRemoval(task) ? describeRemoved(place) : describePublished(place);
  return {
    ...placement,
    bypassCache: true,
    written: writtenBy !== undefined,
    ...(writtenBy && !isFolderPath(task.place) && { method: planMethod(writtenBy, task) }),
    unknown: [...task.destination.unknown, ...placement.unknown],
  };
}

type Described = Omit<Placement, 'written'>;

function describePublished(place: ComparedPlace): Described {
  const { task, commitSha, writtenBy, earlier, gone, changes, treeSha, servedSize } = place;
  const { destination, target, pictures, files } = task;
  const isFolder = isFolderPath(task.place);
  const entry = destination.path;
  const asked = choosePlain(earlier, entry);
  return {
    evidence: writtenBy ? `commit ${commitSha}` : describeUnchanged(place),
    url: isFolder ? entryUrl(destination.pageUrl) : destination.pageUrl,
    // What is deployed without a commit is on no branch.
    ...(commitSha && {
      commitSha,
      rawUrl: destination.rawUrl,
      held: new Map([
        ...files.map(({ path, file }) => [path, file.blobSha] as const),
        ...(destination.rivals ?? []).map((path) => [path, null] as const),
      ]),
    }),
    hostMayChangeBytes: destination.hostMayChangeBytes,
    display: getBrowserDisplay(destination.pageUrl.pathname),
    ...(destination.builtBy === 'workflow' && {
      refusals: [notDeployed(task.place || './', target.options.siteWorkflow)],
    }),
    file: files.find(({ path }) => path === entry)?.file ?? null,
    earlier: earlier.get(entry) ?? [],
    parts: [...addressesOfParts(task, asked), ...addressesOfGone(gone, destination)],
    ...(pictures && { pictures: addressesOfPictures(pictures, destination.pageUrl) }),
    ...(isFolder && { changes, treeSha, servedSize }),
    notes: [
      ...destination.notes,
      ...describeReplaced(writtenBy ? place.replaced : undefined, target.options.essence),
      ...(isFolder ? describeEffects(place) : []),
    ],
    unknown: [...describeUnasked(earlier, asked, entry), ...describeLeft(gone)],
  };
}

/** What is said of a place that is as wanted. */
export function describeUnchanged({ task, commitSha }: ComparedPlace): string {
  if (isRemoval(task)) return 'nothing that this tool delivered exists there';
  return `commit ${commitSha} already holds ${isFolderPath(task.place) ? 'this site' : 'these bytes'}`;
}

function addressesOfParts(
  { destination, files, place }: PagesTask,
  asked: EarlierFiles,
): readonly PlacedPart[] {
  return files.flatMap(({ path, file }) => {
    if (path === destination.path) return [];
    const earlier = asked.get(path);
    const name = isFolderPath(place) ? path.slice(place.length) : path;
    const part = { path: name, url: addressOf(destination, path), file };
    return [earlier === undefined ? part : { ...part, earlier }];
  });
}

/** The changed files beside the page whose addresses are asked as a browser asks them: replaced ones first. */
function choosePlain(earlier: EarlierFiles, page: string): EarlierFiles {
  const others = [...earlier].filter(([path]) => path !== page);
  const replacedFirst = others.toSorted(([, one], [, other]) => other.length - one.length);
  return new Map(replacedFirst.slice(0, SITE.plainProbes));
}

/** Of more changed files, a cache may still have what was there before, or that nothing was. */
function describeUnasked(earlier: EarlierFiles, asked: EarlierFiles, entry: string): string[] {
  const left = [...earlier.keys()].filter((path) => path !== entry && !asked.has(path)).length;
  if (left === 0) return [];
  return [
    `whether a cache still answers otherwise for ${left} more new or changed files, for up to ten minutes`,
  ];
}

const describeLeft = ({ size }: EarlierFiles): string[] =>
  size <= AUDIT.gone
    ? []
    : [`whether ${size - AUDIT.gone} more removed files are gone: ${AUDIT.gone} addresses were asked for`];

function describeRemoved(place: ComparedPlace): Described {
  const { task, commitSha, writtenBy, gone, earlier, rest = new Map(), unknown = [] } = place;
  const { destination } = task;
  const isFolder = isFolderPath(task.place);
  const paths = [...new Set([...(isFolder ? [] : [task.place]), ...gone.keys()])];
  const known = new Map(paths.map((path) => [path, [gone, earlier].flatMap((one) => one.get(path) ?? [])]));
  const { url, parts, ...found } = addressesOfRemoved(known, destination, rest);
  return {
    ...found,
    evidence: writtenBy ? `commit ${commitSha} removes it` : describeUnchanged(place),
    ...(writtenBy && commitSha && { commitSha }),
    ...(isFolder ? { url } : { url: destination.pageUrl, rawUrl: destination.rawUrl }),
    held: new Map(paths.map((path) => [path, null])),
    parts,
    notes: writtenBy && isFolder ? [describeRemoval(place, 'removed')] : [],
    unknown,
  };
}

/** Such as `5 files removed, of 3 sites: a/, b/, c/`. */
const describeRemoval = (
  { gone, changes: { removedFolders } }: Pick<ComparedPlace, 'gone' | 'changes'>,
  verb = '',
): string =>
  [
    `${countFiles(gone.size)} ${verb}`.trim(),
    ...(removedFolders.length > 1 ? [`of ${removedFolders.length} sites: ${nameFew(removedFolders)}`] : []),
  ].join(', ');

function logFolder(place: ComparedPlace, logger: Logger): void {
  const { servedSize = 0 } = place;
  for (const line of describeFolder({ ...place, servedSize: 0 })) logger.info(line);
  logger[servedSize > SITE.largeSize ? 'warning' : 'info'](describeSize(servedSize));
}

/** What the delivery of a folder changes, or its removal, in a few lines for people. */
export function describeFolder(place: ComparedPlace): string[] {
  if (isRemoval(place.task)) return [describeRemoval(place)];
  const counts = formatChangeCounts(countChanges(place.changes));
  return [counts === '' ? 'no file changed' : `files: ${counts}`, ...describeEffects(place)];
}

function describeEffects({
  changes: { kept, removedFolders },
  servedSize = 0,
}: Pick<ComparedPlace, 'changes' | 'servedSize'>): string[] {
  const lines: string[] = [];
  if (kept.length > 0) lines.push(`left alone, because this tool did not deliver it: ${nameFew(kept)}`);
  if (removedFolders.length > 0) lines.push(`older sites removed: ${nameFew(removedFolders)}`);
  if (servedSize > SITE.largeSize) lines.push(describeSize(servedSize));
  return lines;
}

const describeSize = (bytes: number): string =>
  `the whole Pages site has ${Math.round(bytes / MEGABYTE)} MB; GitHub serves at most ${SITE.size / MEGABYTE}`;
