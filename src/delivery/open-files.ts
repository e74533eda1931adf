import { basename, join } from 'node:path';
import { mapConcurrently } from '../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../errors.ts';
import { countFiles } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { MAX_FILE_SIZE, MEGABYTE, SITE, SIZE } from '../protocol/limits.ts';
import { refuseInput } from '../request/input-kinds.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { inspectFile, type LocalFile } from '../rules/inspect.ts';
import { type FolderListing, type LocalSite, listSiteFiles, refuseLargeFolder } from '../rules/local-site.ts';
import { getBrowserDisplay } from '../rules/media-type.ts';
import { type FileLocation, refuseOutside } from '../rules/open-file.ts';
import { keepOldHeapSmall } from '../system.ts';
import type { Words } from '../words.ts';
import { describeProblems, findProblems, refuseSecretNames } from './check-content.ts';
import { checkSite } from './check-site.ts';
import { folderChannelError, refuseTooLarge, takesFolders } from './choose-channel.ts';
import { type Delivery, LINK_SUBJECT, newDelivery, runStep } from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { deliveredName, type FoundFile, isFolderAt, refuseOneNameForMany, siteName } from './find-files.ts';

/** Opens and checks every file and folder that is named; a single file stays open until it is closed. A link alone has none. */
export async function openFiles(
  request: DeliveryRequest,
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const { fileLines, folder, path } = request;
  if (fileLines.length === 0) return [newDelivery('deliver', LINK_SUBJECT)];
  const all = await context.findFiles(fileLines, folder);
  refuseOneNameForMany(all, path);
  const isOnly = all.length === 1;
  const deliveries = all.map((one) => ({
    ...newDelivery('deliver', one.given),
    isTemporary: one.isTemporary,
    place: isOnly ? undefined : one.relativePath,
  }));
  return runStep('check', deliveries, async (delivery, nth) => {
    const found = all[nth] as FoundFile;
    await refuseSecretNames([found.given, found.relativePath], request, context);
    context.logger.startSection(`Check ${found.given}`);
    const isFolder = await isFolderAt(found.path);
    const name = isFolder ? siteName(found, { path, isOnly }) : deliveredName(found, path);
    if (!isFolder) refuseHiddenType(found, name, path);
    return { ...delivery, name, site: await openSite(found, isFolder, request, context) };
  });
}

/** Under such a name a browser would download what it can show: most likely a folder is meant. */
function refuseHiddenType({ relativePath }: FoundFile, name: string, path = ''): void {
  if (getBrowserDisplay(relativePath) === 'none' || getBrowserDisplay(name) !== 'none') return;
  refuseInput(
    (w) => `${w.subject('path')} names a file of a type that browsers download`,
    (w) => `set ${w.input('path', `${path}/`)} for a folder, or give the name its ending`,
  );
}

/** Reads and checks a file, or every file of a folder; all that is found refuses the whole. @see protocol 1, 7, 8, design 6 */
export async function openSite(
  found: FoundFile,
  isFolder: boolean,
  request: DeliveryRequest,
  ports: Pick<Ports, 'logger' | 'signal'>,
): Promise<LocalSite> {
  const { logger, signal } = ports;
  const { given } = found;
  const entryPath = isFolder ? request.entry : basename(given);
  const { paths, leftOut } = isFolder
    ? await listFolder(found, request, ports)
    : { paths: [entryPath], leftOut: [] };
  const progress = logger.progress(`check ${given}`, paths.length, 'files');
  const checked = await mapConcurrently(paths, SITE.checks, async (name) => {
    const place = isFolder ? { path: join(found.path, name), given: join(given, name) } : found;
    const one = await checkFile({ ...place, name, isFolder, isEntry: name === entryPath }, request, ports);
    progress.advance(1);
    return one;
  }).finally(() => progress.end());
  const files = checked.flatMap(({ file }) => (file === null ? [] : [{ path: file.name, file }]));
  const entry = files.find(({ path }) => path === entryPath);
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  // Secrets first.
  const results = [
    ...checked.flatMap((one) => one.results[0]),
    ...checked.flatMap((one) => one.results.slice(1)),
  ];
  if (entry === undefined || results.some(hasFailed)) {
    const about = isFolder ? `the folder ${given} can't be a site` : `several things are wrong with ${given}`;
    const isWhole = entry !== undefined && files.length === paths.length;
    const site = isWhole ? { isFolder, entry, files, size, leftOut } : null;
    const delivery = { ...newDelivery('deliver', given), site };
    const refusal = await describeProblems(about, results, () => checkSite(delivery, request, signal));
    await entry?.file.close();
    throw refusal;
  }
  const site = { isFolder, entry, files, size, leftOut };
  logSite(site, logger);
  return site;
}

