import { randomUUID } from 'node:crypto';
import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, isUnclear, type Result, resultOf, toDeliveryError } from '../../errors.ts';
import {
  type Asset,
  deleteAsset,
  formatLabel,
  isUnfinished,
  listAssets,
  renameAsset,
  uploadAsset,
} from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { MINUTE, WRITE_INTERVAL } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import {
  type AssetTask,
  assetExistsError,
  hasDigestOf,
  isInterim,
  isQuiet,
  isStored,
  type PlacedAsset,
  type PlacedFiles,
  type TargetRelease,
  unfinishedError,
} from './asset.ts';

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

interface FoundAssets {
  readonly existing: Asset | undefined;
  /** The new file and the replaced one, under the interim names of this run. */
  readonly incoming: Asset | undefined;
  readonly outgoing: Asset | undefined;
  /** What killed deliveries of this name left. */
  readonly leftovers: readonly Asset[];
  readonly isBlocked: boolean;
}

/**
 * One file on its way into a release. An asset is replaced in four steps: the new one is uploaded under an interim
 * name, the old one is renamed, the new one gets the name, and the old one is deleted. So both are there until the
 * name has the new one, and a failure before gives the name back to the old one.
 */
export class AssetUpload {
  readonly #task: AssetTask;
  readonly #ports: Ports;
  #target: TargetRelease;
  readonly #label: string;
  /** No other run has these names; they are the same in each attempt. */
  readonly #incomingName: string;
  readonly #outgoingName: string;
  /** The asset that this run replaces, as it was. */
  #replaced: Asset | null = null;
  /** The names under which this run may have left something. */
  readonly #touched = new Set<string>();

