import { randomUUID } from 'node:crypto';
import { forEachOnHost, poll, withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, isOfHost, isUnclear, resultOf } from '../../errors.ts';
import {
  type Asset,
  deleteAsset,
  formatLabel,
  isUnfinished,
  listAssets,
  renameAsset,
  uploadAsset,
} from '../../github/api/releases.ts';
import { CONFLICT_HINT } from '../../github/refusals.ts';
import type { Ports } from '../../ports.ts';
import { OTHERS_UPLOAD } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { SentWrites } from '../sent-writes.ts';
import {
  type AssetTask,
  assetExistsError,
  hasDigestOf,
  isInterim,
  isQuiet,
  isStored,
  mayReplace,
  type PlacedAsset,
  type UploadRelease,
  unfinishedError,
} from './asset.ts';

/** Uploads files one by one. A draft gets no more files after a failure, because it is published with all or none. */
export async function uploadFiles(tasks: readonly AssetTask[], target: UploadRelease, ports: Ports) {
  const endsAll = (failure: DeliveryError): boolean => target.release.draft || isOfHost(failure);
  const upload = (task: AssetTask) => new AssetUpload(task, target, ports).run();
  const results = await forEachOnHost(tasks, ({ name }) => name, upload, { endsAll });
  return new Map(results.map((result, nth) => [tasks[nth] as AssetTask, result]));
}

/**
 * Uploads one file to a release. A replacement is uploaded under an interim name. Then the old asset is deleted and the
 * new one renamed at once, so that the name is missing only briefly.
 */
class AssetUpload {
  readonly #task: AssetTask;
  readonly #ports: Ports;
  readonly #label: string;
  /** Unique to this run, and the same in each attempt. */
  readonly #incomingName: string;
  #target: UploadRelease;
  /** The assets as read for all files; only the first attempt uses them. */
  #known: readonly Asset[] | null;
  /** The id of the replaced asset, as soon as it may be deleted. */
  #replacedId: number | null = null;
  #uploadedAs: string | null = null;
  readonly #uploads = new SentWrites();

  constructor(task: AssetTask, target: UploadRelease, ports: Ports) {
    this.#task = task;
    this.#target = target;
    this.#known = target.assets;
    this.#ports = ports;
    this.#label = formatLabel(task.originalName, target.soleDeliverer);
    this.#incomingName = `incoming-${randomUUID().slice(-12)}-${task.name}`;
  }

