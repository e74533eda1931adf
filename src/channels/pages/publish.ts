import { DeliveryError, hasFailed, type Result } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import type { AbsentFile, ChannelAction, Placement, PreparedTask } from '../channel.ts';
import type { RepositoryAccess } from '../require-github.ts';
import { createProgress } from './build.ts';
import { commitTasks, previewCommits } from './commit.ts';
import { deployBranch } from './deploy/deploy.ts';
import { deployFiles, refusePartOfSite } from './deploy/deploy-files.ts';
import { prepareItems } from './prepare.ts';
import { recheckBranch } from './recheck.ts';
import { restoreBefore } from './restore.ts';
import { describeSetup, finishSetup } from './set-up.ts';
import type { PagesOptions, PagesTask } from './target.ts';

/**
 * K1: commits files and folders to the repository, whose Pages site shows them on the screen, or removes them from it.
 * What it does for each: destination → read the branch → compare → write the change → placement.
 *
 * @see protocol 4.2
 */
export function createPagesActions(inputs: PagesOptions, access: RepositoryAccess, ports: Ports) {
  const actionFor = (options: PagesOptions): ChannelAction<PagesTask> => ({
    prepare: (items) => prepareItems(items, options, access, ports),
    preview: (tasks, absent) => previewTasks(tasks, absent, ports),
    perform: (tasks, absent) => placeTasks(tasks, absent, ports),
    progress: createProgress(access, options, ports),
    recheck: recheckBranch,
  });
  const publish: ChannelAction<PagesTask> = {
    ...actionFor(inputs),
    restore: async (failed, step) => {
      const { branch = '', deploy = null } = failed[0]?.task.data.target ?? {};
      if (deploy === null) return restoreBefore(failed, step);
      if (inputs.branch === undefined) throw nothingKeptError();
      const restored = await restoreBefore(failed, step);
      const addDeployment = await deployBranch(restored, branch, deploy, ports);
      return restored.map((one) => {
        if (hasFailed(one)) return one;
        const placement = addDeployment(one.placement);
        return hasFailed(placement) ? placement : { ...one, placement };
      });
    },
  };
  return { publish, remove: actionFor({ ...inputs, setup: false, isRemoval: true }) };
}

type Tasks = readonly PreparedTask<PagesTask>[];

const nothingKeptError = (): DeliveryError =>
  new DeliveryError(
    'NOT_OURS',
    'nothing was put back: a site without a branch keeps nothing of what was there before',
    { hint: 'deliver the last good version again', leftBehind: [] },
  );

/** What deploys the files of a step as the whole site, where no branch is named that they are committed to. */
function findWholeSite({ options, deploy }: PagesTask['target'], absent: AbsentFile | undefined) {
  if (deploy === null || options.branch !== undefined) return null;
  refusePartOfSite(absent);
  return deploy;
}

async function previewTasks(
  tasks: Tasks,
  absent: AbsentFile | undefined,
  ports: Ports,
): Promise<readonly Result<string>[]> {
  const [first] = tasks;
  if (first === undefined) return [];
  const { target } = first.data;
  if (findWholeSite(target, absent) !== null) {
    return tasks.map(
      ({ data }) => `would be deployed as the whole site ${data.destination.rootUrl.hostname}`,
    );
  }
  const previews = await previewCommits(tasks, ports);
  return previews.map((one) => (hasFailed(one) ? one : one + describeSetup(target.setup)));
}

async function placeTasks(
  tasks: Tasks,
  absent: AbsentFile | undefined,
  ports: Ports,
): Promise<readonly Result<Placement>[]> {
  const [first] = tasks;
  if (first === undefined) return [];
  const { target } = first.data;
  const whole = findWholeSite(target, absent);
  if (whole !== null) return deployFiles(tasks, whole, ports);
  const placed = await commitTasks(tasks, ports);
  if (target.deploy === null) return finishSetup(placed, target, ports);
  const addDeployment = await deployBranch(placed, target.branch, target.deploy, ports);
  return placed.map((one) => (hasFailed(one) ? one : addDeployment(one)));
}
