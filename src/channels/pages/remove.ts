import { forEachItem, type ItemResult } from '../../async.ts';
import { DeliveryError, hasFailed, type Result } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import { MARKDOWN } from '../../rules/jekyll.ts';
import type { ChannelAction, ChannelItem, ChannelPlan, Placement, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { createBranchReader } from './branch-reader.ts';
import { createProgress } from './build.ts';
import type { CommittedPlace } from './commit.ts';
import { applyJekyll, createJekyllLookup, folderPrefix, resolveDestination } from './destination.ts';
import { commitFiles, isFileTask, isFolderTask, type PagesTask, previewFiles } from './file-tasks.ts';
import { type ComparedFile, planFiles } from './plan-files.ts';
import { recheckBranch } from './recheck.ts';
import { describeStaying, type FoundSites } from './site/find-sites.ts';
import { findDeliveredSites, previewRemoval, removeSite } from './site/remove-site.ts';
import { checkSiteWorkflow } from './site-workflow.ts';
import {
  COMMIT_METHODS,
  type CommitMethod,
  chooseMethod,
  commitTarget,
  type FolderTarget,
  folderTarget,
  type PagesOptions,
} from './target.ts';

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
      ...(await previewFiles(tasks.filter(isFileTask), () => 'nothing exists there')),
      ...(await forEachItem(tasks.filter(isFolderTask), ({ data }) => previewRemoval(data))),
    ],
    perform: async (tasks) => [
      ...(await forEachItem(tasks.filter(isFolderTask), ({ data }) => removeSite(data, ports))),
      ...(await commitFiles(tasks.filter(isFileTask), ports, removalPlacement)),
    ],
    progress: createProgress(access, options, ports),
    recheck: recheckBranch,
  };
}

/** Prepares the removals of files, in their order: `path` counts, and where there is none, the name. */
type PrepareFiles = (
  places: readonly { readonly path: string | undefined; readonly name: string }[],
) => Promise<readonly Result<PreparedTask<PagesTask>>[]>;

async function prepareRemovals<Item extends ChannelItem>(
  items: readonly Item[],
  options: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): Promise<readonly ItemResult<Item, PreparedTask<PagesTask>>[]> {
  await checkSiteWorkflow(requireGitHub(access, 'K1'), options, access.repository.site);
  const prepareFiles = createPreparation(options, access, ports);
  const { path } = options;
  const isAnyBelow = path?.endsWith('/') === true;
  const folders = isAnyBelow ? items.slice(0, 1) : items.filter(isFolderItem);
  const files = isAnyBelow ? [] : items.filter((item) => !isFolderItem(item));
  const results: ItemResult<Item, PreparedTask<PagesTask>>[] = [];
  for (const item of folders) {
    const found = await prepareFolderRemoval(item, prepareFiles, options, ports);
    results.push(...found.map((result) => ({ item, result })));
  }
  const removals = await prepareFiles(files.map(({ name }) => ({ path, name })));
  return [...results, ...removals.map((result, nth) => ({ item: files[nth] as Item, result }))];
}

/** Whether everything below a folder is meant, and no file. */
const isFolderItem = ({ name }: ChannelItem): boolean => name.endsWith('/');

/** The removals of everything owned below one folder: that of `path`, or the one that the item names. */
async function prepareFolderRemoval(
  { name }: ChannelItem,
  prepareFiles: PrepareFiles,
  options: PagesOptions,
  ports: Ports,
): Promise<readonly Result<PreparedTask<PagesTask>>[]> {
  const path = options.path?.replace(/\/?$/, '/');
  const [prepared] = await prepareFiles([{ path, name: path === undefined ? name : '' }]);
  if (prepared === undefined || hasFailed(prepared)) throw prepared;
  const folder = prepared as PreparedTask<PagesTask>;
  const found = await findDeliveredSites(siteTarget(folder.data, options));
  const owned = await findOwnedBelow(folder.data, found, ports);
  const stays = describeStaying(folder.data, found, owned);
  if (stays instanceof DeliveryError) return [stays];
  // An empty folder is proven to be empty all the same.
  const hasTask = found.sites.size > 0 || owned.length === 0;
  const siteTask = sitePagesTask(nameSites(folder.data, found), folder, options);
  const fileTasks = await prepareFiles(owned.map((one) => ({ path: one, name: '' })));
  const [first, ...others] = hasTask ? [siteTask, ...fileTasks] : fileTasks;
  if (first === undefined || hasFailed(first)) return fileTasks;
  return [withUnknown(first as PreparedTask<PagesTask>, stays), ...others];
}

