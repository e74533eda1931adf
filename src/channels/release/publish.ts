import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { getOrCreateRelease, getReleaseByTag, listAssets } from '../../github/api/releases.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import type { Ports } from '../../ports.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { assetName, flatName } from '../../rules/naming.ts';
import type { Channel, Placement, PreparedUpload, UploadItem } from '../channel.ts';
import { requireGitHub } from '../require-github.ts';
import { type AssetResult, assetExistsError, ensureAsset, hasSameContent } from './asset.ts';

export interface ReleaseOptions {
  readonly github: GitHubClient | null;
  readonly tag: string;
  readonly overwrite: boolean;
}

/** What K2 must know to place one file. */
export interface AssetTask extends ReleaseOptions {
  readonly github: GitHubClient;
  readonly file: LocalFile;
  /** The asset's name, and the one it would have had if the host kept every letter. */
  readonly name: string;
  readonly label: string;
}

/**
 * K2: assets of the day's release.
 *
 * @see protocol 4.3
 */
export function createRelease(options: ReleaseOptions, ports: Ports): Channel<AssetTask> {
  return {
    key: 'K2',
    prepare: (parcels, circumstances) =>
      Promise.all(parcels.map((parcel) => resultOf(async () => intentFor(parcel, circumstances, options)))),
    preview,
    publish: (intents) => place(intents, ports),
  };
}

function intentFor(
  { file, name: wanted }: UploadItem,
  { privateRepository, authorizationError }: RepositoryContext,
  options: ReleaseOptions,
): PreparedUpload<AssetTask> {
  const github = requireGitHub(options.github, 'K2', authorizationError);
  if (file === null) {
    throw new DeliveryError('BAD_INPUT', 'channel K2 needs a file to upload', { hint: 'set `file:`' });
  }
  if (privateRepository === true) {
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
      destination: `release ${options.tag}, asset ${name}`,
      name,
      claim: 'downloads',
    },
    task: { ...options, github, file, name, label },
  };
}

async function preview(intents: readonly PreparedUpload<AssetTask>[]): Promise<readonly Result<string>[]> {
  const [first] = intents;
  if (first === undefined) return [];
  const { github, tag, overwrite } = first.task;
  const release = await getReleaseByTag(github, tag);
  const assets = release === null ? [] : await listAssets(github, release);
  return intents.map(({ task: { name, file } }): Result<string> => {
    const standing = assets.find((asset) => asset.name === name);
    if (standing === undefined) {
      return release === null ? `the release ${tag} would be created` : `the asset ${name} would be added`;
    }
    if (hasSameContent(standing, file, false)) {
      return `asset ${standing.id} (${name}) already holds these bytes`;
    }
    return overwrite ? `the asset ${name} would be replaced` : assetExistsError(name, tag, standing);
  });
}

/** One release and one look at its assets for all of them. */
async function place(
  intents: readonly PreparedUpload<AssetTask>[],
  ports: Ports,
): Promise<readonly Result<Placement>[]> {
  const [first] = intents;
  if (first === undefined) return [];
  const { github, tag } = first.task;
  const shelf = await resultOf(async () => {
    const release = await getOrCreateRelease(github, tag, ports);
    return { release, assets: await listAssets(github, release) };
  });
  if (hasFailed(shelf)) return intents.map(() => shelf);
  const placed: Result<Placement>[] = [];
  for (const { task } of intents) {
    placed.push(await resultOf(async () => placementOf(await ensureAsset(task, shelf, ports), task)));
  }
  return placed;
}

function placementOf({ asset, written, confirmed }: AssetResult, { label }: AssetTask): Placement {
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
      asset.digest == null ? ['the host named no digest of the asset; only the download proves it'] : [],
  };
}
