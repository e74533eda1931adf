import { DeliveryError, hasFailed, type Result, toDeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { type Asset, formatLabel, getDownloadUrl, type Release } from '../../github/api/releases.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import { QUIET_DRAFT, RELEASE_RESTARTS } from '../../protocol/limits.ts';
import { assetName, flatName } from '../../rules/naming.ts';
import type { AbsentFile, ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import { type AssetTask, assetExistsError, hasSameContent } from './asset.ts';
import { type EarlierDrafts, findEarlierDrafts } from './draft.ts';
import {
  createRelease,
  type NewReleaseContext,
  type PlacedAsset,
  type PlacedResult,
  unpublishedError,
} from './new-release.ts';
import {
  chooseRelease,
  findWithoutRoom,
  noRoomError,
  type ReleaseBatch,
  type ReleaseChoice,
  refuseBranchName,
} from './release-choice.ts';
import { createUploadWait, isUnfinished } from './unfinished.ts';
import { uploadFiles } from './uploads.ts';

export interface ReleaseOptions {
  readonly tag: string;
  readonly overwrite: boolean;
  /** The workflow and job that delivers; empty outside of one. */
  readonly job: string;
  /** Whether no tag was named. */
  readonly tagIsDefault: boolean;
  /** The instance's web address, below which assets are downloaded. */
  readonly serverUrl: URL;
  /** Milliseconds between requests, and for waiting. */
  readonly interval: number;
  readonly timeout: number;
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
    prepare: (items) => forEachItem(items, (item) => prepareAsset(item, options, access)),
    preview: (tasks, absent) => previewAssets(tasks, options, absent),
    perform: (tasks, absent) => uploadAssets(tasks, { ...options, absent }, ports),
  };
}

async function prepareAsset(
  { file, name: wanted }: ChannelItem,
  { tag, overwrite }: ReleaseOptions,
  access: RepositoryAccess,
): Promise<PreparedTask<AssetTask>> {
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
  tasks: AssetTasks,
  { job, tagIsDefault }: ReleaseOptions,
  absent: AbsentFile | undefined,
): Promise<readonly ItemResult<AssetTasks[number], string>[]> {
  const [first] = tasks;
  if (first === undefined) return [];
  const { github, tag } = first.data;
  await refuseBranchName(github, tag);
  const batch = { github, job, tag, tagIsDefault, tasks };
  const choice = await chooseRelease(batch);
  const open = tasks.filter((task) => !choice.present.has(task));
  const isNew = choice.release === null && choice.refusal === null && open.length > 0;
  const drafts = isNew ? await findEarlierDrafts({ ...batch, tasks: open }, choice.tag) : NO_DRAFTS;
  const withoutRoom = findWithoutRoom(choice, open);
  return tasks.map((item) => {
    const present = choice.present.get(item);
    if (present !== undefined)
      return { item, result: describePresent(present.asset, present.release.tag_name) };
    if (choice.refusal !== null) return { item, result: choice.refusal };
    if (isNew && absent !== undefined) return { item, result: unpublishedError(absent, []) };
    if (withoutRoom.includes(item)) return { item, result: noRoomError(choice.tag, choice.assets.length) };
    return {
      item,
      result:
        choice.release === null ? describeNew(choice.tag, tag, drafts) : describeAdded(item.data, choice),
    };
  });
}

const describePresent = ({ id, name }: Asset, tag: string): string =>
  `asset ${id} (${name}) of the release ${tag} already holds these bytes`;

const NO_DRAFTS: EarlierDrafts = { continued: undefined, outdated: [] };

function describeNew(tag: string, wantedTag: string, { continued, outdated }: EarlierDrafts): string {
  const reason = tag === wantedTag ? '' : `the release ${wantedTag} is immutable, so `;
  const deleted = outdated.map(({ id }) => `; the draft ${id} of an earlier run would be deleted`).join('');
  return continued === undefined
    ? `${reason}the release ${tag} would be created as a draft, and published with all its files${deleted}`
    : `${reason}the draft ${continued.id} of an earlier run would be completed and published as release ${tag}${deleted}`;
}

function describeAdded({ name, file, overwrite }: AssetTask, { tag, assets }: ReleaseChoice): Result<string> {
  const existing = assets.find((asset) => asset.name === name);
  if (existing === undefined) return `the asset ${name} would be added to the release ${tag}`;
  if (isUnfinished(existing)) return `the end of another job's upload of ${name} would be waited for`;
  if (hasSameContent(existing, file, false)) return describePresent(existing, tag);
  return overwrite ? `the asset ${name} would be replaced` : assetExistsError(name, tag, existing);
}

function computeQuietTime(interval: number): number {
  const { intervals, shortest, longest } = QUIET_DRAFT;
  return Math.min(Math.max(intervals * interval, shortest), longest);
}

/** Chooses the release, and starts again where another job was faster. */
async function uploadAssets(
  tasks: AssetTasks,
  {
    job,
    tagIsDefault,
    interval,
    timeout,
    absent,
  }: ReleaseOptions & {
    readonly absent: AbsentFile | undefined;
  },
  ports: Ports,
): Promise<readonly ItemResult<AssetTasks[number], Placement>[]> {
  const [first] = tasks;
  if (first === undefined) return [];
  const { github, tag } = first.data;
  await refuseBranchName(github, tag);
  const waitForUpload = createUploadWait({ interval, timeout }, ports);
  const takenTags = new Set<string>();
  const done: PlacedResult[] = [];
  let open = tasks;
  for (let start = 0; start < RELEASE_RESTARTS; start += 1) {
    const batch = { github, job, tag, tagIsDefault, tasks: open };
    const choice = await chooseRelease(batch, takenTags);
    done.push(...presentResults(choice));
    open = open.filter((task) => !choice.present.has(task));
    const rest = { ...batch, tasks: open };
    // Only at the first start: two deliveries that delete each other's drafts again and again would never end.
    const quietTime = start === 0 ? computeQuietTime(interval) : null;
    const results = await uploadTo(choice, rest, { takenTags, waitForUpload, quietTime, absent }, ports);
    if (results !== null) return [...done, ...results].map((one) => toPlacement(one, tag));
  }
  const failure = restartError(tag);
  return [...done, ...open.map((item) => ({ item, result: failure }))].map((one) => toPlacement(one, tag));
}

const presentResults = ({ present }: ReleaseChoice): readonly PlacedResult[] =>
  [...present].map(([item, { asset, release }]) => ({
    item,
    result: { asset, release, written: false, confirmed: false },
  }));

/** Uploads to the release that was chosen, or makes it; `null` where another one has to be chosen. */
async function uploadTo(
  choice: ReleaseChoice,
  batch: ReleaseBatch,
  context: Omit<NewReleaseContext, 'firstTag'> & { readonly absent: AbsentFile | undefined },
  ports: Ports,
): Promise<readonly PlacedResult[] | null> {
  const { refusal, release, tag } = choice;
  if (batch.tasks.length === 0) return [];
  if (refusal !== null) return batch.tasks.map((item) => ({ item, result: refusal }));
  if (release !== null) return addToRelease({ ...choice, release }, batch.tasks, context, ports);
  const { absent } = context;
  if (absent !== undefined)
    return batch.tasks.map((item) => ({ item, result: unpublishedError(absent, []) }));
  if (tag !== batch.tag) await refuseBranchName(batch.github, tag);
  return createRelease(batch, { ...context, firstTag: tag }, ports);
}

/** Adds files to a release that is published and can be changed. */
async function addToRelease(
  { release, assets, tag }: ReleaseChoice & { readonly release: Release },
  tasks: AssetTasks,
  { waitForUpload }: Pick<NewReleaseContext, 'waitForUpload'>,
  ports: Ports,
): Promise<readonly PlacedResult[]> {
  const withoutRoom = findWithoutRoom({ assets }, tasks);
  const fitting = tasks.filter((task) => !withoutRoom.includes(task));
  const state = { release, assets, waitForUpload };
  const uploads = await uploadFiles(fitting, state, { stopsAtFailure: false }, ports);
  return [
    ...withoutRoom.map((item) => ({ item, result: noRoomError(tag, assets.length) })),
    ...uploads.map(({ item, result }) => ({
      item,
      result: hasFailed(result) ? result : { ...result, release },
    })),
  ];
}

function restartError(tag: string): DeliveryError {
  return new DeliveryError('CONFLICT', `other jobs changed the release ${tag} again and again`, {
    hint: 'run the step again, or set `tag:` to another one',
  });
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
    bypassCache: false,
    hostMayChangeBytes: false,
    mustBeExternal: false,
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
