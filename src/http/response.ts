import { pipeline, type Transform } from 'node:stream';
import { MIMEType } from 'node:util';
import zlib from 'node:zlib';
import { DeliveryError } from '../errors.ts';
import type { HttpResponse } from '../ports.ts';
import { SECOND, TEXT } from '../protocol/limits.ts';
import { getTypeDisplay } from '../rules/media-type.ts';

type Answer = Pick<HttpResponse, 'headers'>;

export function discard(response: HttpResponse): void {
  response.body.on('error', () => undefined).destroy();
}

export const isAbsence = (status: number): boolean => status === 404 || status === 410;

/** All values of a header: if it repeats, browsers differ in which value counts. */
const allValues = ({ headers }: Answer, name: string): readonly string[] =>
  [headers[name] ?? []].flat().map((value) => value.trim());

/** The first value of a header. Header names are in lower case. */
export function firstHeader({ headers }: Answer, name: string): string | undefined {
  return [headers[name]].flat()[0];
}

/** Whether the body is an HTML page, such as one of a proxy. */
export const isPage = (response: Answer): boolean =>
  /html/i.test(firstHeader(response, 'content-type') ?? '');

/** The host's own time, to compare with its dates; our time if the host sends none. */
export function getHostTime(response: Answer, now: number): number {
  const date = Date.parse(firstHeader(response, 'date') ?? '');
  return Number.isNaN(date) ? now : date;
}

/** The pause that Retry-After asks for, as seconds or a date, in milliseconds. */
export function parseRetryAfter(response: Answer, now: number): number | undefined {
  const value = firstHeader(response, 'retry-after');
  if (value === undefined) return undefined;
  // Date.parse accepts almost anything, such as "1.5" or "-5"; an HTTP date ends in GMT.
  const ms = /^\d+$/.test(value)
    ? Number(value) * SECOND
    : Date.parse(/GMT$/.test(value) ? value : '') - getHostTime(response, now);
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

/** A host's text on one line, at most `TEXT.hostMessage` long. It cuts no word, so the redactor finds whole secrets. */
export function shortHostMessage(text: unknown): string {
  const line = String(text ?? '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (line.length <= TEXT.hostMessage) return line;
  return `${line.slice(0, TEXT.hostMessage).replace(/\S+$/, '')}…`;
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  // Browsers keep no more than these 8 MB. @see RFC 9659
  zstd: () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } }),
};

/** A cache may keep another copy for browsers than for requests of plain bytes. */
export const BROWSER_ENCODINGS = Object.keys(DECODERS).join(', ');

/** The encodings that a host declares, in the order applied; empty for plain bytes. */
export function readEncodings(response: Answer): readonly string[] {
  const declared = allValues(response, 'content-encoding').join(',').toLowerCase().split(',');
  return declared.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
}

/** Reads a short response as text. @throws {DeliveryError} like `readBody` */
export const readText = async (response: HttpResponse, ...limit: BodyLimit): Promise<string> =>
  (await readBody(response, ...limit)).toString('utf8');

type BodyLimit = readonly [limit: number, excess?: DeliveryError];

