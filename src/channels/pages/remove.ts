import { DeliveryError, hasFailed } from '../../errors.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import { nameFew } from '../../plain-text.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import { MARKDOWN } from '../../rules/jekyll.ts';
import type { ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { createBranchReader } from './branch-reader.ts';
import { createBuildWatches } from './build.ts';
import { COMMIT_METHODS, type CommitMethod, chooseMethod } from './commit-methods.ts';
import { commitTasks, previewCommits } from './commit-tasks.ts';
import { type CommitResult, comparePaths } from './compare-paths.ts';
import { applyJekyll, createJekyllLookup, folderPrefix, resolveDestination } from './destination.ts';
import type { PagesTask } from './pages-task.ts';
import { commitTarget, type PagesOptions } from './publish.ts';
import type { FoundSites } from './site/find-sites.ts';
import { findDeliveredSites, previewRemoval, removeSite, type SiteRemoval } from './site/remove-site.ts';
import type { FolderTarget } from './site/site-target.ts';
import { checkSiteWorkflow } from './site-workflow.ts';

/** Prepares the removal of one path. */
type PrepareRemoval = (
  path: string | undefined,
  name: string,
  method: CommitMethod,
) => Promise<PreparedTask<PagesTask>>;

/** K1: removes owned files from the repository, a commit each. A `path` that ends in `/` means all below it. */
export function createPagesRemover(
  inputs: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): ChannelAction<PagesTask> {
  const options = { ...inputs, setup: undefined };
  return {
    prepare: (items) => prepareRemovals(items, options, access, ports),
    preview: async (tasks) => [
      ...(await previewCommits(tasks.filter(isFileTask), () => 'nothing exists there')),
      ...(await forEachItem(tasks.filter(isRemovalTask), ({ data }) => previewRemoval(data.removal))),
    ],
    perform: async (tasks) =>
      [
        ...(await forEachItem(tasks.filter(isRemovalTask), ({ data }) => removeSite(data.removal, ports))),
        ...(await commitTasks(tasks.filter(isFileTask), ports, removalPlacement)),
      ].map(addStaying),
  };
}

/** The removal of a path, or of a whole site. */
type RemovalTask = PagesTask & {
  readonly removal?: SiteRemoval;
  /** For UNKNOWN: what stays below the folder that was named. */
  readonly stays?: string;
};

type RemovalResult = ItemResult<PreparedTask<RemovalTask>, Placement>;

/** A folder of which anything stays is not simply gone. */
function addStaying({ item, result }: RemovalResult): RemovalResult {
  const { stays } = item.data;
  if (stays === undefined || hasFailed(result)) return { item, result };
  return { item, result: { ...result, unknown: [...result.unknown, stays] } };
}

type SiteRemovalTask = PreparedTask<PagesTask & { readonly removal: SiteRemoval }>;

const isRemovalTask = (task: PreparedTask<RemovalTask>): task is SiteRemovalTask =>
  task.data.removal !== undefined;

const isFileTask = (task: PreparedTask<RemovalTask>): boolean => !isRemovalTask(task);

async function prepareRemovals<Item extends ChannelItem>(
  items: readonly Item[],
  options: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): Promise<readonly ItemResult<Item, PreparedTask<RemovalTask>>[]> {
  await checkSiteWorkflow(requireGitHub(access, 'K1'), options, access.repository.site);
  const prepareRemoval = createPreparation(options, access, ports);
  const { path } = options;
  const isAnyBelow = path?.endsWith('/') === true;
  const results: ItemResult<Item, PreparedTask<RemovalTask>>[] = [];
  for (const item of isAnyBelow ? items.slice(0, 1) : items.filter(isFolderItem)) {
    results.push(...(await prepareFolderRemoval(item, { prepareRemoval, options, ports })));
  }
  const files = isAnyBelow ? [] : items.filter((item) => !isFolderItem(item));
  if (files.length === 0) return results;
  const method = await chooseMethod(
    files.map(() => null),
    ports.signal,
  );
  const removals = await forEachItem(files, ({ name }) => prepareRemoval(path, name, method), BATCH.reads);
  return [...results, ...removals];
}

/** Whether everything below a folder is meant, and no file. */
const isFolderItem = ({ name }: ChannelItem): boolean => name.endsWith('/');

/** The removals of everything owned below one folder: that of `path`, or the one that the item names. */
async function prepareFolderRemoval<Item extends ChannelItem>(
  folderItem: Item,
  {
    prepareRemoval,
    options,
    ports,
  }: { readonly prepareRemoval: PrepareRemoval; readonly options: PagesOptions; readonly ports: Ports },
): Promise<readonly ItemResult<Item, PreparedTask<RemovalTask>>[]> {
  const { path } = options;
  const folder =
    path === undefined
      ? await prepareRemoval(undefined, folderItem.name, 'B')
      : await prepareRemoval(path.endsWith('/') ? path : `${path}/`, '', 'B');
  const found = await findDeliveredSites(siteTarget(folder.data, options));
  const owned = await findOwnedBelow(folder.data, found, ports);
  const stays = describeStaying(folder.data, found, owned);
  if (stays instanceof DeliveryError) return [{ item: folderItem, result: stays }];
  // An empty folder is proven to be empty all the same.
  const hasTask = found.sites.size > 0 || owned.length === 0;
  const siteTasks = hasTask
    ? [{ item: folderItem, result: siteRemovalTask(nameSites(folder.data, found), folder, options) }]
    : [];
  if (owned.length === 0) return withStaying(siteTasks, stays);
  const method = await chooseMethod(
    owned.map(() => null),
    ports.signal,
  );
  const tasks = await forEachItem(owned, (one) => prepareRemoval(one, '', method), BATCH.reads);
  return withStaying([...siteTasks, ...tasks.map(({ result }) => ({ item: folderItem, result }))], stays);
}

/** The first task of a folder says what of it stays. */
function withStaying<Item>(
  tasks: readonly ItemResult<Item, PreparedTask<RemovalTask>>[],
  stays: string | undefined,
): readonly ItemResult<Item, PreparedTask<RemovalTask>>[] {
  return tasks.map(({ item, result }, index) =>
    index > 0 || stays === undefined || hasFailed(result)
      ? { item, result }
      : { item, result: { ...result, data: { ...result.data, stays } } },
  );
}

/**
 * What stays below a folder once everything of ours is removed; `NOT_OURS` where nothing is, so that all of it would
 * still be served.
 */
function describeStaying(
  { path, destination }: PagesTask,
  { sites, others, postponed, unsearched }: FoundSites,
  owned: readonly string[],
): string | DeliveryError | undefined {
  const removed = new Set(owned);
  const left = [...others.filter((one) => !removed.has(one)), ...unsearched];
  const name = path || './';
  // At the root of the site there are always files of others.
  const isRoot = path === folderPrefix(destination.folder);
  if (sites.size + owned.length === 0 && left.length > 0 && !isRoot) {
    return unsearched.length > 0 ? longHistoryError(name, unsearched) : nothingOwnedError(name, left);
  }
  const reasons = [
    ...(left.length === 0 ? [] : [`because it is not as this action delivered it: ${nameFew(left)}`]),
    ...(postponed.length === 0
      ? []
      : [`because one run removes no more (run the step again): ${nameFew(postponed)}`]),
  ];
  return reasons.length === 0 ? undefined : `what stays in ${name}, ${reasons.join('; and ')}`;
}

const nothingOwnedError = (name: string, left: readonly string[]): DeliveryError =>
  new DeliveryError(
    'NOT_OURS',
    `nothing in ${name} is as this action delivered it, so nothing was removed: ${nameFew(left)}`,
    {
      hint: 'set `path:` to the folder that was delivered itself, or remove these files with git',
      leftBehind: [],
    },
  );

const longHistoryError = (name: string, unsearched: readonly string[]): DeliveryError =>
  new DeliveryError(
    'TOO_LARGE',
    `the history of ${name} is too long to be searched whole, so nothing was removed: ${nameFew(unsearched)}`,
    { hint: 'set `path:` to the folder that was delivered itself', leftBehind: [] },
  );

/** The only site that is removed, or else the folder that was named. */
const nameSites = ({ path }: PagesTask, { sites }: FoundSites): string =>
  (sites.size === 1 ? [...sites.keys()][0] : undefined) ?? path;

/** How the sites at and below a folder are removed. */
function siteTarget(
  { target, destination, path }: PagesTask,
  { prune, keep, nojekyll }: PagesOptions,
): FolderTarget {
  const siteRoot = folderPrefix(destination.folder);
  return { ...target, folder: path, siteRoot, options: { prune, keep, nojekyll } };
}

/** The removal of one site, or of all below the folder that was named. */
function siteRemovalTask(
  site: string,
  { plan, data, watch }: PreparedTask<PagesTask>,
  options: PagesOptions,
): PreparedTask<RemovalTask> {
  const { destination } = data;
  const name = site || './';
  const target = siteTarget({ ...data, path: site }, options);
  return {
    plan: {
      ...plan,
      method: 'one commit that removes it',
      destination: `branch ${destination.branch}, folder ${name}`,
      name,
    },
    data: { ...data, path: site, removal: { target, destination } },
    ...(watch === undefined ? {} : { watch }),
  };
}

const describeRemoval = (method: CommitMethod): string =>
  `a commit that removes it, ${COMMIT_METHODS[method]}`;

function createPreparation(options: PagesOptions, access: RepositoryAccess, ports: Ports): PrepareRemoval {
  const github = requireGitHub(access, 'K1');
  const lookup = createJekyllLookup(github);
  const watches = createBuildWatches(github, options, ports);
  const reader = createBranchReader();
  return async (path, name, method) => {
    const settings = resolveDestination(
      github.repository,
      { ...options, path, name },
      access.repository.site,
    );
    // A rendered file is served under its page's name.
    const destination = MARKDOWN.test(settings.path)
      ? await applyJekyll(settings, { head: '', hasMarker: true }, lookup)
      : settings;
    const { branch } = destination;
    return {
      plan: {
        channel: 'K1',
        method: describeRemoval(method),
        destination: `branch ${branch}, path ${destination.path}`,
        name: destination.path,
        claim: 'is removed',
      },
      data: {
        target: { ...commitTarget(github, options, { method, reader }), branch },
        path: destination.path,
        file: null,
        destination,
      },
      watch: watches(destination),
    };
  };
}

/** The paths of the owned files below a folder. Files of others are left, and named in the log. */
async function findOwnedBelow(
  { target, path }: PagesTask,
  { sites, others }: FoundSites,
  { logger }: Ports,
): Promise<readonly string[]> {
  if (others.length > BATCH.files) {
    const count = `there are ${others.length} files below ${path || './'}`;
    if (sites.size === 0) {
      throw new DeliveryError('TOO_LARGE', count, {
        hint: `set \`path:\` to a folder with at most ${BATCH.files} files`,
      });
    }
    logger.warning(`${count} that are no part of a site: they are too many to look at, and stay`);
    return [];
  }
  const wanted = others.map((one) => ({ path: one, file: null }));
  const states = wanted.length === 0 ? [] : await comparePaths(wanted, target);
  return states.flatMap(({ item, result }) => {
    if (!hasFailed(result)) return [item.path];
    if (result.code !== 'NOT_OURS') throw result;
    logger.warning(`not removed: ${result.message}`);
    return [];
  });
}

function removalPlacement(
  { commitSha, written, method }: CommitResult,
  { destination }: PagesTask,
): Placement {
  return {
    evidence: written ? `commit ${commitSha} removes it` : 'nothing exists there',
    url: destination.pageUrl,
    written,
    ...(method === undefined ? {} : { method: describeRemoval(method) }),
    ...(commitSha === undefined ? {} : { commitSha }),
    rawUrl: destination.rawUrl,
    bypassCache: true,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    notes: ['caches may still show it for up to ten minutes'],
    unknown: destination.unknown,
  };
}
