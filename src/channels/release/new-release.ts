import { DeliveryError, hasFailed, isUnclear, type Result, resultOf } from '../../errors.ts';
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
import { type AssetTask, isStored, type PlacedAsset, type PlacedFiles } from './asset.ts';
import { uploadFiles } from './asset-upload.ts';
import { discardDraft, hasDraftText } from './draft.ts';
import { type ReleaseBatch, unpublishedError } from './release-choice.ts';

/** A release that a delivery makes: a draft, which is public only once it has all files of the step. */
export class NewRelease {
  readonly #draft: Release;
  readonly #batch: ReleaseBatch;
  readonly #ports: Ports;
  readonly #uploads = new Map<AssetTask, PlacedAsset>();
  /** `false` once a request to publish it had no answer: it may be published at any moment. */
  #mayDelete = true;

  constructor(draft: Release, batch: ReleaseBatch, ports: Ports) {
    this.#draft = draft;
    this.#batch = batch;
    this.#ports = ports;
  }

  /** Uploads the files. @throws {DeliveryError} for all files, where one fails */
  async fill(): Promise<void> {
    const { github, tasks } = this.#batch;
    const target = { github, release: this.#draft, assets: [], overwrite: false };
    for (const [task, result] of await uploadFiles(tasks, target, this.#ports)) {
      if (hasFailed(result)) {
        throw tasks.length === 1 ? result : unpublishedError({ subject: task.name, failure: result }, []);
      }
      this.#uploads.set(task, result);
    }
  }

  /**
   * Publishes the draft under a tag. It is read and compared first: it may be published already, or somebody may have
   * changed it, and publishing would write over their text.
   *
   * @param takenTags where the tag is added if it is taken, although no list may show it
   * @returns `null` where another release has the tag
   * @see protocol 4.3
   */
  async publishUnder(tag: string, takenTags: Set<string>): Promise<PlacedFiles | null> {
    const { github } = this.#batch;
    const release = await withRetries(this.#ports, () => this.#publish(tag, takenTags));
    if (release === null) return null;
    // The public addresses exist only now.
    const assets = await withRetries(this.#ports, () => listAssets(github, release));
    const leftBehind = [`the release ${release.tag_name}, which is published with all files`];
    const place = ([task, upload]: readonly [AssetTask, PlacedAsset]): Result<PlacedAsset> => {
      const asset = findUpload(assets, task, upload);
      if (asset !== undefined) return { ...upload, asset, release };
      const message = `the published release does not list ${task.name}`;
      return new DeliveryError('HOST_ERROR', message, { hint: 'try again', leftBehind });
    };
    return new Map([...this.#uploads].map((one) => [one[0], place(one)]));
  }

  /** Deletes the draft, if it is still one. @returns what is left behind */
  discard(): Promise<readonly string[]> {
    return discardDraft(this.#draft, this.#batch, this.#ports, this.#mayDelete);
  }

  async #publish(tag: string, takenTags: Set<string>): Promise<Release | null> {
    const { github, tag: wantedTag, tagIsDefault } = this.#batch;
    const existing = await getRelease(github, this.#draft.id);
    if (existing === null) {
      const message = 'somebody deleted the draft of this delivery while it was filled';
      throw new DeliveryError('NOT_FOUND', message, { hint: 'try again' });
    }
    if (!existing.draft && existing.tag_name === tag) return existing;
    this.#refuseChanged(existing, await listAssets(github, this.#draft));
    const answer = await resultOf(() => publishDraft(github, this.#draft, tag));
    if (!hasFailed(answer)) return answer;
    if (isUnclear(answer)) this.#mayDelete = false;
    const isUsedUp = answer.code === 'TAG_USED_UP' && tagIsDefault;
    if (answer.code !== 'CONFLICT' && !isUsedUp) throw answer;
    // Without a number, the release that took it will be shown: files can be added to it, if it can be changed.
    if (isUsedUp || tag !== wantedTag) takenTags.add(tag);
    return null;
  }

  /**
   * Compares the draft with what this run made of it, and what the host stored with the files, before anybody can see
   * it.
   *
   * @throws {DeliveryError} `NOT_OURS` where somebody changed it, `HOST_ERROR` with the asset that differs
   */
  #refuseChanged(existing: Release, assets: readonly Asset[]): void {
    // By their numbers: the host may have given other names.
    const own = new Set([...this.#uploads.values()].map(({ asset }) => asset.id));
    const foreign = assets.find(({ id }) => !own.has(id));
    const done = !existing.draft
      ? `published the draft of this delivery as ${existing.tag_name}`
      : !hasDraftText(existing, this.#batch)
        ? 'changed the draft of this delivery, so it was not published'
        : foreign && `added ${foreign.name} to the draft of this delivery`;
    if (done !== undefined) {
      const hint = 'publish or delete this draft on the page of releases, then try again';
      throw new DeliveryError('NOT_OURS', `somebody ${done}`, { hint });
    }
    for (const [task, upload] of this.#uploads) {
      if (findUpload(assets, task, upload) !== undefined) continue;
      const message = `the draft of the release does not hold ${task.name} with its bytes`;
      throw new DeliveryError('HOST_ERROR', message, { hint: 'try again' });
    }
  }
}

/** The asset of an upload as it is listed now, if it holds the file. */
const findUpload = (
  assets: readonly Asset[],
  { file }: AssetTask,
  { asset }: PlacedAsset,
): Asset | undefined =>
  assets.find((one) => one.id === asset.id && !isUnfinished(one) && isStored(one, file));
