import { DeliveryError, type FailureCode, hasFailed, type Settled, settled } from '../errors.ts';
import { discard, readText } from '../http/body.ts';
import { retryAfter } from '../http/headers.ts';
import { hostMessage } from '../http/host-message.ts';
import { parsedJson, type Uploaded, upload } from '../http/upload.ts';
import type { Ports } from '../ports.ts';
import { BIN, type Call } from '../protocol/calls.ts';
import { EXCHANGE } from '../protocol/limits.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { binFileName, flatName } from '../rules/naming.ts';
import { retrying } from '../retry.ts';
import type { Channel, Intent, Parcel, Placement } from './channel.ts';

export interface FilebinOptions {
  /** The host's address. */
  readonly host: URL;
  /** The bin's name. */
  readonly bin: string;
  /** Whether the name was made up just now, so that nothing can be there yet. */
  readonly binIsNew: boolean;
}

/** What K3 must know to place one file. */
export interface BinTask {
  readonly file: LocalFile;
  readonly filename: string;
}

/** What the host says of the file it took. */
interface Receipt {
  readonly bin?: { readonly id?: string; readonly expired_at?: string };
  readonly file?: { readonly filename?: string; readonly sha256?: string };
}

/**
 * K3: the anonymous file-bin. No credential is sent; the bin is locked after the last upload.
 *
 * @see protocol 4.4
 */
export function createFilebin(options: FilebinOptions, ports: Ports): Channel<BinTask> {
  return {
    key: 'K3',
    prepare: async (parcels) => parcels.map((parcel) => intentFor(parcel, options)),
    foresee: async (intents) => {
      const found = options.binIsNew ? [] : await filesIn(options, ports);
      return intents.map(({ task }) =>
        found.some(isFile(task)) ? 'the bin already holds these bytes' : `${task.filename} would be posted`,
      );
    },
    place: (intents) => place(intents, options, ports),
  };
}

function intentFor({ file, name }: Parcel, { bin }: FilebinOptions): Settled<Intent<BinTask>> {
  if (file === null) {
    return new DeliveryError('BAD_INPUT', 'channel K3 needs a file to post', { hint: 'set `file:`' });
  }
  const filename = binFileName(flatName(name));
  return {
    plan: {
      channel: 'K3',
      method: 'one POST',
      destination: `bin ${bin}, name ${filename}`,
      promise: isDownloaded(filename) ? 'downloads' : 'opens',
    },
    task: { file, filename },
  };
}

async function place(
  intents: readonly Intent<BinTask>[],
  options: FilebinOptions,
  ports: Ports,
): Promise<readonly Settled<Placement>[]> {
  const received: Settled<Posted>[] = [];
  for (const { task } of intents) received.push(await settled(() => post(task, options, ports)));
  const bins = new Set(received.flatMap((one) => (hasFailed(one) || !one.written ? [] : [one.bin])));
  const open = new Set<string>();
  for (const bin of bins) if (!(await lock(bin, options.host, ports))) open.add(bin);
  return received.map((one) => (hasFailed(one) ? one : placementOf(one, options.host, !open.has(one.bin))));
}

/** A file in its bin. The host decides on the names: the address is built from its answer. */
interface Posted {
  readonly bin: string;
  readonly stored: string;
  readonly expires: string | undefined;
  readonly written: boolean;
}

function placementOf({ bin, stored, expires, written }: Posted, host: URL, locked: boolean): Placement {
  return {
    evidence: `${written ? 'HTTP 201, ' : ''}bin ${bin}, file ${stored}${written ? '' : ' already holds these bytes'}`,
    url: address(BIN.get, host, bin, stored),
    written,
    bustCaches: false,
    mayAlter: false,
    mustBeExternal: false,
    notes: notesOn(expires, stored),
    unknown: locked ? [] : ['the bin could not be locked: anybody who knows its name can add to it'],
  };
}

/** Looks first wherever something may be there: in a bin of a known name, and after a broken attempt. */
async function post(task: BinTask, options: FilebinOptions, ports: Ports): Promise<Posted> {
  let sent = false;
  return retrying(ports, async () => {
    const found = options.binIsNew && !sent ? undefined : (await filesIn(options, ports)).find(isFile(task));
    if (found !== undefined) {
      return { bin: options.bin, stored: found.filename, expires: found.expires, written: sent };
    }
    sent = true;
    const receipt = await postOnce(task.file, task.filename, options, ports);
    return {
      bin: receipt.bin?.id ?? options.bin,
      stored: receipt.file?.filename ?? task.filename,
      expires: receipt.bin?.expired_at,
      written: true,
    };
  });
}

interface BinFile {
  readonly filename: string;
  readonly sha256: string | undefined;
  readonly expires: string | undefined;
}

const isFile =
  ({ file, filename }: BinTask) =>
  (one: BinFile): boolean =>
    one.filename === filename && one.sha256 === file.sha256;

/** What a bin holds; nothing where it isn't there, or doesn't say. */
async function filesIn(
  { host, bin }: FilebinOptions,
  { http, clock, signal }: Ports,
): Promise<readonly BinFile[]> {
  const answer = await http({
    method: BIN.list.method,
    url: address(BIN.list, host, bin),
    headers: { accept: 'application/json' },
    signal: AbortSignal.any([signal, clock.timeout(EXCHANGE.api)]),
  });
  if (answer.status !== 200) {
    discard(answer);
    return [];
  }
  const said = parsedJson(await readText(answer.body, EXCHANGE.apiBody)) as BinListing | null | undefined;
  const expires = said?.bin?.expired_at;
  return (said?.files ?? []).flatMap(({ filename, sha256 }) =>
    filename === undefined ? [] : [{ filename, sha256, expires }],
  );
}

interface BinListing {
  readonly bin?: { readonly expired_at?: string };
  readonly files?: readonly { readonly filename?: string; readonly sha256?: string }[];
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

function notesOn(expires: string | undefined, stored: string): string[] {
  const expiry = expires === undefined ? undefined : hostMessage(expires);
  return [
    expiry === undefined ? 'the bin expires after about 7 days' : `the bin expires at ${expiry}`,
    'it is public to anyone with the link; a browser may be shown a warning page first',
    ...(isDownloaded(stored) ? ['this kind of file is downloaded there, not shown on the screen'] : []),
  ];
}
