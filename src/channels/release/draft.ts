import { createHash, randomUUID } from 'node:crypto';
import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, toDeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  createDraft,
  deleteDraft,
  getRelease,
  hasOwnLabel,
  isUnfinished,
  listAssets,
  listReleases,
  RELEASE_BODY,
  type Release,
} from '../../github/api/releases.ts';
import type { Clock, Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import { isQuiet } from './asset.ts';
import type { ReleaseBatch } from './release-choice.ts';

/**
 * The text of a draft: its last line names the delivery and the run. So a run finds its own draft after an answer
 * that was lost, a later run of the same delivery knows what may be deleted, and those of other jobs are left alone.
 */
function formatDraftBody(batch: ReleaseBatch, tag: string): string {
  return `${RELEASE_BODY}\nDelivery: ${hashDelivery(batch, tag)} ${randomUUID()}`;
}

const DRAFT_LINE = /^\nDelivery: ([0-9a-f]{32}) [0-9a-f-]{36}$/;

/** Names a delivery, the job and the names of its files; and the tag of this draft, which somebody may change. */
function hashDelivery({ job, tasks }: ReleaseBatch, tag: string): string {
  const lines = [job, tag, ...tasks.map(({ name }) => name).sort()];
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 32);
}

/** The delivery that a draft names; `null` where its text or its title is not as a run of this tool wrote it. */
function deliveryOf({ name, tag_name, body }: Release): string | null {
  if (name !== tag_name || body?.startsWith(RELEASE_BODY) !== true) return null;
  return DRAFT_LINE.exec(body.slice(RELEASE_BODY.length))?.[1] ?? null;
}

/** Whether a run of this delivery wrote the text and the title, and nobody has changed them. */
export const hasDraftText = (draft: Release, batch: ReleaseBatch): boolean =>
  deliveryOf(draft) === hashDelivery(batch, draft.tag_name);

/** The assets of a draft that is as a run of this delivery made it; `null` for any other, which is somebody else's. */
async function listOwnAssets(
  github: GitHubClient,
  draft: Release,
  batch: ReleaseBatch,
): Promise<readonly Asset[] | null> {
  if (!hasDraftText(draft, batch)) return null;
  const names = new Set(batch.tasks.map(({ name }) => name));
  const assets = await listAssets(github, draft);
  const isOwn = (asset: Asset) => hasOwnLabel(asset) || (isUnfinished(asset) && names.has(asset.name));
  return assets.every(isOwn) ? assets : null;
}

/**
 * Whether a run of this delivery made a draft, and nothing has changed in it for so long that no job fills it any
 * more, by the host's times. Its `created_at` is that of a commit.
 */
async function isLeftover(draft: Release, batch: ReleaseBatch, clock: Pick<Clock, 'now'>): Promise<boolean> {
  const assets = await listOwnAssets(batch.github, draft, batch);
  return assets?.every((one) => isQuiet(one, clock)) === true && isQuiet(draft, clock);
}

/**
 * Reads the drafts that matter for a new release.
 *
 * @param usedTag the tag under which the delivery is to be published
 * @returns all drafts, and those that killed runs of the same delivery left, for whichever tag
 * @throws {DeliveryError} `NOT_OURS` where somebody prepares a release for that tag: only one can be published.
 */
export async function readDrafts(batch: ReleaseBatch, usedTag: string, { clock }: Pick<Ports, 'clock'>) {
  const drafts = (await listReleases(batch.github)).filter(({ draft }) => draft);
  const foreign = drafts.find((one) => one.tag_name === usedTag && deliveryOf(one) === null);
  if (foreign !== undefined) throw foreignDraftError(foreign);
  const leftovers: Release[] = [];
  for (const one of drafts) if (await isLeftover(one, batch, clock)) leftovers.push(one);
  return { drafts, leftovers };
}

function foreignDraftError({ id, tag_name }: Release): DeliveryError {
  const message = `somebody prepares a release for the tag ${tag_name} (the draft ${id}), which could not be published after this delivery`;
  return new DeliveryError('NOT_OURS', message, {
    hint: (w) =>
      `publish or delete that draft and try again, which adds the file to what is published, or set ${w.input('tag')} to another one`,
    leftBehind: [],
  });
}

/**
 * Creates a draft, after those that killed runs of the same delivery left are deleted. After an answer that was
 * lost, the list shows whether it was created.
 */
export async function openDraft(batch: ReleaseBatch, tag: string, ports: Ports): Promise<Release> {
  const body = formatDraftBody(batch, tag);
  return withRetries(ports, async () => {
    const { drafts, leftovers } = await readDrafts(batch, tag, ports);
    const made = drafts.find((one) => one.body === body);
    if (made !== undefined) return made;
    for (const left of leftovers) {
      ports.logger.info(`deleting the draft ${left.id}, which an earlier run of this delivery left`);
      await discardDraft(left, batch, ports);
    }
    return createDraft(batch.github, tag, body);
  });
}

/**
 * Deletes a draft, also after a stop, for a short time. It is read first: one that somebody has changed or published
 * is kept.
 *
 * @param mayDelete `false` where a request to publish it had no answer, so that it may be published at any moment
 * @returns what is left behind
 */
export async function discardDraft(
  draft: Release,
  batch: ReleaseBatch,
  ports: Ports,
  mayDelete = true,
): Promise<readonly string[]> {
  const github = batch.github.withSignal(withCleanupSignal(ports).signal);
  const left = [`the draft ${draft.id} of the release ${draft.tag_name}, which is not public`];
  try {
    const existing = await getRelease(github, draft.id);
    if (existing === null) return [];
    if (!existing.draft) return [`the release ${existing.tag_name}, which is published`];
    if (!mayDelete || (await listOwnAssets(github, existing, batch)) === null) return left;
    await deleteDraft(github, draft);
    return [];
  } catch (thrown) {
    ports.logger.warning(`could not delete the draft ${draft.id}: ${toDeliveryError(thrown).message}`);
    return left;
  }
}
