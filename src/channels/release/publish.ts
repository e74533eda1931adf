import { forEachItem, type ItemResult } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, toDeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { type Asset, formatLabel, getDownloadUrl, isUnfinished } from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { assetName, flatName } from '../../rules/naming.ts';
import type { AbsentFile, ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { type AssetTask, assetExistsError, hasSameContent, type ReleaseState } from './asset.ts';
import { type EarlierDrafts, readDrafts } from './draft.ts';
import { createRelease, uploadFiles } from './new-release.ts';
import {
  chooseRelease,
  type PlacedAsset,
  type PlacedResult,
  type ReleaseBatch,
  type ReleaseChoice,
  type ReleaseOptions,
} from './release-choice.ts';

type AssetTasks = readonly PreparedTask<AssetTask>[];

/** K2: uploads files as assets of the tag's release. @see protocol 4.3 */
export function createReleasePublisher(
  options: ReleaseOptions,
  access: RepositoryAccess,
  ports: Ports,
): ChannelAction<AssetTask> {
  const toBatch = (tasks: AssetTasks, absent?: AbsentFile): ReleaseBatch => ({
    ...options,
    github: requireGitHub(access, 'K2'),
    tasks,
    absent,
  });
  return {
    prepare: (items) => forEachItem(items, (item) => prepareAsset(item, options, access)),
    preview: (tasks, absent) => previewAssets(toBatch(tasks, absent), ports),
    async perform(tasks, absent) {
      const placed = await uploadAssets(toBatch(tasks, absent), new Set(), ports);
      return placed.map((one) => toPlacement(one, options.tag));
    },
  };
}

async function prepareAsset(
  { file, name: wanted }: ChannelItem,
  { tag, overwrite }: ReleaseOptions,
  access: RepositoryAccess,
): Promise<PreparedTask<AssetTask>> {
  const github = requireGitHub(access, 'K2');
  if (file === null) {
    throw new DeliveryError('BAD_INPUT', 'channel K2 needs a file to upload', { hint: 'name a file' });
  }
  if (access.repository.privateRepository === true) {
    throw new DeliveryError(
      'NOT_EXTERNAL',
      "the repository is private, and its assets can't be read anonymously",
      {
        hint: (w) =>
          `set ${w.input('repository')} to a public one, or ${w.use('K1')} with a public site, or ${w.use('K3')}`,
      },
    );
  }
  const originalName = flatName(wanted);
  const name = await assetName(originalName);
  const label = formatLabel(originalName);
  return {
    plan: {
      channel: 'K2',
      method: 'one asset upload',
      destination: `release ${tag}, asset ${name}`,
      name,
      claim: 'downloads',
    },
    data: { tag, overwrite, github, file, name, label, originalName },
  };
}

async function previewAssets(
  batch: ReleaseBatch,
  ports: Ports,
): Promise<readonly ItemResult<AssetTasks[number], string>[]> {
  const choice = await chooseRelease(batch);
  const { done, open, release, tag } = choice;
  const isNew = release === null && open.length > 0;
  const drafts = isNew ? await readDrafts({ ...batch, tasks: open }, tag, ports) : null;
  return [
    ...done.map(({ item, result }) => ({
      item,
      result: hasFailed(result) ? result : describePresent(result.asset, result.release.tag_name),
    })),
    ...open.map((item) => ({
      item,
      result: drafts === null ? describeAdded(item.data, choice) : describeNew(tag, batch.tag, drafts),
    })),
  ];
}

const describePresent = ({ id, name }: Asset, tag: string): string =>
  `asset ${id} (${name}) of the release ${tag} already holds these bytes`;

function describeNew(tag: string, wantedTag: string, { leftovers }: EarlierDrafts): string {
  const reason = tag === wantedTag ? '' : `the release ${wantedTag} is immutable, so `;
  const deleted = leftovers.map(({ id }) => `; the draft ${id} of an earlier run would be deleted`).join('');
  return `${reason}the release ${tag} would be created as a draft, and published with all its files${deleted}`;
}

function describeAdded({ name, file, overwrite }: AssetTask, { tag, assets }: ReleaseChoice): Result<string> {
  const existing = assets.find((asset) => asset.name === name);
  if (existing === undefined) return `the asset ${name} would be added to the release ${tag}`;
  if (isUnfinished(existing)) return `the end of another job's upload of ${name} would be waited for`;
  if (hasSameContent(existing, file, false)) return describePresent(existing, tag);
  return overwrite ? `the asset ${name} would be replaced` : assetExistsError(name, tag, existing);
}

/** Chooses the release and uploads. Where another job was faster, the files that are left go on from the choice. */
async function uploadAssets(
  batch: ReleaseBatch,
  takenTags: Set<string>,
  ports: Ports,
): Promise<readonly PlacedResult[]> {
  const { done, open, release, assets, tag } = await chooseRelease(batch, takenTags);
  if (open.length === 0) return done;
  const rest = { ...batch, tasks: open };
  const placed =
    release === null
      ? await createRelease(rest, tag, takenTags, ports)
      : await addToRelease({ release, assets }, open, ports);
  return [...done, ...(placed ?? (await uploadAssets(rest, takenTags, ports)))];
}

/** Adds files to a release that is published and can be changed. */
async function addToRelease(
  state: ReleaseState,
  tasks: AssetTasks,
  ports: Ports,
): Promise<readonly PlacedResult[]> {
  const uploads = await uploadFiles(tasks, state, { stopsAtFailure: false }, ports);
  return uploads.map(({ item, result }) => ({
    item,
    result: hasFailed(result) ? result : { ...result, release: state.release },
  }));
}

function toPlacement(
  { item, result }: PlacedResult,
  wantedTag: string,
): ItemResult<AssetTasks[number], Placement> {
  try {
    return { item, result: hasFailed(result) ? result : assetPlacement(result, item.data, wantedTag) };
  } catch (thrown) {
    return { item, result: toDeliveryError(thrown) };
  }
}

function assetPlacement(
  placed: PlacedAsset,
  { github, label, originalName }: AssetTask,
  wantedTag: string,
): Placement {
  const { asset, release, written, confirmed } = placed;
  const what = `asset ${asset.id} (${asset.name})`;
  const tag = release.tag_name;
  return {
    evidence: confirmed ? `HTTP 201, ${what}` : `${what} holds these bytes`,
    url: getDownloadUrl(github, asset),
    ...(tag === wantedTag ? {} : { destination: `release ${tag}, asset ${asset.name}` }),
    written,
    notes: [
      ...(asset.name === originalName ? [] : [`the asset is named ${asset.name}; its label is ${label}`]),
      ...(tag === wantedTag ? [] : [`the release ${wantedTag} can't be used, so it is in ${tag}`]),
      ...(release.immutable === true ? [describeImmutable(placed, github)] : []),
      'a release asset is downloaded, never shown on the screen',
    ],
    unknown:
      asset.digest == null ? ['the host gave no digest of the asset; only the download proves it'] : [],
  };
}

function describeImmutable(
  { asset, release }: PlacedAsset,
  { repository: { owner, repo } }: GitHubClient,
): string {
  const command = `gh release verify-asset ${release.tag_name} ${asset.name} --repo ${owner}/${repo}`;
  return `the release is immutable; anybody can check the downloaded asset by \`${command}\`, its digest is ${asset.digest ?? 'unknown'}`;
}
