import { DeliveryError, type ErrorCode } from '../../errors.ts';
import { connectionError } from '../../http/client.ts';
import {
  discard,
  firstHeader,
  parseJson,
  parseRetryAfter,
  readText,
  shortHostMessage,
} from '../../http/response.ts';
import { sendUpload, type UploadResponse } from '../../http/upload.ts';
import type { HttpResponse, Ports } from '../../ports.ts';
import { BIN, type CallTemplate } from '../../protocol/calls.ts';
import { EXCHANGE } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';

/** A file in a bin, as the host stores it. */
export interface BinFile {
  readonly bin: string;
  readonly filename: string;
  /** Lowercase hex. */
  readonly sha256: string | undefined;
  /** In the host's own words. */
  readonly expires: string | undefined;
}

/** One bin of the file-bin host. No credential is ever sent. */
export interface BinClient {
  /**
   * Posts a file, once. The host decides on the names.
   *
   * @throws {DeliveryError} by status; what has arrived is unknown when the exchange broke off.
   * @see protocol 4.4
   */
  post(file: LocalFile, filename: string): Promise<BinFile>;
  /** Lists the bin's files; empty where the bin does not exist or cannot be read. */
  files(): Promise<readonly BinFile[]>;
  /** Locks the bin against further uploads; `false` where that failed. */
  lock(): Promise<boolean>;
  /** Deletes a file; `false` where it did not exist. */
  remove(filename: string): Promise<boolean>;
  address(filename: string): URL;
}

interface BinRecord {
  readonly bin?: { readonly id?: string; readonly expired_at?: string };
  readonly file?: { readonly filename?: string; readonly sha256?: string };
  readonly files?: readonly { readonly filename?: string; readonly sha256?: string }[];
}

/** Where a bin is. */
export interface BinLocation {
  readonly binHostUrl: URL;
  /** The bin's name. */
  readonly bin: string;
}

/** Opens a bin, which may not exist yet: the first upload creates it. */
export function createBinClient(location: BinLocation, ports: Ports): BinClient {
  return {
    address: (filename) => urlFor(BIN.get, location, filename),
    post: (file, filename) => postFile(file, filename, location, ports),
    files: () => listFiles(location, ports),
    lock: () => lockBin(location, ports),
    remove: (filename) => deleteFile(filename, location, ports),
  };
}

/** Sends a call without a body. */
function send(call: CallTemplate, url: URL, { http, clock, signal }: Ports): Promise<HttpResponse> {
  return http({
    method: call.method,
    url,
    headers: { accept: 'application/json' },
    signal: AbortSignal.any([signal, clock.timeout(EXCHANGE.api)]),
  });
}

async function postFile(
  file: LocalFile,
  filename: string,
  location: BinLocation,
  { http, clock, logger, signal }: Ports,
): Promise<BinFile> {
  const answer = await sendUpload(http, {
    method: BIN.post.method,
    url: urlFor(BIN.post, location, filename),
    headers: {
      accept: 'application/json',
      'content-type': 'application/octet-stream',
      // The host refuses other bytes, so a second upload replaces the file by the same one.
      'content-sha256': file.sha256,
    },
    length: file.size,
    body: () => file.read(),
    startProgress: () => logger.progress('uploaded', file.size, 'bytes'),
    signal,
    clock,
  });
  if (answer.status !== 201) throw uploadRefusedError(answer, clock.now());
  return parseStoredFile(answer, file, { bin: location.bin, filename });
}

async function listFiles(location: BinLocation, ports: Ports): Promise<readonly BinFile[]> {
  const url = urlFor(BIN.list, location);
  const answer = await send(BIN.list, url, ports);
  if (answer.status !== 200) {
    discard(answer);
    return [];
  }
  const text = await readText(answer.body, EXCHANGE.apiBody).catch((thrown: unknown) => {
    throw connectionError(thrown, { url, signal: ports.signal });
  });
  const { bin, files = [] } = (parseJson(text) ?? {}) as BinRecord;
  return files.flatMap(({ filename, sha256 }) =>
    filename === undefined ? [] : [{ bin: location.bin, filename, sha256, expires: bin?.expired_at }],
  );
}

