import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, type ErrorCode, hasFailed, resultOf, toDeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  deleteAsset,
  listAssets,
  type Release,
  renameAsset,
  uploadAsset,
} from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { isUnfinished, type WaitForUpload } from './unfinished.ts';

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
  readonly waitForUpload: WaitForUpload;
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
    hint: 'set `overwrite: true` to replace it, or `path:` to give another name',
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
    if (arrived !== undefined && ports.signal.aborted) {
      return { asset: arrived, written: true, confirmed: false };
    }
    throw thrown;
  }
}

/** One attempt. An upload of another job under the same name is waited for. */
async function tryAsset(
  task: AssetTask,
  state: ReleaseState,
  memory: UploadMemory,
  ports: Ports,
): Promise<AssetResult> {
  const { release, waitForUpload } = state;
  const own = findUnfinished(state.assets, task).filter((asset) => isOwnUnfinished(asset, task, memory));
  for (const asset of own) await deleteAsset(task.github, asset);
  const listed = state.assets.filter((asset) => !own.includes(asset));
  const assets = await waitForUpload({ ...task, release, assets: listed }, (all) =>
    findUnfinished(all, task),
  );
  const slots = await restoreName(findSlots(assets, task), assets, task, ports);
  const { existing, incoming, outgoing } = slots;
  if (existing !== undefined && hasSameContent(existing, task.file, memory.isSent)) {
    for (const left of [incoming, outgoing]) if (left !== undefined) await deleteAsset(task.github, left);
    return { asset: existing, written: memory.isSent, confirmed: false };
  }
  if (existing !== undefined && !task.overwrite) throw assetExistsError(task.name, task.tag, existing);
  memory.isSent = true;
  const send = (name: string) => uploadRemembered({ task, release, name }, memory, ports);
  const asset = await uploadOrReplace(task, slots, send, ports);
  return { asset, written: true, confirmed: incoming === undefined };
}

/** The asset of the wanted name, and both sides of a replacement that is half done. */
interface AssetSlots {
  readonly existing: Asset | undefined;
  /** The new file, before it gets the name. */
  readonly incoming: Asset | undefined;
  /** The old file, after it gave the name away. */
  readonly outgoing: Asset | undefined;
}

/** The name of a file during its replacement; it is the same in each attempt. */
const interimName = (side: 'incoming' | 'outgoing', { file, name }: AssetTask): string =>
  `${side}-${file.sha256.slice(0, 12)}-${name}`;

/** Whether the asset has the name that a replacement gives to one of its sides. */
export function isInterim(side: 'incoming' | 'outgoing', asset: Asset, name: string): boolean {
  const [, found, of] = /^(incoming|outgoing)-[0-9a-f]{12}-(.+)$/.exec(asset.name) ?? [];
  return found === side && of === name;
}

const slotNames = (task: AssetTask): readonly string[] => [
  task.name,
  interimName('incoming', task),
  interimName('outgoing', task),
];

/** Uploads that have not ended, under one of the names that the file needs. They hold nothing yet. */
const findUnfinished = (assets: readonly Asset[], task: AssetTask): readonly Asset[] =>
  assets.filter((asset) => isUnfinished(asset) && slotNames(task).includes(asset.name));

/**
 * Whether an unfinished upload is what this run's own one left behind: it began when the name was free, and
 * ended without an answer.
 */
const isOwnUnfinished = ({ name, label }: Asset, task: AssetTask, { lostName }: UploadMemory): boolean =>
  name === lostName && (!label || label === task.label);

function findSlots(assets: readonly Asset[], task: AssetTask): AssetSlots {
  const [existing, incoming, outgoing] = slotNames(task).map((name) =>
    assets.find((asset) => asset.name === name && !isUnfinished(asset)),
  );
  return {
    existing,
    incoming: incoming !== undefined && hasSameContent(incoming, task.file, true) ? incoming : undefined,
    outgoing,
  };
}

/**
 * Gives an asset its name back that another delivery's replacement took and did not give to the new one, because
 * it was killed. It is the file that is asked for under that name.
 */
