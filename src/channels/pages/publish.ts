import { forEachItem, type ItemResult } from '../../async.ts';
import { hasFailed } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import type { ChannelAction, ChannelItem, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { createBranchReader } from './branch-reader.ts';
import { createProgress } from './build.ts';
import { commitTasks, previewCommits } from './commit-tasks.ts';
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
    preview: async (tasks) => {
      const setup = tasks[0]?.data.setup ?? null;
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
    perform: async (tasks) => {
      const placed = await commitTasks(tasks, ports, (done, task) =>
        describePublished(done, task, ports.logger),
      );
      const [first] = tasks;
      if (first === undefined) return placed;
      const { setup = null, target } = first.data;
      return finishSetup(placed, setup, target, ports);
    },
    progress: createProgress(access, options, ports),
    recheck: recheckBranch,
    restore: restoreBefore,
  };
}

async function prepareItems<Item extends ChannelItem>(
  items: readonly Item[],
  options: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): Promise<readonly ItemResult<Item, PreparedTask<PagesTask>>[]> {
  const github = requireGitHub(access, 'K1');
  const pages = access.repository.site;
  await checkSiteWorkflow(github, options, pages);
  const setup = await findSetup(github, options, pages);
  const files = items.flatMap(({ file, site = null }) => (site === null ? [file] : []));
  const method = await chooseMethod(files, ports.signal, setup?.absence);
  const target = commitTarget(github, options, { method, reader: createBranchReader() });
  const context = { options, pages, target, setup, exists: createJekyllLookup(github) };
  return forEachItem(
    items,
    async ({ file, name, site = null }) =>
      site === null ? prepareFile({ file, name }, context) : prepareSite({ site, name }, context),
    BATCH.reads,
  );
}
