import { forEachItem, type ItemResult } from '../../async.ts';
import { hasFailed } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import type { ChannelAction, ChannelItem, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { createBranchReader } from './branch-reader.ts';
import { createProgress } from './build.ts';
import { createJekyllLookup } from './destination.ts';
import {
  commitFiles,
  filePlacement,
  isFileTask,
  isFolderTask,
  type PagesTask,
  prepareFile,
  previewFiles,
} from './file-tasks.ts';
import { addPictures, placePictures } from './pictures.ts';
import { recheckBranch } from './recheck.ts';
import { describeSetup, finishSetup, planSetup } from './set-up.ts';
import { prepareSite, previewSite } from './site/prepare-site.ts';
import { publishSite, type SiteTask } from './site/publish-site.ts';
import { checkSiteWorkflow } from './site-workflow.ts';
import { chooseMethod, commitTarget, type PagesOptions } from './target.ts';

/**
 * K1: commits files to the repository; its Pages site shows them on the screen. What it does for each file and folder:
 * destination → read the branch → plan a change → write it → placement.
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
      const sites = tasks.filter(isSiteTask);
      const setup = tasks[0]?.data.setup ?? null;
      const previews = [
        ...(await previewFiles(
          tasks.filter(isFileTask),
          ({ commitSha }) => `commit ${commitSha} already holds these bytes`,
        )),
        ...(await forEachItem(sites, (task) => previewSite(siteAmong(task, sites), ports))),
      ];
      if (setup === null) return previews;
      return previews.map(({ item, result }) => ({
        item,
        result: hasFailed(result) ? result : result + describeSetup(setup),
      }));
    },
    perform: async (tasks) => {
      const sites = tasks.filter(isSiteTask);
      const placed = [
        ...(await commitFiles(tasks.filter(isFileTask), ports, filePlacement)),
        ...(await forEachItem(sites, (task) => publishSite(siteAmong(task, sites), ports))),
      ];
      const [first] = tasks;
      if (first === undefined) return placed;
      const { setup: plan = null, target } = first.data;
      return finishSetup(placed, { plan, ...target }, ports);
    },
    progress: createProgress(access, options, ports),
    recheck: recheckBranch,
  };
}

const isSiteTask = (task: PreparedTask<PagesTask>): task is PreparedTask<SiteTask> =>
  isFolderTask(task) && task.data.site !== undefined;

/**
 * What a site is made of, with its pictures and the folders of the whole step: one may not remove another as an old
 * one.
 */
function siteAmong(
  { data, pictures }: PreparedTask<SiteTask>,
  tasks: readonly PreparedTask<SiteTask>[],
): SiteTask {
  const together = tasks.map((one) => one.data.target.folder);
  const target = { ...data.target, together };
  if (pictures === undefined) return { ...data, target };
  const site = addPictures(data.site, pictures);
  return { ...data, target, site, placedPictures: placePictures(pictures, data.destination.pageUrl) };
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
  const setup = await planSetup(github, options, pages);
  const files = items.flatMap(({ file, site = null }) => (site === null ? [file] : []));
  const method = await chooseMethod(files, ports.signal, setup?.absence);
  const lookup = createJekyllLookup(github);
  const target = commitTarget(github, options, { method, reader: createBranchReader() });
  return forEachItem(
    items,
    async ({ file, name, site = null }) => {
      if (site === null) return prepareFile({ file, name, target, setup }, options, pages, lookup);
      return prepareSite({ site, name, target, setup }, options, pages, lookup);
    },
    BATCH.reads,
  );
}