async function lockBin(location: BinLocation, ports: Ports): Promise<boolean> {
  try {
    const answer = await send(BIN.lock, urlFor(BIN.lock, location), ports);
    discard(answer);
    return answer.status === 200;
  } catch (thrown) {
    if (thrown instanceof DeliveryError || ports.signal.aborted) return false;
    throw thrown;
  }
}

async function deleteFile(filename: string, location: BinLocation, ports: Ports): Promise<boolean> {
  const answer = await send(BIN.remove, urlFor(BIN.remove, location, filename), ports);
  discard(answer);
  if (answer.status === 404) return false;
  // The host itself answers in plain text; an HTML page comes from a proxy or another host.
  const isPage = /html/.test(firstHeader(answer, 'content-type') ?? '');
  const isDone = answer.status >= 200 && answer.status < 300;
  if (isDone && !isPage) return true;
  const isLimited = answer.status === 429;
  throw new DeliveryError(
    isLimited ? 'RATE_LIMITED' : 'HOST_ERROR',
    `${BIN.remove.description} answered HTTP ${answer.status}${isDone ? ' with a page' : ''}`,
    {
      httpCode: answer.status,
      retryable: isDone || isLimited || answer.status >= 500,
      retryAfter: parseRetryAfter(answer, ports.clock.now()),
      hint: 'check `bin:` and `bin-host-url:`, or run the step again',
    },
  );
}

/** Reads what the host answers about the file that it stored. */
function parseStoredFile(
  { json, status }: UploadResponse,
  { sha256 }: LocalFile,
  asked: { readonly bin: string; readonly filename: string },
): BinFile {
  if (typeof json !== 'object' || json === null) {
    throw new DeliveryError('HOST_ERROR', 'posting to the bin was answered with something that is not JSON', {
      httpCode: status,
      retryable: true,
      hint: 'run the step again, or use channel: K1 or K2',
    });
  }
  const { bin, file } = json as BinRecord;
  if (file?.sha256 !== undefined && file.sha256 !== sha256) {
    throw new DeliveryError('HOST_ERROR', 'the bin host stored other bytes than those of the file', {
      httpCode: status,
      retryable: true,
    });
  }
  return {
    bin: bin?.id ?? asked.bin,
    filename: file?.filename ?? asked.filename,
    sha256,
    expires: bin?.expired_at,
  };
}

/** What each refused upload means, and what to change; the last row fits any other status. */
const REFUSALS: readonly {
  statuses: readonly number[];
  code: ErrorCode;
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
  // A proxy or another host may answer with a page.
  {
    statuses: [200],
    code: 'HOST_ERROR',
    hint: 'check `bin-host-url:`, or use channel: K1 or K2',
    passing: true,
  },
  { statuses: [], code: 'HOST_ERROR', hint: 'check `bin-host-url:`, or use channel: K1 or K2' },
];

/** @see protocol 7 (K3 POST does not return 201) */
function uploadRefusedError(answer: UploadResponse, now: number): DeliveryError {
  const row = REFUSALS.find(({ statuses }) => statuses.length === 0 || statuses.includes(answer.status));
  const text = answer.text.startsWith('<') ? '' : shortHostMessage(answer.text);
  return new DeliveryError(
    row?.code ?? 'HOST_ERROR',
    `${BIN.post.description} answered HTTP ${answer.status} and not 201${text === '' ? '' : `: ${text}`}`,
    {
      httpCode: answer.status,
      hint: row?.hint,
      retryable: row?.passing,
      retryAfter: parseRetryAfter(answer, now),
    },
  );
}

function urlFor(call: CallTemplate, { binHostUrl, bin }: BinLocation, filename = ''): URL {
  const path = call.path
    .replace('{bin}', encodeURIComponent(bin))
    .replace('{filename}', encodeURIComponent(filename));
  return new URL(binHostUrl.href.replace(/\/$/, '') + path);
}
