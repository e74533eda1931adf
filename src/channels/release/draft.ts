import { createHash } from 'node:crypto';
import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  createDraft,
  deleteDraft,
  listAssets,
  listReleases,
  RELEASE_BODY,
  type Release,
} from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import { type AssetTask, hasSameContent } from './asset.ts';
import { getTagNumber, type ReleaseBatch } from './release-choice.ts';
import { isUnfinished } from './unfinished.ts';

/** A draft that only this delivery fills. */
export interface OwnDraft {
  readonly draft: Release;
  readonly assets: readonly Asset[];
  /** Whether this run created it; else an earlier run of the same delivery did. */
  readonly isNew: boolean;
}

/**
 * The text of a draft. Its last line names the tag and the files with their bytes, so that a draft is continued
 * only by the same delivery, and those of other jobs are left alone.
 */
export function formatDraftBody({ tag, tasks }: Pick<ReleaseBatch, 'tag' | 'tasks'>): string {
  const files = tasks.map(({ data }) => `${data.name} ${data.file.sha256}`).sort();
  const id = createHash('sha256')
    .update([tag, ...files].join('\n'))
    .digest('hex')
    .slice(0, 32);
  return `${RELEASE_BODY}\nDelivery: ${id}`;
}

/** Drafts that earlier runs of the same delivery left, the oldest first; one that somebody changed is not ours. */
export async function findOwnDrafts(batch: ReleaseBatch): Promise<readonly Release[]> {
  const { github, tag, tagIsDefault, tasks } = batch;
  const body = formatDraftBody(batch);
  const files = new Map(tasks.map(({ data }) => [data.name, data]));
  const isOwnTag = (other: string) => (tagIsDefault ? getTagNumber(other, tag) !== null : other === tag);
  return (await listReleases(github))
    .filter((one) => one.draft && one.body === body && isOwnTag(one.tag_name))
    .filter(({ assets }) => assets.every((asset) => isOfDelivery(asset, files)))
    .sort((one, other) => one.id - other.id);
}

function isOfDelivery(asset: Asset, files: ReadonlyMap<string, AssetTask>): boolean {
  const task = files.get(asset.name);
  return task !== undefined && (isUnfinished(asset) || hasSameContent(asset, task.file, true));
}

/**
 * Continues the draft of an earlier run, or creates one. After an answer that was lost, the list shows whether
 * it was created.
 *
 * @param tag under which it is to be published
 */
export async function openDraft(batch: ReleaseBatch, tag: string, ports: Ports): Promise<OwnDraft> {
  const { github } = batch;
  return withRetries(ports, async () => {
    const [oldest, ...others] = await findOwnDrafts(batch);
    for (const other of others) await deleteDraft(github, other);
    if (oldest !== undefined) {
      ports.logger.info(`continuing the draft ${oldest.id} of an earlier run`);
      return { draft: oldest, assets: await listAssets(github, oldest), isNew: false };
    }
    const draft = await createDraft(github, tag, formatDraftBody(batch));
    return { draft, assets: [], isNew: true };
  });
}

/**
 * Compares what the host stored with the files, before anybody can see it.
 *
 * @throws {DeliveryError} `HOST_ERROR` or `NOT_OURS` with the asset that differs
 */
export async function checkDraft(
  { github, tasks }: Pick<ReleaseBatch, 'github' | 'tasks'>,
  draft: Release,
): Promise<void> {
  const assets = await listAssets(github, draft);
  const files = new Map(tasks.map(({ data }) => [data.name, data]));
  const foreign = assets.find((asset) => !files.has(asset.name));
  if (foreign !== undefined) {
    throw new DeliveryError('NOT_OURS', `somebody added ${foreign.name} to the draft of this delivery`, {
      hint: 'remove the draft on the page of releases, and run the step again',
    });
  }
  for (const { name, file } of files.values()) {
    const asset = assets.find((one) => one.name === name);
    if (asset !== undefined && !isUnfinished(asset) && hasSameContent(asset, file, true)) continue;
    throw new DeliveryError('HOST_ERROR', `the draft of the release does not hold ${name} with its bytes`, {
      hint: 'run the step again',
    });
  }
}

/** How a report names a draft that is left behind. */
export const describeDraft = ({ id, tag_name }: Release): string =>
  `the draft ${id} of the release ${tag_name}, which is not public`;

/**
 * Deletes the draft after a failure, also after a stop, for a short time. A draft that another run may use is
 * kept.
 *
 * @returns what is left behind
 */
export async function discardDraft(
  { draft, isNew }: OwnDraft,
  github: GitHubClient,
  ports: Ports,
): Promise<readonly string[]> {
  const kept = [describeDraft(draft)];
  if (!isNew) return kept;
  const cleanup = github.withSignal(withCleanupSignal(ports).signal);
  const deleted = await resultOf(() => deleteDraft(cleanup, draft));
  if (!hasFailed(deleted)) return deleted ? [] : [`the release ${draft.tag_name}, which is published`];
  ports.logger.warning(`could not delete the draft ${draft.id}: ${toDeliveryError(deleted).message}`);
  return kept;
}
