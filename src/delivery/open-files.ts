import { basename, join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { mapConcurrently } from '../async.ts';
import { requireSite } from '../channels/channel.ts';
import { DeliveryError, hasFailed, resultOf } from '../errors.ts';
import { countFiles, firstFew, withoutSpace } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { SITE } from '../protocol/limits.ts';
import { isFolderAt, refuseOneNameForMany } from '../request/find-files.ts';
import { refuseInput } from '../request/input-kinds.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { type InspectOptions, inspectFile, type LocalFile } from '../rules/inspect.ts';
import { type LocalSite, listSiteFiles, refuseLargeFolder } from '../rules/local-site.ts';
import { getBrowserDisplay } from '../rules/media-type.ts';
import { baseName, deliveredName, nameFromFile, siteName } from '../rules/naming.ts';
import { type FileLocation, locate } from '../rules/open-file.ts';
import { isHtml } from '../rules/page/page-file.ts';
import { changedError } from '../rules/unchanged-file.ts';
import { keepOldHeapSmall } from '../system.ts';
import type { Words } from '../words.ts';
import {
  checkContent,
  describeAllowed,
  describeProblems,
  type FileProblems,
  findProblems,
  refuseMissingMarker,
  refuseSecretNames,
} from './check-content.ts';
import { checkSite } from './check-site.ts';
import { folderChannelError, refuseTooLarge, takesFolders } from './choose-channel.ts';
import { type Conversion, chooseConversion, convertFile, renderedName } from './convert/convert-file.ts';
import { type Delivery, LINK_SUBJECT, newDelivery, runStep } from './delivery.ts';
import type { DeliveryContext, RequestContext } from './delivery-context.ts';

/** Opens and checks every named file and folder. */
export async function openFiles(run: DeliveryContext): Promise<readonly Delivery[]> {
  const { request, logger } = run;
  const { file, findFiles, folder, path } = request;
  if (file.length === 0) return [newDelivery('deliver', LINK_SUBJECT)];
  const named = await findFiles(file, folder, run.signal);
  refuseOneNameForMany(named.size, path);
  const isOnly = named.size === 1;
  const deliveries = [...named].map(([subject, { relativePath }]) => ({
    ...newDelivery('deliver', subject),
    isTemporary: request.content !== undefined,
    relativePath: isOnly ? undefined : relativePath,
  }));
  return runStep('check', deliveries, async (delivery) => {
    const { subject } = delivery;
    const { relativePath, root } = named.get(subject) ?? { relativePath: subject, root: folder };
    await refuseSecretNames([subject, relativePath], run);
    logger.startSection(`Check ${subject}`);
    const file = resolve(folder, subject);
    const isFolder = await isFolderAt(file);
    if (isFolder) return openFolder({ ...delivery, name: siteName(file, path, isOnly) }, run);
    const name = deliveredName(relativePath, path);
    const conversion = await chooseConversion(subject, name, request);
    if (conversion !== 'render') refuseHiddenType(subject, name, path);
    if (conversion !== null) return openConverted({ ...delivery, name }, root, conversion, run);
    const opened = await openSite({ ...delivery, name }, root, run);
    return request.render && !isHtml(subject)
      ? withNote(opened, `${subject} was not rendered: this type is shown as it is`)
      : opened;
  });
}

const withNote = (delivery: Delivery, note: string): Delivery => ({
  ...delivery,
  notes: [...delivery.notes, note],
});

async function openFolder(delivery: Delivery, run: RequestContext): Promise<Delivery> {
  const { folder, render, selfContained } = run.request;
  if (selfContained === 'inline') refuseInlineFolder();
  const opened = await openSite(delivery, resolve(folder, delivery.subject), run);
  return render
    ? withNote(opened, 'the folder was delivered as it is: only single files are rendered')
    : opened;
}

const refuseInlineFolder = (): never =>
  refuseInput(
    (w) => `${w.input('self-contained', 'inline')} is for a single page`,
    (w) => `name the page, or leave out ${w.input('self-contained')} for the folder`,
  );

/** Checks a file, converts it, and checks the page that is delivered in its place. */
async function openConverted(
  delivery: Delivery,
  root: string,
  conversion: Conversion,
  run: DeliveryContext,
): Promise<Delivery> {
  const { subject } = delivery;
  const isRendered = conversion === 'render';
  const name = isRendered ? renderedName(delivery.name, run.request.path) : delivery.name;
  // A rendered page shows the marker, or its source has it. Any other page has it before it takes in other files.
  const marker = isRendered ? undefined : run.request.marker;
  const request = { ...run.request, marker, selfContained: 'off' as const };
  const given = await openSite(delivery, root, { ...run, request });
  const { path, unknown: unseen, shown, ...converted } = await convertFile(given, conversion, run);
  const markerCount =
    shown === undefined ? null : await countShown(shown, requireSite(given).entry, run.request);
  refuseMissingMarker({ markerCount }, subject);
  const location = { path, given: subject, name: isRendered ? baseName(name) : basename(subject) };
  const allowed = shown && (await checkContent(shown, location.name, run)) > 0 ? [location.name] : [];
  const asMade = { ...run, request: { ...run.request, marker: undefined } };
  const opened = await openSite({ ...delivery, name, ...converted }, root, asMade, location);
  // A page may show only a part of a long text, so findings may be in the source alone.
  const known = [...given.unknown, ...opened.unknown, ...describeAllowed(allowed), ...unseen];
  const source = { name: nameFromFile(basename(subject)), file: requireSite(given).entry, markerCount };
  const site = { ...requireSite(opened), ...(isRendered && { source }) };
  return { ...opened, unknown: [...new Set(known)], site };
}

/** Counts the marker on a rendered page without its frame, otherwise in its source. `null` without a marker. */
async function countShown(
  shown: string,
  source: LocalFile,
  { marker }: Pick<DeliveryRequest, 'marker'>,
): Promise<number | null> {
  if (marker === undefined) return null;
  const count = (text: string, part: string): number => text.split(part).length - 1;
  return count(withoutSpace(shown), withoutSpace(marker)) || count(await readText(source.read()), marker);
}

/** A browser would download a page under such a name, so a folder is probably meant. */
function refuseHiddenType(subject: string, name: string, path = ''): void {
  if (getBrowserDisplay(subject) === 'none' || getBrowserDisplay(name) !== 'none') return;
  refuseInput(
    (w) => `${w.subject('path')} names a file of a type that browsers download`,
    (w) => `set ${w.input('path', `${path}/`)} for a folder, or give the name its ending`,
  );
}

/**
 * Reads and checks a file, or every file of a folder. One error names all problems.
 *
 * @param root the folder itself, or the parent folder of a single file
 * @param converted the file to open in place of the named file
 * @see protocol 1, 7, 8, design 6
 */
export async function openSite(
  delivery: Delivery,
  root: string,
  run: RequestContext,
  converted?: NamedLocation,
): Promise<Delivery> {
  const { subject } = delivery;
  const { logger, request } = run;
  const path = resolve(request.folder, subject);
  const isFolder = path === root;
  const location: NamedLocation = converted ?? locate({ path, given: subject }, root, request);
  const entryPath = isFolder ? request.entry : (location.name ?? basename(subject));
  const { paths, leftOut } = isFolder ? await listFolder(location, run) : { paths: [entryPath], leftOut: [] };
  const progress = logger.progress(`check ${subject}`, paths.length, 'files');
  const checked = await mapConcurrently(paths, SITE.checks, async (name) => {
    const result = await checkFile(location, isFolder ? name : null, run);
    progress.advance(1);
    return result;
  }).finally(() => progress.end());
  const files = checked.flatMap(({ file }) => file ?? []);
  const entry = files.find(({ name }) => name === entryPath);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const site = entry && { isFolder, entry, files, size, leftOut };
  const results = [...checked.map(({ secrets }) => secrets), ...checked.flatMap(({ others }) => others)];
  if (site === undefined || results.some(hasFailed)) {
    const about = isFolder
      ? `the folder ${subject} can't be delivered`
      : `several things are wrong with ${subject}`;
    const whole = site !== undefined && files.length === paths.length ? site : null;
    // A later step checks pages; here it only completes the error.
    const pages = await resultOf(() => checkSite({ ...delivery, site: whole }, run));
    throw describeProblems(about, [...results, pages]);
  }
  logSite(site, request, logger);
  const allowed = checked.flatMap(({ file, secrets }) => (file && secrets !== 0 ? [file.name] : []));
  return { ...delivery, site, unknown: describeAllowed(allowed) };
}

function logSite(
  { entry, files, size, leftOut }: LocalSite,
  { allowSecret }: DeliveryRequest,
  logger: Ports['logger'],
): void {
  if (entry.markerCount !== null) logger.info(`marker found: ${entry.markerCount} ×`);
  logger.info(
    `${countFiles(files.length)}, ${size} bytes, no ${allowSecret.length === 0 ? '' : 'other '}secret found`,
  );
  if (leftOut.length > 0) logger.info(`not published: ${leftOut.slice(0, SITE.named).join(', ')}`);
}

async function listFolder(
  { path, given }: FileLocation,
  run: RequestContext,
): ReturnType<typeof listSiteFiles> {
  const { request } = run;
  const { channels, entry } = request;
  const other = channels === 'auto' ? undefined : channels.find((key) => !takesFolders(key));
  if (other !== undefined) throw folderChannelError(given, other);
  const listing = await listSiteFiles(path, given, request, (names) => refuseSecretNames(names, run));
  const { paths } = listing;
  if (!paths.includes(entry)) throw noEntryError(given, entry, paths);
  refuseLargeFolder(path, given, paths);
  keepOldHeapSmall();
  return listing;
}

/** Lists each folder again, so that a folder in the making is not delivered in part. */
export const relistFolders = (
  deliveries: readonly Delivery[],
  { request }: RequestContext,
): Promise<readonly Delivery[]> =>
  runStep('check', deliveries, async (delivery) => {
    const { site, subject } = delivery;
    if (site?.isFolder !== true) return delivery;
    const { paths } = await listSiteFiles(resolve(request.folder, subject), subject, request);
    const [checked, found] = [new Set(site.files.map(({ name }) => name)), new Set(paths)];
    const added = paths.filter((path) => !checked.has(path)).map((path) => `${path} is new`);
    const removed = [...checked].filter((path) => !found.has(path)).map((path) => `${path} is gone`);
    if (added.length + removed.length === 0) return delivery;
    throw changedError(`the folder ${subject}`, firstFew([...added, ...removed]));
  });

type NamedLocation = FileLocation & Pick<InspectOptions, 'name'>;

/** Reads and checks a file. @returns no `file` if it can't be read */
async function checkFile(
  location: NamedLocation,
  nameInFolder: string | null,
  run: RequestContext,
): Promise<FileProblems & { readonly file?: LocalFile }> {
  const { request, signal } = run;
  const isFolder = nameInFolder !== null;
  const isEntry = !isFolder || nameInFolder === request.entry;
  const given = isFolder ? join(location.given, nameInFolder) : location.given;
  const options = {
    ...location,
    path: join(location.path, nameInFolder ?? ''),
    given,
    name: nameInFolder ?? location.name ?? basename(given),
    secrets: request.ownSecrets,
    marker: isEntry ? request.marker : undefined,
    mayBeEmpty: !isEntry,
    accept: (size: number) => refuseTooLarge(isFolder ? ['K1'] : request.channels, size, given, isFolder),
    signal,
  };
  let problems: FileProblems = { secrets: 0, others: [] };
  const check = async (local: LocalFile): Promise<void> => {
    problems = await findProblems(local, given, run);
  };
  const file = await resultOf(() => inspectFile(options, check));
  return hasFailed(file) ? { secrets: file, others: [] } : { file, ...problems };
}

function noEntryError(given: string, entry: string, paths: readonly string[]): DeliveryError {
  const pages = paths.filter((path) => /\.html?$/i.test(path)).sort(byImportance);
  const [first = '', ...others] = pages.slice(0, SITE.named);
  const home = pages.find((path) => path.endsWith(`/${entry}`))?.slice(0, -entry.length) ?? '';
  const hint = (w: Words) =>
    pages.length === 0
      ? 'deliver the files by name: a site needs a page'
      : home !== '' && pages.every((path) => path.startsWith(home))
        ? `deliver the folder ${join(given, home)}, which has all pages`
        : `set ${w.input('entry', first)}${others.length === 0 ? '' : `, or another of its pages: ${others.join(', ')}`}`;
  return new DeliveryError('BAD_INPUT', `the folder ${given} has no page ${entry}`, { hint });
}

/** An `index.html` comes first: reports often lie beside files for machines. */
function byImportance(page: string, other: string): number {
  const rank = (path: string): number =>
    (path.endsWith('/index.html') ? 0 : SITE.files) + path.split('/').length;
  return rank(page) - rank(other);
}
