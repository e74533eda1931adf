import { hasFailed, resultOf } from '../../errors.ts';
import { discard, firstHeader, isPage, readText } from '../../http/response.ts';
import { sendRequest, type TextAnswer } from '../../http/send-request.ts';
import type { Ports } from '../../ports.ts';
import { BIN, type CallTemplate } from '../../protocol/calls.ts';
import { EXCHANGE, TEXT } from '../../protocol/limits.ts';
import { binCallError, type HostRefusal, plainText } from './refusals.ts';

/** A file in a bin, as the host stores it. */
export interface BinFile {
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
type BinStatus = 'absent' | 'open' | 'locked' | 'unavailable';

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

interface FileRecord {
  readonly filename?: string;
  readonly sha256?: string;
  readonly 'content-type'?: string;
}

/** What the host answers about a bin. No credential is ever sent. */
export interface BinRecord {
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

/** A bin, and whether a file of others may be replaced or removed. */
export interface BinTarget extends BinLocation {
  readonly overwrite: boolean;
}

/** A name in a bin, and the bytes that belong there; `undefined` where there is no file to compare with. */
export type BinEntry = Pick<BinFile, 'filename' | 'sha256'>;

const HEADERS = { accept: 'application/json' };

const send = ({ method }: CallTemplate, url: URL, ports: Ports): Promise<TextAnswer> =>
  sendRequest({ method, url, headers: HEADERS }, ports);

/**
 * Reads whether the bin exists and is locked, and its files.
 *
 * @throws {DeliveryError} where the host's answer says nothing about the bin.
 */
export async function readBin(location: BinLocation, ports: Ports): Promise<BinState> {
  const answer = await send(BIN.list, urlFor(BIN.list, location), ports);
  const state = parseBinState(answer, location.bin);
  if (state !== null) return state;
  // A page instead of a list may come from a proxy, for a moment.
  const retryable = answer.status === 200;
  throw binCallError(BIN.list.description, answer, { ...location, now: ports.clock.now(), retryable });
}

/** What the answer says about the bin; `null` where it says nothing about it. */
function parseBinState(answer: TextAnswer, name: string): BinState | null {
  const { status, text, json } = answer;
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
  const files = listed.flatMap((file) => parseListedFile(file, bin.expired_at));
  // The host describes a bin that does not exist as well: as an empty one that was never created.
  const isAbsent = files.length === 0 && String(bin.created_at).startsWith('0001-');
  return { status: isAbsent ? 'absent' : bin.readonly === true ? 'locked' : 'open', files };
}

const isFileList = (listed: unknown): listed is readonly FileRecord[] =>
  Array.isArray(listed) && listed.every((file) => typeof file === 'object' && file !== null);

function parseListedFile(file: FileRecord, expires: string | undefined): readonly BinFile[] {
  const { filename, sha256, 'content-type': contentType } = file;
  return filename === undefined ? [] : [{ filename, sha256, contentType, expires }];
}

/** Asks the host to lock the bin, for good; `false` where it did not say that it did. */
export async function lockBin(location: BinLocation, ports: Ports): Promise<boolean> {
  const answer = await resultOf(() => send(BIN.lock, urlFor(BIN.lock, location), ports));
  return !hasFailed(answer) && answer.status === 200;
}

/** Deletes a file; `false` where it did not exist. */
export async function deleteFile(filename: string, location: BinLocation, ports: Ports): Promise<boolean> {
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

/** Looks at a file's address as somebody new, without following it to the storage. */
export async function lookAtFile(filename: string, location: BinLocation, ports: Ports): Promise<BinLook> {
  const { http, clock } = ports;
  const signal = AbortSignal.any([ports.signal, clock.timeout(EXCHANGE.api)]);
  const { method } = BIN.get;
  const url = urlFor(BIN.get, location, filename);
  const answer = await resultOf(() => http({ method, url, headers: HEADERS, signal }));
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

/** The address of a bin, or of a file in it. */
export function urlFor(call: CallTemplate, { binHostUrl, bin }: BinLocation, filename = ''): URL {
  const path = call.path
    .replace('{bin}', encodeURIComponent(bin))
    .replace('{filename}', encodeURIComponent(filename));
  return new URL(binHostUrl.href.replace(/\/$/, '') + path);
}
