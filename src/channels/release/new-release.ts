import { DeliveryError, hasFailed, isUnclear, resultOf, toDeliveryError } from '../../errors.ts';
import {
  type Asset,
  getRelease,
  isUnfinished,
  listAssets,
  publishDraft,
  type Release,
} from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { PreparedTask } from '../channel.ts';
import { type AssetResult, type AssetTask, isStored, uploadFiles } from './asset.ts';
import { discardDraft, hasDraftText, openDraft } from './draft.ts';
import {
  chooseRelease,
  type PlacedResult,
  type ReleaseBatch,
  type ReleaseChoice,
  unpublishedError,
} from './release-choice.ts';

/** A file, and the asset that it became. */
interface UploadedFile {
  readonly item: PreparedTask<AssetTask>;
  readonly result: AssetResult;
}

/** A draft with all files of the step, and what is known of the requests to publish it. */
interface FilledDraft {
  readonly batch: ReleaseBatch;
  readonly draft: Release;
  readonly uploads: readonly UploadedFile[];
  /** Whether a request to publish it had no clear answer: it may be published at any moment. */
  isUnclear: boolean;
  /** Tags that are taken, although no list may show it. */
  readonly takenTags: Set<string>;
}

/**
 * Makes a release: draft → upload all → compare → publish. Nothing is public before everything is there. After a
 * failure the draft is deleted, unless it may still be published.
 *
 * @param tag the first tag to try
 * @param takenTags tags that are taken; those that are found taken are added
 * @returns the files' results, or `null` where the release exists by now: then the files have to find their
 * release again
 * @see protocol 4.3
 */
export async function createRelease(
  batch: ReleaseBatch,
  tag: string,
  takenTags: Set<string>,
  ports: Ports,
): Promise<readonly PlacedResult[] | null> {
  const { github, tasks } = batch;
  const draft = await openDraft(batch, tag, ports);
  const target = { github, release: draft, assets: [], overwrite: false };
  const uploads: UploadedFile[] = [];
  for (const { item, result } of await uploadFiles(tasks, target, { stopsAtFailure: true }, ports)) {
    if (!hasFailed(result)) {
      uploads.push({ item, result });
      continue;
    }
    const left = await discardDraft(draft, batch, ports);
    const others = unpublishedError({ subject: item.data.name, failure: result }, left);
    return tasks.map((one) => ({ item: one, result: one === item ? result.withLeftBehind(left) : others }));
  }
  const filled: FilledDraft = { batch, draft, uploads, isUnclear: false, takenTags };
  try {
    const release = await publishUnderFreeTag(filled, tag, ports);
    if (release !== null) {
      const assets = await withRetries(ports, () => listAssets(github, release));
      return uploads.map((upload) => placeUpload(upload, release, assets));
    }
    await discardDraft(draft, batch, ports);
    return null;
  } catch (thrown) {
    const left = await discardDraft(draft, batch, ports, !filled.isUnclear);
    const failure = toDeliveryError(thrown).withLeftBehind(left);
    return tasks.map((item) => ({ item, result: failure }));
  }
}

/** The public address exists only now. */
function placeUpload(upload: UploadedFile, release: Release, assets: readonly Asset[]): PlacedResult {
  const { item, result } = upload;
  const asset = findUpload(assets, upload);
  if (asset !== undefined) return { item, result: { ...result, asset, release } };
  const message = `the published release does not list ${item.data.name}`;
  const leftBehind = [`the release ${release.tag_name}, which is published with all files`];
  return { item, result: new DeliveryError('HOST_ERROR', message, { hint: 'try again', leftBehind }) };
}

/**
 * Where another job was first with a release that can't be changed, the next free number is taken, without another
 * upload.
 *
 * @returns `null` where the files go into the other release, or can't
 */
async function publishUnderFreeTag(
  filled: FilledDraft,
  firstTag: string,
  ports: Ports,
): Promise<Release | null> {
  for (let tag = firstTag; ; ) {
    const published = await publishUnder(tag, filled, ports);
    if (published !== null) return published;
    const choice = await chooseAgain(filled, ports);
    if (choice.release !== null || choice.done.length > 0) return null;
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
function publishUnder(tag: string, filled: FilledDraft, ports: Ports): Promise<Release | null> {
  const { batch, draft, takenTags } = filled;
  const { github, tagIsDefault } = batch;
  return withRetries(ports, async () => {
    const existing = await getRelease(github, draft.id);
    if (existing === null) {
      const message = 'somebody deleted the draft of this delivery while it was filled';
      throw new DeliveryError('NOT_FOUND', message, { hint: 'try again' });
    }
    if (!existing.draft && existing.tag_name === tag) return existing;
    refuseChangedDraft(existing, await listAssets(github, draft), filled);
    const answer = await resultOf(() => publishDraft(github, draft, tag));
    if (!hasFailed(answer)) return answer;
    if (isUnclear(answer)) filled.isUnclear = true;
    const isUsedUp = answer.code === 'TAG_USED_UP' && tagIsDefault;
    if (answer.code !== 'CONFLICT' && !isUsedUp) throw answer;
    // Without a number, the release that took it will be shown: files can be added to it, if it can be changed.
    if (isUsedUp || tag !== batch.tag) takenTags.add(tag);
    return null;
  });
}

const DRAFT_HINT = 'publish or delete this draft on the page of releases, then try again';

/**
 * Compares the draft with what this run made of it, and what the host stored with the files, before anybody can see
 * it.
 *
 * @throws {DeliveryError} `NOT_OURS` where somebody changed it, `HOST_ERROR` with the asset that differs
 */
function refuseChangedDraft(
  existing: Release,
  assets: readonly Asset[],
  { batch, uploads }: FilledDraft,
): void {
  // By their numbers: the host may have given other names.
  const foreign = assets.find(({ id }) => !uploads.some(({ result }) => result.asset.id === id));
  const done = !existing.draft
    ? `published the draft of this delivery as ${existing.tag_name}`
    : !hasDraftText(existing, batch)
      ? 'changed the draft of this delivery, so it was not published'
      : foreign && `added ${foreign.name} to the draft of this delivery`;
  if (done !== undefined) throw new DeliveryError('NOT_OURS', `somebody ${done}`, { hint: DRAFT_HINT });
  const wrong = uploads.find((upload) => findUpload(assets, upload) === undefined);
  if (wrong === undefined) return;
  const message = `the draft of the release does not hold ${wrong.item.data.name} with its bytes`;
  throw new DeliveryError('HOST_ERROR', message, { hint: 'try again' });
}

/** The asset of an upload as it is listed now, if it holds the file. */
const findUpload = (assets: readonly Asset[], { item, result }: UploadedFile): Asset | undefined =>
  assets.find((one) => one.id === result.asset.id && !isUnfinished(one) && isStored(one, item.data.file));

/** The release that was first is there, although a list may not show it yet. */
function chooseAgain({ batch, takenTags }: FilledDraft, ports: Ports): Promise<ReleaseChoice> {
  return withRetries(ports, async () => {
    const choice = await chooseRelease(batch, takenTags);
    if (choice.release !== null || choice.done.length > 0 || choice.tag !== batch.tag) return choice;
    throw new DeliveryError('CONFLICT', `another job is publishing the release ${batch.tag}`, {
      hint: (w) => `try again, or set ${w.input('tag')} to another one`,
      retryable: true,
    });
  });
}
