import { DeliveryError, type ErrorCode, hasFailed, resultOf } from '../../errors.ts';
import { getRelease, isOwnRelease, type ListedRelease, publishDraft } from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import { DRAFT_HINT, discardDraft, isAsMade, type OwnDraft } from './draft.ts';
import { chooseRelease, type ReleaseBatch, type ReleaseChoice, refuseBranchName } from './release-choice.ts';

/** What is known of the requests to publish a draft. */
export interface PublishMemory {
  /** Whether one of them had no clear answer: the draft may be published at any moment. */
  isUnclear: boolean;
}

/** Where a draft may be published. */
export interface PublishOptions {
  readonly firstTag: string;
  /** Tags that are taken; those that are found taken are added. */
  readonly takenTags: Set<string>;
  readonly memory: PublishMemory;
}

/**
 * Publishes the draft. Where another job was first with a release that can't be changed, the next free number
 * is taken, without another upload.
 *
 * @returns `null` where the files go into the other release, or can't; the draft is deleted then
 */
export async function publishUnderFreeTag(
  batch: ReleaseBatch,
  own: OwnDraft,
  { firstTag, takenTags, memory }: PublishOptions,
  ports: Ports,
): Promise<ListedRelease | null> {
  for (let tag = firstTag; ; ) {
    const answer = await tryPublish({ batch, own, tag }, memory, ports);
    if (typeof answer !== 'string') return answer;
    if (answer === 'used up' || tag !== batch.tag) takenTags.add(tag);
    const choice = await chooseAgain(batch, takenTags, ports);
    if (choice.release !== null || choice.present.size > 0 || choice.refusal !== null) {
      await discardDraft({ ...own, isNew: true }, batch, ports);
      return null;
    }
    ports.logger.info(`the tag ${tag} is taken; publishing under ${choice.tag}`);
    tag = choice.tag;
    await refuseBranchName(batch.github, tag);
  }
}

/** The release that was first is there, although a list may not show it yet. */
async function chooseAgain(
  batch: ReleaseBatch,
  takenTags: ReadonlySet<string>,
  ports: Ports,
): Promise<ReleaseChoice> {
  return withRetries(ports, async () => {
    const choice = await chooseRelease(batch, takenTags);
    if (choice.release !== null || choice.refusal !== null || choice.tag !== batch.tag) return choice;
    throw new DeliveryError('CONFLICT', `another job is publishing the release ${batch.tag}`, {
      hint: 'run the step again, or set `tag:` to another one',
      retryable: true,
    });
  });
}

interface PublishAttempt {
  readonly batch: ReleaseBatch;
  readonly own: OwnDraft;
  readonly tag: string;
}

/** Failures after which it is unknown whether the draft is published. */
const UNCLEAR_CODES: ReadonlySet<ErrorCode> = new Set(['HOST_ERROR', 'CONNECTION', 'ABORTED', 'NO_NETWORK']);

/**
 * Publishes the draft once. It is read first: it may be published already, or somebody may have changed it, and
 * publishing would write over their text.
 */
async function tryPublish(
  { batch, own, tag }: PublishAttempt,
  memory: PublishMemory,
  ports: Ports,
): Promise<ListedRelease | 'taken' | 'used up'> {
  const { github, tag: wantedTag, tagIsDefault } = batch;
  const { draft } = own;
  return withRetries(ports, async () => {
    const existing = await getRelease(github, draft.id);
    // Another run of the same delivery may have published it.
    if (existing?.draft === false && isPublishedFor(existing, batch)) return existing;
    if (existing !== null && !isAsMade(existing, own, batch)) throw changedDraftError(existing);
    const answer = await resultOf(() => publishDraft(github, draft, tag));
    if (!hasFailed(answer)) return answer;
    if (answer.code === 'CONFLICT') return 'taken';
    if (answer.code === 'TAG_USED_UP' && tagIsDefault) return 'used up';
    if (answer.code === 'TAG_USED_UP') throw usedUpError(wantedTag, answer);
    memory.isUnclear ||= UNCLEAR_CODES.has(answer.code);
    throw answer;
  });
}

/** Whether it is under the tag that was asked for, or a run of this tool published it under another one. */
const isPublishedFor = (release: ListedRelease, { tag }: Pick<ReleaseBatch, 'tag'>): boolean =>
  release.tag_name === tag || isOwnRelease(release);

/** @see design 4 */
function changedDraftError(existing: ListedRelease): DeliveryError {
  const message = existing.draft
    ? 'somebody changed the draft of this delivery, so it was not published'
    : `somebody published the draft of this delivery as ${existing.tag_name}`;
  return new DeliveryError('NOT_OURS', message, { hint: DRAFT_HINT });
}

function usedUpError(tag: string, cause: DeliveryError): DeliveryError {
  const message = `the tag ${tag} belonged to an immutable release that was deleted, and can't be used again`;
  return new DeliveryError('TAG_USED_UP', message, {
    httpCode: cause.httpCode,
    hint: 'set `tag:` to another one, or leave it out for a tag of today',
    cause,
  });
}
