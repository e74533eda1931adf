import { DeliveryError } from '../../errors.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import { MARKDOWN, refuseSpecialFile } from '../../rules/jekyll.ts';
import type { LocalSite } from '../../rules/local-site.ts';
import { getBrowserDisplay } from '../../rules/media-type.ts';
import { baseName, encodePath, entryUrl } from '../../rules/naming.ts';
import type { ChannelItem, PreparedTask, ServedFile } from '../channel.ts';
import type { DeployTarget } from './deploy/deploy.ts';
import { addressOf, type PagesDestination, resolveDestination, rootOf } from './destination.ts';
import { applyJekyll, type FileLookup, findJekyllRefusal } from './jekyll.ts';
import { listPictureUrls } from './pictures.ts';
import { removalMethod } from './placement.ts';
import type { Setup } from './set-up.ts';
import {
  COMMIT_METHODS,
  type CommitTarget,
  folderTarget,
  type PagesOptions,
  type PagesTask,
} from './target.ts';

/** What the items of a step share. */
export interface PreparationContext {
  readonly options: PagesOptions;
  /** The Pages site of the repository. */
  readonly pages: RepositoryContext['site'];
  readonly target: Omit<CommitTarget, 'branch'>;
  /** What has to be set up first; `null` where nothing has. */
  readonly setup: Setup | null;
  /** How this action deploys the site; absent where it does not. */
  readonly deploy?: DeployTarget | undefined;
  readonly exists: FileLookup;
}

type Prepared = PreparedTask<PagesTask>;

/** Where a single file goes, and what the site would make of it. */
export async function prepareFile(
  { file, name }: Pick<ChannelItem, 'file' | 'name'>,
  { options, pages, target, setup, deploy, exists }: PreparationContext,
): Promise<Prepared> {
  if (file === null) {
    throw new DeliveryError('BAD_INPUT', 'channel K1 needs a file to commit', { hint: 'name a file' });
  }
  const settings = resolveDestination(target.github.repository, { ...options, name }, pages);
  if (!options.overwrite) refuseSpecialFile(settings.path, settings.siteRoot.slice(0, -1));
  const hasMarker = options.marker !== undefined;
  const destination = await applyJekyll(settings, { head: file.head, hasMarker }, exists);
  const { branch, path } = destination;
  const served = describeServed(destination);
  const hasPicture = options.picture && served.display === 'page' && served.pictureUrls !== null;
  // One call of method A writes one file.
  const method = hasPicture && target.method === 'A' ? 'B' : target.method;
  return {
    plan: {
      channel: 'K1',
      ...describePlan(COMMIT_METHODS[method], `branch ${branch}, path ${path}`, deploy, options, path),
      name: path,
      claim: served.display === 'none' ? 'is downloaded' : 'opens on the screen',
    },
    data: {
      target: { ...target, method, branch },
      path,
      file,
      destination,
      setup,
      ...(deploy && { deploy }),
    },
    served,
  };
}

/** How and where, in words: by a commit, a commit and a deployment, or a deployment alone. */
function describePlan(
  method: string,
  destination: string,
  deploy: DeployTarget | undefined,
  { branch }: Pick<PagesOptions, 'branch'>,
  place: string,
): { readonly method: string; readonly destination: string } {
  if (deploy === undefined) return { method, destination };
  if (branch === undefined)
    return { method: 'method D, a deployment', destination: `the whole site, ${place}` };
  return { method: `${method}, and method D, a deployment of the branch`, destination };
}

function describeServed({ pageUrl, path, hostMayChangeBytes }: PagesDestination): ServedFile {
  // A rendered page has another name than its file.
  const isNamedAlike = pageUrl.pathname.endsWith(`/${encodePath(baseName(path))}`);
  return {
    url: pageUrl,
    display: getBrowserDisplay(pageUrl.pathname),
    isServedAsIs: !hostMayChangeBytes,
    pictureUrls: isNamedAlike ? listPictureUrls(pageUrl) : null,
  };
}

/**
 * Where a folder and its entry go, and what the site would make of its names.
 *
 * @throws {DeliveryError} `NOT_OURS` that names what would change the whole site.
 * @see design 6
 */
export async function prepareSite(
  { site, name }: { readonly site: LocalSite; readonly name: string },
  { options, pages, target, setup, deploy, exists }: PreparationContext,
): Promise<Prepared & Required<Pick<Prepared, 'servedAt' | 'served'>>> {
  const below = name.endsWith('/') ? name : `${name}/`;
  // A folder that has only a name goes below what the site is built from.
  const root = options.path === undefined ? rootOf(pages) : '';
  const place = { path: below.startsWith(root) ? below : root + below, name: site.entry };
  const destination = resolveDestination(target.github.repository, { ...options, ...place }, pages);
  const { branch, path, siteRoot, pageUrl } = destination;
  const folder = path.slice(0, -site.entry.length);
  for (const one of target.overwrite ? [] : site.files) {
    refuseSpecialFile(folder + one.path, siteRoot.slice(0, -1));
  }
  const isJekyll = destination.builtBy === 'branch' && !options.nojekyll;
  const refusal = isJekyll ? await findJekyllRefusal(site, folder, destination, exists) : null;
  const sitePath = addressOf(destination, folder).pathname;
  const rootPath = addressOf(destination, siteRoot).pathname;
  const pictureUrls = listPictureUrls(pageUrl);
  const where = folder || './';
  const folderOfBranch = folderTarget({ ...target, branch }, folder, siteRoot, options);
  return {
    plan: {
      channel: 'K1',
      ...describePlan(
        'one commit for the folder',
        `branch ${branch}, folder ${where}`,
        deploy,
        options,
        where,
      ),
      name: where,
      claim: 'opens on the screen',
    },
    data: { target: folderOfBranch, path, file: null, destination, setup, site, ...(deploy && { deploy }) },
    servedAt: { sitePath, rootPath, origin: pageUrl.origin, refusal },
    served: {
      url: entryUrl(pageUrl),
      display: getBrowserDisplay(site.entry),
      isServedAsIs: true,
      pictureUrls,
    },
  };
}

/** What is removed: `path` counts, and where there is none, the name. */
export async function prepareRemoval(
  place: { readonly path: string | undefined; readonly name: string },
  { options, pages, target, deploy, exists }: PreparationContext,
): Promise<Prepared> {
  const settings = resolveDestination(target.github.repository, { ...options, ...place }, pages);
  // A rendered file is served under its page's name.
  const destination = MARKDOWN.test(settings.path)
    ? await applyJekyll(settings, { head: '', hasMarker: true }, exists)
    : settings;
  const { branch, path } = destination;
  return {
    plan: {
      channel: 'K1',
      method: removalMethod(target.method),
      destination: `branch ${branch}, path ${path}`,
      name: path,
      claim: 'is removed',
    },
    data: { target: { ...target, branch }, path, file: null, destination, ...(deploy && { deploy }) },
  };
}
