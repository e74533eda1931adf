import { DeliveryError, hasFailed } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { type ExistingBlobs, getBranchHead, getExistingBlobs } from '../../github/api/existing-blobs.ts';
import type { FileChange } from '../../github/api/git-data.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import { getBrowserDisplay } from '../../rules/browser-display.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { baseName, encodePath } from '../../rules/naming.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import { refuseSpecialFile } from '../../rules/special-files.ts';
import type {
  ChannelAction,
  ChannelItem,
  ChannelPlan,
  PlacedPart,
  PlacedPictures,
  Placement,
  PreparedTask,
  ServedFile,
} from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { createBranchReader } from './branch-reader.ts';
import { createBuildWatches } from './build.ts';
import { commitFiles } from './commit.ts';
import { COMMIT_METHODS, type CommitTarget, chooseMethod, methodOf } from './commit-methods.ts';
import { type CommitResult, comparePaths, isChange, type PlacedPicture } from './compare-paths.ts';
import {
  applyJekyll,
  createJekyllLookup,
  type FileLookup,
  type PagesDestination,
  type PagesLocation,
  resolveDestination,
} from './destination.ts';
import { fetchOldCopies } from './old-copies.ts';
import { listPictures, listPictureUrls, placePictures } from './pictures.ts';
import { describeSetup, finishSetup, planSetup, type SetupPlan, setupMethod } from './set-up.ts';
import { prepareSite, previewSite } from './site/prepare-site.ts';
import { publishSite, type SiteTask } from './site/publish-site.ts';
import type { FolderSettings } from './site/site-target.ts';
import { checkSiteWorkflow } from './site-workflow.ts';

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

/** One file for the branch. */
export interface PagesTask {
  /** The folder that is committed as one; absent for a single file. */
  readonly site?: SiteTask;
  readonly target: CommitTarget;
  /** The path that the commit writes. */
  readonly path: string;
  /** `null` where the file is removed. */
  readonly file: LocalFile | null;
  readonly destination: PagesDestination;
  /** What has to be set up first, the same for all files of a step; absent or `null` where nothing has. */
  readonly setup?: SetupPlan | null;
  /** What the same commit delivers beside a page. */
  readonly pictures?: readonly PlacedPicture[];
  readonly placedPictures?: PlacedPictures;
}

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

/**
 * What committing would do: the first line of each message, or that nothing has to be done.
 *
 * @param describe says so of a path that is as wanted
 */
export async function previewCommits(
  tasks: readonly PreparedTask<PagesTask>[],
  describe: (done: CommitResult) => string,
): Promise<readonly ItemResult<PreparedTask<PagesTask>, string>[]> {
  return joinByPath(
    tasks,
    (wanted, target) => comparePaths(wanted, target),
    (state, { target }) => (isChange(state) ? describeChange(state, target) : describe(state)),
  );
}

/** The first line of the message; and the method, where it is another one than planned. */
function describeChange(change: FileChange, target: Pick<CommitTarget, 'method'>): string {
  const [line = ''] = change.message.split('\n');
  const method = methodOf([change], target);
  return method === target.method
    ? line
    : `${line}, by ${COMMIT_METHODS[method]}, because its pictures change with it`;
}

/** Commits the tasks together, and gives each its placement. */
export function commitTasks(
  tasks: readonly PreparedTask<PagesTask>[],
  ports: Ports,
  placementOf: (done: CommitResult, task: PagesTask) => Placement,
  onReplace?: (path: string) => Promise<void>,
): Promise<readonly ItemResult<PreparedTask<PagesTask>, Placement>[]> {
  return joinByPath(tasks, (wanted, target) => commitFiles(wanted, target, ports, onReplace), placementOf);
}

