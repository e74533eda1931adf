import { hasFailed, type Result } from '../../errors.ts';
import type { FileChange } from '../../github/api/git-data.ts';
import type { LastCommit } from '../../github/api/history.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import { createBranchReader } from './branch-reader.ts';
import type { CommitMethod, CommitTarget } from './commit-methods.ts';
import {
  formatCommitMessage,
  isOwnedFile,
  isOwnedPicture,
  notConfinedError,
  notOwnedError,
  pictureNotOwnedError,
} from './ownership.ts';
import { listPicturePaths } from './pictures.ts';
import { readTargetHead } from './target-branch.ts';

/** A path that should hold a file, or nothing. */
export interface WantedFile {
  readonly path: string;
  /** `null` to remove what exists there. */
  readonly file: LocalFile | null;
  /** The pictures of the page, for the same commit. What an earlier delivery had of them is removed. */
  readonly pictures?: readonly PlacedPicture[];
}

/** A picture, and where it goes. */
export interface PlacedPicture {
  readonly path: string;
  readonly file: LocalFile;
}

/** A path that is as wanted. */
export interface CommitResult {
  /** The commit that made it so; absent where nothing ever existed. */
  readonly commitSha?: string;
  /** `false` when it was so already. */
  readonly written: boolean;
  /** How it was written, where anything was. */
  readonly method?: CommitMethod;
}

/** What a path needs: nothing more, a change, or it must not be changed. */
export type PathState = ItemResult<WantedFile, CommitResult | FileChange>;

export const isChange = (state: CommitResult | FileChange): state is FileChange => 'replaces' in state;

/**
 * Compares paths with the branch, all in the same commit of it.
 *
 * @param sent paths that an earlier attempt may have changed
 */
export async function comparePaths(
  wanted: readonly WantedFile[],
  target: CommitTarget,
  sent: ReadonlySet<string> = new Set(),
): Promise<readonly PathState[]> {
  const { github } = target;
  // After a write, what a cache of the host still tells of the branch may be old.
  const reader = sent.size === 0 ? target.reader : createBranchReader();
  const head = await readTargetHead(target);
  const read = async (all: readonly WantedFile[]): Promise<ExistingFiles> =>
    head === null ? new Map() : readExisting(all, { github, head, reader, sent });
  const existing = await read([...wanted, ...wanted.flatMap(({ pictures = [] }) => pictures)]);
  const oldPictures = new Map(wanted.map((one) => [one, listOldPictures(one, existing, wanted, target)]));
  const old = [...oldPictures.values()].flat();
  const found = old.length === 0 ? existing : new Map([...existing, ...(await read(old))]);
  return forEachItem(wanted, async (one) => {
    const state = found.get(one.path) ?? NOTHING;
    if (hasFailed(state)) throw state;
    const compared = comparePath(one, state, target, sent.has(one.path));
    const beside = [...(one.pictures ?? []), ...(oldPictures.get(one) ?? [])];
    return beside.length === 0 ? compared : addPictures(one, { compared, state }, beside, { target, found });
  });
}

/** What the branch holds at some paths; a path that can't be read has its error. */
type ExistingFiles = ReadonlyMap<string, Result<ExistingFile>>;

async function readExisting(
  wanted: readonly WantedFile[],
  {
    github,
    head,
    reader,
    sent,
  }: Pick<CommitTarget, 'github' | 'reader'> & {
    readonly head: string;
    readonly sent: ReadonlySet<string>;
  },
): Promise<ExistingFiles> {
  const paths = wanted.map(({ path }) => path);
  const blobs = await reader.getBlobs(github, head, paths);
  const touched = wanted.filter(
    ({ path, file }) => typeof blobs.get(path) === 'string' || (file === null && sent.has(path)),
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
  target: Pick<CommitTarget, 'overwrite' | 'confinedTo'>,
): readonly WantedFile[] {
  const state = existing.get(path) ?? NOTHING;
  // A new page has none, which spares its delivery two requests.
  if (!isHtml(path) || hasFailed(state) || (state.blob === null && file !== null)) return [];
  // A page that may not be changed keeps everything.
  if (state.blob !== file?.blobSha && isOthers(path, state, target)) return [];
  const known = new Set([...wanted, ...pictures].map((one) => one.path));
  return listPicturePaths(path).flatMap((picture) =>
    known.has(picture) ? [] : [{ path: picture, file: null }],
  );
}

/** The page and its pictures as one change. An old picture that is somebody else's by now stays. */
function addPictures(
  { path, file, pictures = [] }: WantedFile,
  { compared, state }: { readonly compared: CommitResult | FileChange; readonly state: ExistingFile },
  beside: readonly WantedFile[],
  { target, found }: { readonly target: CommitTarget; readonly found: ExistingFiles },
): CommitResult | FileChange {
  const changes = beside.flatMap((one) => {
    const existing = found.get(one.path) ?? NOTHING;
    if (hasFailed(existing)) {
      // A folder is no picture; what can't be read may be one.
      if (one.file === null && existing.code === 'NOT_OURS') return [];
      throw existing;
    }
    const { blob, last } = existing;
    const isOwned =
      blob !== null &&
      isOwnedPicture(last?.message ?? '', { path: one.path, blobSha: blob }, path, target.confinedTo);
    if (one.file === null && !isOwned) return [];
    if (blob !== null && blob !== one.file?.blobSha && !isOwned && !target.overwrite) {
      throw pictureNotOwnedError(one.path);
    }
    const change = comparePath(one, existing, target, false);
    return isChange(change) ? [{ path: change.path, replaces: change.replaces, file: change.file }] : [];
  });
  if (changes.length === 0 && !isChange(compared)) return compared;
  const message = formatCommitMessage({
    path,
    blobSha: file?.blobSha ?? null,
    pictures: pictures.map((one) => ({ path: one.path, blobSha: one.file.blobSha })),
    replaces: state.blob !== null,
    essence: target.essence,
    confinedTo: target.confinedTo,
  });
  return { path, message, replaces: state.blob, file, beside: changes };
}

/** What a path holds: git's id of its bytes, and the last commit that touched it. */
interface ExistingFile {
  readonly blob: string | null;
  readonly last: LastCommit | null;
}

const NOTHING: ExistingFile = { blob: null, last: null };

/** Whether a path holds what may not be changed. */
const isOthers = (
  path: string,
  { blob, last }: ExistingFile,
  { overwrite, confinedTo }: Pick<CommitTarget, 'overwrite' | 'confinedTo'>,
): boolean =>
  blob !== null && !overwrite && !isOwnedFile(last?.message ?? '', { path, blobSha: blob }, confinedTo);

function comparePath(
  { path, file }: WantedFile,
  { blob, last }: ExistingFile,
  target: CommitTarget,
  wasSent: boolean,
): CommitResult | FileChange {
  const blobSha = file?.blobSha ?? null;
  if (blob === null && blobSha === null && !wasSent) return { written: false };
  if (blob === blobSha && last !== null) return { commitSha: last.sha, written: wasSent };
  const { essence, confinedTo } = target;
  if (isOthers(path, { blob, last }, target)) {
    throw confinedTo === undefined
      ? notOwnedError(path, file === null, last?.message)
      : notConfinedError(path);
  }
  const message = formatCommitMessage({ path, blobSha, replaces: blob !== null, essence, confinedTo });
  return { path, message, replaces: blob, file };
}
