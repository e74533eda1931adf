import { DeliveryError } from '../errors.ts';
import type { HttpResponse, Progress, SendHttp } from '../ports.ts';
import { MAX_FETCHED_BODY, TEXT } from '../protocol/limits.ts';
import {
  type ContentFingerprint,
  createBlobCheck,
  createFingerprint,
  type GitBlob,
} from '../rules/fingerprint.ts';
import { connectionError } from './client.ts';
import { type FollowOptions, followRedirects } from './follow.ts';
import {
  decodeBody,
  discard,
  firstHeader,
  isSaved,
  isShownAsPage,
  parseRetryAfter,
  plainTag,
  readCacheTime,
  readEncodings,
  readText,
  shortHostMessage,
} from './response.ts';

/** The final response of an address, after its redirects. */
export interface FetchedContent {
  readonly httpCode: number;
  /** The fingerprint of the body, or of its beginning; `null` unless the status was 200. */
  readonly fingerprint: ContentFingerprint | null;
  /** Git's id of the body, where it is one of the blobs that were named. */
  readonly blobSha: string | null;
  /** Hosts that were requested, in order. */
  readonly hosts: readonly string[];
  /** Why the host refuses, in its own plain text, on one line; absent where it says nothing beyond its code. */
  readonly refusal?: string | undefined;
  /** Every address that was requested, in order. */
  readonly addresses: readonly URL[];
  /**
   * Whether the headers say that a browser does not stay at the content: a `Refresh` to another address, or a page
   * of the host's own in its place.
   */
  readonly isReplaced: boolean;
  /** Whether the headers let a browser show a page as a page: it is no download, and no text that shows its source. */
  readonly isShown: boolean;
  /** Whether it is a page, and a `Content-Security-Policy` may keep parts of it from working. */
  readonly hasPolicy: boolean;
  /** The `Content-Type`; empty without one. */
  readonly type: string;
  /** Whether the headers make every browser save it to a file, whatever it is. */
  readonly isSaved: boolean;
  /** Whether a redirect led to a page to sign in, as on GitHub Enterprise in private mode. */
  readonly login: boolean;
  /** The beginning of the body as Latin-1 text, at most `headSize` bytes; most answers are judged without it. */
  readonly readHead: () => string;
  /** Bytes of the content, as the host announces them; `null` where it does not. */
  readonly length: number | null;
  /** What the host calls this version of the content: its `ETag` and `Last-Modified`; empty without both. */
  readonly version: string;
  /** Milliseconds since the epoch; `null` where the host does not say. */
  readonly lastModified: number | null;
  /** Milliseconds that a cache has kept this answer; `null` where the host does not say. */
  readonly age: number | null;
  /** Milliseconds that a cache may still keep it; `null` where the host does not say. */
  readonly keptFor: number | null;
  /** Milliseconds that the host asks to wait before the next request; absent where it does not. */
  readonly retryAfter?: number | undefined;
}

export interface FetchBackOptions extends FollowOptions {
  /** Starts to show the progress; `total` is in bytes, or 0 if the host does not send a length. */
  readonly startProgress?: (total: number) => Progress;
  /** Bytes after which the body is not read further; by default it is read to its end. */
  readonly readAtMost?: number;
  readonly blobs?: readonly GitBlob[];
  /** Bytes of the beginning of the body that are kept; `HEAD_SIZE` by default. */
  readonly headSize?: number;
}

/** Bytes of a body that are kept, to see whether a browser reads it in the encoding that it has. */
const HEAD_SIZE = 65_536;

/**
 * Sends an anonymous GET, follows redirects and computes the fingerprint of the body, which may be of any size.
 *
 * @param needles byte strings to count in the body
 * @throws {DeliveryError} like `followRedirects`; `CONNECTION` when the body is interrupted, `NOT_PROVEN`
 * when it is longer than any file that can be delivered, `HOST_ERROR` when it is encoded and should not be.
 * @see protocol 4.5
 */
