import type { CommitSummary } from '../../github/api/history.ts';
import { countFiles, lineIf, namedLine, nameFew } from '../../plain-text.ts';
import type { Check } from '../../proof/check.ts';
import { AUDIT, MEGABYTE, SITE } from '../../protocol/limits.ts';
import { MARKDOWN } from '../../rules/jekyll.ts';
import { isFolderPath } from '../../rules/naming.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import type { Placement } from '../channel.ts';
import type { PreviousBlobs } from './branch-reader.ts';
import { describeReplaced } from './commit-message.ts';
import type { ComparedItem, PlannedItem } from './compare.ts';
import { switchFileOf } from './jekyll.ts';
import { isComparedPicture, listPicturePaths } from './pictures.ts';
import {
  type BlobsByPath,
  checksOfFiles,
  checksOfRemoved,
  listOldAddresses,
  onHost,
  rawCheck,
  siteCheck,
} from './site-checks.ts';
import { notDeployed } from './site-workflow.ts';
import { type CommitMethod, isRemoval, type PagesTask, planMethod } from './target.ts';

export const withCommit = (
  { task, placement }: ComparedItem,
  commitSha: string | undefined,
  method: CommitMethod,
): Placement => ({
  ...placement,
  written: true,
  ...(commitSha && { commitSha }),
  evidence: commitSha ? `commit ${commitSha}${isRemoval(task) ? ' removes it' : ''}` : '',
  ...(!isFolderPath(task.itemPath) && { plan: { method: planMethod(method, task) } }),
});

interface KnownBefore {
  /** What caches may still serve for the delivered paths. */
  readonly previous: PreviousBlobs;
  /** Contents that must no longer be served, by path in the branch. */
  readonly goneFiles: PreviousBlobs;
  readonly entries: BlobsByPath;
  readonly replaced?: CommitSummary | undefined;
  readonly servedSize?: number;
}

/** Describes a delivered item and the URLs to verify. */
export function describePublished(
  { task, change, commitSha, siteChanges: changes, treeSha, notes = [] }: Omit<PlannedItem, 'head'>,
  { previous, goneFiles, entries, replaced, servedSize }: KnownBefore,
): Placement {
  const { destination, target, files, itemPath } = task;
  const isFolder = isFolderPath(itemPath);
  const { entryPath: entry, rawUrl, isPrivate } = destination;
  const plainFiles = choosePlain(previous, entry);
  const present: BlobsByPath = new Map([...entries, ...files.map(({ path }) => [path, {}] as const)]);
  const rest = new Map([...present].filter(([path]) => !goneFiles.has(path)));
  const goneUrls = listOldAddresses([...goneFiles.keys()], destination, rest);
  const wanted = files.map(({ path, file }) => ({ path, file, before: plainFiles.get(path) }));
  const served = checksOfFiles(wanted, entry, task, destination.hostMayChangeBytes ? 'built' : 'bytes');
  const isOnBranch = target.receipt === undefined;
  const raw = isOnBranch && !isPrivate ? [rawCheck(rawUrl, served.first.expect.file)] : [];
  const others = [...served.others, ...checksOfGone(goneUrls, goneFiles), ...raw];
  return {
    evidence: `${isOnBranch ? `commit ${commitSha}` : 'the live site'} had ${isFolder ? 'this site' : 'these bytes'} before this delivery`,
    written: false,
    ...onHost({ first: served.first, others }, listBuildRefusals(task)),
    ...(isOnBranch && commitSha && { commitSha }),
    replaced: change !== undefined && replaced !== undefined,
    expectedBlobs: listExpectedBlobs(task),
    ...(isFolder && { changes, treeSha, ...(servedSize && { servedSize }) }),
    notes: [
      ...destination.notes,
      ...describeReplaced(change && replaced, target.options.deliverer),
      ...describeSwitch(destination, change),
      ...describeEffects(changes, servedSize),
      ...notes,
    ],
    unknown: [
      ...destination.unknown,
      ...describeUnprobed(previous, plainFiles),
      ...describeUnrequested(goneUrls),
    ],
  };
}

const listBuildRefusals = ({ destination, itemPath, target }: PagesTask) =>
  destination.builtBy === 'workflow' ? [notDeployed(itemPath || './', target.options.siteWorkflow)] : [];

