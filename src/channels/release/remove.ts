import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
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
import type { Ports } from '../../ports.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { assetName, encodePath, flatName } from '../../rules/naming.ts';
import type { Channel, Placement, PreparedUpload } from '../channel.ts';
import { requireGitHub } from '../require-github.ts';
import type { ReleaseOptions } from './publish.ts';

export interface ReleaseRemovalOptions extends ReleaseOptions {
  /** Where the assets are downloaded, below the repository's own page. */
  readonly serverUrl: URL;
}

/** What K2 must know to take one asset away. */
export interface AssetRemoval extends ReleaseOptions {
  readonly github: GitHubClient;
  readonly name: string;
  /** The file that the asset must be, where it is still there to compare. */
  readonly file: LocalFile | null;
  readonly url: URL;
}

/** K2 backwards: takes assets of ours away, and the release that they leave empty, where it is ours. */
export function createReleaseRemoval(
  options: ReleaseRemovalOptions,
  ports: Pick<Ports, 'logger'>,
): Channel<AssetRemoval> {
  return {
    key: 'K2',
    async prepare(parcels, { authorizationError }) {
      const github = requireGitHub(options.github, 'K2', authorizationError);
      return parcels.map(({ file, name }) => intentFor(assetName(flatName(name)), file, github, options));
    },
    async preview(intents) {
      const { assets } = await shelfOf(intents);
      return intents.map(({ task }): Result<string> => {
        const asset = assets.find(({ name }) => name === task.name);
        if (asset === undefined) return 'nothing stands there';
        return refusal(asset, task) ?? `asset ${asset.id} (${asset.name}) would be deleted`;
      });
    },
    publish: (intents) => place(intents, ports),
  };
}

function intentFor(
  name: string,
  file: LocalFile | null,
  github: GitHubClient,
  options: ReleaseRemovalOptions,
): PreparedUpload<AssetRemoval> {
  const { tag, serverUrl } = options;
  const { owner, repo } = github.repository;
  const path = `${owner}/${repo}/releases/download/${encodePath(tag)}/${encodeURIComponent(name)}`;
  return {
    plan: {
      channel: 'K2',
      method: 'the asset is deleted',
      destination: `release ${tag}, asset ${name}`,
      name,
      claim: 'is taken away',
    },
    task: { ...options, github, name, file, url: new URL(`/${path}`, serverUrl) },
  };
}

async function shelfOf([first]: readonly PreparedUpload<AssetRemoval>[]): Promise<{
  readonly release: Release | null;
  readonly assets: readonly Asset[];
}> {
  if (first === undefined) return { release: null, assets: [] };
  const { github, tag } = first.task;
  const release = await getReleaseByTag(github, tag);
  return { release, assets: release === null ? [] : await listAssets(github, release) };
}

async function place(
  intents: readonly PreparedUpload<AssetRemoval>[],
  { logger }: Pick<Ports, 'logger'>,
): Promise<readonly Result<Placement>[]> {
  const { release, assets } = await shelfOf(intents);
  const placed: Result<Placement>[] = [];
  for (const { task } of intents) placed.push(await resultOf(() => remove(task, assets)));
  const [first] = intents;
  const removed = placed.some((one) => !hasFailed(one) && one.written);
  if (first === undefined || release === null || !removed || !isOwnRelease(release)) return placed;
  const { github, tag } = first.task;
  const cleared = await resultOf(async () => {
    // Asked again, right before: another job may have put something there.
    if ((await listAssets(github, release)).length === 0) await deleteRelease(github, release, tag);
  });
  if (hasFailed(cleared)) logger.warning(`the release ${tag}, left empty, stays: ${cleared.message}`);
  return placed;
}

async function remove(task: AssetRemoval, assets: readonly Asset[]): Promise<Placement> {
  const asset = assets.find(({ name }) => name === task.name);
  if (asset !== undefined) {
    const refused = refusal(asset, task);
    if (refused !== null) throw refused;
    await deleteAsset(task.github, asset);
  }
  return {
    evidence:
      asset === undefined ? 'nothing stands there any more' : `asset ${asset.id} (${asset.name}) is deleted`,
    url: asset === undefined ? task.url : new URL(asset.browser_download_url),
    written: asset !== undefined,
    bypassCache: false,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    notes: [],
    unknown: [],
  };
}

/** Only what is known to be ours is taken away: the file's own bytes, or what its owner's word covers. */
function refusal({ digest }: Asset, { name, tag, file, overwrite }: AssetRemoval): DeliveryError | null {
  if (overwrite || (file !== null && digest === `sha256:${file.sha256}`)) return null;
  return new DeliveryError('NOT_OURS', `nothing shows that the asset ${name} of release ${tag} is yours`, {
    hint: 'set `file:` to the file with the same bytes, or `overwrite: true` to take it away all the same',
  });
}
