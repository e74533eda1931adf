import { forEachItem, forEachOnHost } from '../../async.ts';
import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  deleteAsset,
  getReleaseByTag,
  hasOwnLabel,
  isUnfinished,
  listAssets,
  nameInLabel,
  type Release,
} from '../../github/api/releases.ts';
import { type RepositoryContext, requireGitHub } from '../../github/api/repository.ts';
import { serverUrlOf } from '../../github/hosts.ts';
import type { Ports } from '../../ports.ts';
import { TAG_ATTEMPTS } from '../../protocol/limits.ts';
import { assetName, flatName, urlBelow } from '../../rules/naming.ts';
import { type Channel, type ChannelItem, nameTask } from '../channel.ts';
import { pageCheck } from '../host-rules.ts';
import { isInterim, type PlacedAsset, planAsset, unfinishedError } from './asset.ts';
import { sweepDrafts } from './new-release.ts';
import type { ReleaseOptions } from './release-choice.ts';

type AssetRemoval = Awaited<ReturnType<typeof prepareRemoval>>;

interface RemovalOptions extends Omit<ReleaseOptions, 'timeout'> {
  readonly earlierTag: string;
}

type FoundAsset = Pick<PlacedAsset, 'release' | 'asset'>;

type ChosenAssets = NonNullable<ReturnType<typeof chooseAssets>>;

const NOTHING_THERE = 'nothing exists there';

/** K2: deletes owned assets. Releases and tags are never deleted. */
export function createReleaseRemover(
  { tag, tagIsDefault, earlierTag, job, ...options }: RemovalOptions,
  access: RepositoryContext,
  ports: Ports,
): Channel<AssetRemoval> {
  const tags = tagIsDefault ? [tag, earlierTag] : [tag];

  return {
    prepare: (items) => forEachItem(items, (item) => prepareRemoval(item, tags)),
    async preview(tasks) {
      const listed = await listReleased(requireGitHub(access), tags);
      return forEachItem(tasks, async (task) => {
        const chosen = chooseAssets(task, listed, options, tags);
        if (chosen === null) return NOTHING_THERE;
        return `${nameAssets(chosen)} of the release ${chosen.release.tag_name} would be deleted`;
      });
    },
    async perform(tasks) {
      const github = requireGitHub(access);
      await sweepDrafts({ github, job }, ports);
      const listed = await listReleased(github, tags);
      return forEachOnHost(tasks, nameTask, async (task) => {
        const chosen = chooseAssets(task, listed, options, tags);
        const { owner, repo } = github.repository;
        const path = `${owner}/${repo}/releases/download/${chosen?.release.tag_name ?? tag}/${task.name}`;
        const first = pageCheck(urlBelow(serverUrlOf(github.apiUrl), path), { is: 'gone' });
        if (chosen === null) return { evidence: NOTHING_THERE, written: false, first };
        return { ...(await removeAssets(chosen, task.name, github)), first };
      });
    },
  };
}

/** The name as given may be the file's name in the label. */
async function prepareRemoval({ name: given }: ChannelItem, tags: readonly string[]) {
  const wanted = flatName(given);
  const name = await assetName(wanted);
  const plan = planAsset(tags.join(' or '), name, 'the asset is deleted', 'is removed');
  return { plan, name, wanted };
}

/** An older release may still have the asset. */
function notFoundError(name: string, tags: readonly string[]): DeliveryError {
  const message = `neither of the releases ${tags.join(' and ')} has an asset ${name}, and other releases were not searched`;
  return new DeliveryError('NOT_FOUND', message, {
    hint: (w) =>
      `set ${w.input('tag')} to the release that it was delivered to, or ${w.input('channel', 'K1')} if it is on GitHub Pages`,
  });
}

