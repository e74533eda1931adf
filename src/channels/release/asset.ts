import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, isUnclear, resultOf, toDeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  deleteAsset,
  hasOwnLabel,
  isUnfinished,
  listAssets,
  type Release,
  renameAsset,
  uploadAsset,
} from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';

/** One file that becomes an asset. */
export interface AssetTask {
  readonly github: GitHubClient;
  readonly tag: string;
  readonly overwrite: boolean;
  readonly file: LocalFile;
  /** The asset's name, and the name that it would have if the host kept every letter. */
  readonly name: string;
  readonly originalName: string;
  /** What the release's page shows: the original name, and who delivered it. */
  readonly label: string;
}

/** A release with its assets. */
export interface ReleaseState {
  readonly release: Release;
  readonly assets: readonly Asset[];
}

/** An asset that holds the file. */
export interface AssetResult {
  readonly asset: Asset;
  /** Whether this run may have sent it. */
  readonly written: boolean;
  /** Whether the host answered 201; `false` where the asset was found. */
  readonly confirmed: boolean;
}

/**
 * Whether an asset holds the file, by its digest.
 *
 * @param wasSent without a digest, only what this run has sent counts
 */
export function hasSameContent({ digest, size }: Asset, file: LocalFile, wasSent: boolean): boolean {
  return digest == null ? wasSent && size === file.size : digest === `sha256:${file.sha256}`;
}

export function assetExistsError(name: string, tag: string, { digest }: Asset): DeliveryError {
  const what = digest == null ? 'for which the host gives no digest' : 'with other bytes';
  return new DeliveryError('NOT_OURS', `release ${tag} already has an asset ${name} ${what}`, {
    hint: (w) => `set ${w.input('overwrite', 'true')} to replace it, or ${w.input('path')} to another name`,
  });
}

/** Another job uploads under the name: its end is waited for as that of any conflict, and nothing of it is deleted. */
function unfinishedError({ name }: Asset, tag: string): DeliveryError {
  return new DeliveryError('CONFLICT', `an upload of ${name} to the release ${tag} has not ended`, {
    hint: (w) =>
      `try again when the other job has ended; if no job uploads it any more, delete this unfinished asset on the page of the release, or set ${w.input('path')} to another name`,
    retryable: true,
  });
}

/** What this run knows of its own upload of one file. */
interface UploadMemory {
  /** Whether this run may have sent the file. */
  isSent: boolean;
  /** The name under which an upload of this run ended without an answer. */
  lostName: string | null;
}

/**
 * Uploads the file, or finds that it is there. Each attempt looks at the release first: what an earlier one
 * has uploaded is not sent again. After a final failure, what is half done is cleaned up.
 */
export async function ensureAsset(task: AssetTask, state: ReleaseState, ports: Ports): Promise<AssetResult> {
  const memory: UploadMemory = { isSent: false, lostName: null };
  let known: readonly Asset[] | null = state.assets;
  try {
    return await withRetries(ports, async () => {
      const assets = known ?? (await listAssets(task.github, state.release));
      known = null;
      return await tryAsset(task, { ...state, assets }, memory, ports);
    });
  } catch (thrown) {
    if (!memory.isSent) throw toDeliveryError(thrown).withLeftBehind([]);
    const arrived = await cleanUp(task, state.release, memory, ports);
    if (arrived === undefined) throw thrown;
    return { asset: arrived, written: true, confirmed: false };
  }
}

/**
 * One attempt. An asset is replaced in three steps: the new one is uploaded under an interim name, the old one is
 * deleted, and the new one gets the name. So one of the two is always there.
 */
async function tryAsset(
  task: AssetTask,
  { release, assets: listed }: ReleaseState,
  memory: UploadMemory,
  ports: Ports,
): Promise<AssetResult> {
  const { github, name, tag, file } = task;
  const assets = await deleteOwnUnfinished(task, listed, memory);
  const blocking = assets.find((one) => isUnfinished(one) && [name, interimName(task)].includes(one.name));
  if (blocking !== undefined) throw unfinishedError(blocking, tag);
  const found = findAsset(task, assets);
  const { existing } = found;
  const isThere = existing !== undefined && hasSameContent(existing, file, memory.isSent);
  if (!isThere && existing !== undefined && !task.overwrite) throw assetExistsError(name, tag, existing);
  const result = isThere
    ? { asset: existing, written: memory.isSent, confirmed: false }
    : await placeAsset(task, { ...found, release }, memory, ports);
  // What killed deliveries of this name left: the name has what is wanted now.
  for (const one of found.interim) if (one.id !== result.asset.id) await deleteAsset(github, one);
  return result;
}

