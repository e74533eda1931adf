import { DeliveryError } from '../errors.ts';
import type { RepositoryContext } from '../github/api/repository.ts';
import { MAX_FILE_SIZE, MEGABYTE, SIZE } from '../protocol/limits.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';

/** The channels of a delivery, and why the main one was chosen. */
export interface ChannelChoice {
  readonly main: ChannelKey;
  readonly duplicates: readonly ChannelKey[];
  readonly reason: string;
}

interface ChoiceFacts extends RepositoryContext {
  /** Bytes; `null` without a file. */
  readonly size: number | null;
  readonly hasUrl: boolean;
  /** Whether the files are served at an address of their own, or `setup` makes the missing site. */
  readonly hasBase: boolean;
  /** Whether a token was given, even if no repository was. */
  readonly isTokenGiven: boolean;
}

interface ChannelRule {
  readonly when: (one: ChoiceFacts) => boolean;
  readonly channel: ChannelKey;
  readonly reason: string;
}

const larger = (size: number | null, limit: number): boolean => size !== null && size > limit;

/**
 * The protocol's choice of a channel; the first row that fits counts.
 *
 * @see protocol 1 (channel choice), 4.6
 */
export const CHANNEL_RULES: readonly ChannelRule[] = [
  { when: ({ size }) => size === null, channel: 'K4', reason: 'only a link was given' },
  {
    when: (one) => !one.hasToken && one.hasUrl,
    channel: 'K4',
    reason: 'there is no token, and the environment gave a link',
  },
  {
    when: (one) => !one.hasToken && one.isTokenGiven,
    channel: 'K3',
    reason: 'it is not known in which repository to publish with the token',
  },
  { when: (one) => !one.hasToken, channel: 'K3', reason: 'there is no token' },
  { when: ({ size }) => larger(size, SIZE.asset), channel: 'K3', reason: 'the file is larger than 2 GB' },
  {
    when: ({ size, privateRepository }) => larger(size, SIZE.repository) && privateRepository !== true,
    channel: 'K2',
    reason: 'the file is larger than 95 MB',
  },
  {
    when: ({ size }) => larger(size, SIZE.repository),
    channel: 'K3',
    reason: "the file is larger than 95 MB, and assets of a private repository can't be read anonymously",
  },
  {
    when: (one) => one.site === null && !one.hasBase && one.privateRepository !== true,
    channel: 'K2',
    reason: 'the repository has no Pages site, so the file is given for download',
  },
  {
    when: (one) => one.site === null && !one.hasBase,
    channel: 'K3',
    reason: 'the repository is private and has no Pages site',
  },
  { when: () => true, channel: 'K1', reason: 'the file is shown on the screen' },
];

/**
 * Chooses the channels of a delivery.
 *
 * @param size bytes; `null` without a file
 * @throws {DeliveryError} `NOT_EXTERNAL` when only the public bin is left for a private repository's file.
 */
export function chooseChannels(
  request: DeliveryRequest,
  size: number | null,
  repository: RepositoryContext,
): ChannelChoice {
  if (request.channels !== 'auto') {
    const [main, ...duplicates] = request.channels;
    return { main, duplicates, reason: 'it was asked for' };
  }
  const facts: ChoiceFacts = {
    ...repository,
    size,
    hasUrl: request.url !== undefined,
    hasBase: request.pagesBase !== undefined || request.setup,
    isTokenGiven: request.token !== undefined,
  };
  // The last rule fits everything.
  const rule = CHANNEL_RULES.find(({ when }) => when(facts)) as ChannelRule;
  const tried = repository.authorizationError;
  const reason = tried === undefined ? rule.reason : `${rule.reason} (${tried.message})`;
  if (rule.channel === 'K3' && !request.allowPublicBin) {
    const ofTarget = request.isFromTarget ? facts.privateRepository : null;
    refusePublicBin(request.sourceIsPrivate ?? ofTarget, reason, facts.isTokenGiven);
  }
  return { main: rule.channel, duplicates: [], reason };
}

/**
 * Refuses a file that is too large for a channel that was asked for; `auto` chooses by the size.
 *
 * @param size bytes
 * @throws {DeliveryError} `TOO_LARGE` with the channels to use.
 * @see protocol 8
 */
export function refuseTooLarge(selection: DeliveryRequest['channels'], size: number): void {
  for (const key of selection === 'auto' ? [] : selection) {
    const limit = MAX_FILE_SIZE[key];
    if (limit === undefined || size <= limit.bytes) continue;
    const most = `${limit.bytes / MEGABYTE} MB`;
    throw new DeliveryError('TOO_LARGE', `the file has ${size} bytes, and ${key} takes at most ${most}`, {
      hint: `use channel: ${limit.instead}`,
    });
  }
}

/** A private repository's file goes to the public bin only if its owner says so. */
function refusePublicBin(isPrivate: boolean | null, reason: string, isTokenGiven: boolean): void {
  if (isPrivate === false) return;
  const known = isPrivate === true ? 'is private' : 'may be private';
  const forPages = isTokenGiven ? 'set `repository:` for K1' : 'give a token and `repository:` for K1';
  throw new DeliveryError(
    'NOT_EXTERNAL',
    `the file's repository ${known}, and only the public file-bin (K3) is left: ${reason}`,
    {
      step: 'authorize',
      hint: `${forPages}, or, if the file may be public, set \`allow-public-bin: true\` or \`channel: K3\``,
    },
  );
}