/** Newest first. After an immutable release, deliveries go to the tag with the next number. */
async function listReleased(github: GitHubClient, tags: readonly string[]): Promise<readonly FoundAsset[]> {
  const listed: FoundAsset[] = [];
  for (const tag of tags) {
    const found: FoundAsset[] = [];
    for (let number = 1; number <= TAG_ATTEMPTS; number += 1) {
      const release = await getReleaseByTag(github, number === 1 ? tag : `${tag}-${number}`);
      if (release === null) break;
      found.unshift(...(await listAssets(github, release)).map((asset) => ({ release, asset })));
      if (tags.length === 1 || release.immutable !== true) break;
    }
    listed.push(...found);
  }
  return listed;
}

const nameAssets = ({ assets }: ChosenAssets): string =>
  assets.map(({ id, name }) => `asset ${id} (${name})`).join(' and ');

async function removeAssets(chosen: ChosenAssets, name: string, github: GitHubClient) {
  const { assets, release, otherTags } = chosen;
  for (const asset of assets) await deleteAsset(github, release, asset);
  return {
    evidence: `${nameAssets(chosen)} ${assets.length === 1 ? 'is' : 'are'} deleted`,
    plan: { destination: `release ${release.tag_name}, asset ${name}` },
    written: true,
    notes: otherTags.map(
      (other) => `an asset ${name} is also in the release ${other}: name that tag to withdraw it`,
    ),
  };
}

/**
 * Chooses the newest labelled asset with the name, otherwise the newest without a label, which needs `overwrite`. Interim
 * uploads for the name are deleted too, and first, because they can be downloaded.
 */
function chooseAssets(
  { name, wanted }: AssetRemoval,
  listed: readonly FoundAsset[],
  { overwrite, soleDeliverer: owner }: Pick<RemovalOptions, 'overwrite' | 'soleDeliverer'>,
  tags: readonly string[],
) {
  const named = listed.filter(({ asset }) => asset.name === name);
  const interim = listed.filter(({ asset }) => isInterim(asset, name, owner) && !isUnfinished(asset));
  const candidates = named.length > 0 ? named : interim;
  const isOurs = ({ asset }: FoundAsset): boolean =>
    hasOwnLabel(asset, owner) && [name, nameInLabel(asset)].includes(wanted);
  const chosen = candidates.find(isOurs) ?? candidates[0];
  if (chosen === undefined && tags.length > 1) throw notFoundError(name, tags);
  if (chosen === undefined) return null;
  const { release, asset } = chosen;
  if (isUnfinished(asset)) throw unfinishedError(name, release.tag_name);
  if (release.immutable === true || !(isOurs(chosen) || overwrite)) {
    if (release.immutable !== true && hasOwnLabel(asset, owner)) throw otherNameError(asset, wanted);
    throw undeletableError(name, release, owner);
  }
  const beside = interim.filter((found) => found.release === release && found.asset !== asset);
  const elsewhere = [...named, ...interim].filter((found) => found.release !== release);
  return {
    release,
    assets: [...beside.map((found) => found.asset), asset],
    otherTags: [...new Set(elsewhere.map((found) => found.release.tag_name))],
  };
}

/** GitHub changes names, so another file may have this asset name. */
function otherNameError(asset: Asset, wanted: string): DeliveryError {
  const message = `the asset ${asset.name} was delivered as ${nameInLabel(asset)}, not as ${wanted}`;
  return new DeliveryError('NOT_OURS', message, {
    hint: (w) => `to withdraw that asset, set ${w.input('path', asset.name)}`,
  });
}

function undeletableError(
  name: string,
  { tag_name: tag, immutable }: Release,
  owner?: string,
): DeliveryError {
  if (immutable === true) {
    const message = `the release ${tag} is immutable: its asset ${name} can't be deleted`;
    return new DeliveryError('FORBIDDEN_BY_RULE', message, {
      hint: "if nobody needs the release, delete it on its page; its tag can't be used again",
    });
  }
  const why =
    owner === undefined
      ? "does not have this tool's label, so this tool did not upload it"
      : `is not labelled as delivered by ${owner}`;
  const message = `the asset ${name} of release ${tag} ${why}`;
  return new DeliveryError('NOT_OURS', message, {
    hint: (w) => `set ${w.input('overwrite', 'true')} to delete it anyway`,
  });
}
