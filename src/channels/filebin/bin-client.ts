import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import { readText } from '../../http/body.ts';
import { connectionError } from '../../http/client.ts';
import { discard, firstHeader, isPage } from '../../http/response.ts';
import { sendRequest, type TextAnswer } from '../../http/send-request.ts';
import { parseJson } from '../../json.ts';
import type { HttpResponse, Ports, Progress } from '../../ports.ts';
import { BIN, type CallTemplate } from '../../protocol/calls.ts';
import { BIN_ANSWER, EXCHANGE, SECOND, TEXT } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import type { HostRefusal } from '../channel.ts';
import { type BinAnswer, binCallError, plainText, uploadRefusedError } from './refusals.ts';

/** A file in a bin, as the host stores it. */
export interface BinFile {
  readonly bin: string;
  readonly filename: string;
  /** Lowercase hex. */
  readonly sha256: string | undefined;
  /** What the host found in the bytes: it decides whether a browser shows the file. */
  readonly contentType: string | undefined;
  /** In the host's own words. */
  readonly expires: string | undefined;
  /** How many files the bin held before this one was posted; absent where the host does not say. */
  readonly filesBefore?: number;
}

/**
 * What a bin is: the first upload creates an absent one; an open one takes anybody's uploads; the name of an
 * expired or deleted one is never usable again.
 */
export type BinStatus = 'absent' | 'open' | 'locked' | 'unavailable';

/**
 * What somebody new gets at a file's address: a refusal; the warning page, which comes only before a file that may
 * be downloaded and is no download itself; a download, which the host may have counted; or no clear answer.
 */
export type BinLook =
  | { readonly kind: 'refused'; readonly refusal: HostRefusal }
  | { readonly kind: 'warned' | 'opened' | 'unclear' };

/** What the host says about a bin. */
export interface BinState {
  readonly status: BinStatus;
  readonly files: readonly BinFile[];
}

/** One bin of the file-bin host. No credential is ever sent. */
export interface BinClient {
  /**
   * Posts a file, once, and waits for the answer as long as the host may take to store it. The host decides
   * on the names.
   *
   * @throws {DeliveryError} by status; what has arrived is unknown when the exchange broke off.
   * @see protocol 4.4
   */
  post(file: LocalFile, filename: string): Promise<BinFile>;
  /**
   * Reads whether the bin exists and is locked, and its files.
   *
   * @throws {DeliveryError} where the host's answer says nothing about the bin.
   */
  read(): Promise<BinState>;
  /** Asks the host to lock the bin, for good; `false` where it did not say that it did. */
  lock(): Promise<boolean>;
  /** Deletes a file; `false` where it did not exist. */
  remove(filename: string): Promise<boolean>;
  /** Looks at a file's address as somebody new, without following it to the storage. */
  look(filename: string): Promise<BinLook>;
  address(filename: string): URL;
}

interface FileRecord {
  readonly filename?: string;
  readonly sha256?: string;
  readonly 'content-type'?: string;
}

interface BinRecord {
  readonly bin?: {
    readonly id?: string;
    readonly readonly?: boolean;
    readonly created_at?: string;
    /** In the answer to an upload: before it. */
    readonly files?: number;
    readonly expired_at?: string;
  } | null;
  readonly file?: FileRecord | null;
  readonly files?: readonly FileRecord[] | null;
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
    read: () => readBin(location, ports),
    lock: () => lockBin(location, ports),
    remove: (filename) => deleteFile(filename, location, ports),
    look: (filename) => lookAtFile(filename, location, ports),
  };
}

function ask({ method }: CallTemplate, url: URL, { http, clock, signal }: Ports): Promise<HttpResponse> {
  const limited = AbortSignal.any([signal, clock.timeout(EXCHANGE.api)]);
  return http({ method, url, headers: { accept: 'application/json' }, signal: limited });
}

async function send(call: CallTemplate, url: URL, ports: Ports): Promise<BinAnswer> {
  const answer = await ask(call, url, ports);
  const text = await readText(answer, EXCHANGE.apiBody).catch((thrown: unknown) => {
    // A change is told by its status; a list that broke off says nothing.
    if (call.method !== 'GET') return '';
    throw connectionError(thrown, { url, signal: ports.signal });
  });
  return { status: answer.status, headers: answer.headers, text };
}

async function postFile(
  file: LocalFile,
  filename: string,
  location: BinLocation,
  ports: Ports,
): Promise<BinFile> {
  const waiting = createAnswerWait(ports);
  try {
    const request = {
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
      startProgress: () => waiting.after(ports.logger.progress('uploaded', file.size, 'bytes')),
      headersTimeout: BIN_ANSWER.longest,
    };
    const answer = await sendRequest(request, ports);
    if (answer.status !== 201) throw uploadRefusedError(answer, location.bin, ports.clock.now());
    return parseStoredFile(answer, file, { bin: location.bin, filename });
  } catch (thrown) {
    throw isAnswerTimeout(thrown) ? noAnswerError(location, thrown) : thrown;
  } finally {
    waiting.end();
  }
}

/** Shows that the host is still storing the file, once all of it was sent: that may take minutes. */
function createAnswerWait({ clock, logger }: Pick<Ports, 'clock' | 'logger'>) {
  let hasEnded = false;
  let shown: Progress | undefined;
  const wait = (): void => {
    clock.timeout(BIN_ANSWER.interval).addEventListener('abort', showNext, { once: true });
  };
  const showNext = (): void => {
    if (hasEnded) return;
    shown ??= logger.progress(
      'waited for the bin host to store the file',
      BIN_ANSWER.longest,
      'milliseconds',
    );
    shown.advance(BIN_ANSWER.interval);
    wait();
  };
  return {
    /** The progress of the upload, after which the wait begins. */
    after: (upload: Progress): Progress => ({
      advance: (amount) => upload.advance(amount),
      end: () => {
        upload.end();
        wait();
      },
    }),
    end: (): void => {
      hasEnded = true;
      shown?.end();
    },
  };
}

