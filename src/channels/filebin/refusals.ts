import { DeliveryError, type ErrorCode } from '../../errors.ts';
import { parseRetryAfter, shortHostMessage } from '../../http/response.ts';
import type { TextAnswer } from '../../http/send-request.ts';
import { BIN } from '../../protocol/calls.ts';
import type { Text, Words } from '../../words.ts';
import type { KnownRefusal } from '../channel.ts';

/** The reasons that the host gives in plain text; it has no codes for them. */
interface KnownReason {
  readonly text: RegExp;
  readonly code: ErrorCode;
  readonly hint: (w: Words, bin: string) => string;
  /** Whether waiting can't help. */
  readonly isFinal: boolean;
}

const NEEDS_APPROVAL = /requires? approval/i;

const REASONS: readonly KnownReason[] = [
  {
    text: NEEDS_APPROVAL,
    code: 'NO_PERMISSION',
    hint: (w, bin) =>
      `ask the operator of the bin host to approve the bin, then try again with ${w.input('bin', bin)}: only this bin becomes approved`,
    isFinal: false,
  },
  {
    text: /\bbanned\b/i,
    code: 'NO_PERMISSION',
    hint: (w) =>
      `the host has banned the address of this machine: use another runner, ask the operator of the host, or ${w.use('K1 or K2')}`,
    isFinal: true,
  },
  {
    text: /\bblocked\b/i,
    code: 'NO_PERMISSION',
    hint: (w) =>
      `the host accepts this content under no name: ask the operator of the host, or ${w.use('K1 or K2')}`,
    isFinal: true,
  },
  {
    text: /too many times|download limit/i,
    code: 'NO_PERMISSION',
    hint: (w) =>
      `the host limits how often a file is downloaded, and a proof is a download: ${w.use('K1 or K2')}, or deliver it again without ${w.input('bin')} if the limit allows more`,
    isFinal: true,
  },
  {
    text: /extension/i,
    code: 'NO_PERMISSION',
    hint: (w) => `set ${w.input('path')} to a name with another ending, or ${w.use('K1 or K2')}`,
    isFinal: true,
  },
  {
    text: /\bbin (?:is no longer available|does not exist)/i,
    code: 'NOT_FOUND',
    hint: (w) => `the bin has expired or was deleted: leave ${w.input('bin')} out, or ${w.use('K1 or K2')}`,
    isFinal: true,
  },
];

const REFUSING = [403, 404, 410];

/** The reason that a plain text names; only a refusal has one. */
const findReason = (httpCode: number, text: string): KnownReason | undefined =>
  REFUSING.includes(httpCode) ? REASONS.find((known) => known.text.test(text)) : undefined;

/** What the host means when it refuses the public address of a file in the bin. */
export const listRefusals = (bin: string): readonly KnownRefusal[] =>
  REASONS.map(({ text, hint, isFinal }) => ({
    httpCodes: REFUSING,
    text,
    hint: (w) => hint(w, bin),
    isFinal,
  }));

/** The same after the host has deleted the file: a bin without approval answers as before, whatever it holds. */
export function listRefusalsOfDeleted(bin: string): readonly KnownRefusal[] {
  const hint = (w: Words): string =>
    `the host has deleted the file, but the address of a bin without approval never shows that: try again with ${w.input('bin', bin)} once the operator of the host has approved the bin, or let it expire`;
  return [{ httpCodes: [403], text: NEEDS_APPROVAL, hint, isFinal: true }, ...listRefusals(bin)];
}

/** A host's refusal of a public address, in its own plain text. */
export interface HostRefusal {
  readonly httpCode: number;
  readonly text: string;
}

/** The address was proven, and is refused now: each proof is a download, and a host may limit them. */
export function refusedLaterError(refusal: HostRefusal, bin: string): DeliveryError {
  const { httpCode, text } = refusal;
  const reason = text === '' ? '' : `: ${text}`;
  return new DeliveryError('NOT_PROVEN', `after its proof the address answers HTTP ${httpCode}${reason}`, {
    httpCode,
    hint: (w) =>
      findReason(httpCode, text)?.hint(w, bin) ??
      `try again without ${w.input('bin')}, or ${w.use('K1 or K2')}`,
  });
}

