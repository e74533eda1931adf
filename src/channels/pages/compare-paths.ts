import { DeliveryError, hasFailed, type Result } from '../../errors.ts';
import type { FileChange } from '../../github/api/git-data.ts';
import type { LastCommit } from '../../github/api/history.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { createBranchReader } from './branch-reader.ts';
import type { CommitTarget } from './commit-methods.ts';
import { formatCommitMessage, isOwnedFile, notOwnedError } from './ownership.ts';
import { listDeliveredPictures } from './pictures.ts';
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
  if (head === null) return forEachItem(wanted, async (one) => comparePath(one, NOTHING, target, false));
  const read = (all: readonly WantedFile[]) => readExisting(all, { github, head, reader, sent });
  const existing = await read([...wanted, ...wanted.flatMap(({ pictures = [] }) => pictures)]);
  const old = wanted.flatMap((one) => listOldPictures(one, existing, wanted));
  const found = old.length === 0 ? existing : new Map([...existing, ...(await read(old))]);
  return forEachItem(wanted, async (one) => {
    const state = found.get(one.path) ?? NOTHING;
    if (hasFailed(state)) {
      throw one.file === null && state.code === 'NOT_OURS' ? folderRemovalError(one.path) : state;
    }
    const compared = comparePath(one, state, target, sent.has(one.path));
    const beside = [...(one.pictures ?? []), ...listOldPictures(one, existing, wanted)];
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

/** The pictures that the page's own commit delivered, and that are no longer wanted. */
function listOldPictures(
  { path, pictures = [] }: WantedFile,
  existing: ExistingFiles,
  wanted: readonly WantedFile[],
): readonly WantedFile[] {
  const state = existing.get(path);
  if (state === undefined || hasFailed(state) || state.blob === null || state.last === null) return [];
  const { message } = state.last;
  if (!isOwnedFile(message, state.blob, path)) return [];
  const known = new Set([...wanted, ...pictures].map((one) => one.path));
  return listDeliveredPictures(message, path).flatMap((picture) =>
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
      if (one.file === null) return [];
      throw existing;
    }
    if (one.file === null && !isOwnedFile(existing.last?.message ?? '', existing.blob ?? '', one.path))
      return [];
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
  });
  return { path, message, replaces: state.blob, file, beside: changes };
}

function folderRemovalError(path: string): DeliveryError {
  return new DeliveryError('NOT_OURS', `${path} is not a file of the repository`, {
    hint: `set \`path:\` to one file; \`path: ${path}/\` removes everything that was delivered below that folder`,
  });
}

/** What a path holds: git's id of its bytes, and the last commit that touched it. */
interface ExistingFile {
  readonly blob: string | null;
  readonly last: LastCommit | null;
}

const NOTHING: ExistingFile = { blob: null, last: null };

function comparePath(
  { path, file }: WantedFile,
  { blob, last }: ExistingFile,
  { essence, overwrite }: CommitTarget,
  wasSent: boolean,
): CommitResult | FileChange {
  const blobSha = file?.blobSha ?? null;
  if (blob === null && blobSha === null && !wasSent) return { written: false };
  if (blob === blobSha && last !== null) return { commitSha: last.sha, written: wasSent };
  if (blob !== null && !overwrite && !isOwnedFile(last?.message ?? '', blob, path)) {
    throw notOwnedError(path, file === null);
  }
  const message = formatCommitMessage({ path, blobSha, replaces: blob !== null, essence });
  return { path, message, replaces: blob, file };
}