/** The first task of a folder says what of it stays: such a folder is not simply gone. */
function withUnknown(
  { plan, data }: PreparedTask<PagesTask>,
  unknown: readonly string[],
): PreparedTask<PagesTask> {
  const { destination } = data;
  return {
    plan,
    data: { ...data, destination: { ...destination, unknown: [...destination.unknown, ...unknown] } },
  };
}

/** The only site that is removed, or else the folder that was named. */
const nameSites = ({ path }: PagesTask, { sites }: FoundSites): string =>
  (sites.size === 1 ? [...sites.keys()][0] : undefined) ?? path;

/** How the sites at and below a folder are removed. */
const siteTarget = ({ target, destination, path }: PagesTask, options: PagesOptions): FolderTarget =>
  folderTarget(target, path, folderPrefix(destination.folder), options);

/** The removal of one site, or of all below the folder that was named. */
function sitePagesTask(
  site: string,
  { plan, data }: PreparedTask<PagesTask>,
  options: PagesOptions,
): PreparedTask<PagesTask> {
  const { destination } = data;
  const name = site || './';
  return {
    plan: {
      ...plan,
      method: 'one commit that removes it',
      destination: `branch ${destination.branch}, folder ${name}`,
      name,
    },
    data: { ...data, path: site, target: siteTarget({ ...data, path: site }, options) },
  };
}

const describeRemoval = (method: CommitMethod): string =>
  `a commit that removes it, ${COMMIT_METHODS[method]}`;

function createPreparation(options: PagesOptions, access: RepositoryAccess, { signal }: Ports): PrepareFiles {
  const github = requireGitHub(access, 'K1');
  const lookup = createJekyllLookup(github);
  const reader = createBranchReader();
  return async (places) => {
    const files = places.map(() => null);
    const method = await chooseMethod(files, signal);
    const target = commitTarget(github, options, { method, reader });
    const tasks = await forEachItem(
      places,
      async (place) => {
        const location = { ...options, ...place };
        const settings = resolveDestination(github.repository, location, access.repository.site);
        // A rendered file is served under its page's name.
        const destination = MARKDOWN.test(settings.path)
          ? await applyJekyll(settings, { head: '', hasMarker: true }, lookup)
          : settings;
        const { branch, path } = destination;
        const plan: ChannelPlan = {
          channel: 'K1',
          method: describeRemoval(method),
          destination: `branch ${branch}, path ${path}`,
          name: path,
          claim: 'is removed',
        };
        return { plan, data: { target: { ...target, branch }, path, file: null, destination } };
      },
      BATCH.reads,
    );
    return tasks.map(({ result }) => result);
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
        hint: (w) => `set ${w.input('path')} to a folder with at most ${BATCH.files} files`,
      });
    }
    logger.warning(`${count} that are no part of a site: they are too many to look at, and stay`);
    return [];
  }
  const wanted = others.map((one) => ({ path: one, file: null }));
  const { places } = wanted.length === 0 ? { places: [] } : await planFiles(wanted, target);
  return places.flatMap(({ item, result }) => {
    if (!hasFailed(result)) return [item.path];
    if (result.code !== 'NOT_OURS') throw result;
    logger.warning(`not removed: ${result.message}`);
    return [];
  });
}

function removalPlacement(
  { commitSha, written, method }: CommittedPlace<ComparedFile>,
  { data: { destination, path } }: PreparedTask<PagesTask>,
): Placement {
  return {
    evidence: written ? `commit ${commitSha} removes it` : 'nothing exists there',
    url: destination.pageUrl,
    written,
    ...(method && { method: describeRemoval(method) }),
    ...(commitSha && { commitSha }),
    rawUrl: destination.rawUrl,
    bypassCache: true,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    held: new Map([[path, null]]),
    notes: [],
    unknown: destination.unknown,
  };
}