export async function fetchBack(
  http: SendHttp,
  url: URL,
  options: FetchBackOptions,
  needles: readonly Buffer[],
): Promise<FetchedContent> {
  const { response, hops } = await followRedirects(http, url, options);
  const answer = {
    httpCode: response.status,
    hosts: hops.map((hop) => hop.host),
    addresses: hops,
    login: isRedirectedToSignIn(hops),
    isReplaced: LEADS_ON.test(firstHeader(response, 'refresh')?.trim() ?? '') || hasHostPage(response),
    isShown: isShownAsPage(response),
    hasPolicy: isShownAsPage(response) && firstHeader(response, 'content-security-policy') !== undefined,
    isSaved: isSaved(response),
    type: firstHeader(response, 'content-type')?.trim() ?? '',
    ...readHeaders(response),
  };
  if (response.status !== 200) {
    const why = {
      retryAfter: parseRetryAfter(response, Number.NaN),
      refusal: await readPlainReason(response),
    };
    return { ...answer, fingerprint: null, blobSha: null, readHead: () => '', ...why };
  }
  try {
    return { ...answer, ...(await readContent(response, answer.length, options, needles)) };
  } catch (thrown) {
    throw connectionError(thrown, { url: hops.at(-1) ?? url, signal: options.signal });
  }
}

async function readContent(
  response: HttpResponse,
  length: number | null,
  { readAtMost = Number.POSITIVE_INFINITY, headSize = HEAD_SIZE, ...options }: FetchBackOptions,
  needles: readonly Buffer[],
): Promise<Pick<FetchedContent, 'fingerprint' | 'blobSha' | 'readHead'>> {
  const progress = options.startProgress?.(Math.min(length ?? 0, readAtMost));
  const fingerprint = createFingerprint(needles);
  const blob = createBlobCheck(options.blobs ?? []);
  const head: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decodeBody(response, options.asBrowser ?? false)) {
      const part = chunk.length > readAtMost - size ? chunk.subarray(0, readAtMost - size) : chunk;
      if (size < headSize) head.push(part.subarray(0, headSize - size));
      size += part.length;
      if (size > MAX_FETCHED_BODY) throw tooLongError();
      progress?.advance(part.length);
      fingerprint.add(part);
      blob.add(part);
      if (size >= readAtMost) break;
    }
    const readHead = (): string => Buffer.concat(head).toString('latin1');
    return { fingerprint: fingerprint.end(), blobSha: blob.match(), readHead };
  } finally {
    progress?.end();
  }
}

const tooLongError = (): DeliveryError =>
  new DeliveryError('NOT_PROVEN', 'the body is longer than any file that can be delivered', {
    httpCode: 200,
  });

/** The reason that a host gives in plain text; a page is written for a person. */
async function readPlainReason(response: HttpResponse): Promise<string | undefined> {
  if (!/^text\/plain\b/i.test(firstHeader(response, 'content-type') ?? '')) {
    discard(response);
    return undefined;
  }
  // A body that breaks off or goes on for too long is no reason.
  return shortHostMessage(await readText(response, TEXT.refusal).catch(() => '')) || undefined;
}

/** A `Refresh` with an address after its seconds; browsers need no `url=` before it. */
const LEADS_ON = /[;,\s]\s*\S/;

/** How ngrok and Cloudflare mark a page of their own. */
const hasHostPage = (response: HttpResponse): boolean =>
  ['ngrok-error-code', 'cf-mitigated'].some((name) => firstHeader(response, name) !== undefined);

const SIGN_IN =
  /^\/(?:cdn-cgi\/access\/|\.?[\w-]+\/)?(?:log[-_]?in|sign[-_]?in|sso(?:-api)?|saml2?|oauth2?|auth(?:orize)?)(?:[./]|$)/i;

/** A page to sign in that was asked for itself is the content. */
function isRedirectedToSignIn([start, ...targets]: readonly URL[]): boolean {
  const isSignIn = ({ pathname }: URL): boolean => SIGN_IN.test(pathname);
  return start !== undefined && !isSignIn(start) && targets.some(isSignIn);
}

function readHeaders(
  response: HttpResponse,
): Pick<FetchedContent, 'length' | 'lastModified' | 'age' | 'keptFor' | 'version'> {
  const isEncoded = readEncodings(response).length > 0;
  const length = isEncoded ? Number.NaN : Number(firstHeader(response, 'content-length') ?? Number.NaN);
  const modified = firstHeader(response, 'last-modified') ?? '';
  const lastModified = /GMT$/.test(modified) ? Date.parse(modified) : Number.NaN;
  return {
    length: Number.isSafeInteger(length) && length >= 0 ? length : null,
    lastModified: Number.isNaN(lastModified) ? null : lastModified,
    ...readCacheTime(response),
    version: `${plainTag(firstHeader(response, 'etag') ?? '')} ${modified}`.trim(),
  };
}
