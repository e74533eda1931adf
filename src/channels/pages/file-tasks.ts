import type { ItemResult } from '../../async.ts';
import { DeliveryError, hasFailed, type Result } from '../../errors.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import type { Ports } from '../../ports.ts';
import { getBrowserDisplay } from '../../rules/browser-display.ts';
import type { LocalSite } from '../../rules/local-site.ts';
import { baseName, encodePath } from '../../rules/naming.ts';
import { refuseSpecialFile } from '../../rules/special-files.ts';
import type { ChannelItem, ChannelPlan, Placement, PreparedTask, ServedFile } from '../channel.ts';
import { type CommittedPlace, commitPlanned } from './commit.ts';
import {
  addressOf,
  applyJekyll,
  type FileLookup,
  type PagesDestination,
  resolveDestination,
} from './destination.ts';
import { describeReplaced } from './ownership.ts';
import { listPictures, listPictureUrls, placePictures } from './pictures.ts';
import { type ComparedFile, planFiles, type WantedFile } from './plan-files.ts';
import type { SetupPlan } from './set-up.ts';
import { listLeftOut } from './site-workflow.ts';
import {
  COMMIT_METHODS,
  type CommitTarget,
  type FolderTarget,
  methodOf,
  type PagesOptions,
} from './target.ts';

/** What is published or removed: one file, or a folder that is committed as one. */
export interface PagesTask extends WantedFile {
  readonly target: CommitTarget | FolderTarget;
  /** Of a folder: where its entry page goes. */
  readonly destination: PagesDestination;
  /** What has to be set up first, the same for all files of a step; absent or `null` where nothing has. */
  readonly setup?: SetupPlan | null;
  /** What the folder is to hold; absent for a single file, and where the folder is removed. */
  readonly site?: LocalSite;
}

/** The task of a folder. */
export interface FolderTask extends PagesTask {
  readonly target: FolderTarget;
}

export const isFolderTask = (task: PreparedTask<PagesTask>): task is PreparedTask<FolderTask> =>
  'folder' in task.data.target;

export const isFileTask = (task: PreparedTask<PagesTask>): boolean => !isFolderTask(task);

/** The tasks of single files, with the result of each. */
type FileResults<Value> = readonly ItemResult<PreparedTask<PagesTask>, Value>[];

/** A single file for the branch, and what the whole step shares. */
interface GivenFile extends Pick<ChannelItem, 'file' | 'name'> {
  readonly target: Omit<CommitTarget, 'branch'>;
  readonly setup: SetupPlan | null;
}

/** Where a single file goes, and what the site would make of it. */
export async function prepareFile(
  { file, name, target, setup }: GivenFile,
  options: PagesOptions,
  pages: RepositoryContext['site'],
  lookup: FileLookup,
): Promise<PreparedTask<PagesTask>> {
  if (file === null) {
    throw new DeliveryError('BAD_INPUT', 'channel K1 needs a file to commit', { hint: 'name a file' });
  }
  const settings = resolveDestination(target.github.repository, { ...options, name }, pages);
  if (!options.overwrite) refuseSpecialFile(settings.path, settings.folder);
  const hasMarker = options.marker !== undefined;
  const destination = await applyJekyll(settings, { head: file.head, hasMarker }, lookup);
  const { branch, path } = destination;
  const served = describeServed(destination);
  const hasPicture = options.picture && served.display === 'page' && served.pictureUrls !== null;
  // One call of method A writes one file.
  const method = hasPicture && target.method === 'A' ? 'B' : target.method;
  const plan: ChannelPlan = {
    channel: 'K1',
    method: COMMIT_METHODS[method],
    destination: `branch ${branch}, path ${path}`,
    name: path,
    claim: served.display === 'none' ? 'is downloaded' : 'opens on the screen',
  };
  const data = { target: { ...target, method, branch }, path, file, destination, setup };
  return { plan, data, served };
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
export async function previewFiles(
  tasks: readonly PreparedTask<PagesTask>[],
  describe: (compared: ComparedFile) => string,
): Promise<FileResults<string>> {
  const [first] = tasks;
  if (first === undefined) return [];
  const { target } = first.data;
  const { places } = await planFiles(tasks.map(withPictures), target);
  return joinResults(tasks, places, (place) => describeChange(place, target) ?? describe(place));
}

/** The file of a task, with the pictures that go to the same commit. */
const withPictures = ({ data, pictures }: PreparedTask<PagesTask>): PagesTask =>
  pictures === undefined ? data : { ...data, pictures: listPictures(pictures, data.path) };

/** The first line of the message; and the method, where it is another one than planned. */
function describeChange({ change }: ComparedFile, target: CommitTarget): string | undefined {
  if (change === undefined) return undefined;
  const [line = ''] = change.message.split('\n');
  const method = methodOf([change], target);
  return method === target.method
    ? line
    : `${line}, by ${COMMIT_METHODS[method]}, because its pictures change with it`;
}

/** Commits the tasks together, a commit each, and gives each its placement. */
export async function commitFiles(
  tasks: readonly PreparedTask<PagesTask>[],
  ports: Ports,
  placementOf: (done: CommittedPlace<ComparedFile>, task: PreparedTask<PagesTask>) => Placement,
): Promise<FileResults<Placement>> {
  const [first] = tasks;
  if (first === undefined) return [];
  const wanted = tasks.map(withPictures);
  const plan = (target: CommitTarget, sent: ReadonlySet<WantedFile>) => planFiles(wanted, target, sent);
  return joinResults(tasks, await commitPlanned(plan, first.data.target, ports), placementOf);
}

/** Gives each task its own result: those of a plan are in the tasks' order. */
const joinResults = <Found, Value>(
  tasks: readonly PreparedTask<PagesTask>[],
  results: readonly ItemResult<PagesTask, Found>[],
  convert: (found: Found, task: PreparedTask<PagesTask>) => Value,
): FileResults<Value> =>
  tasks.map((item, nth) => {
    const result = results[nth]?.result as Result<Found>;
    return { item, result: hasFailed(result) ? result : convert(result as Found, item) };
  });

/** The evidence and the address of a file that was committed. */
export function filePlacement(
  { commitSha, written, method, place: { earlier, replaced } }: CommittedPlace<ComparedFile>,
  { data, pictures }: PreparedTask<PagesTask>,
): Placement {
  const { destination, target, path, file } = data;
  const { pageUrl, rawUrl, hostMayChangeBytes, notes, unknown } = destination;
  const placed = pictures === undefined ? [] : listPictures(pictures, path);
  return {
    evidence: written ? `commit ${commitSha}` : `commit ${commitSha} already holds these bytes`,
    url: pageUrl,
    written,
    ...(method && { method: COMMIT_METHODS[method] }),
    ...(commitSha && { commitSha }),
    rawUrl,
    bypassCache: true,
    hostMayChangeBytes,
    display: getBrowserDisplay(pageUrl.pathname),
    mustBeExternal: false,
    ...listLeftOut(destination, path),
    ...(earlier && { earlier }),
    notes: [...notes, ...describeReplaced(replaced, target.essence)],
    unknown,
    held: new Map([{ path, file }, ...placed].map((one) => [one.path, one.file?.blobSha ?? null])),
    ...(pictures && {
      pictures: placePictures(pictures, pageUrl),
      parts: placed.map((one) => ({
        path: one.path,
        url: addressOf(destination, one.path),
        size: one.file.size,
        sha256: one.file.sha256,
      })),
    }),
  };
}