  constructor(task: AssetTask, target: TargetRelease, ports: Ports) {
    this.#task = task;
    this.#target = target;
    this.#ports = ports;
    this.#label = formatLabel(task.originalName);
    const suffix = `${randomUUID().slice(-12)}-${task.name}`;
    this.#incomingName = `incoming-${suffix}`;
    this.#outgoingName = `outgoing-${suffix}`;
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
        return { release, asset: await this.#attempt(listed), written: this.#touched.size > 0 };
      });
    } catch (thrown) {
      const failure = toDeliveryError(thrown);
      if (this.#touched.size === 0) throw failure.withLeftBehind([]);
      const asset = await this.#cleanUp();
      if (asset !== undefined) return { release, asset, written: true };
      // A draft is deleted with all that it holds.
      if (release.draft || this.#touched.size === 0) throw failure;
      const left = [...this.#touched].map((name) => `perhaps ${name} in the release ${release.tag_name}`);
      throw failure.withLeftBehind(left);
    }
  }

  #list = (): Promise<readonly Asset[]> => listAssets(this.#target.github, this.#target.release);

  async #delete(asset: Asset): Promise<void> {
    const { github } = this.#target;
    const isFound = await deleteAsset(github, asset);
    // A wrong answer would leave the replaced file public.
    if (!isFound && (await this.#list()).some(({ id }) => id === asset.id)) await deleteAsset(github, asset);
    this.#touched.delete(asset.name);
  }

  async #attempt(listed: readonly Asset[]): Promise<Asset> {
    const { name, file } = this.#task;
    const { release, overwrite } = this.#target;
    const found = await this.#find(listed);
    const { existing, incoming, leftovers } = found;
    if (found.isBlocked) throw unfinishedError(name, release.tag_name);
    const isThere = existing !== undefined && hasDigestOf(existing, file);
    if (!isThere && existing && !overwrite) throw assetExistsError(name, release.tag_name, existing);
    const asset = isThere ? existing : await this.#place(found);
    for (const one of [this.#replaced, incoming, ...leftovers]) {
      if (one && one.id !== asset.id) await this.#delete(one);
    }
    return asset;
  }

  async #place({ existing, incoming, outgoing }: FoundAssets): Promise<Asset> {
    const { name } = this.#task;
    if (existing === undefined && incoming === undefined) return this.#upload(name);
    const uploaded = incoming ?? (await this.#upload(this.#incomingName));
    if (existing !== undefined) {
      if (outgoing !== undefined) await this.#delete(outgoing);
      await this.#moveAway(existing);
    }
    this.#touched.add(name);
    return renameAsset(this.#target.github, uploaded, name);
  }

  /** Frees the name. With our label: if this run is killed, a later one knows what the asset is. */
  async #moveAway(existing: Asset): Promise<void> {
    this.#replaced = existing;
    this.#touched.add(this.#outgoingName);
    const labeled = { ...existing, label: this.#label };
    const moved = await resultOf(() => renameAsset(this.#target.github, labeled, this.#outgoingName));
    if (hasFailed(moved) && moved.code !== 'NOT_FOUND') throw moved;
  }

  /**
   * What the release has under the name and beside it, after what an upload of this run left behind when it ended
   * without an answer is deleted: it began when the name was free. What another delivery has under an interim name
   * was never proven and is not given the name; it is deleted only once it is quiet.
   */
  async #find(listed: readonly Asset[]): Promise<FoundAssets> {
    const { name, file } = this.#task;
    const isLost = (asset: Asset): boolean =>
      this.#touched.has(asset.name) &&
      (isUnfinished(asset)
        ? !asset.label || asset.label === this.#label
        : asset.name === this.#incomingName && !isStored(asset, file));
    for (const asset of listed.filter(isLost)) await this.#delete(asset);
    const kept = listed.filter((asset) => !isLost(asset));
    const whole = kept.filter((asset) => !isUnfinished(asset));
    return {
      existing: whole.find((asset) => asset.name === name),
      incoming: whole.find((asset) => asset.name === this.#incomingName),
      outgoing: whole.find((asset) => asset.id === this.#replaced?.id && asset.name !== name),
      leftovers: whole.filter((asset) => isInterim(asset, name) && isQuiet(asset, this.#ports.clock)),
      isBlocked: kept.some((asset) => isUnfinished(asset) && asset.name === name),
    };
  }

  async #upload(name: string): Promise<Asset> {
    const { file } = this.#task;
    const upload = { release: this.#target.release, file, name, label: this.#label };
    const asset = await resultOf(() => uploadAsset(this.#target.github, upload, this.#ports));
    if (hasFailed(asset)) {
      if (isUnclear(asset)) this.#touched.add(name);
      else this.#touched.delete(name);
      throw asset;
    }
    this.#touched.add(name);
    if (isStored(asset, file)) return asset;
    await this.#delete(asset);
    const message = 'the host stored other bytes than those of the file; the asset was deleted again';
    throw new DeliveryError('HOST_ERROR', message, { hint: 'try again' });
  }

  /**
   * Cleans up, also after a stop, for a short time. The asset that was to be replaced gets its name back, if nothing
   * else has it, and the new one is deleted. What may remain stays in `#touched`.
   *
   * @returns the asset, if it has arrived complete after all
   */
  async #cleanUp(): Promise<Asset | undefined> {
    const ports = withCleanupSignal(this.#ports);
    const github = this.#target.github.withSignal(ports.signal);
    this.#target = { ...this.#target, github };
    const { name, file } = this.#task;
    try {
      const { existing, incoming, outgoing } = await this.#find(await this.#list());
      if (existing === undefined || existing.id === this.#replaced?.id) this.#touched.delete(name);
      if (incoming === undefined) this.#touched.delete(this.#incomingName);
      if (outgoing === undefined) this.#touched.delete(this.#outgoingName);
      else if (existing !== undefined) await this.#delete(outgoing);
      else if (this.#replaced !== null) {
        const old = this.#replaced;
        await withRetries(ports, () => renameAsset(github, old, name));
        this.#touched.delete(this.#outgoingName);
      }
      if (incoming !== undefined) await this.#delete(incoming);
      return existing !== undefined && hasDigestOf(existing, file) ? existing : undefined;
    } catch (thrown) {
      this.#ports.logger.warning(`could not clean up a half-done upload: ${toDeliveryError(thrown).message}`);
      return undefined;
    }
  }
}
