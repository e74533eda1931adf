import { DeliveryError, type ErrorCode } from '../../errors.ts';
import { parseRetryAfter, shortHostMessage } from '../../http/response.ts';
import type { TextAnswer } from '../../http/send-request.ts';
import { findMeaning, type KnownRefusal } from '../../proof/check.ts';
import { BIN, type CallTemplate } from '../../protocol/calls.ts';
import type { Text } from '../../words.ts';

interface Meaning {
  readonly code: ErrorCode;
  readonly hint: Text;
}

type BinRefusal = KnownRefusal &
  Meaning & { /** For a link, which has no bin to deliver to. */ readonly linkHint?: Text };

const USUAL_REFUSAL = { httpCodes: [403, 404, 410], code: 'NO_PERMISSION', isFinal: true } as const;

const NEEDS_APPROVAL = /requires? approval/i;

/** The host gives its reasons as plain text, without codes. */
export function listRefusals(bin: string): readonly BinRefusal[] {
  const reasons: readonly (Pick<BinRefusal, 'text' | 'hint'> & Partial<BinRefusal>)[] = [
    {
      text: NEEDS_APPROVAL,
      hint: (w) =>
        `ask the bin host's operator to approve this bin, then run again with ${w.input('bin', bin)}`,
      isFinal: false,
    },
    {
      text: /\bbanned\b/i,
      hint: (w) =>
        `the host has banned this machine's IP address: use another runner${w.orUse(['K1', 'K2'])}`,
    },
    {
      text: /\bblocked\b/i,
      hint: (w) => `the host blocks this content under any name: ask its operator${w.orUse(['K1', 'K2'])}`,
    },
    {
      text: /too many times|download limit/i,
      linkHint: (w) =>
        `the bin host limits downloads, and verification is a download: upload the file again, and set ${w.input('url')} to its new URL`,
      hint: (w) =>
        `the host limits downloads, and verification is a download: ${w.use(['K1', 'K2'])}, or deliver it again without ${w.input('bin')}`,
    },
    {
      text: /extension/i,
      hint: (w) => `set ${w.input('path')} to a name with another ending${w.orUse(['K1', 'K2'])}`,
    },
    {
      text: /\bbin (?:is no longer available|does not exist)/i,
      code: 'NOT_FOUND',
      hint: (w) => `the bin has expired or was deleted: leave ${w.input('bin')} out${w.orUse(['K1', 'K2'])}`,
    },
  ];
  return reasons.map((reason) => ({ ...USUAL_REFUSAL, ...reason }));
}

/** After a deletion: a bin without approval gives the same answer with and without the file. */
export const listRefusalsOfDeleted = (bin: string): readonly KnownRefusal[] => [
  {
    httpCodes: [403],
    text: NEEDS_APPROVAL,
    hint: (w) =>
      `the file is deleted, but an unapproved bin can't show that: let it expire, or run again with ${w.input('bin', bin)} after its operator approves it`,
    isFinal: true,
  },
  ...listRefusals(bin),
];

const BAD_NAME: Meaning = {
  code: 'BAD_INPUT',
  hint: (w) => `set ${w.input('bin')} to 8 to 60 letters or digits`,
};

const UPLOAD_REFUSALS: Readonly<Record<number, Meaning>> = {
  400: BAD_NAME,
  403: {
    code: 'NO_PERMISSION',
    hint: (w) =>
      `the host refuses this upload: ${w.use(['K1', 'K2'])}, or set ${w.input('path')} to another name`,
  },
  404: BAD_NAME,
  405: {
    code: 'CONFLICT',
    hint: (w) => `the bin is locked or expired: leave ${w.input('bin')} out, or set another name`,
  },
  413: { code: 'TOO_LARGE', hint: (w) => w.use('K2') },
  507: { code: 'HOST_ERROR', hint: (w) => `the host is full for now: ${w.use(['K1', 'K2'])}` },
};

/**
 * The host's own reason counts before the status. A success without the expected data is the page of a proxy or another
 * host.
 * @see protocol 7 (K3 POST does not return 201)
 */
export function binRefusedError(
  call: CallTemplate,
  answer: TextAnswer,
  { bin, now }: { readonly bin: string; readonly now: number },
): DeliveryError {
  const { status } = answer;
  const isUpload = call === BIN.post;
  const isFailing = status === 429 || status >= 500;
  const isOther = status < 300;
  const text = isOther && !isUpload ? '' : plainText(answer.text);
  const reason: Meaning | undefined = findMeaning(listRefusals(bin), status, text);
  const known = reason ?? (isUpload ? UPLOAD_REFUSALS[status] : undefined);
  const ending = isUpload ? ' instead of 201' : isOther ? ' with a page' : '';
  const message = `${call.description} answered HTTP ${status}${ending}${text === '' ? '' : `: ${text}`}`;
  return new DeliveryError(known?.code ?? (status === 429 ? 'RATE_LIMITED' : 'HOST_ERROR'), message, {
    httpCode: status,
    hint: (w) => {
      if (known !== undefined) return w.say(known.hint);
      if (isUpload && isFailing) return `try again later${w.orUse(['K1', 'K2'])}`;
      return `check ${w.input('bin')} and ${w.input('bin-host-url')}, or try again`;
    },
    retryable: known === undefined && (isFailing || isOther),
    retryAfter: parseRetryAfter(answer, now),
  });
}

/** A page, unlike plain text, comes from a proxy or another host. */
const plainText = (text: string): string => (/^\s*</.test(text) ? '' : shortHostMessage(text));
