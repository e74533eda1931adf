import { createHash, randomUUID } from 'node:crypto';
import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, isUnclear, resultOf, toDeliveryError } from '../../errors.ts';
import { getNewestCommit, getTagCommit } from '../../github/api/history.ts';
import {
  type Asset,
  createDraft,
  deleteDraft,
  getRelease,
  hasOwnLabel,
  isUnfinished,
  listAssets,
  listReleases,
  publishDraft,
  RELEASE_BODY,
  type Release,
} from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { CLEANUP_TIME } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import type { SentWrites } from '../sent-writes.ts';
import { type AssetTask, isQuiet, isStored, type PlacedAsset, type PlacedFiles } from './asset.ts';
import { uploadFiles } from './asset-upload.ts';
import { type ReleaseBatch, unpublishedError } from './release-choice.ts';

/** A draft that this delivery creates, and publishes only with all its files. */
export class NewRelease {
  readonly #draft: Release;
  readonly #batch: ReleaseBatch;
  readonly #ports: Ports;
  readonly #uploads = new Map<AssetTask, PlacedAsset>();
  /** `false` as soon as the draft may be published. */
  #mayDelete = true;

  constructor(draft: Release, batch: ReleaseBatch, ports: Ports) {
    this.#draft = draft;
    this.#batch = batch;
    this.#ports = ports;
  }

