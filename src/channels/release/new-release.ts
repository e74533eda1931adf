import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf, toDeliveryError } from '../../errors.ts';
import {
  type Asset,
  getRelease,
  type ListedRelease,
  listAssets,
  type Release,
} from '../../github/api/releases.ts';
import type { ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import type { AbsentFile, PreparedTask } from '../channel.ts';
import type { AssetResult, AssetTask } from './asset.ts';
import {
  checkDraft,
  describeDraft,
  discardDraft,
  findUpload,
  type OwnDraft,
  openDraft,
  type UploadedFile,
} from './draft.ts';
import { type PublishMemory, publishUnderFreeTag } from './publish-draft.ts';
import type { ReleaseBatch } from './release-choice.ts';
import type { WaitForUpload } from './unfinished.ts';
import { type UploadResult, uploadFiles } from './uploads.ts';

/** A file in a release. */
export interface PlacedAsset extends AssetResult {
  readonly release: Release;
}

export type PlacedResult = ItemResult<PreparedTask<AssetTask>, PlacedAsset>;

/** What a new release needs beside its files. */
export interface NewReleaseContext {
  /** The first tag to try. */
  readonly firstTag: string;
  /** Tags that are taken; those that are found taken are added. */
  readonly takenTags: Set<string>;
  readonly waitForUpload: WaitForUpload;
  /** Milliseconds in which an outdated draft must stay as it is before it is deleted; `null`: none is deleted. */
  readonly quietTime: number | null;
}

/**
 * Makes a release: draft → upload all → compare → publish. Nothing is public before everything is there.
 *
 * @returns the files' results, or `null` where the release exists by now, or the draft does not any more:
 * then the files have to find their release again
 * @see design 4
 */
export async function createRelease(
  batch: ReleaseBatch,
  context: NewReleaseContext,
  ports: Ports,
): Promise<readonly PlacedResult[] | null> {
  const own = await openDraft(batch, { ...context, tag: context.firstTag }, ports);
  const { uploads, failure } = await fillDraft(batch, own, context, ports);
  if (failure !== null) return endUnpublished(batch, own, { uploads, failure }, ports);
  const memory: PublishMemory = { isUnclear: false };
  const published = await resultOf(() => publishUnderFreeTag(batch, own, { ...context, memory }, ports));
  if (!hasFailed(published)) return published === null ? null : placeAll(batch, uploads, published);
  if (!memory.isUnclear) return endUnpublished(batch, own, { uploads, failure: published }, ports);
  const arrived = await resultOf(() => getRelease(withCleanup(batch, ports).github, own.draft.id));
  if (!hasFailed(arrived) && arrived?.draft === false) {
    return placeAll(withCleanup(batch, ports), uploads, arrived);
  }
  // It may still be published: deleting it now could delete a published release.
  throw published.withLeftBehind([describeDraft(own.draft)]);
}

/** The same batch for a few requests after a stop. */
const withCleanup = (batch: ReleaseBatch, ports: Ports): ReleaseBatch => ({
  ...batch,
  github: batch.github.withSignal(withCleanupSignal(ports).signal),
});

interface FilledDraft {
  readonly uploads: readonly UploadResult[];
  readonly failure: DeliveryError | null;
}

async function fillDraft(
  batch: ReleaseBatch,
  { draft, assets }: OwnDraft,
  { waitForUpload }: NewReleaseContext,
  ports: Ports,
): Promise<FilledDraft> {
  const state = { release: draft, assets, waitForUpload };
  const uploads = await uploadFiles(batch.tasks, state, { stopsAtFailure: true }, ports);
  const uploaded: UploadedFile[] = [];
  for (const { item, result } of uploads) {
    if (hasFailed(result)) return { uploads, failure: result };
    uploaded.push({ task: item.data, asset: result.asset });
  }
  const checked = await resultOf(() => checkDraft(batch.github, draft, uploaded));
  return { uploads, failure: hasFailed(checked) ? checked : null };
}

/**
 * Ends a release that is not published: its draft is deleted. A draft that is gone, or one of an earlier run
 * in which an upload never ends, is only a reason to start again.
 */
async function endUnpublished(
  batch: ReleaseBatch,
  own: OwnDraft,
  { uploads, failure }: FilledDraft & { readonly failure: DeliveryError },
  ports: Ports,
): Promise<readonly PlacedResult[] | null> {
  const { github, tasks } = batch;
  if (failure.code === 'NOT_FOUND' && (await getRelease(github, own.draft.id)) === null) return null;
  if (!own.isNew && failure.code === 'CONFLICT') {
    await discardDraft({ ...own, isNew: true }, batch, ports);
    return null;
  }
  const left = await discardDraft(own, batch, ports);
  const failed = uploads.find(({ result }) => hasFailed(result));
  return tasks.map((item) => {
    if (failed === undefined || item === failed.item) return { item, result: failure.withLeftBehind(left) };
    return { item, result: unpublishedError({ subject: failed.item.data.name, failure }, left) };
  });
}

/** A release is published with all files of the step, or not at all. */
export function unpublishedError(
  { subject, failure }: AbsentFile,
  leftBehind: readonly string[],
): DeliveryError {
  const { code, message, httpCode, hint } = failure;
  const reason = `the release was not published, because ${subject} failed: ${message}`;
  return new DeliveryError(code, reason, { httpCode, hint, leftBehind });
}

/** The public addresses exist only now. */
async function placeAll(
  { github }: ReleaseBatch,
  uploads: readonly UploadResult[],
  published: ListedRelease,
): Promise<readonly PlacedResult[]> {
  const isComplete = uploads.every((upload) => findPlaced(published.assets, upload) !== undefined);
  const listed = isComplete ? published.assets : await resultOf(() => listAssets(github, published));
  const left = [`the release ${published.tag_name}, which is published with all files`];
  if (hasFailed(listed)) throw toDeliveryError(listed).withLeftBehind(left);
  return uploads.map(({ item, result }): PlacedResult => {
    if (hasFailed(result)) return { item, result };
    const asset = findPlaced(listed, { item, result });
    const placed: Result<PlacedAsset> =
      asset === undefined
        ? new DeliveryError('HOST_ERROR', `the published release does not list ${item.data.name}`, {
            hint: 'run the step again',
            leftBehind: left,
          })
        : { ...result, asset, release: published };
    return { item, result: placed };
  });
}

const findPlaced = (assets: readonly Asset[], { item, result }: UploadResult): Asset | undefined =>
  hasFailed(result) ? undefined : findUpload(assets, { task: item.data, asset: result.asset });
