import { DeliveryError, type FailureCode } from '../errors.ts';
import { discard } from '../http/body.ts';
import { retryAfter } from '../http/headers.ts';
import { hostMessage } from '../http/host-message.ts';
import { type Uploaded, upload } from '../http/upload.ts';
import type { Ports } from '../ports.ts';
import { BIN, type Call } from '../protocol/calls.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { binFileName } from '../rules/naming.ts';
import { retrying } from '../retry.ts';
import type { Channel, Placement } from './channel.ts';

export interface FilebinOptions {
  /** The host's address. */
  readonly host: URL;
  /** The bin's name, and the file's in it. */
  readonly bin: string;
  readonly name: string;
}

/** What the host says of the file it took. */
interface Receipt {
  readonly bin?: { readonly id?: string; readonly expired_at?: string };
  readonly file?: { readonly filename?: string; readonly sha256?: string };
}

/**
 * K3: the anonymous file-bin. No credential is sent; the bin is locked after the upload.
 *
 * @see protocol 4.4
 */
export function createFilebin(options: FilebinOptions, ports: Ports): Channel {
  return {
    key: 'K3',
    async prepare(file) {
      if (file === null) {
        throw new DeliveryError('BAD_INPUT', 'channel K3 needs a file to post', { hint: 'set `file:`' });
      }
      const filename = binFileName(options.name);
      return {
        plan: {
          channel: 'K3',
          method: 'one POST',
          destination: `bin ${options.bin}, name ${filename}`,
          promise: isDownloaded(filename) ? 'downloads' : 'opens',
        },
        place: () => post(file, filename, options, ports),
      };
    },
  };
}

async function post(
  file: LocalFile,
  filename: string,
  options: FilebinOptions,
  ports: Ports,
): Promise<Placement> {
  const receipt = await retrying(ports, () => postOnce(file, filename, options, ports));
  // The host decides on the names: the address is built from its answer.
  const bin = receipt.bin?.id ?? options.bin;
  const stored = receipt.file?.filename ?? filename;
  const locked = await lock(bin, options.host, ports);
  return {
    evidence: `HTTP 201, bin ${bin}, file ${stored}`,
    url: address(BIN.get, options.host, bin, stored),
    bustCaches: false,
    mayAlter: false,
    mustBeExternal: false,
    notes: notesOn(receipt, stored),
    unknown: locked ? [] : [`the bin could not be locked: anybody who knows its name can add to it`],
  };
}

/** The file's SHA-256 goes along, so that the host itself refuses other bytes; sending twice overwrites like with like. */
async function postOnce(
  file: LocalFile,
  filename: string,
  options: FilebinOptions,
  ports: Ports,
): Promise<Receipt> {
  const answer = await upload(ports.http, {
    method: BIN.post.method,
    url: address(BIN.post, options.host, options.bin, filename),
    headers: {
      accept: 'application/json',
      'content-type': 'application/octet-stream',
      'content-sha256': file.sha256,
    },
    length: file.size,
    body: () => file.read(),
    meter: () => ports.logger.meter('uploaded', file.size, 'bytes'),
    signal: ports.signal,
    clock: ports.clock,
  });
  if (answer.status !== 201) throw refused(answer, ports.clock.now());
  const receipt = answer.json as Receipt | undefined;
  if (typeof receipt !== 'object' || receipt === null) {
    throw new DeliveryError('HOST_ERROR', 'posting to the bin was answered with something that is not JSON', {
      httpCode: answer.status,
    });
  }
  if (receipt.file?.sha256 !== undefined && receipt.file.sha256 !== file.sha256) {
    throw new DeliveryError('HOST_ERROR', "the bin host stored other bytes than the file's", {
      httpCode: answer.status,
      passing: true,
    });
  }
  return receipt;
}

/** What each refusal of an upload means, and what to change; the last row fits any other. */
const REFUSALS: readonly {
  statuses: readonly number[];
  code: FailureCode;
  hint: string;
  passing?: boolean;
}[] = [
  { statuses: [400, 404], code: 'BAD_INPUT', hint: 'set `bin:` to 8 to 60 letters, digits, _ or -' },
  {
    statuses: [403],
    code: 'NO_PERMISSION',
    hint: 'set `path:` to a name with another ending, or use channel: K1 or K2',
  },
  {
    statuses: [405],
    code: 'CONFLICT',
    hint: 'the bin is locked or expired: leave `bin:` out, or set another name',
  },
  { statuses: [413], code: 'TOO_LARGE', hint: 'use channel: K2' },
  { statuses: [429], code: 'RATE_LIMITED', hint: 'try again later, or use channel: K1 or K2', passing: true },
  { statuses: [507], code: 'HOST_ERROR', hint: 'the host is full for now: use channel: K1 or K2' },
  {
    statuses: [500, 502, 503, 504],
    code: 'HOST_ERROR',
    hint: 'try again later, or use channel: K1 or K2',
    passing: true,
  },
  { statuses: [], code: 'HOST_ERROR', hint: 'check `bin-host-url:`, or use channel: K1 or K2' },
];

/** @see protocol 7 (K3 POST does not return 201) */
function refused(answer: Uploaded, now: number): DeliveryError {
  const row = REFUSALS.find(({ statuses }) => statuses.length === 0 || statuses.includes(answer.status));
  const text = answer.text.startsWith('<') ? '' : hostMessage(answer.text);
  return new DeliveryError(
    row?.code ?? 'HOST_ERROR',
    `${BIN.post.does} answered HTTP ${answer.status} and not 201${text === '' ? '' : `: ${text}`}`,
    { httpCode: answer.status, hint: row?.hint, passing: row?.passing, retryAfter: retryAfter(answer, now) },
  );
}

/** Locks the bin against further uploads; a failure is no failure of the delivery. */
async function lock(bin: string, host: URL, { http, signal }: Ports): Promise<boolean> {
  try {
    const answer = await http({ method: BIN.lock.method, url: address(BIN.lock, host, bin), signal });
    discard(answer);
    return answer.status === 200;
  } catch (thrown) {
    if (thrown instanceof DeliveryError || signal.aborted) return false;
    throw thrown;
  }
}

function address(call: Call, host: URL, bin: string, filename = ''): URL {
  const path = call.path
    .replace('{bin}', encodeURIComponent(bin))
    .replace('{filename}', encodeURIComponent(filename));
  return new URL(host.href.replace(/\/$/, '') + path);
}

/** HTML and PDF are sent as attachments there: they never show on the screen. */
const isDownloaded = (name: string): boolean => /\.(html?|xhtml|pdf)$/i.test(name);

function notesOn(receipt: Receipt, stored: string): string[] {
  const said = receipt.bin?.expired_at;
  const expiry = said === undefined ? undefined : hostMessage(said);
  return [
    expiry === undefined ? 'the bin expires after about 7 days' : `the bin expires at ${expiry}`,
    'it is public to anyone with the link; a browser may be shown a warning page first',
    ...(isDownloaded(stored) ? ['this kind of file is downloaded there, not shown on the screen'] : []),
  ];
}
