import { DeliveryError, type ErrorCode, hasFailed, resultOf } from '../../errors.ts';
import { getRelease, type ListedRelease, publishDraft } from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import { discardDraft, type OwnDraft } from './draft.ts';
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
      await discardDraft({ ...own, isNew: true }, batch.github, ports);
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

/** Publishes the draft once. Before another attempt, the draft is read: it may be published already. */
async function tryPublish(
  { batch: { github, tag: wantedTag, tagIsDefault }, own: { draft, isNew }, tag }: PublishAttempt,
  memory: PublishMemory,
  ports: Ports,
): Promise<ListedRelease | 'taken' | 'used up'> {
  return withRetries(ports, async () => {
    // Another run of the same delivery may have published the draft that an earlier run left.
    const isFirst = isNew && !memory.isUnclear;
    const existing = isFirst ? null : await getRelease(github, draft.id);
    if (existing?.draft === false) return existing;
    const answer = await resultOf(() => publishDraft(github, draft, tag));
    if (!hasFailed(answer)) return answer;
    if (answer.code === 'CONFLICT') return 'taken';
    if (answer.code === 'TAG_USED_UP' && tagIsDefault) return 'used up';
    if (answer.code === 'TAG_USED_UP') throw usedUpError(wantedTag, answer);
    memory.isUnclear ||= UNCLEAR_CODES.has(answer.code);
    throw answer;
  });
}

function usedUpError(tag: string, cause: DeliveryError): DeliveryError {
  const message = `the tag ${tag} belonged to an immutable release that was deleted, and can't be used again`;
  return new DeliveryError('TAG_USED_UP', message, {
    httpCode: cause.httpCode,
    hint: 'set `tag:` to another one, or leave it out for a tag of today',
    cause,
  });
}
