import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, isUnclear, type Result, resultOf, toDeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  deleteAsset,
  formatLabel,
  hasOwnLabel,
  isUnfinished,
  listAssets,
  type Release,
  renameAsset,
  uploadAsset,
} from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { MINUTE, WRITE_INTERVAL } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';

export interface AssetTask {
  readonly file: LocalFile;
  /** The asset's name, and the name that it would have if the host kept every letter. */
  readonly name: string;
  readonly originalName: string;
}

export interface TargetRelease {
  readonly github: GitHubClient;
  readonly release: Release;
  /** What it held when it was read. */
  readonly assets: readonly Asset[];
  readonly overwrite: boolean;
}

/** An asset that holds the file. */
export interface PlacedAsset {
  readonly release: Release;
  readonly asset: Asset;
  /** Whether this run may have sent it. */
  readonly written: boolean;
}

export type PlacedFiles = ReadonlyMap<AssetTask, Result<PlacedAsset>>;

export const hasDigestOf = ({ digest }: Asset, file: LocalFile | null): boolean =>
  file !== null && digest === `sha256:${file.sha256}`;

/** Whether an asset that this run has sent holds the file: without a digest only its size can tell. */
export const isStored = (asset: Asset, file: LocalFile): boolean =>
  asset.digest == null ? asset.size === file.size : hasDigestOf(asset, file);

export function assetExistsError(name: string, tag: string, { digest }: Asset): DeliveryError {
  const what = digest == null ? 'for which the host gives no digest' : 'with other bytes';
  return new DeliveryError('NOT_OURS', `release ${tag} already has an asset ${name} ${what}`, {
    hint: (w) => `set ${w.input('overwrite', 'true')} to replace it, or ${w.input('path')} to another name`,
  });
}

/** Another job uploads under the name: its end is waited for as that of any conflict, and nothing of it is deleted. */
export const unfinishedError = ({ name }: Asset, tag: string, isRemoval = false): DeliveryError =>
  new DeliveryError('CONFLICT', `an upload of ${name} to the release ${tag} has not ended`, {
    hint: (w) =>
      `try again when the other job has ended; if no job uploads it any more, delete this unfinished asset on the page of the release${isRemoval ? '' : `, or set ${w.input('path')} to another name`}`,
    retryable: true,
  });

/** Whether a run of this tool uploaded the asset to replace the one of that name, and was killed before it did. */
export const isInterim = (asset: Asset, name: string): boolean =>
  /^incoming-[0-9a-f]{12}-(.+)$/.exec(asset.name)?.[1] === name && hasOwnLabel(asset);

/** From so many files on, the log says how long it takes. */
const MANY_FILES = 10;

/**
 * Uploads files one after the other; the client keeps the pauses that GitHub asks for. Into a draft nothing more is
 * uploaded once a file has failed: it is published with all of them.
 */
export async function uploadFiles(
  tasks: readonly AssetTask[],
  target: TargetRelease,
  ports: Ports,
): Promise<PlacedFiles> {
  const count = tasks.length;
  if (count >= MANY_FILES) {
    const time = `at least ${Math.ceil((count * WRITE_INTERVAL) / MINUTE)} min`;
    ports.logger.info(`${count} assets: ${time}, because GitHub limits how often a token may write`);
  }
  const results = new Map<AssetTask, Result<PlacedAsset>>();
  for (const task of tasks) {
    const result = await resultOf(() => new AssetUpload(task, target, ports).run());
    results.set(task, result);
    if (hasFailed(result) && target.release.draft) break;
  }
  return results;
}

/**
 * One file on its way into a release. An asset is replaced in three steps: the new one is uploaded under an interim
 * name, the old one is deleted, and the new one gets the name. So one of the two is always there.
 */
export class AssetUpload {
  readonly #task: AssetTask;
  readonly #ports: Ports;
  #target: TargetRelease;
  readonly #label: string;
  /** The name of the new file until the old one is deleted; it is the same in each attempt. */
  readonly #interimName: string;
  /** Whether this run may have sent the file. */
  #isSent = false;
  /** The name under which an upload of this run ended without an answer. */
  #lostName: string | null = null;

  constructor(task: AssetTask, target: TargetRelease, ports: Ports) {
    this.#task = task;
    this.#target = target;
    this.#ports = ports;
    this.#label = formatLabel(task.originalName);
    this.#interimName = `incoming-${task.file.sha256.slice(0, 12)}-${task.name}`;
  }