/** Reads a short body. @throws {DeliveryError} `excess` above `limit` decoded bytes, or like `decodeBody` */
export async function readBody(
  response: HttpResponse,
  ...[limit, excess]: BodyLimit
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decodeBody(response)) {
    size += chunk.length;
    if (size > limit) {
      throw excess ?? new DeliveryError('HOST_ERROR', `the response is longer than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Decodes a body as a browser does. @param mayBeEncoded false if plain bytes were requested, to compare them
 * @throws {DeliveryError} `HOST_ERROR` for an encoding that was not requested or doesn't fit the body
 */
export function decodeBody(response: HttpResponse, mayBeEncoded = true): AsyncIterable<Buffer> {
  const encodings = readEncodings(response);
  const [encoding = ''] = encodings;
  if (encodings.length === 0) return response.body;
  const createDecoder = encodings.length === 1 && mayBeEncoded ? DECODERS[encoding] : undefined;
  if (createDecoder !== undefined) return decode(response, createDecoder());
  discard(response);
  throw encodingError(response, 'a Content-Encoding that was not requested');
}

async function* decode(response: HttpResponse, decoder: Transform): AsyncGenerator<Buffer> {
  let isInterrupted = false;
  response.body.once('error', () => {
    isInterrupted = true;
  });
  try {
    yield* pipeline(response.body, decoder, () => undefined) as AsyncIterable<Buffer>;
  } catch (thrown) {
    if (isInterrupted) throw thrown;
    throw encodingError(response, "a body that doesn't match its Content-Encoding");
  }
}

const encodingError = ({ status }: HttpResponse, what: string): DeliveryError =>
  new DeliveryError('HOST_ERROR', `the host answers with ${what}`, {
    httpCode: status,
    hint: 'switch off Content-Encoding on the host',
  });

/** The content's length as the host announces it, or `null`. */
export function readLength(response: Answer): number | null {
  const isEncoded = readEncodings(response).length > 0;
  const length = isEncoded ? Number.NaN : Number(firstHeader(response, 'content-length') ?? Number.NaN);
  return Number.isSafeInteger(length) && length >= 0 ? length : null;
}

export function readLastModified(response: Answer): number | null {
  const modified = firstHeader(response, 'last-modified') ?? '';
  const time = /GMT$/.test(modified) ? Date.parse(modified) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/** The `ETag` and `Last-Modified`. Servers mark the tag of an encoded copy, whose content is the same. */
export function readVersion(response: Answer): string {
  const tag = firstHeader(response, 'etag') ?? '';
  const plain = tag.replace(/^W\//, '').replace(/-(?:gzip|deflate|br|zstd)"$/, '"');
  return `${plain} ${firstHeader(response, 'last-modified') ?? ''}`.trim();
}

const MAX_AGE = /(?:^|[\s,])(?:max-age|s-maxage)\s*=\s*"?(\d{1,9})\b/g;

/** How long a cache has kept the answer and may still keep it, in milliseconds; `null` if unknown. @see RFC 9111 */
export function readCacheTime(response: Answer): {
  readonly age: number | null;
  readonly freshFor: number | null;
} {
  const directives = (firstHeader(response, 'cache-control') ?? '').toLowerCase();
  const times = Array.from(directives.matchAll(MAX_AGE), ([, digits]) => Number(digits));
  const [, digits] = /^\s*(\d{1,9})\s*$/.exec(firstHeader(response, 'age') ?? '') ?? [];
  const age = digits === undefined ? null : Number(digits) * SECOND;
  if (times.length === 0) return { age, freshFor: null };
  return { age, freshFor: Math.max(Math.max(...times) * SECOND - (age ?? 0), 0) };
}

/** A comma within quotes doesn't separate items. */
const LIST_ITEM = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g;

/** The type that a browser uses: the last valid type. It inherits the charset of an equal type before it. */
export function readType(response: Answer): string {
  const declared = allValues(response, 'content-type').join();
  let [essence, charset] = ['', ''];
  for (const [item] of declared.matchAll(LIST_ITEM)) {
    const type = parseType(item);
    if (type === null || type.essence === '*/*') continue;
    charset = type.params.get('charset') ?? (type.essence === essence ? charset : '');
    essence = type.essence;
  }
  if (essence === '') return declared;
  return charset === '' ? essence : `${essence}; charset=${charset}`;
}

function parseType(item: string): MIMEType | null {
  try {
    return new MIMEType(item);
  } catch {
    return null;
  }
}

/** How HTML begins, as browsers detect it if the host sends no type. @see https://mimesniff.spec.whatwg.org/ */
const PAGE_START =
  /^\s*<(?:!doctype html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|!--)(?:[\s>]|$)/i;

type ReadAnswer = Answer & { readonly readPrefix: () => string };

export function hasPageType(response: ReadAnswer): boolean {
  const type = readType(response);
  if (type !== '') return /^(?:text\/html|application\/xhtml\+xml)(?:$|[\s;])/i.test(type);
  return (
    firstHeader(response, 'x-content-type-options') === undefined && PAGE_START.test(response.readPrefix())
  );
}

/** Whether a browser shows it as a page, not as a download or source. */
export const isShownAsPage = (response: ReadAnswer): boolean =>
  hasPageType(response) && !isAttachment(response);

/** The only value with which every browser shows the content; parameters are allowed. */
const INLINE = /^inline\s*(?:;(?:[^,"]|"[^"]*")*)?$/i;

function isAttachment(response: Answer): boolean {
  const values = allValues(response, 'content-disposition');
  return new Set(values).size > 1 || values.some((value) => value !== '' && !INLINE.test(value));
}

/** Types for any bytes: browsers don't look for another type. */
const ANY_BYTES = /^(?:(?:application|binary)\/octet-stream|application\/(?:x-|force-)download)(?:$|[\s;,])/i;

/** Whether every browser saves it as a file. */
export const isSaved = (response: Answer): boolean =>
  isAttachment(response) || ANY_BYTES.test(readType(response));

/** Whether a browser downloads it, because of a header or of its type. */
export function isDownloaded(response: Answer): boolean {
  const type = readType(response);
  return isSaved(response) || (type !== '' && getTypeDisplay(type) === 'none');
}

/** A `Refresh` with a URL after its seconds; browsers don't require `url=`. */
const REDIRECTING_REFRESH = /[;,\s]\s*\S/;

/** Whether a browser leaves the content or sees the host's own page instead. ngrok and Cloudflare mark such pages. */
export const isReplaced = (response: Answer): boolean =>
  allValues(response, 'refresh').some((value) => REDIRECTING_REFRESH.test(value)) ||
  ['ngrok-error-code', 'cf-mitigated'].some((name) => firstHeader(response, name) !== undefined);