interface StatusMeaning {
  readonly code: ErrorCode;
  readonly hint: Text;
  readonly retryable?: boolean;
}

/** What each refused upload means; the last row fits any other status. */
const REFUSALS: readonly (StatusMeaning & { readonly statuses: readonly number[] })[] = [
  {
    statuses: [400, 404],
    code: 'BAD_INPUT',
    hint: (w) => `set ${w.input('bin')} to 8 to 60 letters or digits`,
  },
  {
    statuses: [403],
    code: 'NO_PERMISSION',
    hint: (w) =>
      `the host does not allow this upload: ${w.use('K1 or K2')}, or set ${w.input('path')} to another name if the reason is the name`,
  },
  {
    statuses: [405],
    code: 'CONFLICT',
    hint: (w) => `the bin is locked or expired: leave ${w.input('bin')} out, or set another name`,
  },
  { statuses: [413], code: 'TOO_LARGE', hint: (w) => w.use('K2') },
  {
    statuses: [429],
    code: 'RATE_LIMITED',
    hint: (w) => `try again later, or ${w.use('K1 or K2')}`,
    retryable: true,
  },
  { statuses: [507], code: 'HOST_ERROR', hint: (w) => `the host is full for now: ${w.use('K1 or K2')}` },
  {
    statuses: [500, 502, 503, 504],
    code: 'HOST_ERROR',
    hint: (w) => `try again later, or ${w.use('K1 or K2')}`,
    retryable: true,
  },
  // A proxy or another host may answer with a page.
  {
    statuses: [200],
    code: 'HOST_ERROR',
    hint: (w) => `check ${w.input('bin-host-url')}, or ${w.use('K1 or K2')}`,
    retryable: true,
  },
  {
    statuses: [],
    code: 'HOST_ERROR',
    hint: (w) => `check ${w.input('bin-host-url')}, or ${w.use('K1 or K2')}`,
  },
];

/**
 * An upload that was not answered with 201, with the host's own reason.
 *
 * @see protocol 7 (K3 POST does not return 201)
 */
export function uploadRefusedError(answer: TextAnswer, bin: string, now: number): DeliveryError {
  const { status } = answer;
  const isForStatus = ({ statuses }: (typeof REFUSALS)[number]): boolean =>
    statuses.length === 0 || statuses.includes(status);
  const meaning = REFUSALS.find(isForStatus) as StatusMeaning;
  const message = `${BIN.post.description} answered HTTP ${status} and not 201`;
  return answerError(message, answer, meaning, { bin, now });
}

/** Reading or changing a bin failed. */
export function binCallError(
  description: string,
  answer: TextAnswer,
  { retryable = false, ...about }: { bin: string; now: number; retryable?: boolean },
): DeliveryError {
  const { status } = answer;
  const isLimited = status === 429;
  const meaning: StatusMeaning = {
    code: isLimited ? 'RATE_LIMITED' : 'HOST_ERROR',
    hint: (w) => `check ${w.input('bin')} and ${w.input('bin-host-url')}, or try again`,
    retryable: retryable || isLimited || status >= 500,
  };
  const message = `${description} answered HTTP ${status}`;
  return status < 300
    ? answerError(`${message} with a page`, { ...answer, text: '' }, meaning, about)
    : answerError(message, answer, meaning, about);
}

/** The reason that the host gives counts before what the status means. */
function answerError(
  message: string,
  answer: TextAnswer,
  { code, hint, retryable }: StatusMeaning,
  { bin, now }: { readonly bin: string; readonly now: number },
): DeliveryError {
  const text = plainText(answer.text);
  const reason = findReason(answer.status, text);
  return new DeliveryError(reason?.code ?? code, text === '' ? message : `${message}: ${text}`, {
    httpCode: answer.status,
    hint: reason === undefined ? hint : (w) => reason.hint(w, bin),
    retryable,
    retryAfter: parseRetryAfter(answer, now),
  });
}

/** The host itself answers in plain text; a page comes from a proxy or another host. */
export const plainText = (text: string): string => (/^\s*</.test(text) ? '' : shortHostMessage(text));
