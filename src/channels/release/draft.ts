import { createHash } from 'node:crypto';
import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  createDraft,
  deleteDraft,
  hasOwnLabel,
  type ListedRelease,
  listAssets,
  listReleases,
  RELEASE_BODY,
  type Release,
} from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { SECOND } from '../../protocol/limits.ts';
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

type DraftBatch = Pick<ReleaseBatch, 'job' | 'tag' | 'tasks'>;

/**
 * The text of a draft. One line names the delivery: the job, the tag and the names of the files. The last line
 * names their bytes too. So a draft is continued only by the same delivery of the same bytes, it is replaced only
 * by the same delivery of other bytes, and those of other jobs are left alone.
 */
export function formatDraftBody(batch: DraftBatch): string {
  const files = batch.tasks.map(({ data }) => `${data.name} ${data.file.sha256}`);
  return `${formatBodyStart(batch)}${hashLines([batch.tag, ...files.sort()])}`;
}

function formatBodyStart({ job, tag, tasks }: DraftBatch): string {
  const names = tasks.map(({ data }) => data.name);
  return `${RELEASE_BODY}\nJob: ${hashLines([job, tag, ...names.sort()])}\nDelivery: `;
}

const hashLines = (lines: readonly string[]): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 32);

/** The drafts that earlier runs of a delivery left; one that somebody changed is not among them. */
export interface EarlierDrafts {
  /** The oldest one with the same bytes. */
  readonly continued: ListedRelease | undefined;
  /** All others: further ones, and those with other bytes, because the files have changed since. */
  readonly outdated: readonly ListedRelease[];
}

/**
 * @param usedTag the tag under which the delivery is to be published
 * @throws {DeliveryError} `NOT_OURS` where somebody prepares a release for that tag: only one can be published.
 */
export async function findEarlierDrafts(batch: ReleaseBatch, usedTag: string): Promise<EarlierDrafts> {
  const { github, tag, tagIsDefault, tasks } = batch;
  const body = formatDraftBody(batch);
  const files = filesOf(tasks);
  const isOwnTag = (other: string) => (tagIsDefault ? getTagNumber(other, tag) !== null : other === tag);
  const drafts = (await listReleases(github)).filter(({ draft }) => draft);
  const foreign = drafts.find((one) => one.tag_name === usedTag && !isDraftBody(one.body));
  if (foreign !== undefined) throw foreignDraftError(foreign);
  const own = drafts
    .filter((one) => one.name === one.tag_name)
    .filter((one) => isOwnTag(one.tag_name) && isOwnBody(one.body, batch))
    .filter(({ assets }) => assets.every((asset) => isOfDelivery(asset, files)))
    .sort((one, other) => one.id - other.id);
  const continued = own.find((one) => one.body === body && one.assets.every((asset) => holds(asset, files)));
  return { continued, outdated: own.filter((one) => one !== continued) };
}

/** @see design 4 */
function foreignDraftError({ id, tag_name }: Release): DeliveryError {
  const message = `somebody prepares a release for the tag ${tag_name} (the draft ${id}), which could not be published after this delivery`;
  return new DeliveryError('NOT_OURS', message, {
    hint: 'publish or delete that draft and run the step again, which adds the file to what is published, or set `tag:` to another one',
    leftBehind: [],
  });
}

/** Whether a job of this tool wrote the text, and nobody added to it; a browser sends other line breaks. */
function isDraftBody(body: Release['body']): boolean {
  const text = body?.replaceAll('\r\n', '\n').trim() ?? '';
  return text.startsWith(RELEASE_BODY) && DRAFT_LINES.test(text.slice(RELEASE_BODY.length));
}

const DRAFT_LINES = /^(?:\nJob: [0-9a-f]{32})?(?:\nDelivery:(?: [0-9a-f]{32})?)?$/;

function isOwnBody(body: Release['body'], batch: DraftBatch): boolean {
  const start = formatBodyStart(batch);
  return body?.startsWith(start) === true && /^[0-9a-f]{32}$/.test(body.slice(start.length));
}

const filesOf = (tasks: DraftBatch['tasks']): ReadonlyMap<string, AssetTask> =>
  new Map(tasks.map(({ data }) => [data.name, data]));

/** Whether this delivery uploads an asset under that name, with whatever bytes. */
const isOfDelivery = (asset: Asset, files: ReadonlyMap<string, AssetTask>): boolean =>
  files.has(asset.name) && (isUnfinished(asset) || hasOwnLabel(asset));

function holds(asset: Asset, files: ReadonlyMap<string, AssetTask>): boolean {
  const task = files.get(asset.name);
  return task !== undefined && (isUnfinished(asset) || hasSameContent(asset, task.file, true));
}

/** How a draft is opened. */
export interface DraftOptions {
  /** Under which it is to be published. */
  readonly tag: string;
  /** Milliseconds in which an outdated draft must stay as it is before it is deleted; `null`: none is deleted. */
  readonly quietTime: number | null;
}

