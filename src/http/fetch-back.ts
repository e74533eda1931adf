import { isAscii } from 'node:buffer';
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
import { decodeBody, discard, firstHeader, readLength, readText, shortHostMessage } from './response.ts';

/** The final response of an address, after its redirects. */
export interface FetchedContent extends Pick<HttpResponse, 'status' | 'headers'> {
  /** The fingerprint of the body, or of its beginning; `null` unless the status was 200. */
  readonly fingerprint: ContentFingerprint | null;
  /** Git's id of the body, where it is one of the blobs that were named. */
  readonly blobSha: string | null;
  /** Every address that was requested, in order. */
  readonly addresses: readonly URL[];
  /** As Latin-1 text about `prefixSize` bytes of the beginning, and the first later part if it alone is not ASCII. */
  readonly readPrefix: () => string;
  /** Why the host refuses, in its own plain text, on one line; absent where it says nothing beyond its code. */
  readonly refusal?: string | undefined;
}

export interface FetchBackOptions extends FollowOptions {
  /** Starts to show the progress; `total` is in bytes, or 0 if the host does not send a length. */
  readonly startProgress?: ((total: number) => Progress) | undefined;
  /** Bytes after which the body is not read further; `MAX_FETCHED_BODY` by default. */
  readonly readAtMost?: number | undefined;
  readonly blobs?: readonly GitBlob[];
  /** Bytes of the beginning of the body that are kept; `PREFIX_SIZE` by default. */
  readonly prefixSize?: number | undefined;
}

/** Bytes of a body that are kept, to see whether a browser reads it in the encoding that it has. */
const PREFIX_SIZE = 65_536;

/**
 * Sends an anonymous GET, follows redirects and computes the fingerprint of the body, which may be of any size.
 *
 * @param marker text to count in the body
 * @throws {DeliveryError} like `followRedirects`; `CONNECTION` when the body is interrupted, `HOST_ERROR` when it is
 * encoded and should not be.
 * @see protocol 4.5
 */
export async function fetchBack(
  http: SendHttp,
  url: URL,
  options: FetchBackOptions,
  marker?: string,
): Promise<FetchedContent> {
  const { response, hops } = await followRedirects(http, url, options);
  const { status, headers } = response;
  const answer = { status, headers, addresses: hops };
  if (status !== 200) {
    const refusal = await readPlainReason(response);
    return { ...answer, fingerprint: null, blobSha: null, readPrefix: () => '', refusal };
  }
  try {
    return { ...answer, ...(await readContent(response, options, marker)) };
  } catch (thrown) {
    throw connectionError(thrown, { url: hops.at(-1) ?? url, signal: options.signal });
  }
}

async function readContent(
  response: HttpResponse,
  { readAtMost = MAX_FETCHED_BODY, prefixSize = PREFIX_SIZE, ...options }: FetchBackOptions,
  marker: string | undefined,
): Promise<Pick<FetchedContent, 'fingerprint' | 'blobSha' | 'readPrefix'>> {
  const progress = options.startProgress?.(Math.min(readLength(response) ?? 0, readAtMost));
  const fingerprint = createFingerprint(marker);
  const blob = createBlobCheck(options.blobs ?? []);
  const prefix: Buffer[] = [];
  let size = 0;
  let isPlain = prefixSize > 0;
  try {
    for await (const chunk of decodeBody(response, options.asBrowser ?? false)) {
      const part = chunk.length > readAtMost - size ? chunk.subarray(0, readAtMost - size) : chunk;
      const isFirst = isPlain && !isAscii(part);
      if (isFirst || size < prefixSize) prefix.push(part);
      isPlain &&= !isFirst;
      size += part.length;
      progress?.advance(part.length);
      fingerprint.add(part);
      blob.add(part);
      if (size >= readAtMost) break;
    }
    const readPrefix = (): string => Buffer.concat(prefix).toString('latin1');
    return { fingerprint: fingerprint.end(), blobSha: blob.match(), readPrefix };
  } finally {
    progress?.end();
  }
}

/** The reason that a host gives in plain text; a page is written for a person. */
async function readPlainReason(response: HttpResponse): Promise<string | undefined> {
  if (!/^text\/plain\b/i.test(firstHeader(response, 'content-type') ?? '')) {
    discard(response);
    return undefined;
  }
  // A body that breaks off or goes on for too long is no reason.
  return shortHostMessage(await readText(response, TEXT.refusal).catch(() => '')) || undefined;
}
