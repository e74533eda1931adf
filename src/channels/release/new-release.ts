import { type ItemResult, withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { type ListedRelease, listAssets } from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { MINUTE, WRITE_INTERVAL } from '../../protocol/limits.ts';
import type { PreparedTask } from '../channel.ts';
import { type AssetResult, type AssetTask, ensureAsset, type ReleaseState } from './asset.ts';
import { discardDraft, openDraft } from './draft.ts';
import { type FilledDraft, findUpload, publishFilled, type UploadedFile } from './publish-draft.ts';
import { type PlacedResult, type ReleaseBatch, unpublishedError } from './release-choice.ts';

/**
 * Makes a release: draft → upload all → compare → publish. Nothing is public before everything is there.
 *
 * @param tag the first tag to try
 * @param takenTags tags that were found to be taken, although no list may show it
 * @returns the files' results, or `null` where the release exists by now: then the files have to find their
 * release again
 * @see design 4
 */
export async function createRelease(
  batch: ReleaseBatch,
  tag: string,
  takenTags: Set<string>,
  ports: Ports,
): Promise<readonly PlacedResult[] | null> {
  const { tasks } = batch;
  const draft = await openDraft(batch, tag, ports);
  const state = { release: draft, assets: [] };
  const uploads = await uploadFiles(tasks, state, { stopsAtFailure: true }, ports);
  const last = uploads.at(-1);
  if (last !== undefined && hasFailed(last.result)) {
    const left = await discardDraft(draft, batch, ports);
    const failure = last.result;
    const absent = { subject: last.item.data.name, failure };
    return tasks.map((item) => ({
      item,
      result: item === last.item ? failure.withLeftBehind(left) : unpublishedError(absent, left),
    }));
  }
  const filled = { batch, draft, uploads: uploads.filter(isUploaded) };
  const published = await publishFilled(filled, tag, takenTags, ports);
  if (published === null) return null;
  return hasFailed(published)
    ? tasks.map((item) => ({ item, result: published }))
    : placeAll(filled, published, ports);
}

const isUploaded = (one: ItemResult<PreparedTask<AssetTask>, AssetResult>): one is UploadedFile =>
  !hasFailed(one.result);

/** The public addresses exist only now. */
async function placeAll(
  { batch: { github }, uploads }: FilledDraft,
  published: ListedRelease,
  ports: Ports,
): Promise<readonly PlacedResult[]> {
  const isComplete = uploads.every((upload) => findUpload(published.assets, upload) !== undefined);
  const reader = ports.signal.aborted ? github.withSignal(withCleanupSignal(ports).signal) : github;
  const listed = isComplete ? published.assets : await resultOf(() => listAssets(reader, published));
  const leftBehind = [`the release ${published.tag_name}, which is published with all files`];
  return uploads.map((upload): PlacedResult => {
    const { item, result } = upload;
    if (hasFailed(listed)) return { item, result: listed.withLeftBehind(leftBehind) };
    const asset = findUpload(listed, upload);
    const message = `the published release does not list ${item.data.name}`;
    return {
      item,
      result:
        asset === undefined
          ? new DeliveryError('HOST_ERROR', message, { hint: 'try again', leftBehind })
          : { ...result, asset, release: published },
    };
  });
}

type UploadResult = ItemResult<PreparedTask<AssetTask>, AssetResult>;

/** From this number of files on, the log says how long it takes and how far it is. */
const MANY_FILES = 10;
const LOG_EVERY = 25;

/**
 * Uploads files one after the other; the client keeps the pauses that GitHub asks for.
 *
 * @param stopsAtFailure whether nothing more is uploaded once a file has failed
 */
export async function uploadFiles(
  tasks: readonly PreparedTask<AssetTask>[],
  state: ReleaseState,
  { stopsAtFailure }: { readonly stopsAtFailure: boolean },
  ports: Ports,
): Promise<readonly UploadResult[]> {
  const isMany = tasks.length >= MANY_FILES;
  if (isMany) {
    const minutes = Math.ceil((tasks.length * WRITE_INTERVAL) / MINUTE);
    ports.logger.info(
      `${tasks.length} assets: at least ${minutes} min, because GitHub limits how often a token may write`,
    );
  }
  const results: UploadResult[] = [];
  for (const item of tasks) {
    const result: Result<AssetResult> = await resultOf(() => ensureAsset(item.data, state, ports));
    results.push({ item, result });
    const isShown = results.length % LOG_EVERY === 0 || results.length === tasks.length;
    if (isShown && isMany) ports.logger.info(`${results.length} of ${tasks.length} assets`);
    if (hasFailed(result) && stopsAtFailure) break;
  }
  return results;
}
