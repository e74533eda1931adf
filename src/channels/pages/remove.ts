import { forEachItem, type ItemResult } from '../../async.ts';
import { DeliveryError, hasFailed, type Result } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import type { ChannelAction, ChannelItem, PreparedTask } from '../channel.ts';
import type { RepositoryAccess } from '../require-github.ts';
import { createProgress } from './build.ts';
import { commitTasks, previewCommits } from './commit-tasks.ts';
import { compareFiles } from './compare-files.ts';
import { describeStaying, type FoundSites, findSites } from './compare-removal.ts';
import { deployBranch } from './deploy/deploy-branch.ts';
import { describeRemoved } from './placement.ts';
import { openStep, type PreparationContext, prepareRemoval } from './prepare.ts';
import { recheckBranch } from './recheck.ts';
import { chooseMethod, type PagesOptions, type PagesTask, readTargetTree } from './target.ts';

/** K1: removes owned files from the repository, a commit each. A `path` that ends in `/` means all below it. */
export function createPagesRemover(
  inputs: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): ChannelAction<PagesTask> {
  const options = { ...inputs, setup: false, isRemoval: true };
  return {
    prepare: (items) => prepareRemovals(items, options, access, ports),
    preview: (tasks) => previewCommits(tasks, ports, ({ nothing = 'nothing exists there' }) => nothing),
    perform: async (tasks) => {
      const placed = await commitTasks(tasks, ports, describeRemoved);
      const { deploy, target } = tasks[0]?.data ?? {};
      return deploy && target ? deployBranch(placed, target.branch, deploy, ports) : placed;
    },
    progress: createProgress(access, options, ports),
    recheck: recheckBranch,
  };
}

async function prepareRemovals<Item extends ChannelItem>(
  items: readonly Item[],
  options: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): Promise<readonly ItemResult<Item, PreparedTask<PagesTask>>[]> {
  const step = await openStep(options, access, ports);
  const { path } = options;
  const isAnyBelow = path?.endsWith('/') === true;
  const folders = isAnyBelow ? items.slice(0, 1) : items.filter(({ name }) => name.endsWith('/'));
  const files = isAnyBelow ? [] : items.filter((item) => !folders.includes(item));
  const contextFor = async (count: number): Promise<PreparationContext> => {
    const method = await chooseMethod(Array(count).fill(null), ports.signal);
    return { ...step, method, setup: null };
  };
  const results: ItemResult<Item, PreparedTask<PagesTask>>[] = [];
  for (const item of folders) {
    const found = await prepareFolder(item, contextFor, ports);
    results.push(...found.map((result) => ({ item, result })));
  }
  const context = await contextFor(files.length);
  const prepare = ({ name }: Item) => prepareRemoval({ path, name }, context);
  return [...results, ...(await forEachItem(files, prepare, BATCH.reads))];
}

/** The removals of everything owned below one folder: that of `path`, or the one that the item names. */
async function prepareFolder(
  { name }: ChannelItem,
  contextFor: (files: number) => Promise<PreparationContext>,
  ports: Ports,
): Promise<readonly Result<PreparedTask<PagesTask>>[]> {
  const context = await contextFor(1);
  const path = context.options.path?.replace(/\/?$/, '/');
  const folder = await prepareRemoval({ path, name: path === undefined ? name : '' }, context);
  const { target } = folder.data;
  const found = await findSites(target, await readTargetTree(target), folder.data.path);
  const owned = await findOwnedFiles(folder.data, found, ports);
  const stays = describeStaying(folder.data, found, owned);
  if (stays instanceof DeliveryError) return [stays];
  const ofFiles = await contextFor(owned.length);
  const files = await forEachItem(
    owned,
    (one) => prepareRemoval({ path: one, name: '' }, ofFiles),
    BATCH.reads,
  );
  const tasks = files.map(({ result }) => result);
  // An empty folder is proven to be empty all the same.
  const hasSites = found.sites.size > 0 || owned.length === 0;
  const [first, ...others] = hasSites ? [prepareSites(folder, found), ...tasks] : tasks;
  if (first === undefined || hasFailed(first)) return tasks;
  return [withUnknown(first as PreparedTask<PagesTask>, stays), ...others];
}

/** The first task of a folder says what of it stays: such a folder is not simply gone. */
function withUnknown(task: PreparedTask<PagesTask>, stays: readonly string[]): PreparedTask<PagesTask> {
  const { destination } = task.data;
  const unknown = [...destination.unknown, ...stays];
  return { ...task, data: { ...task.data, destination: { ...destination, unknown } } };
}

/** The removal of the only site that was found, or else of all below the folder that was named. */
function prepareSites(
  { plan, data }: PreparedTask<PagesTask>,
  { sites }: FoundSites,
): PreparedTask<PagesTask> {
  const { destination, target } = data;
  const path = (sites.size === 1 ? [...sites.keys()][0] : undefined) ?? data.path;
  const name = path || './';
  const method = 'one commit that removes it';
  return {
    plan: { ...plan, method, destination: `branch ${destination.branch}, folder ${name}`, name },
    data: { ...data, path, target: { ...target, method: 'C', folder: path, siteRoot: destination.siteRoot } },
  };
}

/** The paths of the owned files that are no part of a site. Files of others are left, and named in the log. */
async function findOwnedFiles(
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
  const { places } = wanted.length === 0 ? { places: [] } : await compareFiles(wanted, target);
  return places.flatMap(({ item, result }) => {
    if (!hasFailed(result)) return [item.path];
    if (result.code !== 'NOT_OURS') throw result;
    logger.warning(`not removed: ${result.message}`);
    return [];
  });
}
