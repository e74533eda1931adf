import { forEachItem, type ItemResult } from '../../async.ts';
import { hasFailed } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import type { ChannelAction, ChannelItem, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { createBranchReader } from './branch-reader.ts';
import { createProgress } from './build.ts';
import { commitTasks, previewCommits } from './commit-tasks.ts';
import { cannotRestoreError, deployBranch, deployRestored } from './deploy/deploy-branch.ts';
import { deployFiles, refusePartOfSite } from './deploy/deploy-files.ts';
import { findDeployedSite, openDeployTarget } from './deploy/find-deploy-target.ts';
import { createJekyllLookup } from './jekyll.ts';
import { describePublished } from './placement.ts';
import { prepareFile, prepareSite } from './prepare.ts';
import { recheckBranch } from './recheck.ts';
import { restoreBefore } from './restore.ts';
import { describeSetup, findSetup, finishSetup } from './set-up.ts';
import { checkSiteWorkflow } from './site-workflow.ts';
import { chooseMethod, commitTarget, type PagesOptions, type PagesTask } from './target.ts';

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
    preview: async (tasks, absent) => {
      const [first] = tasks;
      const { setup = null, deploy } = first?.data ?? {};
      if (deploy !== undefined && options.branch === undefined) {
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
      return previews.map(({ item, result }) => ({
        item,
        result: hasFailed(result) || setup === null ? result : result + describeSetup(setup),
      }));
    },
    perform: async (tasks, absent) => {
      const [first] = tasks;
      if (first === undefined) return [];
      const { setup = null, target, deploy } = first.data;
      if (deploy !== undefined && options.branch === undefined) {
        refusePartOfSite(absent);
        return deployFiles(tasks, deploy, ports);
      }
      const placed = await commitTasks(tasks, ports, (done, task) =>
        describePublished(done, task, ports.logger),
      );
      if (deploy !== undefined) return deployBranch(placed, target.branch, deploy, ports);
      return finishSetup(placed, setup, target, ports);
    },
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

async function prepareItems<Item extends ChannelItem>(
  items: readonly Item[],
  options: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): Promise<readonly ItemResult<Item, PreparedTask<PagesTask>>[]> {
  const github = requireGitHub(access, 'K1');
  const deployed = await findDeployedSite(access, options);
  const pages = deployed ?? access.repository.site;
  await checkSiteWorkflow(github, options, pages);
  const deploy = deployed === null ? undefined : await openDeployTarget(deployed, access, options, ports);
  const setup =
    deploy !== undefined && options.branch === undefined ? null : await findSetup(github, options, pages);
  const files = items.flatMap(({ file, site = null }) => (site === null ? [file] : []));
  const method = await chooseMethod(files, ports.signal, setup?.absence);
  const target = commitTarget(github, options, { method, reader: createBranchReader() });
  const context = { options, pages, target, setup, deploy, exists: createJekyllLookup(github) };
  return forEachItem(
    items,
    async ({ file, name, site = null }) =>
      site === null ? prepareFile({ file, name }, context) : prepareSite({ site, name }, context),
    BATCH.reads,
  );
}