  /**
   * Uploads the file, or finds that it is there. Each attempt looks at the release first: what an earlier one has
   * uploaded is not sent again. After a final failure, what is half done is cleaned up.
   */
  async run(): Promise<PlacedAsset> {
    const { release, assets } = this.#target;
    let known: readonly Asset[] | null = assets;
    try {
      return await withRetries(this.#ports, async () => {
        const listed = known ?? (await this.#list());
        known = null;
        return { release, asset: await this.#attempt(listed), written: this.#isSent };
      });
    } catch (thrown) {
      if (!this.#isSent) throw toDeliveryError(thrown).withLeftBehind([]);
      const asset = await this.#cleanUp();
      if (asset === undefined) throw thrown;
      return { release, asset, written: true };
    }
  }

  #list = (): Promise<readonly Asset[]> => listAssets(this.#target.github, this.#target.release);
  #delete = (asset: Asset): Promise<void> => deleteAsset(this.#target.github, asset);
  #giveName = (asset: Asset): Promise<Asset> => renameAsset(this.#target.github, asset, this.#task.name);

  async #attempt(listed: readonly Asset[]): Promise<Asset> {
    const { name, file } = this.#task;
    const { release, overwrite } = this.#target;
    const { existing, incoming, interim, unfinished } = await this.#find(listed);
    const blocking = unfinished.find((one) => [name, this.#interimName].includes(one.name));
    if (blocking !== undefined) throw unfinishedError(blocking, release.tag_name);
    const isThere = existing !== undefined && hasDigestOf(existing, file);
    if (!isThere && existing && !overwrite) throw assetExistsError(name, release.tag_name, existing);
    const asset = isThere ? existing : await this.#place(existing, incoming);
    // What killed deliveries of this name left: the name has what is wanted now.
    for (const one of interim) if (one.id !== asset.id) await this.#delete(one);
    return asset;
  }

  async #place(existing: Asset | undefined, incoming: Asset | undefined): Promise<Asset> {
    this.#isSent = true;
    if (existing === undefined && incoming === undefined) return this.#upload(this.#task.name);
    const uploaded = incoming ?? (await this.#upload(this.#interimName));
    if (existing !== undefined) await this.#delete(existing);
    return this.#giveName(uploaded);
  }

  /**
   * What the release has under the name and beside it, after what an upload of this run left behind when it ended
   * without an answer is deleted: it began when the name was free. What another delivery left under an interim name
   * was never proven, and is not given the name.
   */
  async #find(listed: readonly Asset[]) {
    const { name, file } = this.#task;
    const isLost = (asset: Asset): boolean =>
      isUnfinished(asset) && asset.name === this.#lostName && (!asset.label || asset.label === this.#label);
    for (const asset of listed.filter(isLost)) await this.#delete(asset);
    const whole = listed.filter((asset) => !isUnfinished(asset));
    const interim = whole.filter((asset) => isInterim(asset, name));
    return {
      existing: whole.find((asset) => asset.name === name),
      incoming: interim.find((asset) => asset.name === this.#interimName && isStored(asset, file)),
      interim,
      unfinished: listed.filter((asset) => isUnfinished(asset) && !isLost(asset)),
    };
  }

  async #upload(name: string): Promise<Asset> {
    const { file } = this.#task;
    const upload = { release: this.#target.release, file, name, label: this.#label };
    const asset = await resultOf(() => uploadAsset(this.#target.github, upload, this.#ports));
    if (hasFailed(asset)) {
      this.#lostName = isUnclear(asset) ? name : null;
      throw asset;
    }
    if (isStored(asset, file)) return asset;
    await this.#delete(asset);
    const message = 'the host stored other bytes than those of the file; the asset was deleted again';
    throw new DeliveryError('HOST_ERROR', message, { hint: 'try again' });
  }

  /**
   * Cleans up, also after a stop, for a short time; what remains is named in the log. Where the old asset is deleted
   * already, the new one gets its name; else the new one is deleted.
   *
   * @returns the asset, if it has arrived complete after all
   */
  async #cleanUp(): Promise<Asset | undefined> {
    const github = this.#target.github.withSignal(withCleanupSignal(this.#ports).signal);
    this.#target = { ...this.#target, github };
    try {
      const { existing, incoming } = await this.#find(await this.#list());
      if (existing !== undefined && incoming !== undefined) await this.#delete(incoming);
      const asset = existing ?? (incoming && (await this.#giveName(incoming)));
      return asset !== undefined && hasDigestOf(asset, this.#task.file) ? asset : undefined;
    } catch (thrown) {
      this.#ports.logger.warning(`could not clean up a half-done upload: ${toDeliveryError(thrown).message}`);
      return undefined;
    }
  }
}
