import { isAscii } from 'node:buffer';
import type { HttpResponse, Progress, SendHttp } from '../ports.ts';
import { MAX_FETCHED_BODY, TEXT } from '../protocol/limits.ts';
import {
  type ContentFingerprint,
  createBlobHash,
  createFingerprint,
  type GitBlob,
} from '../rules/fingerprint.ts';
import { connectionError } from './client.ts';
import { type FollowOptions, followRedirects } from './follow.ts';
import { decodeBody, discard, firstHeader, readLength, readText, shortHostMessage } from './response.ts';

export interface FetchedContent extends Pick<HttpResponse, 'status' | 'headers'> {
  /** The fingerprint of the body or its beginning; `null` unless the status was 200. */
  readonly fingerprint: ContentFingerprint | null;
  /** Git's id of the body if it equals one of the given blobs. */
  readonly blobSha: string | null;
  readonly addresses: readonly URL[];
  /** The first `prefixSize` bytes as Latin-1 text, and the first later chunk with a byte that is not ASCII. */
  readonly readPrefix: () => string;
  /** The host's reason for refusing, on one line; absent unless its answer is plain text. */
  readonly refusal?: string | undefined;
}

export interface FetchBackOptions extends FollowOptions {
  readonly startProgress?: ((total: number) => Progress) | undefined;
  readonly readAtMost?: number | undefined;
  readonly blobs?: readonly GitBlob[];
  readonly prefixSize?: number | undefined;
}

/** Enough bytes to see whether a browser reads the body in its real encoding. */
const PREFIX_SIZE = 65_536;

/**
 * Sends an anonymous GET, follows redirects and computes the body's fingerprint. @param marker text to count in the
 * body
 * @throws {DeliveryError} `CONNECTION` if the body is interrupted, `HOST_ERROR` if it is encoded. @see protocol 4.5
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
  { readAtMost = MAX_FETCHED_BODY, prefixSize = PREFIX_SIZE, blobs = [], ...options }: FetchBackOptions,
  marker: string | undefined,
): Promise<Pick<FetchedContent, 'fingerprint' | 'blobSha' | 'readPrefix'>> {
  const progress = options.startProgress?.(Math.min(readLength(response) ?? 0, readAtMost));
  const fingerprint = createFingerprint(marker);
  const hashes = blobs.map(({ sha, size }) => ({ sha, hash: createBlobHash(size) }));
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
      for (const { hash } of hashes) hash.update(part);
      if (size >= readAtMost) break;
    }
    const readPrefix = (): string => Buffer.concat(prefix).toString('latin1');
    const blobSha = hashes.find(({ sha, hash }) => hash.digest('hex') === sha)?.sha ?? null;
    return { fingerprint: fingerprint.end(), blobSha, readPrefix };
  } finally {
    progress?.end();
  }
}

async function readPlainReason(response: HttpResponse): Promise<string | undefined> {
  if (!/^text\/plain\b/i.test(firstHeader(response, 'content-type') ?? '')) {
    discard(response);
    return undefined;
  }
  // An interrupted or too long body is ignored.
  return shortHostMessage(await readText(response, TEXT.refusal).catch(() => '')) || undefined;
}
