import { resultOf } from '../../errors.ts';
import { isPage } from '../../http/response.ts';
import { sendRequest, type TextAnswer } from '../../http/send-request.ts';
import { toFields, toText } from '../../plain-text.ts';
import type { Ports } from '../../ports.ts';
import { BIN, type CallTemplate } from '../../protocol/calls.ts';
import { BIN_FILE_NAME } from '../../protocol/limits.ts';
import { urlBelow } from '../../rules/naming.ts';
import { binRefusedError } from './refusals.ts';

export interface BinLocation {
  readonly binHostUrl: URL;
  readonly bin: string;
}

export type BinFile = Readonly<ReturnType<typeof toBinFile>>;

export interface BinState {
  /** Anybody can upload to an open bin. The name of an unavailable bin can't be used again. */
  readonly status: 'absent' | 'open' | 'locked' | 'unavailable';
  readonly files: readonly BinFile[];
  readonly expires?: string | undefined;
}

/** Reads the host's answer about a bin, whatever its shape. */
export function readRecord(json: unknown) {
  const { bin, file, files } = toFields(json);
  const { id, readonly, created_at, expired_at, files: filesBefore } = toFields(bin);
  return {
    isDescribed: bin != null,
    id,
    isLocked: readonly === true,
    created: toShortText(created_at),
    expires: toShortText(expired_at),
    filesBefore: typeof filesBefore === 'number' ? filesBefore : undefined,
    file: toBinFile(file),
    files: files ?? [],
  };
}

function toBinFile(file: unknown) {
  const { filename, sha256, 'content-type': type, created_at, updated_at } = toFields(file);
  const [created, updated] = [toShortText(created_at), toShortText(updated_at)];
  return {
    filename: toShortText(filename),
    sha256: toShortText(sha256),
    /** The type that the host detected, which decides whether a browser shows the file. */
    contentType: toShortText(type),
    /** Whether the host replaced a file with this name, even a deleted file; `undefined` if unknown. */
    isReplaced: created === undefined || updated === undefined ? undefined : created !== updated,
  };
}

/** Drops any text that is longer than a file name can be. */
function toShortText(value: unknown): string | undefined {
  const text = toText(value);
  return text !== undefined && Buffer.byteLength(text) <= BIN_FILE_NAME ? text : undefined;
}

export const BIN_HEADERS = { accept: 'application/json' };

const send = (call: CallTemplate, location: BinLocation, ports: Ports, filename?: string) =>
  sendRequest({ method: call.method, url: urlFor(call, location, filename), headers: BIN_HEADERS }, ports);

/** @throws {DeliveryError} if the host's answer doesn't describe this bin */
export async function readBin(location: BinLocation, ports: Ports): Promise<BinState> {
  const answer = await send(BIN.list, location, ports);
  const state = parseBinState(answer, location.bin);
  if (state !== null) return state;
  throw binRefusedError(BIN.list, answer, { bin: location.bin, now: ports.clock.date() });
}

function parseBinState(answer: TextAnswer, name: string): BinState | null {
  const { status, text, json } = answer;
  const { isDescribed, id, isLocked, created, expires, files } = readRecord(json);
  if (id !== undefined && id !== name) return null;
  if (status === 404) {
    // The host describes only bins that once existed; a page comes from another host.
    if (isDescribed || /no longer available/i.test(text)) return { status: 'unavailable', files: [] };
    return isPage(answer) ? null : { status: 'absent', files: [] };
  }
  if (status !== 200 || !isDescribed || !Array.isArray(files) || files.includes(null)) return null;
  // The host describes a bin that doesn't exist as empty and never created.
  const isAbsent = files.length === 0 && created?.startsWith('0001-') === true;
  return { status: isAbsent ? 'absent' : isLocked ? 'locked' : 'open', files: files.map(toBinFile), expires };
}

/** Asks the host to lock the bin permanently. A later read shows whether it did. */
export const lockBin = (location: BinLocation, ports: Ports): Promise<unknown> =>
  resultOf(() => send(BIN.lock, location, ports));

export async function deleteFile(filename: string, location: BinLocation, ports: Ports): Promise<boolean> {
  const answer = await send(BIN.remove, location, ports, filename);
  if (answer.status === 404) return false;
  if (answer.status >= 200 && answer.status < 300 && !isPage(answer)) return true;
  throw binRefusedError(BIN.remove, answer, { bin: location.bin, now: ports.clock.date() });
}

export function urlFor(call: CallTemplate, { binHostUrl, bin }: BinLocation, filename = ''): URL {
  const path = call.path.replace('{bin}', () => bin).replace('{filename}', () => filename);
  return urlBelow(binHostUrl, path.slice(1));
}
