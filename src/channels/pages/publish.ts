import { DeliveryError, hasFailed } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import { getBrowserDisplay } from '../../rules/browser-display.ts';
import { baseName, encodePath } from '../../rules/naming.ts';
import { refuseSpecialFile } from '../../rules/special-files.ts';
import type {
  ChannelAction,
  ChannelItem,
  ChannelPlan,
  Placement,
  PreparedTask,
  ServedFile,
} from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { createBranchReader } from './branch-reader.ts';
import { createBuildWatches } from './build.ts';
import { COMMIT_METHODS, type CommitTarget, chooseMethod } from './commit-methods.ts';
import { previewCommits } from './commit-tasks.ts';
import {
  applyJekyll,
  createJekyllLookup,
  type FileLookup,
  type PagesDestination,
  type PagesLocation,
  resolveDestination,
} from './destination.ts';
import type { PagesTask } from './pages-task.ts';
import { listPictures, listPictureUrls, placePictures } from './pictures.ts';
import { publishFiles } from './publish-files.ts';
import { describeSetup, finishSetup, planSetup, type SetupPlan, setupMethod } from './set-up.ts';
import { prepareSite, previewSite } from './site/prepare-site.ts';
import { publishSite, type SiteTask } from './site/publish-site.ts';
import type { FolderSettings } from './site/site-target.ts';
import { checkSiteWorkflow } from './site-workflow.ts';

/** What K1 needs of the inputs. */
export interface PagesOptions extends PagesLocation, FolderSettings {
  readonly overwrite: boolean;
  /** Essence of the commit message. */
  readonly essence: string;
  readonly marker: string | undefined;
  /** Milliseconds for build and verification together. */
  readonly timeout: number;
}

/** What a commit needs of the inputs. */
export const commitTarget = (
  github: GitHubClient,
  { essence, overwrite, serverUrl, setup, confinement }: PagesOptions,
  place: Pick<CommitTarget, 'method' | 'reader'>,
): Omit<CommitTarget, 'branch'> => ({
  github,
  essence,
  overwrite,
  serverUrl,
  setup,
  confinedTo: confinement?.owner,
  ...place,
});

/**
 * K1: commits files to the repository; its Pages site shows them on the screen.
 *
 * @see protocol 4.2
 */
export function createPagesPublisher(
  options: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): ChannelAction<PagesTask> {
  return {
    prepare: (items) => prepareFiles(items, options, access, ports),
    preview: async (tasks) => {
      const sites = tasks.filter(isSiteTask);
      const setup = tasks[0]?.data.setup ?? null;
      const previews = [
        ...(await previewCommits(
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
      const placed = [
        ...(await publishFiles(tasks.filter(isFileTask), ports)),
        ...(await publishSites(tasks.filter(isSiteTask), ports)),
      ];
      const [first] = tasks;
      if (first === undefined) return placed;
      const { setup: plan = null, target } = first.data;
      return finishSetup(placed, { plan, ...target }, ports);
    },
  };
}

type PagesSiteTask = PreparedTask<PagesTask & { readonly site: SiteTask }>;

const isSiteTask = (task: PreparedTask<PagesTask>): task is PagesSiteTask => task.data.site !== undefined;

/** What a site is made of, with the folders of the whole step: one may not remove another as an old one. */
function siteAmong({ data: { site } }: PagesSiteTask, tasks: readonly PagesSiteTask[]): SiteTask {
  const together = tasks.map(({ data }) => data.site.target.folder);
  return { ...site, target: { ...site.target, together } };
}

const isFileTask = (task: PreparedTask<PagesTask>): boolean => !isSiteTask(task);

async function publishSites(
  tasks: readonly PagesSiteTask[],
  ports: Ports,
): Promise<readonly ItemResult<PreparedTask<PagesTask>, Placement>[]> {
  return forEachItem(tasks, (task) => publishSite(siteAmong(task, tasks), ports));
}

async function prepareFiles<Item extends ChannelItem>(
  items: readonly Item[],
  options: PagesOptions,
  access: RepositoryAccess,
  ports: Ports,
): Promise<readonly ItemResult<Item, PreparedTask<PagesTask>>[]> {
  const github = requireGitHub(access, 'K1');
  await checkSiteWorkflow(github, options, access.repository.site);
  const setup = await planSetup(github, options, access.repository.site);
  const files = items.flatMap(({ file, site = null }) => (site === null ? [file] : []));
  const method = await setupMethod(setup, await chooseMethod(files, ports.signal), ports.signal);
  const lookup = createJekyllLookup(github);
  const watches = createBuildWatches(github, options, ports);
  const target = commitTarget(github, options, { method, reader: createBranchReader() });
  const pages = access.repository.site;
  return forEachItem(
    items,
    async ({ file, name, site = null }) => {
      const task: PreparedTask<PagesTask> =
        site === null
          ? await prepareFile({ file, name, target, setup }, options, pages, lookup)
          : await prepareSite(
              { site, name, target: { ...target, method: 'C' }, setup },
              options,
              pages,
              lookup,
            );
      return { ...task, watch: watches(task.data.destination) };
    },
    BATCH.reads,
  );
}

/** A single file for the branch, and what the whole step shares. */
interface GivenFile extends Pick<ChannelItem, 'file' | 'name'> {
  readonly target: Omit<CommitTarget, 'branch'>;
  readonly setup: SetupPlan | null;
}

/** Where a single file goes, and what the site would make of it. */
async function prepareFile(
  { file, name, target, setup }: GivenFile,
  options: PagesOptions,
  pages: RepositoryContext['site'],
  lookup: FileLookup,
): Promise<PreparedTask<PagesTask>> {
  if (file === null) {
    throw new DeliveryError('BAD_INPUT', 'channel K1 needs a file to commit', { hint: 'set `file:`' });
  }
  const settings = resolveDestination(target.github.repository, { ...options, name }, pages);
  if (!options.overwrite) refuseSpecialFile(settings.path, settings.folder);
  const hasMarker = options.marker !== undefined;
  const destination = await applyJekyll(settings, { head: file.head, hasMarker }, lookup);
  const { branch, path } = destination;
  const served = describeServed(destination);
  const plan: ChannelPlan = {
    channel: 'K1',
    method: COMMIT_METHODS[target.method],
    destination: `branch ${branch}, path ${path}`,
    name: path,
    claim: served.display === 'none' ? 'is downloaded' : 'opens on the screen',
  };
  const data = { target: { ...target, branch }, path, file, destination, setup };
  // One call of method A writes one file.
  const method = target.method === 'A' ? 'B' : target.method;
  return {
    plan,
    data,
    served,
    withPictures: (pictures) => ({
      plan: { ...plan, method: COMMIT_METHODS[method] },
      data: {
        ...data,
        target: { ...data.target, method },
        pictures: listPictures(pictures, path),
        placedPictures: placePictures(pictures, destination.pageUrl),
      },
    }),
  };
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
