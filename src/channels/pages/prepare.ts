import { forEachItem } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { parentFolders } from '../../github/api/branch.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { type PullState, readPullStates } from '../../github/api/pull-requests.ts';
import { type RepositoryContext, requireGitHub } from '../../github/api/repository.ts';
import type { FileWrite } from '../../github/change.ts';
import { lineIf, namedLine } from '../../plain-text.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { getBrowserDisplay } from '../../rules/media-type.ts';
import { baseName, decodePath, entryUrl, isFolderPath, pullNumberOf } from '../../rules/naming.ts';
import { DEPLOY_RECORD_PATH, findEffect, refuseSpecialFile } from '../../rules/special-files.ts';
import { type ChannelItem, type ChannelPlan, requireSite, type ServedFile } from '../channel.ts';
import { createBranchHistory } from './branch-reader.ts';
import { parseMessage } from './commit-message.ts';
import { isWithin } from './delivery-records.ts';
import { type FoundHistory, findDeployedSite, openDeployTarget } from './deploy/find-deploy-target.ts';
import { ReceiptHistory } from './deploy/receipt-history.ts';
import type { PagesOptions } from './destination.ts';
import { addressOf, type PagesDestination, resolveDestination, rootOf, targetBranch } from './destination.ts';
import { applyJekyll, createSwitchLookup, findSourceObstacle, type SwitchLookup } from './jekyll.ts';
import { findShown, isOwned } from './ownership.ts';
import { listPicturePaths, listPictureUrls } from './pictures.ts';
import { findSetup } from './set-up.ts';
import { checkSiteWorkflow } from './site-workflow.ts';
import { planSweep } from './sweep.ts';
import {
  type CommitMethod,
  type CommitTarget,
  chooseMethod,
  isBuiltByWorkflow,
  type PagesTask,
  planMethod,
} from './target.ts';

interface BatchContext {
  readonly target: Omit<CommitTarget, 'branch' | 'method'>;
  readonly pages: RepositoryContext['pagesSettings'];
  readonly isPrivate: boolean;
  readonly isJekyllOff: SwitchLookup;
  readonly singleMethod: CommitMethod;
  readonly ports: Ports;
  /** Refuses a folder of the run's pull request if that was closed since. */
  readonly refuseClosed: (itemPath: string) => Promise<void>;
}

/** Finds out what builds the site, and where each item goes. */
export async function prepareItems(
  given: readonly ChannelItem[],
  options: PagesOptions,
  access: RepositoryContext,
  ports: Ports,
): Promise<readonly Result<PagesTask>[]> {
  const github = requireGitHub(access);
  const deployed = await findDeployedSite(github, access.pagesSettings, options);
  const pages = deployed ?? access.pagesSettings;
  await checkSiteWorkflow(github, options, pages);
  const deploy = deployed && (await openDeployTarget(deployed, github, options, ports));
  const isWhole = deploy !== null && options.branch === undefined;
  const receipt = isWhole ? new ReceiptHistory(deploy.root.hostname, deploy.live) : undefined;
  const setup = receipt ? null : await findSetup(github, options, pages);
  // A removal ignores the content of local files.
  const items: typeof given = options.isRemoval ? given.map((item) => ({ ...item, site: null })) : given;
  const singles = items.filter((item) => !isFolderItem(item)).map(({ site }) => site?.entry ?? null);
  const singleMethod = await chooseMethod(singles, ports, setup?.absence);
  const isByWorkflow = isBuiltByWorkflow(options, pages);
  const history = receipt ?? createBranchHistory(github, targetBranch(options, pages));
  // Jekyll never sees a deployment.
  const settings = { ...options, nojekyll: options.nojekyll && receipt === undefined };
  const target = { github, history, receipt, options: settings, setup, deploy, isByWorkflow };
  const isPrivate = access.privateRepository === true;
  const isJekyllOff = pages === 'not-requested' ? async () => false : createSwitchLookup(history);
  const refuseClosed = createClosedRefusal(github, options, ports);
  const batch = { target, pages, isPrivate, isJekyllOff, singleMethod, ports, refuseClosed };
  const prepare = options.isRemoval ? prepareRemoval : prepareItem;
  return forEachItem(items, (item) => prepare(item, batch), BATCH.reads);
}

const isFolderItem = ({ site, name }: ChannelItem): boolean => site?.isFolder === true || name.endsWith('/');

