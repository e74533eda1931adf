import { pipeline, type Transform } from 'node:stream';
import { MIMEType } from 'node:util';
import zlib from 'node:zlib';
import { DeliveryError } from '../errors.ts';
import type { HttpResponse } from '../ports.ts';
import { SECOND, TEXT } from '../protocol/limits.ts';
import { getTypeDisplay } from '../rules/media-type.ts';

interface Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export function discard(response: HttpResponse): void {
  response.body.on('error', () => undefined).destroy();
}

export const isAbsence = (status: number): boolean => status === 404 || status === 410;

/** What a header says, each time that it comes: which of several counts differs between browsers. */
const allValues = ({ headers }: Answer, name: string): readonly string[] =>
  [headers[name] ?? []].flat().map((value) => value.trim());

/** The first value of a header; header names are in lower case. */
export function firstHeader({ headers }: Answer, name: string): string | undefined {
  return [headers[name]].flat()[0];
}

/** Whether the body is a page: of a proxy on the way, or of another host than the one that is meant. */
export const isPage = (response: Answer): boolean =>
  /html/i.test(firstHeader(response, 'content-type') ?? '');

/** The time by the host's own clock, with which its dates are compared; by ours where it does not tell. */
export function getHostTime(response: Answer, now: number): number {
  const date = Date.parse(firstHeader(response, 'date') ?? '');
  return Number.isNaN(date) ? now : date;
}

