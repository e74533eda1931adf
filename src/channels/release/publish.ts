import { basename } from 'node:path';
import { forEachItem } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf, toDeliveryError } from '../../errors.ts';
import { getTagCommit } from '../../github/api/history.ts';
import { type Asset, formatLabel, isUnfinished } from '../../github/api/releases.ts';
import { type RepositoryContext, requireGitHub } from '../../github/api/repository.ts';
import { lineIf } from '../../plain-text.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import { assetName, flatName } from '../../rules/naming.ts';
import {
  type Channel,
  type ChannelItem,
  type FailedFile,
  type Placement,
  type PreparedTask,
  requireSite,
} from '../channel.ts';
import { pageCheck } from '../host-rules.ts';
import { SentWrites } from '../sent-writes.ts';
import {
  type AssetTask,
  assetExistsError,
  hasDigestOf,
  mayReplace,
  type PlacedAsset,
  type PlacedFiles,
  planAsset,
} from './asset.ts';
import { uploadFiles } from './asset-upload.ts';
import { describeTagCommit, findQuietDrafts, NewRelease, openDraft, sweepDrafts } from './new-release.ts';
import { chooseRelease, type ReleaseBatch, type ReleaseOptions } from './release-choice.ts';

/** K2: uploads files as assets of the tag's release. @see protocol 4.3 */
export function createReleasePublisher(
  options: ReleaseOptions,
  access: RepositoryContext,
  ports: Ports,
): Channel<PreparedTask & AssetTask> {
  const toBatch = (tasks: readonly AssetTask[], absent?: FailedFile): ReleaseBatch => ({
    ...options,
    github: requireGitHub(access),
    tasks,
    absent,
  });
  return {
    prepare: (items) => forEachItem(items, (item) => prepareAsset(item, options, access)),
    preview: (tasks, absent) => previewAssets(toBatch(tasks, absent), ports),
    async perform(tasks, absent) {
      const batch = toBatch(tasks, absent);
      await sweepDrafts(batch, ports);
      const placed = await uploadAssets(batch, ports);
      const commit = await readTag(placed, batch);
      return forEachItem(batch.tasks, async (task) => {
        const result = placed.get(task) ?? new DeliveryError('INTERNAL', 'the file was not uploaded');
        if (hasFailed(result)) throw result;
        return placementOfAsset(result, task, batch, commit);
      });
    },
  };
}

async function prepareAsset(item: ChannelItem, options: ReleaseOptions, access: RepositoryContext) {
  const { tag, path, defaultFolder } = options;
  requireGitHub(access);
  const { entry: file } = requireSite(item);
  if (access.privateRepository === true) {
    const message = "the repository is private, and its assets can't be read anonymously";
    throw new DeliveryError('NOT_EXTERNAL', message, {
      hint: (w) =>
        `set ${w.input('repository')} to a public one${w.orUse('K1', ' with a public site')}${w.orUse('K3')}`,
    });
  }
  const id = path === undefined && defaultFolder !== undefined ? `-${basename(defaultFolder)}` : '';
  const originalName = flatName(item.name).replace(/\.|$/, (end) => id + end);
  const name = await assetName(originalName);
  const plan = planAsset(tag, name, 'one asset upload', 'downloads');
  return { plan, file, name, originalName };
}

async function previewAssets(batch: ReleaseBatch, ports: Ports): Promise<readonly Result<string>[]> {
  const { settled, pending, release, tag, assets } = await chooseRelease(batch);
  const isNew = release === null && pending.length > 0;
  const quiet = await findQuietDrafts(batch, ports, isNew ? tag : undefined);
  const reason = tag === batch.tag ? '' : `the release ${batch.tag} is immutable, so `;
  const deleted = quiet.map(({ id }) => `; the draft ${id} of an earlier run would be deleted`).join('');
  const news = `${reason}the release ${tag} would be created as a draft, and published with all its files${isNew && !batch.tagIsDefault ? await previewTag(batch) : ''}`;
  const describe = (task: AssetTask): Result<string> => {
    const result = settled.get(task);
    if (result !== undefined) {
      return hasFailed(result) ? result : describeStored(result.asset, result.release.tag_name);
    }
    const { name, file } = task;
    const existing = assets.find((asset) => asset.name === name);
    if (isNew) return news;
    if (existing === undefined) return `the asset ${name} would be added to the release ${tag}`;
    if (isUnfinished(existing)) return `this would wait until another job has uploaded ${name}`;
    if (hasDigestOf(existing, file)) return describeStored(existing, tag);
    return mayReplace(existing, batch)
      ? `the asset ${name} would be replaced`
      : assetExistsError(name, tag, existing);
  };
  return batch.tasks.map(describe).map((preview) => (hasFailed(preview) ? preview : preview + deleted));
}

