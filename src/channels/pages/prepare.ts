import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import type { Ports } from '../../ports.ts';
import { MARKDOWN, refuseSpecialFile } from '../../rules/jekyll.ts';
import type { LocalSite } from '../../rules/local-site.ts';
import { getBrowserDisplay } from '../../rules/media-type.ts';
import { baseName, encodePath, entryUrl } from '../../rules/naming.ts';
import type { ChannelItem, ChannelPlan, PreparedTask, ServedFile } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { type BranchReader, createBranchReader } from './branch-reader.ts';
import type { DeployTarget } from './deploy/deploy.ts';
import { findDeployedSite, openDeployTarget } from './deploy/find-deploy-target.ts';
import { addressOf, type PagesDestination, resolveDestination, rootOf } from './destination.ts';
import { applyJekyll, createJekyllLookup, type FileLookup, findJekyllRefusal } from './jekyll.ts';
import { listPictureUrls } from './pictures.ts';
import { removalMethod } from './placement.ts';
import type { Setup } from './set-up.ts';
import { checkSiteWorkflow } from './site-workflow.ts';
import { COMMIT_METHODS, type CommitMethod, type PagesOptions, type PagesTask } from './target.ts';

interface StepContext {
  readonly github: GitHubClient;
  readonly reader: BranchReader;
  readonly options: PagesOptions;
  readonly pages: RepositoryContext['site'];
  /** How this action deploys the site; absent where it does not. */
  readonly deploy?: DeployTarget | undefined;
  readonly exists: FileLookup;
}

/** The same, with how they are committed. */
export interface PreparationContext extends StepContext {
  readonly method: CommitMethod;
  /** What has to be set up first; `null` where nothing has. */
  readonly setup: Setup | null;
}

/** Finds out what builds the site. @throws {DeliveryError} where it could never publish anything */
export async function openStep(
  options: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): Promise<StepContext> {
  const github = requireGitHub(access, 'K1');
  const deployed = await findDeployedSite(access, options);
  const pages = deployed ?? access.repository.site;
  await checkSiteWorkflow(github, options, pages);
  const deploy = deployed === null ? undefined : await openDeployTarget(deployed, access, options, ports);
  return { github, reader: createBranchReader(), options, pages, deploy, exists: createJekyllLookup(github) };
}

type Prepared = PreparedTask<PagesTask>;

/** Where a single file goes, and what the site would make of it. */
export async function prepareFile(
  { file, name }: Pick<ChannelItem, 'file' | 'name'>,
  context: PreparationContext,
): Promise<Prepared> {
  if (file === null) {
    throw new DeliveryError('BAD_INPUT', 'channel K1 needs a file to commit', { hint: 'name a file' });
  }
  const { github, options, pages, exists } = context;
  const settings = resolveDestination(github.repository, { ...options, name }, pages);
  if (!options.overwrite) refuseSpecialFile(settings.path, settings.siteRoot.slice(0, -1));
  const hasMarker = options.marker !== undefined;
  const destination = await applyJekyll(settings, { head: file.head, hasMarker }, exists);
  const { branch, path } = destination;
  const served = describeServed(destination);
  const hasPicture = options.picture && served.display === 'page' && served.pictureUrls !== null;
  // One call of method A writes one file.
  const method = hasPicture && context.method === 'A' ? 'B' : context.method;
  const plan: ChannelPlan = {
    channel: 'K1',
    method: COMMIT_METHODS[method],
    destination: `branch ${branch}, path ${path}`,
    name: path,
    claim: served.display === 'none' ? 'is downloaded' : 'opens on the screen',
  };
  const data = { ...taskAt(destination, { ...context, method }), file };
  return { plan: planDeployment(plan, context), data, served };
}

/** The task for a place of the branch, before it is said what the place is to hold. */
function taskAt(
  destination: PagesDestination,
  { github, reader, method, options, setup, deploy }: PreparationContext,
): PagesTask {
  const { branch, path } = destination;
  const target = { github, reader, method, options, branch };
  return { target, path, file: null, destination, setup, ...(deploy && { deploy }) };
}

/** The plan of a commit where the site is deployed: by a deployment as well, or by a deployment alone. */
function planDeployment(plan: ChannelPlan, { deploy, options }: PreparationContext): ChannelPlan {
  if (deploy === undefined) return plan;
  if (options.branch !== undefined) {
    return { ...plan, method: `${plan.method}, and method D, a deployment of the branch` };
  }
  return { ...plan, method: 'method D, a deployment', destination: `the whole site, ${plan.name}` };
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
  context: PreparationContext,
): Promise<Prepared & Required<Pick<Prepared, 'servedAt' | 'served'>>> {
  const { github, options, pages, exists } = context;
  const below = name.endsWith('/') ? name : `${name}/`;
  // A folder that has only a name goes below what the site is built from.
  const root = options.path === undefined ? rootOf(pages) : '';
  const place = { path: below.startsWith(root) ? below : root + below, name: site.entry };
  const destination = resolveDestination(github.repository, { ...options, ...place }, pages);
  const { branch, path, siteRoot, pageUrl } = destination;
  const folder = path.slice(0, -site.entry.length);
  for (const one of options.overwrite ? [] : site.files) {
    refuseSpecialFile(folder + one.path, siteRoot.slice(0, -1));
  }
  const isJekyll = destination.builtBy === 'branch' && !options.nojekyll;
  const refusal = isJekyll ? await findJekyllRefusal(site, folder, destination, exists) : null;
  const where = folder || './';
  const plan: ChannelPlan = {
    channel: 'K1',
    method: 'one commit for the folder',
    destination: `branch ${branch}, folder ${where}`,
    name: where,
    claim: 'opens on the screen',
  };
  const task = taskAt(destination, context);
  const sitePath = addressOf(destination, folder).pathname;
  const rootPath = addressOf(destination, siteRoot).pathname;
  return {
    plan: planDeployment(plan, context),
    data: { ...task, target: { ...task.target, method: 'C', folder, siteRoot }, site },
    servedAt: { sitePath, rootPath, origin: pageUrl.origin, refusal },
    served: {
      url: entryUrl(pageUrl),
      display: getBrowserDisplay(site.entry),
      isServedAsIs: true,
      pictureUrls: listPictureUrls(pageUrl),
    },
  };
}

/** What is removed: `path` counts, and where there is none, the name. */
export async function prepareRemoval(
  place: { readonly path: string | undefined; readonly name: string },
  context: PreparationContext,
): Promise<Prepared> {
  const { github, options, pages, exists } = context;
  const settings = resolveDestination(github.repository, { ...options, ...place }, pages);
  // A rendered file is served under its page's name.
  const destination = MARKDOWN.test(settings.path)
    ? await applyJekyll(settings, { head: '', hasMarker: true }, exists)
    : settings;
  const { branch, path } = destination;
  return {
    plan: {
      channel: 'K1',
      method: removalMethod(context.method),
      destination: `branch ${branch}, path ${path}`,
      name: path,
      claim: 'is removed',
    },
    data: taskAt(destination, context),
  };
}
