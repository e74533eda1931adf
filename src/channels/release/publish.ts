import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { getOrCreateRelease, getReleaseByTag, listAssets } from '../../github/api/releases.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import { assetName, flatName } from '../../rules/naming.ts';
import type { ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { type AssetResult, type AssetTask, assetExistsError, ensureAsset, hasSameContent } from './asset.ts';

export interface ReleaseOptions {
  readonly tag: string;
  readonly overwrite: boolean;
  /** The instance's web address, below which assets are downloaded. */
  readonly serverUrl: URL;
}

type AssetTasks = readonly PreparedTask<AssetTask>[];

/**
 * K2: uploads files as assets of the tag's release.
 *
 * @see protocol 4.3
 */
export function createReleasePublisher(
  options: ReleaseOptions,
  access: RepositoryAccess,
  ports: Ports,
): ChannelAction<AssetTask> {
  return {
    prepare: (items) => forEachItem(items, async (item) => prepareAsset(item, options, access)),
    preview: previewAssets,
    perform: (tasks) => uploadAssets(tasks, ports),
  };
}

function prepareAsset(
  { file, name: wanted }: ChannelItem,
  { tag, overwrite }: ReleaseOptions,
  access: RepositoryAccess,
): PreparedTask<AssetTask> {
  const github = requireGitHub(access, 'K2');
  if (file === null) {
    throw new DeliveryError('BAD_INPUT', 'channel K2 needs a file to upload', { hint: 'set `file:`' });
  }
  if (access.repository.privateRepository === true) {
    throw new DeliveryError(
      'NOT_EXTERNAL',
      "the repository is private, and its assets can't be read anonymously",
      { hint: 'set `repository:` to a public one, or use channel: K1 with a public site, or channel: K3' },
    );
  }
  const label = flatName(wanted);
  const name = assetName(label);
  return {
    plan: {
      channel: 'K2',
      method: 'one asset upload',
      destination: `release ${tag}, asset ${name}`,
      name,
      claim: 'downloads',
    },
    data: { tag, overwrite, github, file, name, label },
  };
}

async function previewAssets(tasks: AssetTasks): Promise<readonly ItemResult<AssetTasks[number], string>[]> {
  const [first] = tasks;
  if (first === undefined) return [];
  const { github, tag } = first.data;
  const release = await getReleaseByTag(github, tag);
  const assets = release === null ? [] : await listAssets(github, release);
  return tasks.map((item) => {
    const { name, file, overwrite } = item.data;
    const existing = assets.find((asset) => asset.name === name);
    const describe = (): Result<string> => {
      if (release === null) return `the release ${tag} would be created`;
      if (existing === undefined) return `the asset ${name} would be added`;
      if (hasSameContent(existing, file, false))
        return `asset ${existing.id} (${name}) already holds these bytes`;
      return overwrite ? `the asset ${name} would be replaced` : assetExistsError(name, tag, existing);
    };
    return { item, result: describe() };
  });
}

/** One release, and one list of its assets, for all files. */
async function uploadAssets(
  tasks: AssetTasks,
  ports: Ports,
): Promise<readonly ItemResult<AssetTasks[number], Placement>[]> {
  const [first] = tasks;
  if (first === undefined) return [];
  const { github, tag } = first.data;
  const opened = await getOrCreateRelease(github, tag, ports);
  const left = opened.created ? [`the release ${tag}, which was created and is empty`] : [];
  const assets = await resultOf(() => listAssets(github, opened.release));
  if (hasFailed(assets)) throw assets.withLeftBehind(left);
  const state = { release: opened.release, assets };
  const results = await forEachItem(tasks, async ({ data }) =>
    assetPlacement(await ensureAsset(data, state, ports), data),
  );
  if (!opened.created || results.some(({ result }) => !hasFailed(result))) return results;
  // Listed again, also after a stop: only then is it known that no part of a file has arrived.
  const cleanup = github.withSignal(withCleanupSignal(ports).signal);
  const remaining = await resultOf(() => listAssets(cleanup, opened.release));
  if (hasFailed(remaining) || remaining.length > 0) return results;
  return results.map(({ item, result }) => ({
    item,
    result: hasFailed(result) ? result.withLeftBehind(left) : result,
  }));
}

function assetPlacement({ asset, written, confirmed }: AssetResult, { label }: AssetTask): Placement {
  const what = `asset ${asset.id} (${asset.name})`;
  return {
    evidence: confirmed ? `HTTP 201, ${what}` : `${what} holds these bytes`,
    url: new URL(asset.browser_download_url),
    written,
    bypassCache: false,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    notes: [
      ...(asset.name === label ? [] : [`the asset is named ${asset.name}; its label is ${label}`]),
      'a release asset is downloaded, never shown on the screen',
    ],
    unknown:
      asset.digest == null ? ['the host gave no digest of the asset; only the download proves it'] : [],
  };
}
