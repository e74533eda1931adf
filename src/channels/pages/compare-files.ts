import { forEachItem } from '../../async.ts';
import { hasFailed, type Result } from '../../errors.ts';
import type { LastCommit } from '../../github/api/history.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import type { BranchComparison, ComparedPlace } from './commit.ts';
import { formatCommitMessage } from './commit-message.ts';
import { notConfinedError, notOwnedError, pictureNotOwnedError } from './not-ours.ts';
import { isOwned } from './ownership.ts';
import { listPicturePaths } from './pictures.ts';
import { type CommitTarget, readTargetHead, type WantedFile } from './target.ts';

/**
 * Compares paths with the branch, all in the same commit of it. Reads nothing but these paths.
 *
 * @param sent what an earlier attempt may have changed
 * @returns `NOT_OURS` for a path with a file that this tool did not deliver
 */
export async function compareFiles<Item extends WantedFile>(
  wanted: readonly Item[],
  target: CommitTarget,
  sent: ReadonlySet<WantedFile> = new Set(),
): Promise<BranchComparison<Item>> {
  const head = await readTargetHead(target);
  const read = async (all: readonly WantedFile[]): Promise<ExistingFiles> =>
    head === null ? new Map() : readExisting(all, target, head, sent);
  const existing = await read([...wanted, ...wanted.flatMap(({ pictures = [] }) => pictures)]);
  const old = wanted.flatMap((one) => listOldPictures(one, existing, wanted, target));
  const found = old.length === 0 ? existing : new Map([...existing, ...(await read(old))]);
  const places = await forEachItem(wanted, async (one) => {
    const pictures = [...(one.pictures ?? []), ...listOldPictures(one, existing, wanted, target)];
    return compareFile(one, pictures, found, target);
  });
  return { head, places };
}

interface ExistingFile {
  readonly blob: string | null;
  readonly last: LastCommit | null;
}

const NOTHING: ExistingFile = { blob: null, last: null };

/** What the branch holds at some paths; a path that can't be read has its error. */
type ExistingFiles = ReadonlyMap<string, Result<ExistingFile>>;

async function readExisting(
  wanted: readonly WantedFile[],
  { github, reader }: CommitTarget,
  head: string,
  sent: ReadonlySet<WantedFile>,
): Promise<ExistingFiles> {
  const paths = wanted.map(({ path }) => path);
  const blobs = await reader.getBlobs(github, head, paths);
  // What is delivered may have been there before: a cache may still have it.
  const touched = wanted.filter(
    (one) => typeof blobs.get(one.path) === 'string' || one.file !== null || sent.has(one),
  );
  const commits = await reader.getCommits(
    github,
    head,
    touched.map(({ path }) => path),
  );
  return new Map(
    paths.map((path) => {
      const blob = blobs.get(path) ?? null;
      return [path, hasFailed(blob) ? blob : { blob, last: commits.get(path) ?? null }];
    }),
  );
}

/**
 * Where pictures of the page may be that are no longer wanted. The page's own commit does not tell: the bytes of
 * the page may be older, or newer, than its picture.
 */
function listOldPictures(
  { path, file, pictures = [] }: WantedFile,
  existing: ExistingFiles,
  wanted: readonly WantedFile[],
  target: CommitTarget,
): readonly WantedFile[] {
  const page = existing.get(path) ?? NOTHING;
  // A new page has none, which spares its delivery two requests.
  if (!isHtml(path) || hasFailed(page) || (page.blob === null && file !== null)) return [];
  // A page that may not be changed keeps everything.
  if (page.blob !== file?.blobSha && !mayChange(path, page, target)) return [];
  const known = new Set([...wanted, ...pictures].map((one) => one.path));
  return listPicturePaths(path).flatMap((picture) =>
    known.has(picture) ? [] : [{ path: picture, file: null }],
  );
}

function compareFile(
  one: WantedFile,
  pictures: readonly WantedFile[],
  found: ExistingFiles,
  target: CommitTarget,
): ComparedPlace {
  const { path, file } = one;
  const { essence } = target.options;
  const confinedTo = ownerOf(target);
  const state = found.get(path) ?? NOTHING;
  if (hasFailed(state)) throw state;
  const { blob, last } = state;
  const isSame = blob === (file?.blobSha ?? null) && (blob === null || last !== null);
  if (!isSame && !mayChange(path, state, target)) {
    throw confinedTo === undefined
      ? notOwnedError(path, file === null, last?.message)
      : notConfinedError(path);
  }
  const changed = pictures.filter((picture) => needsChange(picture, path, found, target));
  if (!isSame) changed.unshift(one);
  const versions = new Map(last?.blobs.map((one) => [one.sha, one]));
  versions.delete(file?.blobSha ?? '');
  const earlier = versions.size > 0 && { earlier: new Map([[path, [...versions.values()]]]) };
  if (changed.length === 0) return { commitSha: last?.sha, ...earlier };
  const delivered = file === null ? [] : [one, ...(one.pictures ?? [])];
  const change = {
    message: formatCommitMessage(path, {
      verb: file === null ? 'REMOVE' : blob === null ? 'ADD' : 'UPDATE',
      essence,
      confinedTo,
      objects: delivered.map((each) => ({ path: each.path, sha: each.file?.blobSha ?? '' })),
    }),
    writes: changed.flatMap((each) => (each.file === null ? [] : [{ path: each.path, file: each.file }])),
    removals: changed.flatMap((each) => (each.file === null ? [each.path] : [])),
    basis: new Map([one, ...changed].map((each) => [each.path, blobAt(each.path, found)])),
  };
  const isReplaced = !isSame && last !== null && isOwnedState(path, state, { confinedTo });
  return { change, ...earlier, ...(isReplaced && { replaced: last }) };
}

/** Whether a picture of a page has to be written or removed. An old one that is somebody else's by now stays. */
function needsChange(
  { path, file }: WantedFile,
  page: string,
  found: ExistingFiles,
  target: CommitTarget,
): boolean {
  const state = found.get(path) ?? NOTHING;
  if (hasFailed(state)) {
    // A folder is no picture; what can't be read may be one.
    if (file === null && state.code === 'NOT_OURS') return false;
    throw state;
  }
  const isOurs = isOwnedState(path, state, { confinedTo: ownerOf(target), page });
  if (file === null) return isOurs;
  if (state.blob === file.blobSha) return false;
  if (state.blob !== null && !isOurs && !target.options.overwrite) throw pictureNotOwnedError(path);
  return true;
}

const isOwnedState = (
  path: string,
  { blob, last }: ExistingFile,
  by: Parameters<typeof isOwned>[2],
): boolean => blob !== null && isOwned(last?.message ?? '', { path, sha: blob }, by);

/** Whether a path is free, or what it holds may be replaced or removed. */
const mayChange = (path: string, state: ExistingFile, target: CommitTarget): boolean =>
  state.blob === null ||
  target.options.overwrite ||
  isOwnedState(path, state, { confinedTo: ownerOf(target) });

/** The confinement whose files alone may be replaced; `undefined` where those of the whole tool may. */
const ownerOf = ({ options }: CommitTarget): string | undefined => options.confinement?.owner;

function blobAt(path: string, found: ExistingFiles): string | null {
  const state = found.get(path) ?? NOTHING;
  return hasFailed(state) ? null : state.blob;
}