/** Jekyll renders no folder's page, so bytes alone decide, not the date. */
const checksOfGone = (
  goneUrls: ReturnType<typeof listOldAddresses>,
  removedBlobs: PreviousBlobs,
): readonly Check[] =>
  goneUrls.slice(0, AUDIT.gone).map(({ path, url }) => {
    const before = removedBlobs.get(path);
    return siteCheck(path, url, before ? { is: 'replaced', before, after: 0 } : { is: 'gone' });
  });

function describeSwitch(destination: PagesTask['destination'], change: PlannedItem['change']) {
  const file = switchFileOf(destination);
  const isSwitched = change?.writes.some(({ path }) => path === file);
  return lineIf(isSwitched === true, `with an empty ${file}, which ends Jekyll for the whole site`);
}

const listExpectedBlobs = ({ files, destination: { rivals = [] } }: PagesTask) =>
  new Map<string, string | null>([
    ...files.map(({ path, file }) => [path, file.blobSha] as const),
    ...rivals.map((path) => [path, null] as const),
  ]);

/** Chooses the page and some changed files for a check without `?v=`, replaced files first. */
function choosePlain(previous: PreviousBlobs, entry: string): PreviousBlobs {
  const ranked = [...previous].toSorted(([, blobs], [, otherBlobs]) => otherBlobs.length - blobs.length);
  const others = ranked.filter(([path]) => path !== entry).slice(0, SITE.plainProbes);
  return new Map([[entry, previous.get(entry) ?? []], ...others]);
}

function describeUnprobed(previous: PreviousBlobs, plainFiles: PreviousBlobs): readonly string[] {
  const count = [...previous.keys()].filter((path) => !plainFiles.has(path)).length;
  const line = `whether a cache still gives an old answer for ${count} more new or changed files, for up to ten minutes`;
  return lineIf(count > 0, line);
}

function describeUnrequested({ length }: readonly unknown[]): readonly string[] {
  const line = `whether ${length - AUDIT.gone} more removed files are gone: ${AUDIT.gone} URLs were checked`;
  return lineIf(length > AUDIT.gone, line);
}

function describeEffects({ kept, removedFolders }: PlannedItem['siteChanges'], servedSize = 0) {
  const size = Math.round(servedSize / MEGABYTE);
  return [
    ...namedLine('kept, because no known delivery to this folder contains it', kept),
    ...namedLine('older sites removed', removedFolders),
    ...lineIf(
      servedSize > SITE.largeSize,
      `the whole Pages site has ${size} MB; GitHub serves at most ${SITE.size / MEGABYTE}`,
    ),
  ];
}

function countOwn(files: PreviousBlobs): number {
  const pictures = new Set([...files.keys()].flatMap(listPicturePaths));
  return [...files.keys()].filter((path) => !pictures.has(path) && !isComparedPicture(path)).length;
}

/** Describes a removed item and the URLs that must fail. @param rest other files, which may be served there */
export function describeRemoved(
  { task, change, siteChanges: { removedFolders }, notes = [] }: PlannedItem,
  removedBlobs: PreviousBlobs,
  rest: BlobsByPath,
): Placement {
  const { destination, itemPath } = task;
  const isFolder = isFolderPath(itemPath);
  const alike = destination.rivals?.filter((path) => change?.removals.includes(path)) ?? [];
  const { first, others } = checksOfRemoved(removedBlobs, destination, rest);
  // The source of a page is removed with the page.
  const hasPage = !isHtml(itemPath) && [...removedBlobs.keys()].some(isHtml);
  const sites =
    removedFolders.length > 1 ? `, of ${removedFolders.length} sites: ${nameFew(removedFolders)}` : '';
  return {
    evidence: 'this tool has no delivery there',
    written: false,
    first: isFolder || MARKDOWN.test(itemPath) || hasPage ? first : { ...first, url: destination.pageUrl },
    others,
    expectedBlobs: new Map([...removedBlobs.keys()].map((path) => [path, null])),
    notes: [
      ...lineIf(isFolder && change !== undefined, `${countFiles(countOwn(removedBlobs))} removed${sites}`),
      ...alike.map((path) => `removed too, because it has the same URL: ${path}`),
      ...notes,
    ],
    unknown: destination.unknown,
  };
}
