import { DeliveryError, type Result } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { type Asset, hasOwnLabel, type Release } from '../../github/api/releases.ts';
import type { Clock } from '../../ports.ts';
import { QUIET_DRAFT } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';

export interface AssetTask {
  readonly file: LocalFile;
  readonly name: string;
  readonly originalName: string;
}

export interface UploadRelease {
  readonly github: GitHubClient;
  readonly release: Release;
  readonly assets: readonly Asset[];
  readonly overwrite: boolean;
  readonly soleDeliverer?: string | undefined;
  readonly timeout: number;
}

export interface PlacedAsset {
  readonly release: Release;
  readonly asset: Asset;
  readonly written: boolean;
  readonly replaced?: boolean;
}

export type PlacedFiles = ReadonlyMap<AssetTask, Result<PlacedAsset>>;

export const planAsset = (tag: string, name: string, method: string, verb: string) =>
  ({ channel: 'K2', method, destination: `release ${tag}, asset ${name}`, name, verb }) as const;

export const hasDigestOf = ({ digest }: Asset, { sha256 }: LocalFile): boolean =>
  digest === `sha256:${sha256}`;

/** Only for this run's own upload: without a digest, its size must be enough. */
export const isStored = (asset: Asset, file: LocalFile): boolean =>
  asset.digest == null ? asset.size === file.size : hasDigestOf(asset, file);

/** Agents may replace what agents uploaded. */
export const mayReplace = (
  asset: Asset,
  { overwrite, soleDeliverer: owner }: Pick<UploadRelease, 'overwrite' | 'soleDeliverer'>,
): boolean => overwrite || (owner !== undefined && hasOwnLabel(asset, owner));

export function assetExistsError(name: string, tag: string, { digest }: Asset): DeliveryError {
  const what = digest == null ? 'without a digest' : 'with other bytes';
  return new DeliveryError('NOT_OURS', `release ${tag} already has an asset ${name} ${what}`, {
    hint: (w) => `set ${w.input('path')} to another name${w.orSet('overwrite', 'true', ' to replace it')}`,
  });
}

/** Another job's upload is never deleted. */
export const unfinishedError = (name: string, tag: string): DeliveryError =>
  new DeliveryError('CONFLICT', `an upload of ${name} to the release ${tag} has not finished`, {
    hint: 'try again when the other job has finished, or delete the unfinished asset on the release page',
  });

/** Whether this is the upload of a running or killed replacement for `name`. */
export function isInterim(asset: Asset, name: string, owner?: string): boolean {
  const [prefix, end] = /^(incoming-[0-9a-f]{12}-)(.+)$/.exec(asset.name)?.slice(1) ?? [];
  return end === name && hasOwnLabel(asset, owner) && asset.label?.startsWith(prefix ?? '') === false;
}

/** Whether it has not changed for so long that no job can still be working on it. */
export const isQuiet = (item: Pick<Release, 'updated_at'>, clock: Pick<Clock, 'date'>): boolean =>
  clock.date() - Date.parse(item.updated_at ?? '') > QUIET_DRAFT;
