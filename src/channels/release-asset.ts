import { aftermath } from '../abort.ts';
import { asDeliveryError, DeliveryError, hasFailed, settled } from '../errors.ts';
import type { GitHub } from '../github/client.ts';
import {
  type Asset,
  assetsOf,
  deleteAsset,
  type Release,
  renameAsset,
  uploadAsset,
} from '../github/releases.ts';
import type { Ports } from '../ports.ts';
import { retrying } from '../retry.ts';
import type { LocalFile } from '../rules/inspect.ts';
import type { AssetTask } from './release.ts';

/** The release as it was found. */
export interface Shelf {
  readonly release: Release;
  readonly assets: readonly Asset[];
}

/** Whether an asset is this file, by its digest; without one, only what this run has sent may pass for it. */
export function holds({ digest, size }: Asset, file: LocalFile, sent: boolean): boolean {
  return digest == null ? sent && size === file.size : digest === `sha256:${file.sha256}`;
}

export function nameTaken(name: string, tag: string, { digest }: Asset): DeliveryError {
  const what = digest == null ? 'whose bytes the host does not name' : 'with other bytes';
  return new DeliveryError('NOT_OURS', `release ${tag} already has an asset ${name} ${what}`, {
    hint: 'set `overwrite: true` to replace it, or `path:` to give another name',
  });
}

/** An asset that is in its place. */
export interface Brought {
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
export async function bringAsset(
  task: AssetTask,
  { release, assets: found }: Shelf,
  ports: Ports,
): Promise<Brought> {
  let known: readonly Asset[] | null = found;
  let sent = false;
  try {
    return await retrying(ports, async () => {
      const assets = known ?? (await assetsOf(task.github, release));
      known = null;
      const spot = await usable(assets, task);
      const { standing, incoming, outgoing } = spot;
      if (standing !== undefined && holds(standing, task.file, sent)) {
        for (const left of [incoming, outgoing]) if (left !== undefined) await deleteAsset(task.github, left);
        return { asset: standing, written: sent, confirmed: false };
      }
      if (standing !== undefined && !task.overwrite) throw nameTaken(task.name, task.tag, standing);
      sent = true;
      const asset = await bring(task, release, spot, ports);
      return { asset, written: true, confirmed: incoming === undefined };
    });
  } catch (thrown) {
    const arrived = sent ? await clearAway(task, release, ports) : undefined;
    if (arrived !== undefined && ports.signal.aborted)
      return { asset: arrived, written: true, confirmed: false };
    throw thrown;
  }
}

/** What matters of the shelf: the asset of that name, and where the swap for it is half done, both of its sides. */
interface Spot {
  readonly standing: Asset | undefined;
  /** Ours, on its way to the name. */
  readonly incoming: Asset | undefined;
  /** The one that gave way to it. */
  readonly outgoing: Asset | undefined;
}

/** A replacement, and what it replaces, wait under these names; they are the same for each attempt. */
const interim = (side: 'incoming' | 'outgoing', { file, name }: AssetTask): string =>
  `${side}-${file.sha256.slice(0, 12)}-${name}`;

const isHalfDone = ({ state }: Asset): boolean => state === 'starter';

/** A half-uploaded asset, which blocks its name and holds nothing, is cleared away. */
async function usable(assets: readonly Asset[], task: AssetTask): Promise<Spot> {
  const names = [task.name, interim('incoming', task), interim('outgoing', task)];
  const named = assets.filter(({ name }) => names.includes(name));
  for (const asset of named.filter(isHalfDone)) await deleteAsset(task.github, asset);
  const [standing, incoming, outgoing] = names.map((name) =>
    named.find((asset) => asset.name === name && !isHalfDone(asset)),
  );
  return {
    standing,
    incoming: incoming !== undefined && holds(incoming, task.file, true) ? incoming : undefined,
    outgoing,
  };
}

/** A standing asset is replaced by upload first and swap after, and goes last: whatever fails loses nothing. */
async function bring(task: AssetTask, release: Release, spot: Spot, ports: Ports): Promise<Asset> {
  const { github, file, name, label } = task;
  const { standing, incoming, outgoing } = spot;
  const isFree = standing === undefined && incoming === undefined;
  const asset =
    incoming ??
    (await uploadAsset(github, release, file, isFree ? name : interim('incoming', task), label, ports));
  if (!holds(asset, file, true)) {
    await deleteAsset(github, asset);
    throw new DeliveryError(
      'HOST_ERROR',
      "the host stored other bytes than the file's; the asset was removed again",
      { hint: 'run the step again' },
    );
  }
  if (isFree) return asset;
  if (standing !== undefined && outgoing !== undefined) await deleteAsset(github, outgoing);
  const leaving =
    standing === undefined
      ? outgoing
      : await renameAsset(github, standing, interim('outgoing', task), standing.label ?? name);
  const renamed = await renameAsset(github, asset, name, label);
  if (leaving !== undefined) await letGo(github, leaving, ports);
  return renamed;
}

/** The delivery does not hang on what is left of the old one; not even a stop does. */
async function letGo(github: GitHub, asset: Asset, ports: Ports): Promise<void> {
  const kept = await settled(() => deleteAsset(github, asset));
  if (!hasFailed(kept)) return;
  const again = await settled(() => deleteAsset(github.under(aftermath(ports).signal), asset));
  if (hasFailed(again)) ports.logger.warning(`the replaced asset stays as ${asset.name}: ${again.message}`);
}

/**
 * Even after a stop, and never for long: what can't be cleared away now is told in the log.
 *
 * @returns the asset, where it has arrived whole after all
 */
async function clearAway(task: AssetTask, release: Release, ports: Ports): Promise<Asset | undefined> {
  const github = task.github.under(aftermath(ports).signal);
  try {
    const { standing, incoming, outgoing } = await usable(await assetsOf(github, release), {
      ...task,
      github,
    });
    const arrived = standing !== undefined && holds(standing, task.file, true);
    if (standing === undefined && outgoing !== undefined) {
      await renameAsset(github, outgoing, task.name, outgoing.label ?? task.name);
    }
    // Where nothing gave way, the new one is the only copy.
    if (incoming !== undefined && (standing ?? outgoing) !== undefined) await deleteAsset(github, incoming);
    if (arrived && outgoing !== undefined) await deleteAsset(github, outgoing);
    return arrived ? standing : undefined;
  } catch (thrown) {
    ports.logger.warning(`what was half done could not be cleared away: ${asDeliveryError(thrown).message}`);
    return undefined;
  }
}
