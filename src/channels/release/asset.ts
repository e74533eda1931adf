import { DeliveryError, type Result } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { type Asset, hasOwnLabel, type Release } from '../../github/api/releases.ts';
import type { Clock } from '../../ports.ts';
import { QUIET_DRAFT } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';

export interface AssetTask {
  readonly file: LocalFile;
  /** The asset's name, and the name that it would have if the host kept every letter. */
  readonly name: string;
  readonly originalName: string;
}

export interface UploadRelease {
  readonly github: GitHubClient;
  readonly release: Release;
  readonly assets: readonly Asset[];
  readonly overwrite: boolean;
  readonly soleDeliverer?: string | undefined;
  /** Milliseconds that another job's upload under the same name is waited for. */
  readonly timeout: number;
}

/** An asset that holds the file. */
export interface PlacedAsset {
  readonly release: Release;
  readonly asset: Asset;
  readonly written: boolean;
}

export type PlacedFiles = ReadonlyMap<AssetTask, Result<PlacedAsset>>;

/** @param tag of the release, or those of several */
export const planAsset = (tag: string, name: string, method: string, verb: string) =>
  ({ channel: 'K2', method, destination: `release ${tag}, asset ${name}`, name, verb }) as const;

export const hasDigestOf = ({ digest }: Asset, { sha256 }: LocalFile): boolean =>
  digest === `sha256:${sha256}`;

/** Whether an asset that this run has sent holds the file: without a digest only its size can tell. */
export const isStored = (asset: Asset, file: LocalFile): boolean =>
  asset.digest == null ? asset.size === file.size : hasDigestOf(asset, file);

export function assetExistsError(name: string, tag: string, { digest }: Asset): DeliveryError {
  const what = digest == null ? 'without a digest' : 'with other bytes';
  return new DeliveryError('NOT_OURS', `release ${tag} already has an asset ${name} ${what}`, {
    hint: (w) => `set ${w.input('overwrite', 'true')} to replace it, or ${w.input('path')} to another name`,
  });
}

/** Another job uploads under the name; nothing of it is ever deleted. */
export const unfinishedError = (name: string, tag: string): DeliveryError =>
  new DeliveryError('CONFLICT', `an upload of ${name} to the release ${tag} has not finished`, {
    hint: 'try again when the other job has finished, or delete the unfinished asset on the release page',
  });

/** Whether the asset is to get that name: a run replaces the old one, or was killed. Its label has no interim name. */
export function isInterim(asset: Asset, name: string, owner?: string): boolean {
  const [prefix, end] = /^(incoming-[0-9a-f]{12}-)(.+)$/.exec(asset.name)?.slice(1) ?? [];
  return end === name && hasOwnLabel(asset, owner) && asset.label?.startsWith(prefix ?? '') === false;
}

/** Whether nothing has changed in it for so long that no job works on it any more, by the host's time. */
export const isQuiet = (item: Pick<Release, 'updated_at'>, clock: Pick<Clock, 'date'>): boolean =>
  clock.date() - Date.parse(item.updated_at ?? '') > QUIET_DRAFT;
