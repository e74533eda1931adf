import { DeliveryError, hasFailed, isUnclear, type Result, resultOf, toDeliveryError } from '../../errors.ts';
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
import { type AssetTask, isStored, type PlacedAsset, type PlacedFiles, uploadFiles } from './asset.ts';
import { discardDraft, hasDraftText, openDraft } from './draft.ts';
import { chooseRelease, type ReleaseBatch, type ReleaseChoice, unpublishedError } from './release-choice.ts';

/** A draft with all files of the step. Nothing is public before everything is there. */
export interface FilledDraft {
  readonly batch: ReleaseBatch;
  readonly draft: Release;
  readonly uploads: ReadonlyMap<AssetTask, PlacedAsset>;
}

/** Makes a draft, which is deleted again where a file fails. @throws {DeliveryError} for all files */
export async function fillDraft(batch: ReleaseBatch, tag: string, ports: Ports): Promise<FilledDraft> {
  const { github, tasks } = batch;
  const draft = await openDraft(batch, tag, ports);
  const target = { github, release: draft, assets: [], overwrite: false };
  const uploads = new Map<AssetTask, PlacedAsset>();
  for (const [task, result] of await uploadFiles(tasks, target, ports)) {
    if (hasFailed(result)) {
      const left = await discardDraft(draft, batch, ports);
      if (tasks.length === 1) throw result.withLeftBehind(left);
      throw unpublishedError({ subject: task.name, failure: result }, left);
    }
    uploads.set(task, result);
  }
  return { batch, draft, uploads };
}

/**
 * Publishes a draft under a tag. It is read and compared first: it may be published already, or somebody may have
 * changed it, and publishing would write over their text. After a failure the draft is deleted, unless it may still be
 * published.
 *
 * @param takenTags where the tag is added if it is taken, although no list may show it
 * @returns `null` where another release has the tag
 * @see protocol 4.3
 */
export async function publishUnder(
  tag: string,
  filled: FilledDraft,
  takenTags: Set<string>,
  ports: Ports,
): Promise<PlacedFiles | null> {
  const { batch, draft, uploads } = filled;
  const { github } = batch;
  let mayDelete = true;
  try {
    const release = await withRetries(ports, async () => {
      const existing = await getRelease(github, draft.id);
      if (existing === null) {
        const message = 'somebody deleted the draft of this delivery while it was filled';
        throw new DeliveryError('NOT_FOUND', message, { hint: 'try again' });
      }
      if (!existing.draft && existing.tag_name === tag) return existing;
      refuseChangedDraft(existing, await listAssets(github, draft), filled);
      const answer = await resultOf(() => publishDraft(github, draft, tag));
      if (!hasFailed(answer)) return answer;
      // Without an answer it may be published at any moment.
      if (isUnclear(answer)) mayDelete = false;
      const isUsedUp = answer.code === 'TAG_USED_UP' && batch.tagIsDefault;
      if (answer.code !== 'CONFLICT' && !isUsedUp) throw answer;
      // Without a number, the release that took it will be shown: files can be added to it, if it can be changed.
      if (isUsedUp || tag !== batch.tag) takenTags.add(tag);
      return null;
    });
    if (release === null) return null;
    const assets = await withRetries(ports, () => listAssets(github, release));
    return new Map([...uploads].map((upload) => [upload[0], placeUpload(upload, release, assets)]));
  } catch (thrown) {
    throw toDeliveryError(thrown).withLeftBehind(await discardDraft(draft, batch, ports, mayDelete));
  }
}

/**
 * Chooses again, after publishing was refused: the release that was first is there, although a list may not show it yet.
 *
 * @throws {DeliveryError} after the draft is deleted
 */
export async function chooseAgain(
  { batch, draft }: FilledDraft,
  takenTags: ReadonlySet<string>,
  ports: Ports,
): Promise<ReleaseChoice> {
  try {
    return await withRetries(ports, async () => {
      const choice = await chooseRelease(batch, takenTags);
      if (choice.release !== null || choice.done.size > 0 || choice.tag !== batch.tag) return choice;
      throw new DeliveryError('CONFLICT', `another job is publishing the release ${batch.tag}`, {
        hint: (w) => `try again, or set ${w.input('tag')} to another one`,
        retryable: true,
      });
    });
  } catch (thrown) {
    throw toDeliveryError(thrown).withLeftBehind(await discardDraft(draft, batch, ports));
  }
}

/** The public address exists only now. */
function placeUpload(
  upload: readonly [AssetTask, PlacedAsset],
  release: Release,
  assets: readonly Asset[],
): Result<PlacedAsset> {
  const asset = findUpload(assets, upload);
  if (asset !== undefined) return { ...upload[1], asset, release };
  const message = `the published release does not list ${upload[0].name}`;
  const leftBehind = [`the release ${release.tag_name}, which is published with all files`];
  return new DeliveryError('HOST_ERROR', message, { hint: 'try again', leftBehind });
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
  const own = new Set([...uploads.values()].map(({ asset }) => asset.id));
  const foreign = assets.find(({ id }) => !own.has(id));
  const done = !existing.draft
    ? `published the draft of this delivery as ${existing.tag_name}`
    : !hasDraftText(existing, batch)
      ? 'changed the draft of this delivery, so it was not published'
      : foreign && `added ${foreign.name} to the draft of this delivery`;
  if (done !== undefined) throw new DeliveryError('NOT_OURS', `somebody ${done}`, { hint: DRAFT_HINT });
  const [wrong] = [...uploads].find((upload) => findUpload(assets, upload) === undefined) ?? [];
  if (wrong === undefined) return;
  const message = `the draft of the release does not hold ${wrong.name} with its bytes`;
  throw new DeliveryError('HOST_ERROR', message, { hint: 'try again' });
}

/** The asset of an upload as it is listed now, if it holds the file. */
const findUpload = (
  assets: readonly Asset[],
  [{ file }, { asset }]: readonly [AssetTask, PlacedAsset],
): Asset | undefined =>
  assets.find((one) => one.id === asset.id && !isUnfinished(one) && isStored(one, file));
