import { DeliveryError, hasFailed, type Settled, settled } from '../errors.ts';
import type { GitHub } from '../github/client.ts';
import { assetsOf, ensureRelease, releaseByTag } from '../github/releases.ts';
import type { Circumstances } from '../github/survey.ts';
import type { Ports } from '../ports.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { assetName, flatName } from '../rules/naming.ts';
import type { Channel, Intent, Parcel, Placement } from './channel.ts';
import { needsToken } from './needs-token.ts';
import { bringAsset, type Brought, holds, nameTaken } from './release-asset.ts';

export interface ReleaseOptions {
  readonly github: GitHub | null;
  readonly tag: string;
  readonly overwrite: boolean;
}

/** What K2 must know to place one file. */
export interface AssetTask extends ReleaseOptions {
  readonly github: GitHub;
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
      Promise.all(parcels.map((parcel) => settled(async () => intentFor(parcel, circumstances, options)))),
    foresee,
    place: (intents) => place(intents, ports),
  };
}

function intentFor(
  { file, name: wanted }: Parcel,
  { privateRepository, unauthorised }: Circumstances,
  options: ReleaseOptions,
): Intent<AssetTask> {
  const github = needsToken(options.github, 'K2', unauthorised);
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
      promise: 'downloads',
    },
    task: { ...options, github, file, name, label },
  };
}

async function foresee(intents: readonly Intent<AssetTask>[]): Promise<readonly Settled<string>[]> {
  const [first] = intents;
  if (first === undefined) return [];
  const { github, tag, overwrite } = first.task;
  const release = await releaseByTag(github, tag);
  const assets = release === null ? [] : await assetsOf(github, release);
  return intents.map(({ task: { name, file } }): Settled<string> => {
    const standing = assets.find((asset) => asset.name === name);
    if (standing === undefined) {
      return release === null ? `the release ${tag} would be created` : `the asset ${name} would be added`;
    }
    if (holds(standing, file, false)) return `asset ${standing.id} (${name}) already holds these bytes`;
    return overwrite ? `the asset ${name} would be replaced` : nameTaken(name, tag, standing);
  });
}

/** One release and one look at its assets for all of them. */
async function place(
  intents: readonly Intent<AssetTask>[],
  ports: Ports,
): Promise<readonly Settled<Placement>[]> {
  const [first] = intents;
  if (first === undefined) return [];
  const { github, tag } = first.task;
  const shelf = await settled(async () => {
    const release = await ensureRelease(github, tag, ports);
    return { release, assets: await assetsOf(github, release) };
  });
  if (hasFailed(shelf)) return intents.map(() => shelf);
  const placed: Settled<Placement>[] = [];
  for (const { task } of intents) {
    placed.push(await settled(async () => placementOf(await bringAsset(task, shelf, ports), task)));
  }
  return placed;
}

function placementOf({ asset, written, confirmed }: Brought, { label }: AssetTask): Placement {
  const what = `asset ${asset.id} (${asset.name})`;
  return {
    evidence: confirmed ? `HTTP 201, ${what}` : `${what} holds these bytes`,
    url: new URL(asset.browser_download_url),
    written,
    bustCaches: false,
    mayAlter: false,
    mustBeExternal: false,
    notes: [
      ...(asset.name === label ? [] : [`the asset is named ${asset.name}; its label is ${label}`]),
      'a release asset is downloaded, never shown on the screen',
    ],
    unknown:
      asset.digest == null ? ['the host named no digest of the asset; only the download proves it'] : [],
  };
}
