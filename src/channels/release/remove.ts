import { DeliveryError, type Result } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  deleteAsset,
  getDownloadUrl,
  getReleaseByTag,
  hasOwnLabel,
  isOwnRelease,
  type ListedRelease,
  listAssets,
  listReleases,
  type Release,
} from '../../github/api/releases.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import { RELEASES } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { assetName, encodePath, flatName } from '../../rules/naming.ts';
import type { ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { isInterim } from './asset.ts';
import type { ReleaseOptions } from './publish.ts';
import { isUnfinished } from './unfinished.ts';

/** One asset that is removed. */
export interface AssetRemoval {
  readonly github: GitHubClient;
  readonly tag: string;
  readonly name: string;
  readonly overwrite: boolean;
  /** The file that the asset must hold, where it is still there to compare. */
  readonly file: LocalFile | null;
  readonly url: URL;
  /** Tags of other releases of this tool that keep an asset of this name. */
  readonly otherTags: readonly string[];
}

type RemovalTasks = readonly PreparedTask<AssetRemoval>[];

export type RemovalOptions = Pick<ReleaseOptions, 'tag' | 'tagIsDefault' | 'overwrite' | 'serverUrl'>;

/** K2: deletes owned assets. Releases and tags are never deleted. @see design 4 */
export function createReleaseRemover(
  options: RemovalOptions,
  access: RepositoryAccess,
): ChannelAction<AssetRemoval> {
  return {
    prepare: (items) => prepareRemovals(items, options, access),
    preview: previewRemovals,
    perform: removeAssets,
  };
}

async function prepareRemovals<Item extends ChannelItem>(
  items: readonly Item[],
  options: RemovalOptions,
  access: RepositoryAccess,
): Promise<readonly ItemResult<Item, PreparedTask<AssetRemoval>>[]> {
  const github = requireGitHub(access, 'K2');
  const { tag, tagIsDefault } = options;
  const releases = tagIsDefault ? await listReleases(github) : [];
  const tasks: ItemResult<Item, PreparedTask<AssetRemoval>>[] = [];
  for (const item of items) {
    const asset = { file: item.file, name: await assetName(flatName(item.name)) };
    const found = tagIsDefault ? findRemovals(asset, releases, options) : [{ tag, otherTags: [] }];
    if (found instanceof DeliveryError) tasks.push({ item, result: found });
    else for (const one of found) tasks.push({ item, result: toTask(asset, { ...options, github, ...one }) });
  }
  return tasks;
}

/** An asset by its name, and the file that it must hold. */
type RemovedAsset = Pick<AssetRemoval, 'file' | 'name'>;

/** Where an asset is removed, and where others of its name stay. */
type RemovalPlace = Pick<AssetRemoval, 'tag' | 'otherTags'>;

/**
 * Finds the releases of this tool that have the asset: each one with the file's own bytes, else the newest one.
 * With neither, it is the release of today.
 */
function findRemovals(
  { file, name }: RemovedAsset,
  releases: readonly ListedRelease[],
  { tag, overwrite }: RemovalOptions,
): Result<readonly RemovalPlace[]> {
  const published = releases.filter(({ draft }) => !draft);
  const holding = published.flatMap((release) => {
    const asset = release.assets.find((one) => one.name === name);
    return asset === undefined ? [] : [{ release, asset }];
  });
  const own = holding.filter(
    ({ release, asset }) =>
      isOwnRelease(release) && (overwrite || hasDigestOf(asset, file) || hasOwnLabel(asset)),
  );
  const identical = own.filter(({ asset }) => hasDigestOf(asset, file));
  const chosen = identical.length > 0 ? identical : own.slice(0, 1);
  if (chosen.length > 0) {
    const others = own.filter((one) => !chosen.includes(one)).map(({ release }) => release.tag_name);
    return chosen.map(({ release }) => ({ tag: release.tag_name, otherTags: others }));
  }
  const ofToday = holding.some(({ release }) => release.tag_name === tag);
  const changed = holding.filter(({ asset }) => hasDigestOf(asset, file) || hasOwnLabel(asset));
  if (!ofToday && !overwrite && changed.length > 0) {
    return changedReleaseError(
      name,
      changed.map(({ release }) => release.tag_name),
    );
  }
  if (!ofToday && releases.length >= RELEASES.total) return searchEndedError(name);
  return [{ tag, otherTags: [] }];
}

const hasDigestOf = ({ digest }: Asset, file: LocalFile | null): boolean =>
  file !== null && digest === `sha256:${file.sha256}`;

function changedReleaseError(name: string, tags: readonly string[]): DeliveryError {
  const where = tags.length === 1 ? `the release ${tags[0]}` : `the releases ${tags.join(', ')}`;
  const message = `${where} with the asset ${name} was not made by this action, or its text was changed since`;
  return new DeliveryError('NOT_OURS', message, {
    hint: `set \`tag: ${tags[0]}\` to withdraw it there`,
    leftBehind: [],
  });
}

function searchEndedError(name: string): DeliveryError {
  const message = `the newest ${RELEASES.total} releases have no asset ${name} of this action, and older ones were not searched`;
  return new DeliveryError('NOT_FOUND', message, {
    hint: 'set `tag:` to the release that has it',
    leftBehind: [],
  });
}

function toTask(
  { file, name }: RemovedAsset,
  place: RemovalPlace & RemovalOptions & Pick<AssetRemoval, 'github'>,
): PreparedTask<AssetRemoval> {
  const { github, tag, otherTags, overwrite, serverUrl } = place;
  const { owner, repo } = github.repository;
  const path = `${owner}/${repo}/releases/download/${encodePath(tag)}/${encodeURIComponent(name)}`;
  return {
    plan: {
      channel: 'K2',
      method: 'the asset is deleted',
      destination: `release ${tag}, asset ${name}`,
      name,
      claim: 'is removed',
    },
    data: { github, tag, otherTags, overwrite, name, file, url: new URL(`/${path}`, serverUrl) },
  };
}

/** A release and the asset in it; `null` where they do not exist. */
interface FoundAsset {
  readonly release: Release | null;
  readonly asset: Asset | null;
  /** What a replacement that was killed has left of the asset. */
  readonly interim: readonly Asset[];
}

/** Finds the asset of each task; a release and its assets are read once. */
async function findAssets(tasks: RemovalTasks): Promise<ReadonlyMap<RemovalTasks[number], FoundAsset>> {
  const found = new Map<RemovalTasks[number], FoundAsset>();
  for (const [tag, ofTag] of Map.groupBy(tasks, ({ data }) => data.tag)) {
    const [first] = ofTag;
    if (first === undefined) continue;
    const release = await getReleaseByTag(first.data.github, tag);
    const assets = release === null ? [] : await listAssets(first.data.github, release);
    for (const task of ofTag) {
      const { name } = task.data;
      const interim = assets.filter(
        (one) => isInterim('incoming', one, name) || isInterim('outgoing', one, name),
      );
      found.set(task, { release, asset: assets.find((one) => one.name === name) ?? null, interim });
    }
  }
  return found;
}

async function previewRemovals(
  tasks: RemovalTasks,
): Promise<readonly ItemResult<RemovalTasks[number], string>[]> {
  const found = await findAssets(tasks);
  return forEachItem(tasks, async (task) => {
    const { release = null, asset = null, interim = [] } = found.get(task) ?? {};
    refuseInterim(interim, task.data);
    if (release === null || asset === null) return 'nothing exists there';
    refuseRemoval(asset, release, task.data);
    return `asset ${asset.id} (${asset.name}) of the release ${task.data.tag} would be deleted`;
  });
}

async function removeAssets(
  tasks: RemovalTasks,
): Promise<readonly ItemResult<RemovalTasks[number], Placement>[]> {
  const found = await findAssets(tasks);
  return forEachItem(tasks, (task) => removeAsset(task.data, found.get(task)));
}

async function removeAsset(
  removal: AssetRemoval,
  { release, asset, interim }: FoundAsset = { release: null, asset: null, interim: [] },
): Promise<Placement> {
  refuseInterim(interim, removal);
  if (release !== null && asset !== null) {
    refuseRemoval(asset, release, removal);
    getDownloadUrl(removal.github, asset);
    await deleteAsset(removal.github, asset);
  }
  const { otherTags, name } = removal;
  return {
    evidence: asset === null ? 'nothing exists there' : `asset ${asset.id} (${asset.name}) is deleted`,
    url: asset === null ? removal.url : getDownloadUrl(removal.github, asset),
    written: asset !== null,
    bypassCache: false,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    notes:
      otherTags.length === 0
        ? []
        : [`an asset ${name} is also in the releases ${otherTags.join(', ')}: name one in \`tag:\``],
    unknown: [],
  };
}

/**
 * Only an owned asset is removed, or any finished one with `overwrite`: one with the file's own bytes, or one
 * with our label in a release with exactly our text.
 *
 * @see design 4
 */
function refuseRemoval(asset: Asset, release: Release, removal: AssetRemoval): void {
  const { name, tag, file, overwrite } = removal;
  if (isUnfinished(asset)) throw unfinishedRemovalError(name, tag);
  if (release.immutable === true) throw immutableRemovalError(name, tag);
  if (overwrite || hasDigestOf(asset, file) || (isOwnRelease(release) && hasOwnLabel(asset))) return;
  throw new DeliveryError('NOT_OURS', `nothing shows that the asset ${name} of release ${tag} is yours`, {
    hint: 'set `file:` to the file with the same bytes, or `overwrite: true` to remove it all the same',
  }).withLeftBehind([]);
}

/** They are public under names of their own, and it can't be told whose they are, or whether a job still uses them. */
function refuseInterim([first]: readonly Asset[], { name, tag }: AssetRemoval): void {
  if (first === undefined) return;
  throw new DeliveryError(
    'CONFLICT',
    `the release ${tag} has ${first.name}: a replacement of ${name} has not ended, or was killed`,
    {
      hint: `run the delivery of ${name} again, then withdraw it; or delete ${first.name} on the page of the release`,
      leftBehind: [],
    },
  );
}

function unfinishedRemovalError(name: string, tag: string): DeliveryError {
  return new DeliveryError('CONFLICT', `an upload of ${name} to the release ${tag} has not ended`, {
    hint: 'run the step again when the job that uploads it has ended; if there is none, delete the unfinished asset on the page of the release',
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