async function previewTag({ github, tag, commit }: ReleaseBatch): Promise<string> {
  const existing = await getTagCommit(github, tag);
  return `; the tag ${existing === null ? 'would be made' : 'is'} ${describeTagCommit(existing ?? commit)}`;
}

const describeStored = ({ id, name }: Asset, tag: string): string =>
  `asset ${id} (${name}) of the release ${tag} already holds these bytes`;

/**
 * A new release is published only with all its files. If another job takes the tag first, the release is chosen again,
 * and the same draft is published with the next free number.
 */
async function uploadAssets(batch: ReleaseBatch, ports: Ports): Promise<PlacedFiles> {
  const placed = new Map<AssetTask, Result<PlacedAsset>>();
  const add = (some: PlacedFiles): void => {
    for (const [task, result] of some) placed.set(task, result);
  };
  const takenTags = new Set<string>();
  const drafts = new SentWrites();
  let rest = batch;
  let made: NewRelease | null = null;
  try {
    for (;;) {
      const isAgain = made !== null;
      const choice = await withRetries(ports, () => chooseRelease(rest, takenTags, isAgain), batch.timeout);
      const { settled, pending, release, assets, tag } = choice;
      add(settled);
      rest = { ...rest, tasks: pending };
      if (made !== null && (release !== null || settled.size > 0)) {
        await made.discard();
        made = null;
      }
      if (release !== null) add(await uploadFiles(pending, { ...rest, release, assets }, ports));
      if (release !== null || pending.length === 0) return placed;
      if (made === null) {
        made = new NewRelease(await openDraft(rest, tag, drafts, ports), rest, ports);
        await made.fill();
      }
      const published = await made.publishUnder(tag, takenTags);
      add(published ?? new Map());
      if (published !== null) return placed;
      ports.logger.info(`the tag ${tag} is taken`);
    }
  } catch (thrown) {
    const failure =
      made === null
        ? drafts.explain(thrown, [`perhaps a draft of the release ${rest.tag}, which is not public`])
        : toDeliveryError(thrown).withLeftBehind(await made.discard());
    for (const task of rest.tasks) placed.set(task, failure);
    return placed;
  }
}

/** @returns the commit of a named tag; `null` if it can't be read */
async function readTag(placed: PlacedFiles, batch: ReleaseBatch): Promise<string | null> {
  const { github, tag, tagIsDefault } = batch;
  const isPlaced = [...placed.values()].some((result) => !hasFailed(result));
  const commit = tagIsDefault || !isPlaced ? null : await resultOf(() => getTagCommit(github, tag));
  return hasFailed(commit) ? null : commit;
}

function placementOfAsset(
  { asset, release, written, replaced = false }: PlacedAsset,
  { file, originalName }: AssetTask,
  { github, tag: wantedTag, tagIsDefault, soleDeliverer: deliverer }: ReleaseBatch,
  commit: string | null,
): Placement {
  const { owner, repo } = github.repository;
  const what = `asset ${asset.id} (${asset.name})`;
  const tag = release.tag_name;
  const command = `gh release verify-asset ${tag} ${asset.name} --repo ${owner}/${repo}`;
  return {
    evidence: `${what} ${written ? 'holds these bytes' : 'had these bytes before this delivery'}`,
    first: pageCheck(new URL(asset.browser_download_url), { is: 'bytes', file }),
    plan: {
      destination: `release ${tag}${commit === null ? '' : ` at commit ${commit}`}, asset ${asset.name}`,
    },
    written,
    replaced,
    notes: [
      ...lineIf(
        asset.name !== originalName,
        `the asset is named ${asset.name}; its label is ${formatLabel(originalName, deliverer)}`,
      ),
      ...lineIf(tag !== wantedTag, `the release ${wantedTag} can't be used, so it is in ${tag}`),
      ...lineIf(
        release.immutable === true,
        `the release is immutable: anybody can verify a download with \`${command}\`; its digest is ${asset.digest ?? 'unknown'}`,
      ),
      'a release asset is downloaded, never shown on the screen',
    ],
    unknown: [
      ...lineIf(asset.digest == null, 'GitHub gave no digest of the asset; only the download verifies it'),
      ...lineIf(commit === null && !tagIsDefault, `which commit the tag ${tag} is at`),
    ],
  };
}