  /** Uploads the file unless it exists. Cleans up after a final failure. */
  async run(): Promise<PlacedAsset> {
    const { release } = this.#target;
    try {
      const asset = await withRetries(this.#ports, () => this.#attempt());
      return { release, asset, written: this.#uploadedAs !== null, replaced: this.#replacedId !== null };
    } catch (thrown) {
      const failure = this.#uploads.explain(thrown);
      if (this.#uploadedAs === null) throw failure;
      const found = await resultOf(() => this.#cleanUp());
      if (found !== undefined && !hasFailed(found)) return { release, asset: found, written: true };
      // The caller deletes a draft with all its assets.
      if (found === undefined || release.draft) throw failure;
      this.#ports.logger.warning(`could not clean up a half-done upload: ${found.message}`);
      const { name } = this.#task;
      const left = `perhaps ${name} or ${this.#incomingName} in the release ${release.tag_name}`;
      const lost = this.#replacedId === null ? '' : `, and no longer the earlier ${name}`;
      throw failure.withLeftBehind([left + lost]);
    }
  }

  #delete = (asset: Asset): Promise<void> => deleteAsset(this.#target.github, this.#target.release, asset);

  /** Reads the release first, so that a file from an earlier attempt isn't sent again. */
  async #attempt(): Promise<Asset> {
    const { existing, incoming, leftovers } = await this.#findFree();
    const asset = await this.#putInPlace(existing, incoming);
    for (const spare of [incoming, ...leftovers]) {
      if (spare && spare.id !== asset.id) await this.#delete(spare);
    }
    return asset;
  }

  async #putInPlace(existing: Asset | undefined, incoming: Asset | undefined): Promise<Asset> {
    const { name } = this.#task;
    const { release } = this.#target;
    if (existing && this.#holdsFile(existing)) return existing;
    if (existing && !mayReplace(existing, this.#target))
      throw assetExistsError(name, release.tag_name, existing);
    if (!existing && !incoming) return this.#upload(name);
    return this.#replace(existing, incoming ?? (await this.#upload(this.#incomingName)));
  }

  /** Waits until no other job uploads with this name. @throws {DeliveryError} `CONFLICT` after `timeout` */
  async #findFree() {
    const { clock, logger, signal } = this.#ports;
    const { release, timeout } = this.#target;
    const waiting = { clock, signal, interval: OTHERS_UPLOAD, deadline: clock.now() + timeout };
    const free = await poll(waiting, async () => {
      const { isBlocked, ...found } = await this.#find();
      if (!isBlocked) return found;
      logger.info(`another job is uploading ${this.#task.name}; waiting until it finishes`);
      return undefined;
    });
    if (free === undefined) throw unfinishedError(this.#task.name, release.tag_name);
    return free;
  }

  async #replace(old: Asset | undefined, uploaded: Asset): Promise<Asset> {
    if (old) {
      const deleted = await resultOf(() => this.#delete(old));
      if (!hasFailed(deleted) || isUnclear(deleted)) this.#replacedId = old.id;
      if (hasFailed(deleted)) throw deleted;
    }
    const { name } = this.#task;
    const renamed = await resultOf(() => renameAsset(this.#target.github, uploaded, name));
    if (!hasFailed(renamed)) return renamed;
    if (renamed.code !== 'NOT_FOUND') throw renamed;
    // A withdrawal may have deleted the new asset: the next attempt uploads it again.
    const message = `somebody deleted the new asset before it was renamed to ${name}`;
    throw new DeliveryError('CONFLICT', message, { httpCode: 404, hint: CONFLICT_HINT, retryable: true });
  }

  async #upload(name: string): Promise<Asset> {
    const { file } = this.#task;
    const upload = { release: this.#target.release, file, name, label: this.#label };
    const send = () => uploadAsset(this.#target.github, upload, this.#ports);
    const asset = await resultOf(() => this.#uploads.send(send));
    if (!hasFailed(asset) || isUnclear(asset)) this.#uploadedAs = name;
    if (hasFailed(asset)) throw asset;
    if (isStored(asset, file)) return asset;
    await this.#delete(asset);
    const message = 'GitHub stored other bytes than the file has; the asset was deleted';
    throw new DeliveryError('HOST_ERROR', message, { hint: 'try again' });
  }

  #isSent = ({ name, label }: Asset): boolean =>
    name === this.#uploadedAs && (name === this.#incomingName || label === this.#label);

  #holdsFile = (asset: Asset): boolean =>
    this.#isSent(asset) ? isStored(asset, this.#task.file) : hasDigestOf(asset, this.#task.file);

  /** Reads the release, and deletes what this run's broken uploads left. */
  async #find() {
    const { name, file } = this.#task;
    const { soleDeliverer: owner } = this.#target;
    const listed = this.#known ?? (await listAssets(this.#target.github, this.#target.release));
    this.#known = null;
    const isLost = (asset: Asset): boolean =>
      this.#isSent(asset) &&
      (isUnfinished(asset) || (asset.name === this.#incomingName && !isStored(asset, file)));
    for (const asset of listed.filter(isLost)) await this.#delete(asset);
    const remaining = listed.filter((asset) => !isLost(asset));
    const whole = remaining.filter((asset) => !isUnfinished(asset));
    return {
      existing: whole.find((asset) => asset.name === name),
      incoming: whole.find((asset) => asset.name === this.#incomingName),
      // Assets of killed replacements were never verified, so they never get the name.
      leftovers: whole.filter((asset) => isInterim(asset, name, owner) && isQuiet(asset, this.#ports.clock)),
      isBlocked: remaining.some((asset) => isUnfinished(asset) && asset.name === name),
    };
  }

  /** If the old asset may be deleted, renames the new one. @returns the complete asset, if any */
  async #cleanUp(): Promise<Asset | undefined> {
    const ports = withCleanupSignal(this.#ports);
    const github = this.#target.github.withSignal(ports.signal);
    this.#target = { ...this.#target, github };
    const { existing, incoming } = await this.#find();
    const isLeft = existing === undefined || existing.id === this.#replacedId;
    if (incoming && isLeft) return withRetries(ports, () => this.#replace(existing, incoming));
    if (incoming) await this.#delete(incoming);
    return existing && this.#holdsFile(existing) ? existing : undefined;
  }
}
