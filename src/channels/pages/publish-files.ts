import { DeliveryError } from '../../errors.ts';
import { type ExistingBlobs, getBranchHead, getExistingBlobs } from '../../github/api/existing-blobs.ts';
import type { ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import { getBrowserDisplay } from '../../rules/browser-display.ts';
import { baseName, encodePath } from '../../rules/naming.ts';
import type { PlacedPart, Placement, PreparedTask } from '../channel.ts';
import { COMMIT_METHODS } from './commit-methods.ts';
import { commitTasks } from './commit-tasks.ts';
import type { CommitResult, PlacedPicture } from './compare-paths.ts';
import type { PagesDestination } from './destination.ts';
import { fetchOldCopies } from './old-copies.ts';
import type { PagesTask } from './pages-task.ts';

/** Commits single files together, and gives each the evidence and the address of its page. */
export async function publishFiles(
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

function pagePlacement(
  { commitSha, written, method }: CommitResult,
  destination: PagesDestination,
): Placement {
  return {
    evidence: written ? `commit ${commitSha}` : `commit ${commitSha} already holds these bytes`,
    url: destination.pageUrl,
    written,
    ...(method === undefined ? {} : { method: COMMIT_METHODS[method] }),
    ...(commitSha === undefined ? {} : { commitSha }),
    rawUrl: destination.rawUrl,
    bypassCache: true,
    hostMayChangeBytes: destination.hostMayChangeBytes,
    display: getBrowserDisplay(destination.pageUrl.pathname),
    mustBeExternal: false,
    notes: destination.notes,
    unknown: destination.unknown,
  };
}
