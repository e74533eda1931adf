import { forEachItem } from '../../async.ts';
import { DeliveryError, hasFailed, type Result } from '../../errors.ts';
import { type Asset, formatLabel, getDownloadUrl, isUnfinished } from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { assetName, flatName } from '../../rules/naming.ts';
import type { AbsentFile, ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { type AssetTask, assetExistsError, hasDigestOf, uploadFiles } from './asset.ts';
import { readDrafts } from './draft.ts';
import { createRelease } from './new-release.ts';
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
      const batch = toBatch(tasks, absent);
      const placed = await uploadAssets(batch, new Set(), ports);
      return tasks.map((task) => {
        const result = resultFor(task, placed) as Result<PlacedAsset>;
        return hasFailed(result) ? result : placementOfAsset(result, task.data, batch);
      });
    },
  };
}

const resultFor = (task: AssetTasks[number], results: readonly PlacedResult[]) =>
  results.find(({ item }) => item === task)?.result;

async function prepareAsset(
  { site, name: wanted }: ChannelItem,
  { tag }: ReleaseOptions,
  access: RepositoryAccess,
): Promise<PreparedTask<AssetTask>> {
  requireGitHub(access, 'K2');
  if (site === null) {
    throw new DeliveryError('BAD_INPUT', 'channel K2 needs a file to upload', { hint: 'name a file' });
  }
  if (access.repository.privateRepository === true) {
    throw new DeliveryError(
      'NOT_EXTERNAL',
      "the repository is private, and its assets can't be read anonymously",
      {
        hint: (w) =>
          `set ${w.input('repository')} to a public one${w.orUse('K1', ' with a public site')}${w.orUse('K3')}`,
      },
    );
  }
  const originalName = flatName(wanted);
  const name = await assetName(originalName);
  return {
    plan: {
      channel: 'K2',
      method: 'one asset upload',
      destination: `release ${tag}, asset ${name}`,
      name,
      claim: 'downloads',
    },
    data: { file: site.entry.file, name, originalName },
  };
}

async function previewAssets(batch: ReleaseBatch, ports: Ports): Promise<readonly Result<string>[]> {
  const choice = await chooseRelease(batch);
  const { done, open, release, tag } = choice;
  const isNew = release === null && open.length > 0;
  const news = isNew ? await describeNew(tag, { ...batch, tasks: open }, ports) : null;
  return batch.tasks.map((task) => {
    const result = resultFor(task, done);
    if (result === undefined) return news ?? describeAdded(task.data, choice, batch);
    return hasFailed(result) ? result : describePresent(result.asset, result.release.tag_name);
  });
}

const describePresent = ({ id, name }: Asset, tag: string): string =>
  `asset ${id} (${name}) of the release ${tag} already holds these bytes`;

async function describeNew(tag: string, batch: ReleaseBatch, ports: Ports): Promise<string> {
  const { leftovers } = await readDrafts(batch, tag, ports);
  const reason = tag === batch.tag ? '' : `the release ${batch.tag} is immutable, so `;
  const deleted = leftovers.map(({ id }) => `; the draft ${id} of an earlier run would be deleted`).join('');
  return `${reason}the release ${tag} would be created as a draft, and published with all its files${deleted}`;
}

function describeAdded(
  { name, file }: AssetTask,
  { tag, assets }: ReleaseChoice,
  { overwrite }: ReleaseBatch,
): Result<string> {
  const existing = assets.find((asset) => asset.name === name);
  if (existing === undefined) return `the asset ${name} would be added to the release ${tag}`;
  if (isUnfinished(existing)) return `the end of another job's upload of ${name} would be waited for`;
  if (hasDigestOf(existing, file)) return describePresent(existing, tag);
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
  if (release === null) {
    const placed = await createRelease(rest, tag, takenTags, ports);
    return [...done, ...(placed ?? (await uploadAssets(rest, takenTags, ports)))];
  }
  const uploads = await uploadFiles(open, { ...batch, release, assets }, { stopsAtFailure: false }, ports);
  const added = uploads.map(({ item, result }) => ({
    item,
    result: hasFailed(result) ? result : { ...result, release },
  }));
  return [...done, ...added];
}

function placementOfAsset(
  { asset, release, written, confirmed }: PlacedAsset,
  { originalName }: AssetTask,
  { github, tag: wantedTag }: ReleaseBatch,
): Placement {
  const { owner, repo } = github.repository;
  const what = `asset ${asset.id} (${asset.name})`;
  const tag = release.tag_name;
  const command = `gh release verify-asset ${tag} ${asset.name} --repo ${owner}/${repo}`;
  return {
    evidence: confirmed ? `HTTP 201, ${what}` : `${what} holds these bytes`,
    url: getDownloadUrl(github, asset),
    ...(tag === wantedTag ? {} : { destination: `release ${tag}, asset ${asset.name}` }),
    written,
    notes: [
      ...(asset.name === originalName
        ? []
        : [`the asset is named ${asset.name}; its label is ${formatLabel(originalName)}`]),
      ...(tag === wantedTag ? [] : [`the release ${wantedTag} can't be used, so it is in ${tag}`]),
      ...(release.immutable === true
        ? [
            `the release is immutable; anybody can check the downloaded asset by \`${command}\`, its digest is ${asset.digest ?? 'unknown'}`,
          ]
        : []),
      'a release asset is downloaded, never shown on the screen',
    ],
    unknown:
      asset.digest == null ? ['the host gave no digest of the asset; only the download proves it'] : [],
  };
}
