import { withCleanupSignal } from '../../abort.ts';
import { DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../errors.ts';
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
import type { AssetTask } from './publish.ts';

/** The release as it was found. */
export interface ReleaseState {
  readonly release: Release;
  readonly assets: readonly Asset[];
}

/** Whether an asset is this file, by its digest; without one, only what this run has sent may pass for it. */
export function hasSameContent({ digest, size }: Asset, file: LocalFile, sent: boolean): boolean {
  return digest == null ? sent && size === file.size : digest === `sha256:${file.sha256}`;
}

export function assetExistsError(name: string, tag: string, { digest }: Asset): DeliveryError {
  const what = digest == null ? 'whose bytes the host does not name' : 'with other bytes';
  return new DeliveryError('NOT_OURS', `release ${tag} already has an asset ${name} ${what}`, {
    hint: 'set `overwrite: true` to replace it, or `path:` to give another name',
  });
}

/** An asset that is in its place. */
export interface AssetResult {
  readonly asset: Asset;
  /** Whether it may have been sent by this run. */
  readonly written: boolean;
  /** Whether the host itself said 201; else it was found there. */
  readonly confirmed: boolean;
}

/**
 * Brings the file onto the shelf. Each attempt looks first: what an earlier one has brought is not sent
 * again. What is half done when it fails for good is cleared away.
 *
 * @returns the asset
 */
export async function ensureAsset(
  task: AssetTask,
  { release, assets: found }: ReleaseState,
  ports: Ports,
): Promise<AssetResult> {
  let known: readonly Asset[] | null = found;
  let sent = false;
  try {
    return await withRetries(ports, async () => {
      const assets = known ?? (await listAssets(task.github, release));
      known = null;
      const spot = await findSlots(assets, task);
      const { existing, incoming, outgoing } = spot;
      if (existing !== undefined && hasSameContent(existing, task.file, sent)) {
        for (const left of [incoming, outgoing]) if (left !== undefined) await deleteAsset(task.github, left);
        return { asset: existing, written: sent, confirmed: false };
      }
      if (existing !== undefined && !task.overwrite) throw assetExistsError(task.name, task.tag, existing);
      sent = true;
      const asset = await uploadOrReplace(task, release, spot, ports);
      return { asset, written: true, confirmed: incoming === undefined };
    });
  } catch (thrown) {
    const arrived = sent ? await cleanUp(task, release, ports) : undefined;
    if (arrived !== undefined && ports.signal.aborted) {
      return { asset: arrived, written: true, confirmed: false };
    }
    throw thrown;
  }
}

/** What matters of the shelf: the asset of that name, and where the swap for it is half done, both of its sides. */
interface AssetSlots {
  readonly existing: Asset | undefined;
  /** Ours, on its way to the name. */
  readonly incoming: Asset | undefined;
  /** The one that gave way to it. */
  readonly outgoing: Asset | undefined;
}

/** A replacement, and what it replaces, wait under these names; they are the same for each attempt. */
const interimName = (side: 'incoming' | 'outgoing', { file, name }: AssetTask): string =>
  `${side}-${file.sha256.slice(0, 12)}-${name}`;

const isHalfDone = ({ state }: Asset): boolean => state === 'starter';

/** A half-uploaded asset, which blocks its name and holds nothing, is cleared away. */
async function findSlots(assets: readonly Asset[], task: AssetTask): Promise<AssetSlots> {
  const names = [task.name, interimName('incoming', task), interimName('outgoing', task)];
  const named = assets.filter(({ name }) => names.includes(name));
  for (const asset of named.filter(isHalfDone)) await deleteAsset(task.github, asset);
  const [existing, incoming, outgoing] = names.map((name) =>
    named.find((asset) => asset.name === name && !isHalfDone(asset)),
  );
  return {
    existing,
    incoming: incoming !== undefined && hasSameContent(incoming, task.file, true) ? incoming : undefined,
    outgoing,
  };
}

/** A standing asset is replaced by upload first and swap after, and goes last: whatever fails loses nothing. */
async function uploadOrReplace(
  task: AssetTask,
  release: Release,
  spot: AssetSlots,
  ports: Ports,
): Promise<Asset> {
  const { github, file, name, label } = task;
  const { existing, incoming, outgoing } = spot;
  const isFree = existing === undefined && incoming === undefined;
  const uploadName = isFree ? name : interimName('incoming', task);
  const asset = incoming ?? (await uploadAsset(github, { release, file, name: uploadName, label }, ports));
  if (!hasSameContent(asset, file, true)) {
    await deleteAsset(github, asset);
    throw new DeliveryError(
      'HOST_ERROR',
      "the host stored other bytes than the file's; the asset was removed again",
      { hint: 'run the step again' },
    );
  }
  if (isFree) return asset;
  if (existing !== undefined && outgoing !== undefined) await deleteAsset(github, outgoing);
  const leaving =
    existing === undefined
      ? outgoing
      : await renameAsset(github, existing, interimName('outgoing', task), existing.label ?? name);
  const renamed = await renameAsset(github, asset, name, label);
  if (leaving !== undefined) await deleteReplaced(github, leaving, ports);
  return renamed;
}

/** The delivery does not hang on what is left of the old one; not even a stop does. */
async function deleteReplaced(github: GitHubClient, asset: Asset, ports: Ports): Promise<void> {
  const kept = await resultOf(() => deleteAsset(github, asset));
  if (!hasFailed(kept)) return;
  const again = await resultOf(() => deleteAsset(github.withSignal(withCleanupSignal(ports).signal), asset));
  if (hasFailed(again)) ports.logger.warning(`the replaced asset stays as ${asset.name}: ${again.message}`);
}

/**
 * Even after a stop, and never for long: what can't be cleared away now is told in the log.
 *
 * @returns the asset, where it has arrived whole after all
 */
async function cleanUp(task: AssetTask, release: Release, ports: Ports): Promise<Asset | undefined> {
  const github = task.github.withSignal(withCleanupSignal(ports).signal);
  try {
    const { existing, incoming, outgoing } = await findSlots(await listAssets(github, release), {
      ...task,
      github,
    });
    const arrived = existing !== undefined && hasSameContent(existing, task.file, true);
    if (existing === undefined && outgoing !== undefined) {
      await renameAsset(github, outgoing, task.name, outgoing.label ?? task.name);
    }
    // Where nothing gave way, the new one is the only copy.
    if (incoming !== undefined && (existing ?? outgoing) !== undefined) await deleteAsset(github, incoming);
    if (arrived && outgoing !== undefined) await deleteAsset(github, outgoing);
    return arrived ? existing : undefined;
  } catch (thrown) {
    ports.logger.warning(`what was half done could not be cleared away: ${toDeliveryError(thrown).message}`);
    return undefined;
  }
}
