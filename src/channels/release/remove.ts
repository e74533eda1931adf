import { forEachItem, type ItemResult } from '../../async.ts';
import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  deleteAsset,
  getDownloadUrl,
  getReleaseByTag,
  hasOwnLabel,
  isOwnRelease,
  isUnfinished,
  listAssets,
  type Release,
} from '../../github/api/releases.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { assetName, encodePath, flatName } from '../../rules/naming.ts';
import type { ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { isInterim } from './asset.ts';
import type { ReleaseOptions } from './release-choice.ts';

interface AssetRemoval {
  readonly name: string;
  /** The file that the asset must hold, where it is still there to compare. */
  readonly file: LocalFile | null;
  /** Where the first tag's release would have it. */
  readonly url: URL;
}

type RemovalTasks = readonly PreparedTask<AssetRemoval>[];

export interface RemovalOptions extends Omit<ReleaseOptions, 'job'> {
  readonly earlierTag: string;
}

interface RemovalScope extends RemovalOptions {
  readonly github: GitHubClient;
  /** The tag that was named, or those of today and yesterday. */
  readonly tags: readonly string[];
}

/** K2: deletes owned assets. Releases and tags are never deleted. @see design 4 */
export function createReleaseRemover(
  options: RemovalOptions,
  access: RepositoryAccess,
): ChannelAction<AssetRemoval> {
  const tags = options.tagIsDefault ? [options.tag, options.earlierTag] : [options.tag];
  const getScope = (): RemovalScope => ({ ...options, tags, github: requireGitHub(access, 'K2') });
  return {
    prepare: (items) => forEachItem(items, (item) => prepareDeletion(item, getScope())),
    preview: (tasks) => forEachAsset(tasks, getScope(), describeDeletion),
    perform: (tasks) => forEachAsset(tasks, getScope(), removeAsset),
  };
}

async function prepareDeletion(
  { file, name: wanted }: ChannelItem,
  { github, tag, tags, serverUrl }: RemovalScope,
): Promise<PreparedTask<AssetRemoval>> {
  const { owner, repo } = github.repository;
  const name = await assetName(flatName(wanted));
  const path = `${owner}/${repo}/releases/download/${encodePath(tag)}/${encodeURIComponent(name)}`;
  return {
    plan: {
      channel: 'K2',
      method: 'the asset is deleted',
      destination: formatDestination(tags.join(' or '), name),
      name,
      claim: 'is removed',
    },
    data: { name, file, url: new URL(`/${path}`, serverUrl) },
  };
}

const formatDestination = (tag: string, name: string): string => `release ${tag}, asset ${name}`;

interface FoundAsset {
  readonly release: Release;
  readonly asset: Asset;
}

/** The asset that is removed, and the tags of the releases that keep one of its name. */
interface ChosenAsset extends FoundAsset {
  readonly otherTags: readonly string[];
}

/** Does the work for the asset of each task; `null` stands for one that does not exist. */
async function forEachAsset<Value>(
  tasks: RemovalTasks,
  scope: RemovalScope,
  work: (chosen: ChosenAsset | null, removal: AssetRemoval, github: GitHubClient) => Promise<Value>,
): Promise<readonly ItemResult<RemovalTasks[number], Value>[]> {
  const { github, tags } = scope;
  // All of them, so that each release is read once.
  const listed: FoundAsset[] = [];
  for (const tag of tags) {
    const release = await getReleaseByTag(github, tag);
    if (release === null) continue;
    for (const asset of await listAssets(github, release)) listed.push({ release, asset });
  }
  return forEachItem(tasks, async ({ data }) => work(chooseAsset(data, scope, listed), data, github));
}

/**
 * Chooses among the assets of the name: the one with the file's own bytes, else the newest one of ours. Only an owned
 * asset is removed, or any finished one with `overwrite`.
 *
 * @see design 4
 */
function chooseAsset(
  { name, file }: AssetRemoval,
  { tags, overwrite }: RemovalScope,
  listed: readonly FoundAsset[],
): ChosenAsset | null {
  const interim = listed.find(({ asset }) => isInterim(asset, name));
  if (interim !== undefined) throw interimError(interim, name);
  const found = listed.filter(({ asset }) => asset.name === name);
  const isOwned = ({ release, asset }: FoundAsset) =>
    hasDigestOf(asset, file) || (isOwnRelease(release) && hasOwnLabel(asset));
  const chosen = found.find(({ asset }) => hasDigestOf(asset, file)) ?? found.find(isOwned) ?? found[0];
  if (chosen === undefined && tags.length > 1) throw notFoundError(name, tags);
  if (chosen === undefined) return null;
  const { release, asset } = chosen;
  const tag = release.tag_name;
  if (isUnfinished(asset)) throw unfinishedRemovalError(name, tag);
  if (release.immutable === true) throw immutableRemovalError(name, tag);
  if (!isOwned(chosen) && !overwrite) throw assetNotOwnedError(name, tag);
  return { ...chosen, otherTags: found.filter((one) => one !== chosen).map((one) => one.release.tag_name) };
}

const hasDigestOf = ({ digest }: Asset, file: LocalFile | null): boolean =>
  file !== null && digest === `sha256:${file.sha256}`;

async function describeDeletion(chosen: ChosenAsset | null): Promise<string> {
  if (chosen === null) return 'nothing exists there';
  const { asset, release } = chosen;
  return `asset ${asset.id} (${asset.name}) of the release ${release.tag_name} would be deleted`;
}

async function removeAsset(
  chosen: ChosenAsset | null,
  { name, url }: AssetRemoval,
  github: GitHubClient,
): Promise<Placement> {
  if (chosen === null) {
    return { evidence: 'nothing exists there', url, written: false, notes: [], unknown: [] };
  }
  const { asset, release, otherTags } = chosen;
  const address = getDownloadUrl(github, asset);
  await deleteAsset(github, asset);
  return {
    evidence: `asset ${asset.id} (${asset.name}) is deleted`,
    url: address,
    destination: formatDestination(release.tag_name, name),
    written: true,
    notes: otherTags.map(
      (tag) => `an asset ${name} is also in the release ${tag}: name that tag to withdraw it`,
    ),
    unknown: [],
  };
}

function assetNotOwnedError(name: string, tag: string): DeliveryError {
  return new DeliveryError('NOT_OURS', `nothing shows that the asset ${name} of release ${tag} is yours`, {
    hint: (w) => `set ${w.input('file')} to the file with the same bytes, or ${w.input('overwrite', 'true')}`,
    leftBehind: [],
  });
}

/** An older release may still have it, so this is not an asset that is gone. */
function notFoundError(name: string, tags: readonly string[]): DeliveryError {
  const message = `neither of the releases ${tags.join(' and ')} has an asset ${name}, and others were not searched`;
  return new DeliveryError('NOT_FOUND', message, {
    hint: (w) => `set ${w.input('tag')} to the release that it was delivered to`,
    leftBehind: [],
  });
}

/** It is public under a name of its own, and it can't be told whether a job still uses it. */
function interimError({ release, asset }: FoundAsset, name: string): DeliveryError {
  const message = `the release ${release.tag_name} has ${asset.name}: a replacement of ${name} has not ended, or was killed`;
  return new DeliveryError('CONFLICT', message, {
    hint: `if no job replaces ${name} any more, delete ${asset.name} on the page of the release, then try again`,
    leftBehind: [],
  });
}

function unfinishedRemovalError(name: string, tag: string): DeliveryError {
  return new DeliveryError('CONFLICT', `an upload of ${name} to the release ${tag} has not ended`, {
    hint: 'try again when the job that uploads it has ended; if there is none, delete the unfinished asset on the page of the release',
    leftBehind: [],
  });
}

function immutableRemovalError(name: string, tag: string): DeliveryError {
  const message = `the release ${tag} is immutable: its asset ${name} can't be deleted`;
  return new DeliveryError('FORBIDDEN_BY_RULE', message, {
    hint: 'delete the whole release by hand on its page, if nobody needs it; its tag can never be used again then',
    leftBehind: [],
  });
}