async function prepareItem(item: ChannelItem, batch: BatchContext): Promise<PagesTask> {
  const { options } = batch.target;
  const { isRemoval = false } = options;
  const isFolder = isFolderItem(item);
  const found = await findDestination(item, batch);
  const { itemPath, entryPath: path, branch } = found;
  if (!isRemoval) await batch.refuseClosed(itemPath);
  const shown = isRemoval ? [] : listFiles(item, itemPath);
  const beside = await listSource(item, found, batch);
  const files = [...shown, ...beside.files];
  const settings = { ...found, notes: [...found.notes, ...beside.notes] };
  const blocks = ({ path }: { readonly path: string }): boolean =>
    isWithin(path, DEPLOY_RECORD_PATH) || isWithin(DEPLOY_RECORD_PATH, path);
  if (files.some(blocks)) refuseSpecialFile(DEPLOY_RECORD_PATH, null, isFolder);
  const built = await resultOf(() => applyJekyll(settings, shown, options, batch.isJekyllOff));
  // For a folder, this failure is reported together with its pages' problems.
  if (hasFailed(built) && !isFolder && batch.pages !== 'not-requested') throw built;
  const destination = hasFailed(built) ? settings : built;
  const served = describeServed(destination, isFolder ? itemPath : null);
  const hasPicture = options.picture && served.display === 'page' && served.pictureUrls !== null;
  const isAlone = !hasPicture && files.length < 2;
  // Through the API, a folder would take a request for each file. Method A writes one file.
  const single = batch.singleMethod === 'A' && !isAlone ? 'B' : batch.singleMethod;
  const method = batch.target.receipt ? 'D' : isFolder ? 'C' : single;
  const target = { ...batch.target, method, branch };
  const isSpared = (path: string): boolean => item.isLeftOut?.(path.slice(itemPath.length)) === true;
  const common = { target, itemPath, files, destination, isSpared };
  if (isRemoval) return { ...common, plan: planTask(common, 'is removed') };
  const task = {
    ...common,
    plan: planTask(common, served.display === 'none' ? 'is downloaded' : 'opens on the screen'),
    served: { ...served, refusal: hasFailed(built) ? built : null },
    writes: [
      ...files.map((file) => file.path),
      ...(destination.page === path ? [] : [destination.page]),
      ...(hasPicture ? listPicturePaths(path) : []),
    ],
  };
  return batch.pages === 'not-requested' ? deferUntilHostKnown(task) : task;
}

/** Plans a task for a check, which contacts no host; it assumes the default URL if the repository is known. */
function deferUntilHostKnown({
  plan,
  served,
  ...task
}: PagesTask & { readonly served: ServedFile }): PagesTask {
  const { repository, pagesBase, overwrite } = task.target.options;
  const { refusal } = served;
  const special = overwrite ? [] : task.files.flatMap(({ path }) => (findEffect(path, '') ? path : []));
  const unknown = [
    ...lineIf(
      refusal != null,
      `whether the branch has .nojekyll, or GitHub Actions builds the site; if neither, ${refusal?.message}`,
    ),
    ...namedLine('whether the branch has them with these bytes; only `overwrite` writes them', special),
  ];
  const isKnown = repository !== undefined || pagesBase !== undefined;
  return {
    ...task,
    plan: { ...plan, method: 'no host was asked', destination: `path ${plan.name}` },
    ...(isKnown && { served: { ...served, refusal: null } }),
    unknown,
  };
}

/** A single name may mean a folder. If several are named, each is a file. */
async function prepareRemoval(item: ChannelItem, batch: BatchContext): Promise<PagesTask> {
  const task = await prepareItem(item, batch);
  const { itemPath, target } = task;
  const { address, path, olderThan, closed } = target.options;
  if (olderThan !== undefined || closed) return planSweep(task, batch.ports.clock.date());
  const isAlone = path !== undefined || address !== undefined;
  if (isFolderPath(itemPath) || !isAlone) return task;
  const entry = await target.history.readEntry(itemPath);
  const isFolder = entry === null ? await wasFolder(task) : entry.type === 'tree';
  if (!isFolder) return task;
  const folder = address && new URL(`${address.pathname}/`, address);
  const options = { ...target.options, ...(folder && { address: folder }) };
  return prepareItem({ ...item, name: `${itemPath}/` }, { ...batch, target: { ...batch.target, options } });
}

/** The end of the pull request has removed, or will remove, the folder that is named after it. */
function createClosedRefusal(
  github: GitHubClient,
  { openPull, isRemoval, deliverer }: PagesOptions,
  { logger }: Ports,
): BatchContext['refuseClosed'] {
  let reading: Promise<Result<ReadonlyMap<number, PullState>>> | undefined;
  return async (itemPath) => {
    const isNamed = parentFolders(itemPath).some((folder) => pullNumberOf(folder) === openPull);
    if (openPull === undefined || isRemoval || !isNamed) return;
    reading ??= resultOf(() => readPullStates(github, [openPull], deliverer));
    const states = await reading;
    if (hasFailed(states))
      logger.info(`whether pull request ${openPull} is open: unknown, ${states.message}`);
    if (hasFailed(states) || typeof states.get(openPull) !== 'number') return;
    const message = `pull request ${openPull} was closed meanwhile, so ${itemPath} would stay for nobody`;
    throw new DeliveryError('CONFLICT', message, { hint: 'reopen it to deliver again', leftBehind: [] });
  };
}