/**
 * Continues the draft of an earlier run, or creates one. After an answer that was lost, the list shows whether
 * it was created. Outdated drafts of the same delivery are deleted first.
 */
export async function openDraft(
  batch: ReleaseBatch,
  { tag, quietTime }: DraftOptions,
  ports: Ports,
): Promise<OwnDraft> {
  const { github } = batch;
  return withRetries(ports, async () => {
    const { continued, outdated } = await findEarlierDrafts(batch, tag);
    if (quietTime !== null) await deleteOutdated(outdated, { github, quietTime }, ports);
    if (continued !== undefined) {
      ports.logger.info(`continuing the draft ${continued.id} of an earlier run`);
      return { draft: continued, assets: await listAssets(github, continued), isNew: false };
    }
    const draft = await createDraft(github, tag, formatDraftBody(batch));
    return { draft, assets: [], isNew: true };
  });
}

/** Deletes drafts that nobody fills any more. One that changes meanwhile is of a job that still runs. */
async function deleteOutdated(
  drafts: readonly ListedRelease[],
  { github, quietTime }: { readonly github: GitHubClient; readonly quietTime: number },
  { clock, logger, signal }: Ports,
): Promise<void> {
  if (drafts.length === 0) return;
  const list = drafts.map(({ id }) => id).join(', ');
  const wait = `waiting ${quietTime / SECOND} s to see whether a job still fills it`;
  logger.info(`an earlier run of this delivery with other files left a draft (${list}): ${wait}`);
  await clock.sleep(quietTime, signal);
  for (const draft of drafts) {
    const isGone = await deleteDraft(github, draft, (now) => formatState(now) === formatState(draft));
    logger.info(
      isGone ? `deleted the draft ${draft.id}` : `left the draft ${draft.id} to the job that fills it`,
    );
  }
}

/** What changes while a job fills a draft, or somebody edits it. */
const formatState = (draft: ListedRelease): string =>
  JSON.stringify([
    formatText(draft),
    draft.assets.map(({ id, name, state, size }) => [id, name, state, size]),
  ]);

const formatText = ({ tag_name, name, body }: Release): string => JSON.stringify([tag_name, name, body]);

/**
 * Whether a draft is as this delivery made it: its text is the same, and it holds nothing but the delivery's own
 * uploads. Any other has something of somebody else, and is neither deleted nor published.
 */
export const isAsMade = (existing: ListedRelease, { draft }: OwnDraft, { tasks }: DraftBatch): boolean =>
  formatText(existing) === formatText(draft) &&
  existing.assets.every(
    (asset) => hasOwnLabel(asset) || (isUnfinished(asset) && filesOf(tasks).has(asset.name)),
  );

/** A file, and the asset that it became. */
export interface UploadedFile {
  readonly task: AssetTask;
  readonly asset: Asset;
}

/** The asset of an upload as it is listed now, if it holds the file. */
export const findUpload = (assets: readonly Asset[], { task, asset }: UploadedFile): Asset | undefined =>
  assets.find((one) => one.id === asset.id && hasSameContent(one, task.file, true));

/** What to do with a draft that somebody has changed. */
export const DRAFT_HINT = 'publish or delete this draft on the page of releases, then run the step again';

/**
 * Compares what the host stored with the files, before anybody can see it.
 *
 * @throws {DeliveryError} `HOST_ERROR` or `NOT_OURS` with the asset that differs
 */
export async function checkDraft(
  github: GitHubClient,
  draft: Release,
  uploads: readonly UploadedFile[],
): Promise<void> {
  const assets = await listAssets(github, draft);
  // By their numbers: the host may have given other names.
  const foreign = assets.find(({ id }) => !uploads.some(({ asset }) => asset.id === id));
  if (foreign !== undefined) {
    throw new DeliveryError('NOT_OURS', `somebody added ${foreign.name} to the draft of this delivery`, {
      hint: DRAFT_HINT,
    });
  }
  for (const upload of uploads) {
    const asset = findUpload(assets, upload);
    if (asset !== undefined && !isUnfinished(asset)) continue;
    const { name } = upload.task;
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
 * kept, and so is one that somebody has changed.
 *
 * @returns what is left behind
 */
export async function discardDraft(
  own: OwnDraft,
  batch: DraftBatch & Pick<ReleaseBatch, 'github'>,
  ports: Ports,
): Promise<readonly string[]> {
  const { draft, isNew } = own;
  const kept = [describeDraft(draft)];
  if (!isNew) return kept;
  const cleanup = batch.github.withSignal(withCleanupSignal(ports).signal);
  let left: readonly string[] = [`the release ${draft.tag_name}, which is published`];
  const deleted = await resultOf(() =>
    deleteDraft(cleanup, draft, (existing) => {
      left = kept;
      return isAsMade(existing, own, batch);
    }),
  );
  if (!hasFailed(deleted)) return deleted ? [] : left;
  ports.logger.warning(`could not delete the draft ${draft.id}: ${toDeliveryError(deleted).message}`);
  return kept;
}
