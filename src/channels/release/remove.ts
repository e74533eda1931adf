import { forEachItem, forEachOnHost } from '../../async.ts';
import { DeliveryError, type Result } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  deleteAsset,
  getReleaseByTag,
  hasOwnLabel,
  isOwnRelease,
  isUnfinished,
  listAssets,
  type Release,
} from '../../github/api/releases.ts';
import { type RepositoryContext, requireGitHub } from '../../github/api/repository.ts';
import { serverUrlOf } from '../../github/hosts.ts';
import type { Clock, Ports } from '../../ports.ts';
import { TAG_ATTEMPTS } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { assetName, flatName, urlBelow } from '../../rules/naming.ts';
import { type Channel, type ChannelItem, nameTask, type Placement, type PreparedTask } from '../channel.ts';
import { hasDigestOf, isInterim, isQuiet, type PlacedAsset, planAsset, unfinishedError } from './asset.ts';
import type { ReleaseOptions } from './release-choice.ts';

interface AssetRemoval extends PreparedTask {
  readonly name: string;
  /** The file that the asset must hold, where it is still there to compare. */
  readonly file: LocalFile | null;
}

export interface RemovalOptions extends Omit<ReleaseOptions, 'job'> {
  /** That of the day before, where `tag` is that of the day. */
  readonly earlierTag: string;
}

type FoundAsset = Pick<PlacedAsset, 'release' | 'asset'>;

interface ChosenAsset extends FoundAsset {
  /** What replacements of this name have beside it, each public under a name of its own: of killed runs, or others. */
  readonly beside: readonly Asset[];
  /** The tags of the other releases that have an asset of this name. */
  readonly otherTags: readonly string[];
}

const NOTHING_THERE = 'nothing exists there';

/** K2: deletes owned assets. Releases and tags are never deleted. */
export function createReleaseRemover(
  { tag, tagIsDefault, earlierTag, overwrite }: RemovalOptions,
  access: RepositoryContext,
  { clock }: Pick<Ports, 'clock'>,
): Channel<AssetRemoval> {
  const tags = tagIsDefault ? [tag, earlierTag] : [tag];

  /** Does the work for the assets of each task; `null` stands for none. Each release is read once. */
  async function forEachAsset<Value>(
    tasks: readonly AssetRemoval[],
    work: (chosen: ChosenAsset | null, name: string, github: GitHubClient) => Promise<Value>,
  ): Promise<readonly Result<Value>[]> {
    const github = requireGitHub(access);
    const listed = await listReleased(github, tags);
    return forEachOnHost(tasks, nameTask, async (task) => {
      const chosen = chooseAsset(task, listed, overwrite, clock);
      if (chosen === null && tags.length > 1) throw notFoundError(task.name, tags);
      return work(chosen, task.name, github);
    });
  }

  return {
    prepare: (items) => forEachItem(items, (item) => prepareRemoval(item, tags)),
    preview: (tasks) =>
      forEachAsset(tasks, async (chosen) => {
        if (chosen === null) return NOTHING_THERE;
        const { asset, release } = chosen;
        return `asset ${asset.id} (${asset.name}) of the release ${release.tag_name} would be deleted`;
      }),
    perform: (tasks) =>
      forEachAsset(tasks, async (chosen, name, github) => {
        if (chosen !== null) return removeAsset(chosen, name, github, clock);
        const { owner, repo } = github.repository;
        const path = `${owner}/${repo}/releases/download/${tag}/${name}`;
        const url = urlBelow(serverUrlOf(github.apiUrl), path);
        return { evidence: NOTHING_THERE, url, file: null, written: false };
      }),
  };
}

async function prepareRemoval(
  { site, name: wanted }: ChannelItem,
  tags: readonly string[],
): Promise<AssetRemoval> {
  const name = await assetName(flatName(wanted));
  const plan = planAsset(tags.join(' or '), name, 'the asset is deleted', 'is removed');
  return { plan, name, file: site?.entry ?? null };
}