  async fill(): Promise<void> {
    const { tasks } = this.#batch;
    const target = { ...this.#batch, release: this.#draft, assets: [], overwrite: false };
    for (const [task, result] of await uploadFiles(tasks, target, this.#ports)) {
      if (hasFailed(result)) {
        throw tasks.length === 1 ? result : unpublishedError({ subject: task.name, failure: result });
      }
      this.#uploads.set(task, result);
    }
  }

  /**
   * @param takenTags gets the tag if it is taken, because a list may not show it yet
   * @returns `null` if another release has the tag
   * @see protocol 4.3
   */
  async publishUnder(tag: string, takenTags: Set<string>): Promise<PlacedFiles | null> {
    const { github } = this.#batch;
    const release = await withRetries(this.#ports, () => this.#publish(tag, takenTags));
    if (release === null) return null;
    // The public URLs exist only now.
    return withRetries(this.#ports, async () =>
      this.#findUploads(await listAssets(github, release), release),
    );
  }

  discard(): Promise<readonly string[]> {
    return discardDraft(this.#draft, this.#batch, this.#ports, this.#mayDelete);
  }

  /** Reads the draft first, because somebody may have published or changed it. */
  async #publish(tag: string, takenTags: Set<string>): Promise<Release | null> {
    const { github, tag: wantedTag, tagIsDefault } = this.#batch;
    const existing = await getRelease(github, this.#draft.id);
    if (existing === null) {
      const message = 'somebody deleted the draft of this delivery while it was filled';
      throw new DeliveryError('NOT_FOUND', message, { hint: 'try again' });
    }
    if (!existing.draft && existing.tag_name === tag) return existing;
    const assets = existing.draft ? await listOwnAssets(existing, this.#batch) : null;
    if (assets === null) {
      const message = 'somebody changed or published the draft of this delivery';
      const hint = 'publish or delete this draft on the page of releases, then try again';
      throw new DeliveryError('NOT_OURS', message, { hint });
    }
    this.#findUploads(assets, existing);
    const commit = await this.#chooseCommit(tag);
    const answer = await resultOf(() => this.#publishAt(tag, commit));
    if (!hasFailed(answer) || isUnclear(answer)) this.#mayDelete = false;
    if (!hasFailed(answer)) return answer;
    const isUsedUp = answer.code === 'TAG_USED_UP' && tagIsDefault;
    if (answer.code !== 'CONFLICT' && !isUsedUp) throw answer;
    // Files can be added to the release that took the plain tag, if it can be changed.
    if (isUsedUp || tag !== wantedTag) takenTags.add(tag);
    return null;
  }

  /** @returns no commit for an existing tag or the tag of the day */
  async #chooseCommit(tag: string): Promise<string | undefined> {
    const { github, tagIsDefault, commit } = this.#batch;
    if (tagIsDefault || (await getTagCommit(github, tag)) !== null) return undefined;
    this.#ports.logger.info(`the tag ${tag} is new, ${describeTagCommit(commit)}`);
    return commit;
  }

  /** A job's token can't tag a commit that changes a workflow, except the default branch's head, without naming it. */
  async #publishAt(tag: string, commit: string | undefined): Promise<Release> {
    const { github, tagIsDefault } = this.#batch;
    const publish = (at?: string) =>
      publishDraft(github, this.#draft, { tag, isNamed: !tagIsDefault, commit: at });
    const answer = await resultOf(() => publish(commit));
    if (!hasFailed(answer)) return answer;
    if (answer.code !== 'NO_PERMISSION' || commit === undefined) throw answer;
    if (commit === (await resultOf(() => getNewestCommit(github)))) return publish();
    throw new DeliveryError('NO_PERMISSION', answer.message, {
      httpCode: answer.httpCode,
      hint: (w) =>
        `a job's token can't tag a commit that changes a workflow: push the tag ${tag} yourself first, or set ${w.input('token')} to a token that may write workflows`,
    });
  }

  /** Finds uploads by id, because GitHub may change names. @throws {DeliveryError} if an upload differs */
  #findUploads(assets: readonly Asset[], release: Release): PlacedFiles {
    const findUpload = (task: AssetTask, upload: PlacedAsset): PlacedAsset => {
      const asset = assets.find(({ id }) => id === upload.asset.id);
      if (asset && !isUnfinished(asset) && isStored(asset, task.file)) return { ...upload, asset, release };
      const message = `the release ${release.tag_name} does not have ${task.name} with the right bytes`;
      throw new DeliveryError('HOST_ERROR', message, { hint: 'try again', retryable: true });
    };
    return new Map([...this.#uploads].map(([task, upload]) => [task, findUpload(task, upload)]));
  }
}

export const describeTagCommit = (commit: string | undefined): string =>
  commit === undefined ? 'at the head of the default branch' : `at commit ${commit}`;

/** Names the job and the run in the draft's text, so that a list shows after a lost answer if it was created. */
export async function openDraft(batch: ReleaseBatch, tag: string, writes: SentWrites, ports: Ports) {
  const body = `${RELEASE_BODY}\nDelivery: ${hashJob(batch, tag)} ${randomUUID()}`;
  return withRetries(ports, async () => {
    const made = (await listDrafts(batch, tag)).find((draft) => draft.body === body);
    return made ?? writes.send(() => createDraft(batch.github, tag, body));
  });
}

type DraftOwner = Pick<ReleaseBatch, 'github' | 'job'>;

/** @throws {DeliveryError} `NOT_OURS` if somebody prepares a release for `newTag`, because only one can be published */
async function listDrafts({ github }: DraftOwner, newTag?: string): Promise<readonly Release[]> {
  const drafts = (await listReleases(github)).filter(({ draft }) => draft);
  const foreign = drafts.find((draft) => draft.tag_name === newTag && jobHashOf(draft) === null);
  if (foreign !== undefined) {
    const message = `somebody prepares a release for the tag ${newTag}: its draft ${foreign.id} could not be published after this delivery`;
    throw new DeliveryError('NOT_OURS', message, {
      hint: (w) => `publish or delete that draft and run again, or set ${w.input('tag')} to another tag`,
      leftBehind: [],
    });
  }
  return drafts;
}

/** Finds drafts that killed runs of this job left. @param newTag see `listDrafts` */
export async function findQuietDrafts(owner: DraftOwner, { clock }: Pick<Ports, 'clock'>, newTag?: string) {
  const quiet: Release[] = [];
  for (const draft of await listDrafts(owner, newTag)) {
    // A draft's `created_at` is a commit's date.
    const assets = isQuiet(draft, clock) ? await listOwnAssets(draft, owner) : null;
    if (assets?.every((part) => isQuiet(part, clock))) quiet.push(draft);
  }
  return quiet;
}

/** Deletes this job's abandoned drafts. A failure is only a warning. */
export async function sweepDrafts(owner: DraftOwner, ports: Ports): Promise<void> {
  const signal = AbortSignal.any([ports.signal, ports.clock.timeout(CLEANUP_TIME)]);
  const found = await resultOf(() =>
    findQuietDrafts({ ...owner, github: owner.github.withSignal(signal) }, ports),
  );
  if (hasFailed(found)) ports.logger.warning(`could not check for drafts of earlier runs: ${found.message}`);
  for (const draft of hasFailed(found) ? [] : found) {
    ports.logger.info(`deleting the draft ${draft.id}, which an earlier run left`);
    await discardDraft(draft, owner, ports);
  }
}

/** Includes the tag, because somebody may change it. */
const hashJob = ({ job }: DraftOwner, tag: string): string =>
  createHash('sha256').update(`${job}\n${tag}`).digest('hex').slice(0, 32);

/** @returns `null` if this tool did not write the draft's text and title */
function jobHashOf({ name, tag_name, body }: Release): string | null {
  if (name !== tag_name || body?.startsWith(RELEASE_BODY) !== true) return null;
  const [, hash = null] =
    /^\nDelivery: ([0-9a-f]{32}) [0-9a-f-]{36}$/.exec(body.slice(RELEASE_BODY.length)) ?? [];
  return hash;
}

/** @returns `null` if somebody changed the draft, or it is not this job's */
async function listOwnAssets(draft: Release, owner: DraftOwner): Promise<readonly Asset[] | null> {
  if (jobHashOf(draft) !== hashJob(owner, draft.tag_name)) return null;
  const assets = await listAssets(owner.github, draft);
  return assets.every((asset) => hasOwnLabel(asset) || isUnfinished(asset)) ? assets : null;
}

/** Deletes a draft unless somebody changed or published it. @returns what is left behind */
async function discardDraft(draft: Release, owner: DraftOwner, ports: Ports, mayDelete = true) {
  const github = owner.github.withSignal(withCleanupSignal(ports).signal);
  const state = mayDelete ? 'is not public' : 'may be published';
  const leftBehind = [`the draft ${draft.id} of the release ${draft.tag_name}, which ${state}`];
  try {
    const existing = await getRelease(github, draft.id);
    // Somebody deleted the draft, or this token can no longer see it.
    if (existing === null) return leftBehind.map((text) => `perhaps ${text}`);
    if (!existing.draft) return [`the release ${existing.tag_name}, which is published`];
    if (!mayDelete || (await listOwnAssets(existing, { ...owner, github })) === null) return leftBehind;
    await deleteDraft(github, draft);
    return [];
  } catch (thrown) {
    ports.logger.warning(`could not delete the draft ${draft.id}: ${toDeliveryError(thrown).message}`);
    return leftBehind;
  }
}