const isAnswerTimeout = (thrown: unknown): boolean =>
  thrown instanceof DeliveryError &&
  thrown.cause instanceof Error &&
  'code' in thrown.cause &&
  thrown.cause.code === 'UND_ERR_HEADERS_TIMEOUT';

/** Not retryable: the host may still be storing the file, and posting it again would store it twice. */
function noAnswerError({ bin }: BinLocation, cause: unknown): DeliveryError {
  const minutes = BIN_ANSWER.longest / (60 * SECOND);
  return new DeliveryError(
    'CONNECTION',
    `the bin host gave no answer to the upload within ${minutes} minutes`,
    {
      hint: (w) => `try again with ${w.input('bin', bin)}: it first reads whether the file has arrived`,
      cause,
    },
  );
}

async function readBin(location: BinLocation, ports: Ports): Promise<BinState> {
  const answer = await send(BIN.list, urlFor(BIN.list, location), ports);
  const state = parseBinState(answer, location.bin);
  if (state !== null) return state;
  // A page instead of a list may come from a proxy, for a moment.
  const retryable = answer.status === 200;
  throw binCallError(BIN.list.description, answer, { ...location, now: ports.clock.now(), retryable });
}

/** What the answer says about the bin; `null` where it says nothing about it. */
function parseBinState(answer: BinAnswer, name: string): BinState | null {
  const { status, text } = answer;
  const json = parseJson(text);
  const record = (typeof json === 'object' ? json : null) as BinRecord | null;
  const bin = record?.bin;
  // What is said of another bin says nothing of this one.
  if (bin?.id !== undefined && bin.id !== name) return null;
  if (status === 404) {
    // The host describes a bin that once existed; a page comes from another host.
    if (bin != null || /no longer available/i.test(text)) return { status: 'unavailable', files: [] };
    return isPage(answer) ? null : { status: 'absent', files: [] };
  }
  const listed: unknown = record?.files ?? [];
  if (status !== 200 || bin == null || !isFileList(listed)) return null;
  const files = listed.flatMap((file) => parseListedFile(file, name, bin.expired_at));
  // The host describes a bin that does not exist as well: as an empty one that was never created.
  const isAbsent = files.length === 0 && String(bin.created_at).startsWith('0001-');
  return { status: isAbsent ? 'absent' : bin.readonly === true ? 'locked' : 'open', files };
}

const isFileList = (listed: unknown): listed is readonly FileRecord[] =>
  Array.isArray(listed) && listed.every((file) => typeof file === 'object' && file !== null);

function parseListedFile(file: FileRecord, bin: string, expires: string | undefined): readonly BinFile[] {
  const { filename, sha256, 'content-type': contentType } = file;
  return filename === undefined ? [] : [{ bin, filename, sha256, contentType, expires }];
}

async function lockBin(location: BinLocation, ports: Ports): Promise<boolean> {
  try {
    return (await send(BIN.lock, urlFor(BIN.lock, location), ports)).status === 200;
  } catch (thrown) {
    if (thrown instanceof DeliveryError || ports.signal.aborted) return false;
    throw thrown;
  }
}

async function deleteFile(filename: string, location: BinLocation, ports: Ports): Promise<boolean> {
  const answer = await send(BIN.remove, urlFor(BIN.remove, location, filename), ports);
  if (answer.status === 404) return false;
  const isDone = answer.status >= 200 && answer.status < 300;
  if (isDone && !isPage(answer)) return true;
  throw binCallError(BIN.remove.description, answer, {
    ...location,
    now: ports.clock.now(),
    retryable: isDone,
  });
}

async function lookAtFile(filename: string, location: BinLocation, ports: Ports): Promise<BinLook> {
  const answer = await resultOf(() => ask(BIN.get, urlFor(BIN.get, location, filename), ports));
  if (hasFailed(answer)) return { kind: 'unclear' };
  const { status } = answer;
  if ([403, 404, 410].includes(status)) {
    const text = await readText(answer, TEXT.refusal).catch(() => '');
    return { kind: 'refused', refusal: { httpCode: status, text: plainText(text) } };
  }
  discard(answer);
  if (status === 200 && isPage(answer) && firstHeader(answer, 'set-cookie') !== undefined)
    return { kind: 'warned' };
  return { kind: status >= 200 && status < 400 ? 'opened' : 'unclear' };
}

/** Reads what the host answers about the file that it stored. */
function parseStoredFile(
  { json, status }: TextAnswer,
  { sha256 }: LocalFile,
  asked: { readonly bin: string; readonly filename: string },
): BinFile {
  if (typeof json !== 'object' || json === null) {
    throw new DeliveryError('HOST_ERROR', 'posting to the bin was answered with something that is not JSON', {
      httpCode: status,
      retryable: true,
      hint: (w) => `try again, or ${w.use('K1 or K2')}`,
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
    contentType: file?.['content-type'],
    expires: bin?.expired_at,
    ...(typeof bin?.files === 'number' ? { filesBefore: bin.files } : {}),
  };
}

function urlFor(call: CallTemplate, { binHostUrl, bin }: BinLocation, filename = ''): URL {
  const path = call.path
    .replace('{bin}', encodeURIComponent(bin))
    .replace('{filename}', encodeURIComponent(filename));
  return new URL(binHostUrl.href.replace(/\/$/, '') + path);
}
