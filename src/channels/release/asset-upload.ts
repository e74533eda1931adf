import { randomUUID } from 'node:crypto';
import { forEachOnHost, withCleanupSignal } from '../../async.ts';
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
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import { SentWrites } from '../sent-writes.ts';
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

/**
 * Uploads files one after the other; the client keeps the pauses that GitHub asks for. Into a draft nothing more is
 * uploaded once a file has failed: it is published with all of them.
 */
export async function uploadFiles(
  tasks: readonly AssetTask[],
  target: TargetRelease,
  ports: Ports,
): Promise<PlacedFiles> {
  const endsAll = (failure: DeliveryError): boolean => target.release.draft || isOfHost(failure);
  const upload = (task: AssetTask) => new AssetUpload(task, target, ports).run();
  const results = await forEachOnHost(tasks, ({ name }) => name, upload, { endsAll });
  return new Map(results.map((one, nth) => [tasks[nth] as AssetTask, one]));
}

/**
 * One file on its way into a release. An asset is replaced in four steps: the new one is uploaded under an interim
 * name, the old one is renamed, the new one gets the name, and the old one is deleted. So both are there until the
 * name has the new one, and a failure before gives the name back to the old one.
 */
class AssetUpload {
  readonly #task: AssetTask;
  readonly #ports: Ports;
  readonly #label: string;
  /** No other run has these names; they are the same in each attempt. */
  readonly #incomingName: string;
  readonly #outgoingName: string;
  #target: TargetRelease;
  /** The asset that this run replaces, as it was. */
  #replaced: Asset | null = null;
  /** The name under which this run has uploaded the file, or may have. */
  #uploadedAs: string | null = null;
  readonly #uploads = new SentWrites();

  constructor(task: AssetTask, target: TargetRelease, ports: Ports) {
    this.#task = task;
    this.#target = target;
    this.#ports = ports;
    this.#label = formatLabel(task.originalName);
    const suffix = `${randomUUID().slice(-12)}-${task.name}`;
    this.#incomingName = `incoming-${suffix}`;
    this.#outgoingName = `outgoing-${suffix}`;
  }

  /** Uploads the file, or finds that it is there. After a final failure, what is half done is cleaned up. */
  async run(): Promise<PlacedAsset> {
    const { release, assets } = this.#target;
    let known: readonly Asset[] | null = assets;
    try {
      const asset = await withRetries(this.#ports, async () => {
        const listed = known ?? (await this.#list());
        known = null;
        return this.#attempt(listed);
      });
      return { release, asset, written: this.#uploadedAs !== null };
    } catch (thrown) {
      const failure = this.#uploads.explain(thrown);
      if (this.#uploadedAs === null) throw failure;
      const found = await resultOf(() => this.#cleanUp());
      if (found !== undefined && !hasFailed(found)) return { release, asset: found, written: true };
      // A draft is deleted with all that it holds.
      if (found === undefined || release.draft) throw failure;
      this.#ports.logger.warning(`could not clean up a half-done upload: ${found.message}`);
      const names = `${this.#task.name}, ${this.#incomingName} or ${this.#outgoingName}`;
      throw failure.withLeftBehind([`perhaps ${names} in the release ${release.tag_name}`]);
    }
  }

  #list = (): Promise<readonly Asset[]> => listAssets(this.#target.github, this.#target.release);
  #delete = (asset: Asset): Promise<void> => deleteAsset(this.#target.github, this.#target.release, asset);

  /** Looks at the release first: what an earlier attempt has uploaded is not sent again. */
  async #attempt(listed: readonly Asset[]): Promise<Asset> {
    const { name } = this.#task;
    const { release, overwrite } = this.#target;
    const { existing, incoming, outgoing, leftovers, isBlocked } = await this.#find(listed);
    if (isBlocked) throw unfinishedError(name, release.tag_name);
    const isThere = existing !== undefined && this.#holdsFile(existing);
    if (!isThere && existing && !overwrite) throw assetExistsError(name, release.tag_name, existing);
    const asset = isThere ? existing : await this.#place(existing, incoming, outgoing);
    for (const one of [this.#replaced, incoming, ...leftovers]) {
      if (one && one.id !== asset.id) await this.#delete(one);
    }
    return asset;
  }

  async #place(existing?: Asset, incoming?: Asset, outgoing?: Asset): Promise<Asset> {
    const { name } = this.#task;
    const { github } = this.#target;
    if (existing === undefined && incoming === undefined) return this.#upload(name);
    const uploaded = incoming ?? (await this.#upload(this.#incomingName));
    if (existing !== undefined) {
      if (outgoing !== undefined) await this.#delete(outgoing);
      this.#replaced = existing;
      // With our label: if this run is killed, a later one knows what the asset is.
      const labeled = { ...existing, label: this.#label };
      const moved = await resultOf(() => renameAsset(github, labeled, this.#outgoingName));
      if (hasFailed(moved) && moved.code !== 'NOT_FOUND') throw moved;
    }
    return renameAsset(github, uploaded, name);
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
    const message = 'the host stored other bytes than those of the file; the asset was deleted again';
    throw new DeliveryError('HOST_ERROR', message, { hint: 'try again' });
  }

  /** Whether this run has sent it, or may have: by a name that no other run has, or our label on it. */
  #isSent = ({ name, label }: Asset): boolean =>
    name === this.#uploadedAs && (name === this.#incomingName || label === this.#label);

  #holdsFile = (asset: Asset): boolean =>
    this.#isSent(asset) ? isStored(asset, this.#task.file) : hasDigestOf(asset, this.#task.file);

  /**
   * What the release has under the name and beside it, after what an upload of this run left behind when it ended
   * without an answer is deleted. What another delivery has under an interim name was never proven and is not given the
   * name; it is deleted only once it is quiet.
   */
  async #find(listed: readonly Asset[]) {
    const { name, file } = this.#task;
    const isLost = (asset: Asset): boolean =>
      this.#isSent(asset) &&
      (isUnfinished(asset) || (asset.name === this.#incomingName && !isStored(asset, file)));
    for (const asset of listed.filter(isLost)) await this.#delete(asset);
    const kept = listed.filter((asset) => !isLost(asset));
    const whole = kept.filter((asset) => !isUnfinished(asset));
    return {
      existing: whole.find((asset) => asset.name === name),
      /** The new file and the replaced one, under the interim names of this run. */
      incoming: whole.find((asset) => asset.name === this.#incomingName),
      outgoing: whole.find((asset) => asset.id === this.#replaced?.id && asset.name !== name),
      /** What killed deliveries of this name left. */
      leftovers: whole.filter((asset) => isInterim(asset, name) && isQuiet(asset, this.#ports.clock)),
      isBlocked: kept.some((asset) => isUnfinished(asset) && asset.name === name),
    };
  }

  /**
   * Cleans up, also after a stop, for a short time. The asset that was to be replaced gets its name back, if nothing
   * else has it, and the new one is deleted.
   *
   * @returns the asset, if it has arrived complete after all
   */
  async #cleanUp(): Promise<Asset | undefined> {
    const ports = withCleanupSignal(this.#ports);
    const github = this.#target.github.withSignal(ports.signal);
    this.#target = { ...this.#target, github };
    const { name } = this.#task;
    const { existing, incoming, outgoing } = await this.#find(await this.#list());
    const old = this.#replaced;
    if (existing && outgoing) await this.#delete(outgoing);
    else if (old && outgoing) await withRetries(ports, () => renameAsset(github, old, name));
    if (incoming) await this.#delete(incoming);
    return existing && this.#holdsFile(existing) ? existing : undefined;
  }
}