/** The pause in milliseconds that a Retry-After header asks for, as seconds or as a date. */
export function parseRetryAfter(response: Answer, now: number): number | undefined {
  const value = firstHeader(response, 'retry-after');
  if (value === undefined) return undefined;
  // Date.parse accepts almost anything, such as "1.5" or "-5"; an HTTP date ends in GMT.
  const ms = /^\d+$/.test(value)
    ? Number(value) * SECOND
    : Date.parse(/GMT$/.test(value) ? value : '') - getHostTime(response, now);
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

/**
 * A host's text for use in a message: on one line, and at most `TEXT.hostMessage` characters long. No word is
 * cut: the redactor recognizes a secret only as a whole.
 */
export function shortHostMessage(text: unknown): string {
  const line = String(text ?? '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (line.length <= TEXT.hostMessage) return line;
  return `${line.slice(0, TEXT.hostMessage).replace(/\S+$/, '')}…`;
}

/** The encodings that Chrome asks for, and how each is undone. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  // 8 MB, more than which no browser keeps either. @see RFC 9659
  zstd: () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } }),
};

/** What a browser accepts. A cache may keep a copy of its own for it, beside the one of plain bytes. */
export const BROWSER_ENCODINGS = Object.keys(DECODERS).join(', ');

/** The encodings that a host declares, the last one applied last; none for plain bytes. */
export function readEncodings(response: Answer): readonly string[] {
  const declared = allValues(response, 'content-encoding').join(',').toLowerCase().split(',');
  return declared.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
}

/** The body of a short response as text. @throws {DeliveryError} like `readBody` */
export const readText = async (response: HttpResponse, limit: number): Promise<string> =>
  (await readBody(response, limit)).toString('utf8');

/** Reads a short body. @throws {DeliveryError} `HOST_ERROR` beyond `limit` decoded bytes, or as `decodeBody` */
export async function readBody(response: HttpResponse, limit: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decodeBody(response)) {
    size += chunk.length;
    if (size > limit) {
      throw new DeliveryError('HOST_ERROR', `the response is longer than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The body of any response, without its encoding. A browser decodes what is declared as encoded, or fails to.
 *
 * @param mayBeEncoded whether encoded bytes are right: not where plain ones were asked for and are to be proven
 * @throws {DeliveryError} `HOST_ERROR` when the declared encoding was not asked for, or, while the body is read, when
 * it is not what the body has.
 */
export function decodeBody(response: HttpResponse, mayBeEncoded = true): AsyncIterable<Buffer> {
  const encodings = readEncodings(response);
  const [encoding = ''] = encodings;
  if (encodings.length === 0) return response.body;
  const createDecoder = encodings.length === 1 && mayBeEncoded ? DECODERS[encoding] : undefined;
  if (createDecoder !== undefined) return decode(response, createDecoder());
  discard(response);
  throw encodingError(response, 'a Content-Encoding that was not asked for');
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
    throw encodingError(response, 'a body that its Content-Encoding does not fit');
  }
}

const encodingError = ({ status }: HttpResponse, what: string): DeliveryError =>
  new DeliveryError('HOST_ERROR', `the host answers with ${what}`, {
    httpCode: status,
    hint: 'let the host answer without Content-Encoding',
  });

/** Bytes of the content, as the host announces them; `null` where it does not. */
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

/**
 * What the host calls this version of the content: its `ETag` and `Last-Modified`; empty without both. Servers mark the
 * tag where they encode the version; its content is the same.
 */
export function readVersion(response: Answer): string {
  const tag = firstHeader(response, 'etag') ?? '';
  const plain = tag.replace(/^W\//, '').replace(/-(?:gzip|deflate|br|zstd)"$/, '"');
  return `${plain} ${firstHeader(response, 'last-modified') ?? ''}`.trim();
}

/** The seconds of a directive of `Cache-Control`. */
const MAX_AGE = /(?:^|[\s,])(?:max-age|s-maxage)\s*=\s*"?(\d{1,9})\b/g;

/**
 * How long a cache has kept the answer, and how long it still may, in milliseconds; `null` where the host does not say.
 *
 * @see RFC 9111
 */
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

/** The values of a header that is a list; a comma within quotes is none of it. */
const LIST_ITEM = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g;

/**
 * The type that a browser goes by, with its charset: the last valid one, which has the charset of an equal one before it.
 *
 * @see https://fetch.spec.whatwg.org/#concept-header-extract-mime-type
 */
export function readType(response: Answer): string {
  const declared = allValues(response, 'content-type').join();
  let [essence, charset] = ['', ''];
  for (const [item] of declared.matchAll(LIST_ITEM)) {
    const type = parseType(item);
    if (type === null || type.essence === '*/*') continue;
    charset = type.params.get('charset') ?? (type.essence === essence ? charset : '');
    essence = type.essence;
  }
  // What is no type is shown as text.
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

/** How content begins that browsers take for a page where its host names no type. @see https://mimesniff.spec.whatwg.org/ */
const PAGE_START =
  /^\s*<(?:!doctype html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|!--)(?:[\s>]|$)/i;

/** An answer whose beginning can be read. */
type ReadAnswer = Answer & { readonly readPrefix: () => string };

export function hasPageType(response: ReadAnswer): boolean {
  const type = readType(response);
  if (type !== '') return /^(?:text\/html|application\/xhtml\+xml)(?:$|[\s;])/i.test(type);
  return (
    firstHeader(response, 'x-content-type-options') === undefined && PAGE_START.test(response.readPrefix())
  );
}

/** Whether a browser shows it as a page, and not as a download or its source. */
export const isShownAsPage = (response: ReadAnswer): boolean =>
  hasPageType(response) && !isAttachment(response);

/** The one value of `Content-Disposition` with which every browser shows the content, with any parameters. */
const INLINE = /^inline\s*(?:;(?:[^,"]|"[^"]*")*)?$/i;

function isAttachment(response: Answer): boolean {
  const values = allValues(response, 'content-disposition');
  return new Set(values).size > 1 || values.some((value) => value !== '' && !INLINE.test(value));
}

/** The types that stand for any bytes; no browser looks for another one in them. */
const ANY_BYTES = /^(?:(?:application|binary)\/octet-stream|application\/(?:x-|force-)download)(?:$|[\s;,])/i;

/** Whether every browser saves it to a file, whatever it is. */
export const isSaved = (response: Answer): boolean =>
  isAttachment(response) || ANY_BYTES.test(readType(response));

/** Whether a browser downloads it, since its host says so or its type is none that browsers show. */
export function isDownloaded(response: Answer): boolean {
  const type = readType(response);
  return isSaved(response) || (type !== '' && getTypeDisplay(type) === 'none');
}

/** A `Refresh` with an address after its seconds; browsers need no `url=` before it. */
const REDIRECTING_REFRESH = /[;,\s]\s*\S/;

/** Whether a browser does not stay at the content, or is shown a page of the host's own: so ngrok and Cloudflare mark it. */
export const isReplaced = (response: Answer): boolean =>
  allValues(response, 'refresh').some((value) => REDIRECTING_REFRESH.test(value)) ||
  ['ngrok-error-code', 'cf-mitigated'].some((name) => firstHeader(response, name) !== undefined);