/** An older release may still have it, so this is not an asset that is gone. */
function notFoundError(name: string, tags: readonly string[]): DeliveryError {
  const message = `neither of the releases ${tags.join(' and ')} has an asset ${name}, and others were not searched`;
  return new DeliveryError('NOT_FOUND', message, {
    hint: (w) =>
      `set ${w.input('tag')} to the release that it was delivered to, or ${w.input('channel', 'K1')} if it is on the Pages site`,
  });
}

/** The newest first: where the default tag's release is immutable, deliveries go to that with the next number. */
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

async function removeAsset(
  { asset, beside, release, otherTags }: ChosenAsset,
  name: string,
  github: GitHubClient,
  clock: Pick<Clock, 'now'>,
): Promise<Placement> {
  const leftovers = beside.filter((one) => isQuiet(one, clock));
  for (const one of [...leftovers, asset]) await deleteAsset(github, release, one);
  const inUse = beside.filter((one) => !leftovers.includes(one));
  return {
    evidence: `asset ${asset.id} (${asset.name}) is deleted`,
    url: new URL(asset.browser_download_url),
    file: null,
    plan: { destination: `release ${release.tag_name}, asset ${name}` },
    written: true,
    notes: otherTags.map(
      (other) => `an asset ${name} is also in the release ${other}: name that tag to withdraw it`,
    ),
    unknown: inUse.map((one) => `whether another job publishes ${name} again: it has ${one.name} there`),
  };
}

/**
 * Chooses among the assets of the name: the one with the file's own bytes, else the newest one of ours. Only an owned
 * asset is removed, or any finished one with `overwrite`. A killed replacement may have left no more than interim
 * names; those that are not quiet are another job's.
 */
function chooseAsset(
  { name, file }: AssetRemoval,
  listed: readonly FoundAsset[],
  overwrite: boolean,
  clock: Pick<Clock, 'now'>,
): ChosenAsset | null {
  const found = listed.filter(({ asset }) => asset.name === name);
  const interim = listed.filter(({ asset }) => isInterim(asset, name) && !isUnfinished(asset));
  const hasBytes = ({ asset }: FoundAsset): boolean => hasDigestOf(asset, file);
  const isOwned = (one: FoundAsset): boolean =>
    hasBytes(one) || (isOwnRelease(one.release) && hasOwnLabel(one.asset));
  const candidates = found.length > 0 ? found : interim;
  const chosen = candidates.find(hasBytes) ?? candidates.find(isOwned) ?? candidates[0];
  if (chosen === undefined) return null;
  const { release, asset } = chosen;
  if (isUnfinished(asset) || (candidates === interim && !isQuiet(asset, clock)))
    throw unfinishedError(asset.name, release.tag_name, true);
  if (release.immutable === true || !(isOwned(chosen) || overwrite)) throw keptError(name, release);
  const others = found.filter((one) => one.release !== release);
  return {
    ...chosen,
    beside: interim.flatMap((one) => (one.release === release && one.asset !== asset ? [one.asset] : [])),
    otherTags: others.map((one) => one.release.tag_name),
  };
}

/** Nobody can delete an asset of an immutable release; of another release, nobody may delete what is not theirs. */
function keptError(name: string, { tag_name: tag, immutable }: Release): DeliveryError {
  if (immutable === true) {
    const message = `the release ${tag} is immutable: its asset ${name} can't be deleted`;
    return new DeliveryError('FORBIDDEN_BY_RULE', message, {
      hint: 'delete the whole release by hand on its page, if nobody needs it; its tag can never be used again then',
    });
  }
  return new DeliveryError('NOT_OURS', `nothing shows that the asset ${name} of release ${tag} is yours`, {
    hint: (w) =>
      `give the file with the same bytes as ${w.input('file')}, or set ${w.input('overwrite', 'true')}`,
  });
}