async function restoreName(
  slots: AssetSlots,
  assets: readonly Asset[],
  task: AssetTask,
  { logger }: Pick<Ports, 'logger'>,
): Promise<AssetSlots> {
  if (slots.existing !== undefined || slots.outgoing !== undefined) return slots;
  const lost = assets.find((asset) => isInterim('outgoing', asset, task.name) && !isUnfinished(asset));
  if (lost === undefined) return slots;
  logger.info(`giving ${lost.name} its name back: the delivery that was to replace it did not end`);
  return { ...slots, existing: await renameAsset(task.github, lost, task.name, lost.label ?? task.name) };
}

/** An existing asset is deleted last: first comes the upload, then the exchange of names. Nothing can get lost. */
async function uploadOrReplace(
  task: AssetTask,
  slots: AssetSlots,
  send: (name: string) => Promise<Asset>,
  ports: Ports,
): Promise<Asset> {
  const { github, name, label } = task;
  const { existing, incoming, outgoing } = slots;
  const isFree = existing === undefined && incoming === undefined;
  const asset = incoming ?? (await send(isFree ? name : interimName('incoming', task)));
  if (isFree) return asset;
  if (existing !== undefined && outgoing !== undefined) await deleteAsset(github, outgoing);
  const replaced =
    existing === undefined
      ? outgoing
      : await renameAsset(github, existing, interimName('outgoing', task), existing.label ?? name);
  const renamed = await renameAsset(github, asset, name, label);
  if (replaced !== undefined) await deleteReplaced(github, replaced, ports);
  return renamed;
}

interface NamedUpload {
  readonly task: AssetTask;
  readonly release: Release;
  readonly name: string;
}

/** Failures after which an unfinished asset may be there. */
const UNCLEAR_CODES: ReadonlySet<ErrorCode> = new Set(['HOST_ERROR', 'CONNECTION', 'ABORTED']);

/** Uploads, and remembers an upload without a clear answer. */
async function uploadRemembered(upload: NamedUpload, memory: UploadMemory, ports: Ports): Promise<Asset> {
  try {
    return await uploadVerified(upload, ports);
  } catch (thrown) {
    memory.lostName = UNCLEAR_CODES.has(toDeliveryError(thrown).code) ? upload.name : null;
    throw thrown;
  }
}

async function uploadVerified({ task, release, name }: NamedUpload, ports: Ports): Promise<Asset> {
  const asset = await uploadAsset(task.github, { release, file: task.file, name, label: task.label }, ports);
  if (hasSameContent(asset, task.file, true)) return asset;
  await deleteAsset(task.github, asset);
  throw new DeliveryError(
    'HOST_ERROR',
    'the host stored other bytes than those of the file; the asset was deleted again',
    { hint: 'run the step again' },
  );
}

/** The delivery does not depend on this deletion; after a stop it is tried once more. */
async function deleteReplaced(github: GitHubClient, asset: Asset, ports: Ports): Promise<void> {
  const deleted = await resultOf(() => deleteAsset(github, asset));
  if (!hasFailed(deleted)) return;
  const again = await resultOf(() => deleteAsset(github.withSignal(withCleanupSignal(ports).signal), asset));
  if (hasFailed(again)) {
    ports.logger.warning(`could not delete the replaced asset ${asset.name}: ${again.message}`);
  }
}

/**
 * Cleans up, also after a stop, for a short time; what remains is named in the log.
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
    const assets = await listAssets(github, release);
    for (const asset of findUnfinished(assets, task)) {
      if (isOwnUnfinished(asset, task, memory)) await deleteAsset(github, asset);
    }
    const { existing, incoming, outgoing } = findSlots(assets, task);
    const arrived = existing !== undefined && hasSameContent(existing, task.file, true);
    if (existing === undefined && outgoing !== undefined) {
      await renameAsset(github, outgoing, task.name, outgoing.label ?? task.name);
    }
    // Where nothing was replaced, the new one is the only copy.
    if (incoming !== undefined && (existing ?? outgoing) !== undefined) await deleteAsset(github, incoming);
    if (arrived && outgoing !== undefined) await deleteAsset(github, outgoing);
    return arrived ? existing : undefined;
  } catch (thrown) {
    ports.logger.warning(`could not clean up a half-done upload: ${toDeliveryError(thrown).message}`);
    return undefined;
  }
}
