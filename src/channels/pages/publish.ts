import { forEachItem, type ItemResult } from '../../async.ts';
import { hasFailed } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import type { AbsentFile, ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import type { RepositoryAccess } from '../require-github.ts';
import { createProgress } from './build.ts';
import { commitTasks, previewCommits } from './commit-tasks.ts';
import { cannotRestoreError, deployBranch, deployRestored } from './deploy/deploy-branch.ts';
import { deployFiles, refusePartOfSite } from './deploy/deploy-files.ts';
import { describePublished } from './placement.ts';
import { openStep, prepareFile, prepareSite } from './prepare.ts';
import { recheckBranch } from './recheck.ts';
import { restoreBefore } from './restore.ts';
import { describeSetup, findSetup, finishSetup } from './set-up.ts';
import { chooseMethod, type PagesOptions, type PagesTask } from './target.ts';

/**
 * K1: commits files to the repository; its Pages site shows them on the screen. What it does for each file and folder:
 * destination → read the branch → compare → write the change → placement.
 *
 * @see protocol 4.2
 */
export function createPagesPublisher(
  options: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): ChannelAction<PagesTask> {
  return {
    prepare: (items) => prepareItems(items, options, access, ports),
    preview: (tasks, absent) => previewItems(tasks, absent, ports),
    perform: (tasks, absent) => placeItems(tasks, absent, ports),
    progress: createProgress(access, options, ports),
    recheck: recheckBranch,
    restore: async (failed, step) => {
      const { deploy, target } = failed[0]?.task.data ?? {};
      if (deploy === undefined || target === undefined) return restoreBefore(failed, step);
      if (options.branch === undefined) throw cannotRestoreError();
      return deployRestored(await restoreBefore(failed, step), target.branch, deploy, ports);
    },
  };
}

type Tasks = readonly PreparedTask<PagesTask>[];
type Results<Value> = readonly ItemResult<Tasks[number], Value>[];

async function prepareItems<Item extends ChannelItem>(
  items: readonly Item[],
  options: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): Promise<readonly ItemResult<Item, PreparedTask<PagesTask>>[]> {
  const step = await openStep(options, access, ports);
  const isWhole = step.deploy !== undefined && options.branch === undefined;
  const setup = isWhole ? null : await findSetup(step.github, options, step.pages);
  const files = items.flatMap(({ file, site = null }) => (site === null ? [file] : []));
  const method = await chooseMethod(files, ports.signal, setup?.absence);
  const context = { ...step, method, setup };
  return forEachItem(
    items,
    async ({ file, name, site = null }) =>
      site === null ? prepareFile({ file, name }, context) : prepareSite({ site, name }, context),
    BATCH.reads,
  );
}

/** What deploys the files of a step as the whole site, where no branch is named that they are committed to. */
const findWholeSite = ([first]: Tasks) =>
  first?.data.target.options.branch === undefined ? first?.data.deploy : undefined;

async function previewItems(
  tasks: Tasks,
  absent: AbsentFile | undefined,
  ports: Ports,
): Promise<Results<string>> {
  if (findWholeSite(tasks) !== undefined) {
    refusePartOfSite(absent);
    return forEachItem(
      tasks,
      async ({ data }) => `would be deployed as the whole site ${data.destination.rootUrl.hostname}`,
    );
  }
  const previews = await previewCommits(
    tasks,
    ports,
    ({ commitSha, delivered }) =>
      `commit ${commitSha} already holds ${delivered === undefined ? 'these bytes' : 'this site'}`,
  );
  const setup = tasks[0]?.data.setup ?? null;
  return previews.map(({ item, result }) => ({
    item,
    result: hasFailed(result) || setup === null ? result : result + describeSetup(setup),
  }));
}

async function placeItems(
  tasks: Tasks,
  absent: AbsentFile | undefined,
  ports: Ports,
): Promise<Results<Placement>> {
  const [first] = tasks;
  if (first === undefined) return [];
  const whole = findWholeSite(tasks);
  if (whole !== undefined) {
    refusePartOfSite(absent);
    return deployFiles(tasks, whole, ports);
  }
  const { setup = null, target, deploy } = first.data;
  const placed = await commitTasks(tasks, ports, (done, task) => describePublished(done, task, ports.logger));
  if (deploy !== undefined) return deployBranch(placed, target.branch, deploy, ports);
  return finishSetup(placed, setup, target, ports);
}