/** Whether the path's last commit is this tool's removal of a folder there. */
async function wasFolder({ itemPath, target: { history } }: PagesTask): Promise<boolean> {
  const commits = await history.readLastCommits(await history.readHead(), [itemPath]);
  return parseMessage(commits.get(itemPath)?.message ?? '')?.removed?.includes(`${itemPath}/`) === true;
}

/** Whether the branch has this tool's file, or a folder, of this name. An unservable name counts as absent. */
export async function isInBranch(name: string, options: PagesOptions, found: Promise<FoundHistory>) {
  const { github, history, site } = await found;
  const destination = await resultOf(async () =>
    resolveDestination(github.repository, { ...options, name }, site),
  );
  if (hasFailed(destination)) return false;
  const { entryPath: path } = destination;
  const entry = await history.readEntry(path);
  if (entry?.type !== 'blob') return entry !== null;
  const commits = await history.readLastCommits(await history.readHead(), [path]);
  return isOwned(commits.get(path)?.message ?? '', { path, sha: entry.sha });
}

/** The URL of a rendered page leads to the delivered files behind it. */
async function findDestination(item: ChannelItem, batch: BatchContext): Promise<PagesDestination> {
  const { options, github, history } = batch.target;
  const { address } = options;
  const isFolder = isFolderItem(item);
  const name = isFolder && address === undefined ? folderLocation(item, batch) : { name: item.name };
  const location = { ...options, ...name };
  const resolve = (at: URL | undefined): PagesDestination =>
    resolveDestination(github.repository, { ...location, address: at }, batch.pages, batch.isPrivate);
  const named = resolve(address);
  if (address === undefined || isFolder) return named;
  const [path = '', ...others] = await findShown(history, named);
  if (path !== named.entryPath) return resolve(addressOf(named, path));
  return others.length === 0 ? named : { ...named, rivals: others };
}

function planTask({ target, itemPath, files }: Omit<PagesTask, 'plan'>, verb: string): ChannelPlan {
  const { branch, deploy, method, receipt } = target;
  const name = itemPath || './';
  const common = { channel: 'K1', name, verb } as const;
  const further = deploy === null || receipt ? '' : ', and method D, a deployment of the branch';
  const where = receipt ? 'the site' : `branch ${branch}`;
  const destination = `${where}, ${isFolderPath(itemPath) ? 'folder' : 'path'} ${name}`;
  return { ...common, method: planMethod(method, { itemPath, files }) + further, destination };
}

/** A folder without a path goes into the folder that Pages serves. */
function folderLocation({ site, name }: ChannelItem, { target: { options }, pages }: BatchContext) {
  const given = name.replace(/\/?$/, '/');
  const root = options.path === undefined ? rootOf(pages) + (options.defaultFolder ?? '') : '';
  return { path: given.startsWith(root) ? given : root + given, name: '', entryName: site?.entry.name ?? '' };
}

/** The source of a rendered page, beside the page, unless Jekyll could make a page of it. */
async function listSource({ site }: ChannelItem, destination: PagesDestination, batch: BatchContext) {
  const { source } = site ?? {};
  if (source === undefined) return { files: [], notes: [] };
  const { itemPath } = destination;
  const file = { path: itemPath.slice(0, -baseName(itemPath).length) + source.name, file: source.file };
  const obstacle = await findSourceObstacle(destination, file, batch.target.options, batch.isJekyllOff);
  return obstacle === null ? { files: [file], notes: [] } : { files: [], notes: [obstacle] };
}

function listFiles(item: ChannelItem, itemPath: string): readonly FileWrite<LocalFile>[] {
  const { files, isFolder } = requireSite(item);
  return files.map((file) => ({ path: isFolder ? itemPath + file.name : itemPath, file }));
}

function describeServed(destination: PagesDestination, folder: string | null): ServedFile {
  const { pageUrl, entryPath: path, hostMayChangeBytes } = destination;
  const isNamedAlike = baseName(decodePath(pageUrl.pathname)) === baseName(path);
  return {
    url: folder === null ? pageUrl : entryUrl(pageUrl),
    sitePath: folder === null ? new URL('.', pageUrl).pathname : addressOf(destination, folder).pathname,
    display: getBrowserDisplay(pageUrl.pathname),
    isServedAsIs: !hostMayChangeBytes,
    pictureUrls: isNamedAlike ? listPictureUrls(pageUrl) : null,
  };
}
