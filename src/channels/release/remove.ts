import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  deleteAsset,
  deleteRelease,
  getReleaseByTag,
  isOwnRelease,
  listAssets,
  type Release,
} from '../../github/api/releases.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { assetName, encodePath, flatName } from '../../rules/naming.ts';
import type { ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import type { ReleaseOptions } from './publish.ts';

/** One asset that is removed. */
export interface AssetRemoval extends ReleaseOptions {
  readonly github: GitHubClient;
  readonly name: string;
  /** The file that the asset must hold, where it is still there to compare. */
  readonly file: LocalFile | null;
  readonly url: URL;
}

type RemovalTasks = readonly PreparedTask<AssetRemoval>[];

/** K2: deletes owned assets, and a release of this tool that becomes empty. */
export function createReleaseRemover(
  options: ReleaseOptions,
  access: RepositoryAccess,
  ports: Pick<Ports, 'logger'>,
): ChannelAction<AssetRemoval> {
  return {
    prepare: (items) => forEachItem(items, async (item) => prepareRemoval(item, options, access)),
    preview: previewRemovals,
    perform: (tasks) => removeAssets(tasks, ports),
  };
}

function prepareRemoval(
  { file, name: wanted }: ChannelItem,
  options: ReleaseOptions,
  access: RepositoryAccess,
): PreparedTask<AssetRemoval> {
  const github = requireGitHub(access, 'K2');
  const { owner, repo } = github.repository;
  const { tag, serverUrl } = options;
  const name = assetName(flatName(wanted));
  const path = `${owner}/${repo}/releases/download/${encodePath(tag)}/${encodeURIComponent(name)}`;
  return {
    plan: {
      channel: 'K2',
      method: 'the asset is deleted',
      destination: `release ${tag}, asset ${name}`,
      name,
      claim: 'is removed',
    },
    data: { ...options, github, name, file, url: new URL(`/${path}`, serverUrl) },
  };
}

async function previewRemovals(
  tasks: RemovalTasks,
): Promise<readonly ItemResult<RemovalTasks[number], string>[]> {
  const { assets } = await readRelease(tasks);
  return forEachItem(tasks, async ({ data }) => {
    const asset = assets.find(({ name }) => name === data.name);
    if (asset === undefined) return 'nothing exists there';
    refuseNotOwned(asset, data);
    return `asset ${asset.id} (${asset.name}) would be deleted`;
  });
}

async function readRelease([first]: RemovalTasks): Promise<{
  readonly release: Release | null;
  readonly assets: readonly Asset[];
}> {
  const release = first === undefined ? null : await getReleaseByTag(first.data.github, first.data.tag);
  if (first === undefined || release === null) return { release: null, assets: [] };
  return { release, assets: await listAssets(first.data.github, release) };
}

async function removeAssets(
  tasks: RemovalTasks,
  ports: Pick<Ports, 'logger'>,
): Promise<readonly ItemResult<RemovalTasks[number], Placement>[]> {
  const { release, assets } = await readRelease(tasks);
  const results = await forEachItem(tasks, ({ data }) => removeAsset(data, assets));
  const [first] = tasks;
  const isRemoved = results.some(({ result }) => !hasFailed(result) && result.written);
  if (first !== undefined && release !== null && isRemoved && isOwnRelease(release)) {
    await deleteEmptyRelease(first.data, release, ports);
  }
  return results;
}

async function deleteEmptyRelease(
  { github, tag }: AssetRemoval,
  release: Release,
  { logger }: Pick<Ports, 'logger'>,
): Promise<void> {
  const deleted = await resultOf(async () => {
    // Listed again right before: another job may have added something.
    if ((await listAssets(github, release)).length === 0) await deleteRelease(github, release, tag);
  });
  if (hasFailed(deleted)) logger.warning(`could not delete the empty release ${tag}: ${deleted.message}`);
}

async function removeAsset(removal: AssetRemoval, assets: readonly Asset[]): Promise<Placement> {
  const asset = assets.find(({ name }) => name === removal.name);
  if (asset !== undefined) {
    refuseNotOwned(asset, removal);
    await deleteAsset(removal.github, asset);
  }
  return {
    evidence:
      asset === undefined ? 'nothing exists there any more' : `asset ${asset.id} (${asset.name}) is deleted`,
    url: asset === undefined ? removal.url : new URL(asset.browser_download_url),
    written: asset !== undefined,
    bypassCache: false,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    notes: [],
    unknown: [],
  };
}

/** Only an asset with the file's own bytes is removed, or any with `overwrite`. */
function refuseNotOwned({ digest }: Asset, { name, tag, file, overwrite }: AssetRemoval): void {
  if (overwrite || (file !== null && digest === `sha256:${file.sha256}`)) return;
  throw new DeliveryError('NOT_OURS', `nothing shows that the asset ${name} of release ${tag} is yours`, {
    hint: 'set `file:` to the file with the same bytes, or `overwrite: true` to remove it all the same',
  }).withLeftBehind([]);
}
