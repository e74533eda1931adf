import { basename, join } from 'node:path';
import { mapConcurrently } from '../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../errors.ts';
import { countFiles } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { MAX_FILE_SIZE, MEGABYTE, SITE, SIZE } from '../protocol/limits.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { inspectFile, type LocalFile } from '../rules/inspect.ts';
import { type LocalSite, listSiteFiles, refuseLargeFolder } from '../rules/local-site.ts';
import { nameFromFile } from '../rules/naming.ts';
import { refuseOutside } from '../rules/open-file.ts';
import { keepOldHeapSmall } from '../system.ts';
import type { Words } from '../words.ts';
import { findProblems, refuseProblems, refuseSecretNames } from './check-content.ts';
import { checkSite } from './check-site.ts';
import { folderChannelError, takesFolders } from './choose-channel.ts';
import { newDelivery } from './delivery.ts';
import type { FoundFile } from './find-files.ts';

/** Reads and checks every file of a folder; all that is found refuses the whole. */
export async function openSite(
  found: FoundFile,
  request: DeliveryRequest,
  ports: Pick<Ports, 'logger' | 'signal'>,
): Promise<LocalSite> {
  const { logger, signal } = ports;
  const { given, path: folder } = found;
  refuseOtherChannels(given, request);
  refuseGitFolder(folder, given);
  // Not even the names of other folders' files are listed.
  refuseOutside({ ...request, path: folder, given });
  const { paths, leftOut } = await listSiteFiles(folder, given);
  await refuseSecretNames([...paths, ...leftOut], request, { logger });
  const { entry } = request;
  if (!paths.includes(entry)) throw noEntryError(given, entry, paths);
  refuseLargeFolder(folder, given, paths);
  keepOldHeapSmall();
  const progress = logger.progress(`check ${given}`, paths.length, 'files');
  const opened = await mapConcurrently(paths, SITE.checks, async (path) => {
    const checked = await resultOf(() => checkSiteFile(found, path, request, ports));
    progress.advance(1);
    return hasFailed(checked) ? { file: null, results: [checked] } : checked;
  }).finally(() => progress.end());
  signal.throwIfAborted();
  const files = opened.flatMap(({ file }) => (file === null ? [] : [{ path: file.name, file }]));
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  const site = { entry, files, size, leftOut };
  const results = [
    ...opened.flatMap((one) => one.results[0]),
    ...opened.flatMap((one) => one.results.slice(1)),
  ];
  await refuseProblems(`the folder ${given} can't be a site`, results, async () => {
    const isWhole = files.length === paths.length;
    if (isWhole) await checkSite(newDelivery('deliver', given, found), site, request, { signal });
  });
  logger.info(`${countFiles(files.length)}, ${size} bytes, no secret found`);
  if (leftOut.length > 0) logger.info(`hidden, and so left out: ${leftOut.slice(0, SITE.named).join(', ')}`);
  return site;
}

/** Git's own data: its history holds what was removed from the files long ago. */
function refuseGitFolder(folder: string, given: string): void {
  if (!folder.split(/[\\/]/).includes('.git')) return;
  throw new DeliveryError('BAD_FILE', `the folder ${given} holds git's own data`, {
    hint: 'name the folder that the build writes',
  });
}

/** The checks on one file of a folder. */
async function checkSiteFile(
  { path: folder, given: folderGiven }: FoundFile,
  path: string,
  request: DeliveryRequest,
  ports: Pick<Ports, 'logger' | 'signal'>,
): Promise<{ readonly file: LocalFile; readonly results: readonly Result<void>[] }> {
  const given = join(folderGiven, path);
  const file = await inspectFile({
    ...request,
    ...{ name: path, path: join(folder, path), given, secrets: request.ownSecrets, signal: ports.signal },
    marker: path === request.entry ? request.marker : undefined,
    ...{ mayBeEmpty: path !== request.entry, accept: refuseLargeFile },
  });
  try {
    return { file, results: await findProblems(file, given, request, ports) };
  } finally {
    // A site has more files than a process may keep open: each later read opens its own again.
    await file.close();
  }
}

function refuseLargeFile(size: number): void {
  if (size <= SIZE.repository) return;
  throw new DeliveryError(
    'TOO_LARGE',
    `a file has ${size} bytes, and K1 takes at most ${SIZE.repository / MEGABYTE} MB each`,
    { hint: `leave it out of the folder, and deliver it through ${MAX_FILE_SIZE.K1?.instead}` },
  );
}

/** The folder that a site gets: that of `path`, or its own name; of several, its own name in `path`. */
export function siteName(
  { path: folder }: FoundFile,
  { path, isOnly }: { readonly path: string | undefined; readonly isOnly: boolean },
): string {
  if (path !== undefined && isOnly) return path;
  return `${path === undefined || path === './' ? '' : path}${nameFromFile(basename(folder))}`;
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

function refuseOtherChannels(given: string, { channels }: DeliveryRequest): void {
  const other = channels === 'auto' ? undefined : channels.find((key) => !takesFolders(key));
  if (other !== undefined) throw folderChannelError(given, other);
}