/** Works on all paths of the branch at once, and gives each task its own result. */
async function joinByPath<State, Value>(
  tasks: readonly PreparedTask<PagesTask>[],
  work: (
    wanted: readonly PagesTask[],
    target: CommitTarget,
  ) => Promise<readonly ItemResult<Pick<PagesTask, 'path'>, State>[]>,
  convert: (state: State, task: PagesTask) => Value,
): Promise<readonly ItemResult<PreparedTask<PagesTask>, Value>[]> {
  const [first] = tasks;
  if (first === undefined) return [];
  const results = await work(
    tasks.map(({ data }) => data),
    first.data.target,
  );
  const byPath = new Map(results.map(({ item, result }) => [item.path, result]));
  return tasks.map((item) => {
    const state = byPath.get(item.data.path) ?? new DeliveryError('INTERNAL', 'the path was left out');
    return { item, result: hasFailed(state) ? state : convert(state as State, item.data) };
  });
}

async function publishFiles(
  tasks: readonly PreparedTask<PagesTask>[],
  ports: Ports,
): Promise<readonly ItemResult<PreparedTask<PagesTask>, Placement>[]> {
  const replaced = new Map<string, readonly string[]>();
  const pages = new Map(tasks.map(({ data }) => [data.path, data.destination.pageUrl]));
  const rememberPage = async (path: string): Promise<void> => {
    const url = pages.get(path);
    if (url !== undefined) replaced.set(path, await fetchOldCopies(url, ports));
  };
  const recheck = createBlobRecheck(tasks.map(({ data }) => data));
  return commitTasks(
    tasks,
    ports,
    (done, { destination, path, pictures = [], placedPictures }) => ({
      ...pagePlacement(done, destination),
      ...(placedPictures && { pictures: placedPictures, parts: listPictureParts(pictures, destination) }),
      previousSha256: replaced.get(path),
      // A page that the host renders is known by its marker only, which a file of somebody else may have as well.
      ...(destination.hostMayChangeBytes ? { recheck: () => recheck(path) } : {}),
    }),
    rememberPage,
  );
}

/**
 * Looks, after the proof, whether the branch still holds what was committed; once for all files.
 *
 * @throws {DeliveryError} `NOT_PROVEN` where somebody changed the file meanwhile.
 */
function createBlobRecheck(tasks: readonly PagesTask[]): (path: string) => Promise<readonly string[]> {
  const paths = tasks.map(({ path }) => path);
  const files = new Map(tasks.map(({ path, file }) => [path, file]));
  let current: Promise<ExistingBlobs> | undefined;
  return async (path) => {
    const [first] = tasks;
    if (first === undefined) return [];
    const { github, branch } = first.target;
    current ??= getBranchHead(github, branch).then((head) => getExistingBlobs(github, head, paths));
    const blob = (await current).get(path);
    if (blob === files.get(path)?.blobSha) return [];
    throw new DeliveryError(
      'NOT_PROVEN',
      `somebody changed ${path} on the branch ${branch} during the delivery, so the page may be theirs`,
      { hint: 'run the step again, or set `path:` to a place of its own' },
    );
  };
}

/** The pictures of a page, each at its own address beside it. */
const listPictureParts = (
  pictures: readonly PlacedPicture[],
  { pageUrl }: PagesDestination,
): readonly PlacedPart[] =>
  pictures.map(({ path, file: { size, sha256 } }) => ({
    path,
    url: new URL(encodePath(baseName(path)), pageUrl),
    size,
    sha256,
  }));

function pagePlacement({ commitSha, written }: CommitResult, destination: PagesDestination): Placement {
  return {
    evidence: written ? `commit ${commitSha}` : `commit ${commitSha} already holds these bytes`,
    url: destination.pageUrl,
    written,
    ...(commitSha === undefined ? {} : { commitSha }),
    rawUrl: destination.rawUrl,
    bypassCache: true,
    hostMayChangeBytes: destination.hostMayChangeBytes,
    isPage: isHtml(destination.pageUrl.pathname),
    mustBeExternal: false,
    notes: destination.notes,
    unknown: destination.unknown,
  };
}