function logSite({ entry, files, size, leftOut }: LocalSite, logger: Ports['logger']): void {
  const { markerCount } = entry.file;
  if (markerCount !== null)
    logger.info(`marker found ${markerCount === 1 ? 'once' : `${markerCount} times`}`);
  logger.info(`${countFiles(files.length)}, ${size} bytes, no secret found`);
  if (leftOut.length > 0) logger.info(`hidden, and so left out: ${leftOut.slice(0, SITE.named).join(', ')}`);
}

/** What of a folder is to be a site. */
async function listFolder(
  { given, path: folder }: FoundFile,
  request: DeliveryRequest,
  ports: Pick<Ports, 'logger'>,
): Promise<FolderListing> {
  const { channels, entry } = request;
  const other = channels === 'auto' ? undefined : channels.find((key) => !takesFolders(key));
  if (other !== undefined) throw folderChannelError(given, other);
  refuseGitFolder(folder, given);
  // Not even the names of other folders' files are listed.
  refuseOutside({ ...request, path: folder, given });
  const listing = await listSiteFiles(folder, given, (names) => refuseSecretNames(names, request, ports));
  const { paths } = listing;
  if (!paths.includes(entry)) throw noEntryError(given, entry, paths);
  refuseLargeFolder(folder, given, paths);
  keepOldHeapSmall();
  return listing;
}

/** Git's own data: its history holds what was removed from the files long ago. */
function refuseGitFolder(folder: string, given: string): void {
  if (!folder.split(/[\\/]/).includes('.git')) return;
  throw new DeliveryError('BAD_FILE', `the folder ${given} holds git's own data`, {
    hint: 'name the folder that the build writes',
  });
}

/** A file, and what is wrong with it; `null` where it can't be read. */
interface CheckedFile {
  readonly file: LocalFile | null;
  /** The first one tells whether it holds a secret. */
  readonly results: readonly Result<void>[];
}

interface FilePlace extends FileLocation {
  readonly name: string;
  readonly isFolder: boolean;
  readonly isEntry: boolean;
}

async function checkFile(
  { isFolder, isEntry, ...place }: FilePlace,
  request: DeliveryRequest,
  ports: Pick<Ports, 'logger' | 'signal'>,
): Promise<CheckedFile> {
  const { allowedRoots, allowsFullPaths, channels, ownSecrets: secrets } = request;
  const file = await resultOf(() =>
    inspectFile({
      ...{ allowedRoots, allowsFullPaths, ...place, secrets, signal: ports.signal },
      isPart: isFolder,
      marker: isEntry ? request.marker : undefined,
      mayBeEmpty: !isEntry,
      accept: isFolder ? refuseLargeFile : (size) => refuseTooLarge(channels, size),
    }),
  );
  if (hasFailed(file)) return { file: null, results: [file] };
  const results = await findProblems(file, place.given, request, ports);
  if (isFolder) await file.close();
  return { file, results };
}

function refuseLargeFile(size: number): void {
  if (size <= SIZE.repository) return;
  throw new DeliveryError(
    'TOO_LARGE',
    `a file has ${size} bytes, and K1 takes at most ${SIZE.repository / MEGABYTE} MB each`,
    { hint: `leave it out of the folder, and deliver it through ${MAX_FILE_SIZE.K1?.instead}` },
  );
}

function noEntryError(given: string, entry: string, paths: readonly string[]): DeliveryError {
  const pages = paths.filter((path) => /\.html?$/i.test(path)).sort(comparePages);
  const [first = '', ...others] = pages.slice(0, SITE.named);
  const hint = (w: Words) =>
    pages.length === 0
      ? 'a folder without a page is no site: name its files'
      : `set ${w.input('entry', first)}${others.length === 0 ? '' : `, or another of its pages: ${others.join(', ')}`}`;
  return new DeliveryError('BAD_INPUT', `the folder ${given} has no page ${entry}`, { hint });
}

/** The first page of a folder in the folder comes first: reports often lie beside files for machines. */
function comparePages(one: string, other: string): number {
  const rank = (path: string): number =>
    (path.endsWith('/index.html') ? 0 : SITE.files) + path.split('/').length;
  return rank(one) - rank(other);
}
