import { forEachItem } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { type RepositoryContext, requireGitHub } from '../../github/api/repository.ts';
import type { FileWrite } from '../../github/change.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { getBrowserDisplay } from '../../rules/media-type.ts';
import { baseName, encodePath, entryUrl } from '../../rules/naming.ts';
import { refuseSpecialFile } from '../../rules/special-files.ts';
import type { ChannelItem, ChannelPlan, PreparedTask, ServedFile } from '../channel.ts';
import { createEntriesReader } from './branch-reader.ts';
import { findDeployedSite, openDeployTarget } from './deploy/find-deploy-target.ts';
import { refuseNoPart } from './deploy/site-content.ts';
import { addressOf, type PagesDestination, resolveDestination, rootOf } from './destination.ts';
import { applyJekyll, createJekyllLookup, type FileLookup, renderedPath } from './jekyll.ts';
import { listPicturePaths, listPictureUrls } from './pictures.ts';
import { findSetup } from './set-up.ts';
import { checkSiteWorkflow } from './site-workflow.ts';
import {
  type CommitMethod,
  type CommitTarget,
  chooseMethod,
  type PagesOptions,
  type PagesTask,
  planMethod,
} from './target.ts';

/** What all items of a step have in common. */
interface StepContext {
  readonly target: Omit<CommitTarget, 'branch' | 'method'>;
  readonly pages: RepositoryContext['site'];
  readonly exists: FileLookup;
  /** How single files are committed. */
  readonly singleMethod: CommitMethod;
}

/** Finds out what builds the site, and where each item goes. Of a removal `path` may name the folder of all items. */
export async function prepareItems(
  given: readonly ChannelItem[],
  options: PagesOptions,
  access: RepositoryContext,
  ports: Ports,
): Promise<readonly Result<Prepared>[]> {
  const github = requireGitHub(access);
  const deployed = await findDeployedSite(access, options);
  const pages = deployed ?? access.site;
  await checkSiteWorkflow(github, options, pages);
  const deploy = deployed && (await openDeployTarget(deployed, access, options, ports));
  const isWhole = deploy !== null && options.branch === undefined;
  const setup = isWhole ? null : await findSetup(github, options, pages);
  const isAnyBelow = options.isRemoval && options.path?.endsWith('/');
  const items = isAnyBelow ? given.slice(0, 1) : given;
  const singles = items.filter((one) => !isFolderItem(one, options)).map(({ site }) => site?.entry ?? null);
  const singleMethod = await chooseMethod(singles, ports.signal, setup?.absence);
  const target = { github, readEntries: createEntriesReader(), options, setup, deploy };
  const step = { target, pages, exists: createJekyllLookup(github), singleMethod };
  return forEachItem(items, (item) => prepareItem(item, step), BATCH.reads);
}

const isFolderItem = ({ site, name }: ChannelItem, { isRemoval, path }: PagesOptions): boolean =>
  site?.isFolder === true || (isRemoval === true && (name.endsWith('/') || path?.endsWith('/') === true));

type Prepared = PreparedTask<PagesTask>;

/**
 * Where a file or a folder goes, and what the site would make of it.
 *
 * @throws {DeliveryError} `NOT_OURS` that names what would change the whole site.
 */
async function prepareItem(item: ChannelItem, step: StepContext): Promise<Prepared> {
  const { options } = step.target;
  const { isRemoval = false, overwrite, marker, nojekyll } = options;
  const isFolder = isFolderItem(item, options);
  const location = isFolder ? folderLocation(item, step) : { name: item.name };
  const { repository } = step.target.github;
  const settings = resolveDestination(repository, { ...options, ...location }, step.pages);
  const { path, siteRoot, branch } = settings;
  const place = isFolder ? path.slice(0, path.length - (item.site?.entry.name.length ?? 0)) : path;
  const files = isRemoval ? [] : listFiles(item, place);
  for (const one of overwrite ? [] : files) refuseSpecialFile(one.path, siteRoot.slice(0, -1));
  for (const one of step.target.deploy === null ? [] : files) refuseNoPart(one.path);
  const built = await resultOf(() =>
    applyJekyll(settings, { place, files, hasMarker: marker !== undefined, nojekyll }, step.exists),
  );
  // What a folder misses is told with what its pages miss.
  if (hasFailed(built) && !isFolder) throw built;
  const destination = !hasFailed(built) ? built : settings;
  const served = describeServed(destination, isFolder ? place : null);
  const hasPicture = options.picture && served.display === 'page' && served.pictureUrls !== null;
  // A folder is one commit of many files, which through the API would take a request for each. One call of method A
  // writes no picture beside its page.
  const single = hasPicture && step.singleMethod === 'A' ? 'B' : step.singleMethod;
  const method = isFolder ? 'C' : single;
  const name = place || './';
  const plan: ChannelPlan = {
    channel: 'K1',
    method: planMethod(method, { place, files }),
    destination: `branch ${branch}, ${isFolder ? 'folder' : 'path'} ${name}`,
    name,
    claim: isRemoval ? 'is removed' : served.display === 'none' ? 'is downloaded' : 'opens on the screen',
  };
  const data = { target: { ...step.target, method, branch }, place, files, destination };
  if (isRemoval) return { plan, data };
  const pictures = hasPicture ? listPicturePaths(destination.path) : [];
  const isRendered = !isFolder && destination.pageUrl.pathname !== settings.pageUrl.pathname;
  const writes = [...files.map((one) => one.path), ...(isRendered ? [renderedPath(path)] : []), ...pictures];
  const refusal = hasFailed(built) ? built : null;
  return { plan: planDeployment(plan, step.target), data, served: { ...served, refusal }, writes };
}

/** A folder that has only a name goes below what the site is built from. */
function folderLocation({ site, name }: ChannelItem, { target: { options }, pages }: StepContext) {
  const given = (options.isRemoval ? (options.path ?? name) : name).replace(/\/?$/, '/');
  const root = options.path === undefined ? rootOf(pages) : '';
  return { path: given.startsWith(root) ? given : root + given, name: site?.entry.name ?? '' };
}

/** What the place is to hold, by path in the branch. */
function listFiles({ site }: ChannelItem, place: string): readonly FileWrite<LocalFile>[] {
  if (site === null) {
    throw new DeliveryError('BAD_INPUT', 'channel K1 needs a file to commit', { hint: 'name a file' });
  }
  return site.files.map((file) => ({ path: site.isFolder ? place + file.name : place, file }));
}

function describeServed(destination: PagesDestination, folder: string | null): ServedFile {
  const { pageUrl, path, hostMayChangeBytes } = destination;
  // A rendered page has another name than its file.
  const isNamedAlike = pageUrl.pathname.endsWith(`/${encodePath(baseName(path))}`);
  return {
    url: folder === null ? pageUrl : entryUrl(pageUrl),
    sitePath: folder === null ? new URL('.', pageUrl).pathname : addressOf(destination, folder).pathname,
    display: getBrowserDisplay(pageUrl.pathname),
    isServedAsIs: !hostMayChangeBytes,
    pictureUrls: isNamedAlike ? listPictureUrls(pageUrl) : null,
  };
}

/** The plan of a commit where the site is deployed: by a deployment as well, or by a deployment alone. */
function planDeployment(plan: ChannelPlan, { deploy, options }: StepContext['target']): ChannelPlan {
  if (deploy === null) return plan;
  if (options.branch !== undefined) {
    return { ...plan, method: `${plan.method}, and method D, a deployment of the branch` };
  }
  return { ...plan, method: 'method D, a deployment', destination: `the whole site, ${plan.name}` };
}
