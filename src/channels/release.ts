import { DeliveryError } from '../errors.ts';
import type { GitHub } from '../github/client.ts';
import {
  type Asset,
  assetNamed,
  deleteAsset,
  ensureRelease,
  type Release,
  renameAsset,
  uploadAsset,
} from '../github/releases.ts';
import type { Ports } from '../ports.ts';
import { retrying } from '../retry.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { assetName } from '../rules/naming.ts';
import type { Channel, Placement } from './channel.ts';
import { needsToken } from './needs-token.ts';

export interface ReleaseOptions {
  readonly github: GitHub | null;
  readonly tag: string;
  /** The name to give, before it is made fit for an asset. */
  readonly name: string;
  readonly overwrite: boolean;
}

/**
 * K2: an asset of the day's release.
 *
 * @see protocol 4.3
 */
export function createRelease(options: ReleaseOptions, ports: Ports): Channel {
  return {
    key: 'K2',
    async prepare(file, { privateRepository, unauthorised }) {
      const github = needsToken(options.github, 'K2', unauthorised);
      if (file === null) {
        throw new DeliveryError('BAD_INPUT', 'channel K2 needs a file to upload', { hint: 'set `file:`' });
      }
      if (privateRepository === true) {
        throw new DeliveryError(
          'NOT_EXTERNAL',
          "the repository is private, and its assets can't be read anonymously",
          {
            hint: 'set `repository:` to a public one, or use channel: K1 with a public site, or channel: K3',
          },
        );
      }
      const name = assetName(options.name);
      return {
        plan: {
          channel: 'K2',
          method: 'one asset upload',
          destination: `release ${options.tag}, asset ${name}`,
          promise: 'downloads',
        },
        place: () => place({ ...options, github, file, asset: name }, ports),
      };
    },
  };
}

interface Task extends ReleaseOptions {
  readonly github: GitHub;
  readonly file: LocalFile;
  /** The asset's name. */
  readonly asset: string;
}

/** Each attempt looks first: what an earlier one has brought there is not sent again. */
async function place(task: Task, ports: Ports): Promise<Placement> {
  const { github, file, tag, asset: name } = task;
  const release = await ensureRelease(github, tag, ports);
  let sent = false;
  const { asset, evidence } = await retrying(ports, async () => {
    const standing = await usableAsset(github, release, name);
    if (standing !== null && holds(standing, file, sent)) {
      return { asset: standing, evidence: `asset ${standing.id} (${standing.name}) holds these bytes` };
    }
    if (standing !== null && !task.overwrite) throw nameTaken(name, tag, standing);
    sent = true;
    const asset = await send(task, release, standing, ports);
    return { asset, evidence: `HTTP 201, asset ${asset.id} (${asset.name})` };
  });
  return {
    evidence,
    url: new URL(asset.browser_download_url),
    bustCaches: false,
    mayAlter: false,
    mustBeExternal: false,
    notes: [
      ...(asset.name === task.name ? [] : [`the asset is named ${asset.name}; its label is ${task.name}`]),
      'a release asset is downloaded, never shown on the screen',
    ],
    unknown:
      asset.digest == null ? ['the host named no digest of the asset; only the download proves it'] : [],
  };
}

/** Whether an asset is this file, by its digest; without one, only what this run has sent may pass for it. */
function holds({ digest, size }: Asset, file: LocalFile, sent: boolean): boolean {
  return digest == null ? sent && size === file.size : digest === `sha256:${file.sha256}`;
}

/** The asset of that name; a half-uploaded one, which blocks the name and holds nothing, is cleared away. */
async function usableAsset(github: GitHub, release: Release, name: string): Promise<Asset | null> {
  const standing = await assetNamed(github, release, name);
  if (standing?.state !== 'starter') return standing;
  await deleteAsset(github, standing);
  return null;
}

/** A standing asset is replaced by upload first and swap after: a failed upload loses nothing. */
async function send(task: Task, release: Release, standing: Asset | null, ports: Ports): Promise<Asset> {
  const { github, file, asset: name, name: label } = task;
  const suffix = Math.floor(ports.random() * 1e9).toString(36);
  const interim = standing === null ? name : `incoming-${suffix}-${name}`;
  const asset = await uploadAsset(github, release, file, interim, label, ports);
  if (!holds(asset, file, true)) {
    await deleteAsset(github, asset);
    throw new DeliveryError(
      'HOST_ERROR',
      "the host stored other bytes than the file's; the asset was removed again",
      {
        hint: 'run the step again',
      },
    );
  }
  if (standing === null) return asset;
  await deleteAsset(github, standing);
  return renameAsset(github, asset, name, label);
}

function nameTaken(name: string, tag: string, { digest }: Asset): DeliveryError {
  const what = digest == null ? 'whose bytes the host does not name' : 'with other bytes';
  return new DeliveryError('NOT_OURS', `release ${tag} already has an asset ${name} ${what}`, {
    hint: 'set `overwrite: true` to replace it, or `path:` to give another name',
  });
}
