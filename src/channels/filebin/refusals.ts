import { DeliveryError, type ErrorCode } from '../../errors.ts';
import { parseRetryAfter, shortHostMessage } from '../../http/response.ts';
import type { TextAnswer } from '../../http/send-request.ts';
import type { HttpResponse } from '../../ports.ts';
import { BIN } from '../../protocol/calls.ts';
import type { KnownRefusal } from '../channel.ts';

/** An answer of the bin host, read as text. */
export type BinAnswer = Pick<HttpResponse, 'status' | 'headers'> & Pick<TextAnswer, 'text'>;

/** The reasons that the host gives in plain text; it has no codes for them. */
interface KnownReason {
  readonly text: RegExp;
  readonly code: ErrorCode;
  readonly hint: (bin: string) => string;
  /** Whether waiting can't help. */
  readonly isFinal: boolean;
}

const OTHER_CHANNEL = 'use channel: K1 or K2';

const NEEDS_APPROVAL = /requires? approval/i;

const REASONS: readonly KnownReason[] = [
  {
    text: NEEDS_APPROVAL,
    code: 'NO_PERMISSION',
    hint: (bin) =>
      `ask the operator of the bin host to approve the bin, then run the step again with \`bin: ${bin}\`: only this bin becomes approved`,
    isFinal: false,
  },
  {
    text: /\bbanned\b/i,
    code: 'NO_PERMISSION',
    hint: () =>
      `the host has banned the address of this machine: use another runner, ask the operator of the host, or ${OTHER_CHANNEL}`,
    isFinal: true,
  },
  {
    text: /\bblocked\b/i,
    code: 'NO_PERMISSION',
    hint: () =>
      `the host accepts this content under no name: ask the operator of the host, or ${OTHER_CHANNEL}`,
    isFinal: true,
  },
  {
    text: /too many times|download limit/i,
    code: 'NO_PERMISSION',
    hint: () =>
      `the host limits how often a file is downloaded, and a proof is a download: ${OTHER_CHANNEL}, or deliver it again without \`bin:\` if the limit allows more`,
    isFinal: true,
  },
  {
    text: /extension/i,
    code: 'NO_PERMISSION',
    hint: () => `set \`path:\` to a name with another ending, or ${OTHER_CHANNEL}`,
    isFinal: true,
  },
  {
    text: /\bbin (?:is no longer available|does not exist)/i,
    code: 'NOT_FOUND',
    hint: () => `the bin has expired or was deleted: leave \`bin:\` out, or ${OTHER_CHANNEL}`,
    isFinal: true,
  },
];

const REFUSING = [403, 404, 410];

/** The reason that a plain text names; only a refusal has one. */
const findReason = (httpCode: number, text: string): KnownReason | undefined =>
  REFUSING.includes(httpCode) ? REASONS.find((known) => known.text.test(text)) : undefined;

/** What the host means when it refuses the public address of a file in the bin. */
export const listRefusals = (bin: string): readonly KnownRefusal[] =>
  REASONS.map(({ text, hint, isFinal }) => ({ httpCodes: REFUSING, text, hint: hint(bin), isFinal }));

/** The same after the host has deleted the file: a bin without approval answers as before, whatever it holds. */
export function listRefusalsOfDeleted(bin: string): readonly KnownRefusal[] {
  const hint = `the host has deleted the file, but the address of a bin without approval never shows that: run the step again with \`bin: ${bin}\` once the operator of the host has approved the bin, or let it expire`;
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
    hint: findReason(httpCode, text)?.hint(bin) ?? `run the step again without \`bin:\`, or ${OTHER_CHANNEL}`,
  });
}

/** What each refused upload means, and what to change; the last row fits any other status. */
const REFUSALS: readonly {
  statuses: readonly number[];
  code: ErrorCode;
  hint: string;
  retryable?: boolean;
}[] = [
  { statuses: [400, 404], code: 'BAD_INPUT', hint: 'set `bin:` to 8 to 60 letters, digits, _ or -' },
  {
    statuses: [403],
    code: 'NO_PERMISSION',
    hint: `the host does not allow this upload: ${OTHER_CHANNEL}, or set \`path:\` to another name if the reason is the name`,
  },
  {
    statuses: [405],
    code: 'CONFLICT',
    hint: 'the bin is locked or expired: leave `bin:` out, or set another name',
  },
  { statuses: [413], code: 'TOO_LARGE', hint: 'use channel: K2' },
  {
    statuses: [429],
    code: 'RATE_LIMITED',
    hint: `try again later, or ${OTHER_CHANNEL}`,
    retryable: true,
  },
  { statuses: [507], code: 'HOST_ERROR', hint: `the host is full for now: ${OTHER_CHANNEL}` },
  {
    statuses: [500, 502, 503, 504],
    code: 'HOST_ERROR',
    hint: `try again later, or ${OTHER_CHANNEL}`,
    retryable: true,
  },
  // A proxy or another host may answer with a page.
  {
    statuses: [200],
    code: 'HOST_ERROR',
    hint: `check \`bin-host-url:\`, or ${OTHER_CHANNEL}`,
    retryable: true,
  },
  { statuses: [], code: 'HOST_ERROR', hint: `check \`bin-host-url:\`, or ${OTHER_CHANNEL}` },
];

/**
 * An upload that was not answered with 201, with the host's own reason.
 *
 * @see protocol 7 (K3 POST does not return 201)
 */
export function uploadRefusedError(answer: TextAnswer, bin: string, now: number): DeliveryError {
  const { status } = answer;
  const row = REFUSALS.find(({ statuses }) => statuses.length === 0 || statuses.includes(status));
  const text = plainText(answer.text);
  const reason = findReason(status, text);
  return new DeliveryError(
    reason?.code ?? row?.code ?? 'HOST_ERROR',
    `${BIN.post.description} answered HTTP ${status} and not 201${text === '' ? '' : `: ${text}`}`,
    {
      httpCode: status,
      hint: reason?.hint(bin) ?? row?.hint,
      retryable: row?.retryable,
      retryAfter: parseRetryAfter(answer, now),
    },
  );
}

/** Reading or changing a bin failed. */
export function binCallError(
  description: string,
  answer: BinAnswer,
  { bin, now, retryable = false }: { bin: string; now: number; retryable?: boolean },
): DeliveryError {
  const { status } = answer;
  const text = plainText(answer.text);
  const reason = findReason(status, text);
  const isLimited = status === 429;
  return new DeliveryError(
    isLimited ? 'RATE_LIMITED' : (reason?.code ?? 'HOST_ERROR'),
    `${description} answered HTTP ${status}${describeText(status, text)}`,
    {
      httpCode: status,
      retryable: retryable || isLimited || status >= 500,
      retryAfter: parseRetryAfter(answer, now),
      hint: reason?.hint(bin) ?? 'check `bin:` and `bin-host-url:`, or run the step again',
    },
  );
}

function describeText(status: number, text: string): string {
  if (text !== '' && status >= 300) return `: ${text}`;
  return status < 300 ? ' with a page' : '';
}

/** The host itself answers in plain text; a page comes from a proxy or another host. */
export const plainText = (text: string): string => (/^\s*</.test(text) ? '' : shortHostMessage(text));
