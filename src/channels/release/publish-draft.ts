import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, isUnclear, type Result, resultOf } from '../../errors.ts';
import {
  type Asset,
  getRelease,
  isUnfinished,
  type ListedRelease,
  listAssets,
  publishDraft,
  type Release,
} from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { PreparedTask } from '../channel.ts';
import { type AssetResult, type AssetTask, hasSameContent } from './asset.ts';
import { describeDraft, discardDraft, hasDraftText } from './draft.ts';
import { chooseRelease, type ReleaseBatch, type ReleaseChoice } from './release-choice.ts';

/** A file, and the asset that it became. */
export interface UploadedFile {
  readonly item: PreparedTask<AssetTask>;
  readonly result: AssetResult;
}

/** A draft with all files of the step. */
export interface FilledDraft {
  readonly batch: ReleaseBatch;
  readonly draft: Release;
  readonly uploads: readonly UploadedFile[];
}

/** What is known of the requests to publish a draft. */
interface PublishMemory {
  /** The tag of one that had no clear answer: the draft may be published under it at any moment. */
  unclearTag: string | null;
  /** Tags that are taken, although no list may show it. */
  readonly takenTags: Set<string>;
}

/**
 * Publishes the draft. After a final failure it is deleted, unless it may still be published.
 *
 * @param firstTag the first tag to try
 * @param takenTags tags that are taken; those that are found taken are added
 * @returns `null` where the release exists by now: then the files have to find their release again
 */
export async function publishFilled(
  filled: FilledDraft,
  firstTag: string,
  takenTags: Set<string>,
  ports: Ports,
): Promise<Result<ListedRelease> | null> {
  const { batch, draft } = filled;
  const memory: PublishMemory = { unclearTag: null, takenTags };
  const published = await resultOf(() => publishUnderFreeTag(filled, firstTag, memory, ports));
  if (published === null || !hasFailed(published)) return published;
  if (memory.unclearTag === null) {
    return published.withLeftBehind(await discardDraft(draft, batch, ports));
  }
  const github = batch.github.withSignal(withCleanupSignal(ports).signal);
  const arrived = await resultOf(() => getRelease(github, draft.id));
  if (!hasFailed(arrived) && isPublished(arrived, memory.unclearTag)) return arrived;
  return published.withLeftBehind([describeDraft(draft)]);
}

/**
 * Where another job was first with a release that can't be changed, the next free number is taken, without another
 * upload.
 *
 * @returns `null` where the files go into the other release, or can't; the draft is deleted then
 */
async function publishUnderFreeTag(
  filled: FilledDraft,
  firstTag: string,
  memory: PublishMemory,
  ports: Ports,
): Promise<ListedRelease | null> {
  const { batch, draft } = filled;
  for (let tag = firstTag; ; ) {
    const published = await publishUnder(tag, filled, memory, ports);
    if (published !== null) return published;
    const choice = await chooseAgain(batch, memory.takenTags, ports);
    if (choice.release !== null || choice.done.length > 0) {
      await discardDraft(draft, batch, ports);
      return null;
    }
    ports.logger.info(`the tag ${tag} is taken; publishing under ${choice.tag}`);
    tag = choice.tag;
  }
}

/**
 * Publishes the draft under this tag. It is read and compared first: it may be published already, or somebody may
 * have changed it, and publishing would write over their text.
 *
 * @returns `null` where the tag is taken
 */
async function publishUnder(
  tag: string,
  { batch, draft, uploads }: FilledDraft,
  memory: PublishMemory,
  ports: Ports,
): Promise<ListedRelease | null> {
  const { github, tagIsDefault } = batch;
  return withRetries(ports, async () => {
    const existing = await getRelease(github, draft.id);
    if (isPublished(existing, tag)) return existing;
    if (existing === null || !existing.draft || !hasDraftText(existing, batch)) {
      throw changedDraftError(existing);
    }
    compareDraft(await listAssets(github, draft), uploads);
    const answer = await resultOf(() => publishDraft(github, draft, tag));
    if (!hasFailed(answer)) return answer;
    if (isUnclear(answer)) memory.unclearTag = tag;
    const isUsedUp = answer.code === 'TAG_USED_UP' && tagIsDefault;
    if (answer.code !== 'CONFLICT' && !isUsedUp) throw answer;
    // Without a number, the release that took it will be shown: files can be added to it, if it can be changed.
    if (isUsedUp || tag !== batch.tag) memory.takenTags.add(tag);
    return null;
  });
}

const isPublished = (
  release: ListedRelease | null,
  tag: string,
): release is ListedRelease & { readonly draft: false } =>
  release?.draft === false && release.tag_name === tag;

const DRAFT_HINT = 'publish or delete this draft on the page of releases, then try again';

/** @see design 4 */
function changedDraftError(existing: ListedRelease | null): DeliveryError {
  if (existing === null) {
    const message = 'somebody deleted the draft of this delivery while it was filled';
    return new DeliveryError('NOT_FOUND', message, { hint: 'try again' });
  }
  const message = existing.draft
    ? 'somebody changed the draft of this delivery, so it was not published'
    : `somebody published the draft of this delivery as ${existing.tag_name}`;
  return new DeliveryError('NOT_OURS', message, { hint: DRAFT_HINT });
}

/**
 * Compares what the host stored with the files, before anybody can see it.
 *
 * @throws {DeliveryError} `HOST_ERROR` or `NOT_OURS` with the asset that differs
 */
function compareDraft(assets: readonly Asset[], uploads: readonly UploadedFile[]): void {
  // By their numbers: the host may have given other names.
  const foreign = assets.find(({ id }) => !uploads.some(({ result }) => result.asset.id === id));
  if (foreign !== undefined) {
    throw new DeliveryError('NOT_OURS', `somebody added ${foreign.name} to the draft of this delivery`, {
      hint: DRAFT_HINT,
    });
  }
  const wrong = uploads.find((upload) => findUpload(assets, upload) === undefined);
  if (wrong === undefined) return;
  const message = `the draft of the release does not hold ${wrong.item.data.name} with its bytes`;
  throw new DeliveryError('HOST_ERROR', message, { hint: 'try again' });
}

/** The asset of an upload as it is listed now, if it holds the file. */
export const findUpload = (assets: readonly Asset[], { item, result }: UploadedFile): Asset | undefined =>
  assets.find(
    (one) => one.id === result.asset.id && !isUnfinished(one) && hasSameContent(one, item.data.file, true),
  );

/** The release that was first is there, although a list may not show it yet. */
async function chooseAgain(
  batch: ReleaseBatch,
  takenTags: ReadonlySet<string>,
  ports: Ports,
): Promise<ReleaseChoice> {
  return withRetries(ports, async () => {
    const choice = await chooseRelease(batch, takenTags);
    if (choice.release !== null || choice.done.length > 0 || choice.tag !== batch.tag) return choice;
    throw new DeliveryError('CONFLICT', `another job is publishing the release ${batch.tag}`, {
      hint: (w) => `try again, or set ${w.input('tag')} to another one`,
      retryable: true,
    });
  });
}