/** Uploads the file and gives it its name, in place of the old one where there is one. */
async function placeAsset(
  task: AssetTask,
  { release, existing, incoming }: FoundAsset & { readonly release: Release },
  memory: UploadMemory,
  ports: Ports,
): Promise<AssetResult> {
  const { github, name } = task;
  memory.isSent = true;
  if (existing === undefined && incoming === undefined) {
    return { asset: await upload(task, { release, name }, memory, ports), written: true, confirmed: true };
  }
  const asset = incoming ?? (await upload(task, { release, name: interimName(task) }, memory, ports));
  if (existing !== undefined) await deleteAsset(github, existing);
  return {
    asset: await renameAsset(github, asset, name),
    written: true,
    confirmed: incoming === undefined,
  };
}

/** The name of the new file until the old one is deleted; it is the same in each attempt. */
const interimName = ({ file, name }: AssetTask): string => `incoming-${file.sha256.slice(0, 12)}-${name}`;

/** Whether a delivery of this tool uploaded the asset to replace the one of that name, and has not ended. */
export const isInterim = (asset: Asset, name: string): boolean =>
  /^incoming-[0-9a-f]{12}-(.+)$/.exec(asset.name)?.[1] === name && hasOwnLabel(asset);

interface FoundAsset {
  readonly existing: Asset | undefined;
  /** The task's own file under its interim name. */
  readonly incoming: Asset | undefined;
  /** Everything of this tool under interim names, the task's own file included. */
  readonly interim: readonly Asset[];
}

/** Finds the asset. What another delivery left under an interim name was never proven, and is not given the name. */
function findAsset(task: AssetTask, assets: readonly Asset[]): FoundAsset {
  const { name, file } = task;
  const complete = assets.filter((asset) => !isUnfinished(asset));
  const interim = complete.filter((asset) => isInterim(asset, name));
  const existing = complete.find((asset) => asset.name === name);
  const incoming = interim.find(
    (asset) => asset.name === interimName(task) && hasSameContent(asset, file, true),
  );
  return { existing, incoming, interim };
}

/**
 * Deletes what an upload of this run left behind when it ended without an answer. It began when the name was free.
 *
 * @returns the other assets
 */
async function deleteOwnUnfinished(
  { github, label }: AssetTask,
  assets: readonly Asset[],
  { lostName }: UploadMemory,
): Promise<readonly Asset[]> {
  const own = assets.filter(
    (asset) => isUnfinished(asset) && asset.name === lostName && (!asset.label || asset.label === label),
  );
  for (const asset of own) await deleteAsset(github, asset);
  return assets.filter((asset) => !own.includes(asset));
}

async function upload(
  { github, file, label }: AssetTask,
  { release, name }: { readonly release: Release; readonly name: string },
  memory: UploadMemory,
  ports: Ports,
): Promise<Asset> {
  const asset = await resultOf(() => uploadAsset(github, { release, file, name, label }, ports));
  if (hasFailed(asset)) {
    memory.lostName = isUnclear(asset) ? name : null;
    throw asset;
  }
  if (hasSameContent(asset, file, true)) return asset;
  await deleteAsset(github, asset);
  throw new DeliveryError(
    'HOST_ERROR',
    'the host stored other bytes than those of the file; the asset was deleted again',
    { hint: 'try again' },
  );
}

/**
 * Cleans up, also after a stop, for a short time; what remains is named in the log. Where the old asset is deleted
 * already, the new one gets its name; else the new one is deleted.
 *
 * @returns the asset, if it has arrived complete after all
 */
async function cleanUp(
  task: AssetTask,
  release: Release,
  memory: UploadMemory,
  ports: Ports,
): Promise<Asset | undefined> {
  const github = task.github.withSignal(withCleanupSignal(ports).signal);
  try {
    const own = { ...task, github };
    const assets = await deleteOwnUnfinished(own, await listAssets(github, release), memory);
    const { existing, incoming } = findAsset(own, assets);
    if (existing !== undefined && incoming !== undefined) await deleteAsset(github, incoming);
    const asset = existing ?? (incoming && (await renameAsset(github, incoming, task.name)));
    return asset !== undefined && hasSameContent(asset, task.file, true) ? asset : undefined;
  } catch (thrown) {
    ports.logger.warning(`could not clean up a half-done upload: ${toDeliveryError(thrown).message}`);
    return undefined;
  }
}
