import type { Readable } from 'node:stream';
import { DeliveryError } from '../errors.ts';
import type { Progress, SendHttp } from '../ports.ts';
import { MAX_FETCHED_BODY } from '../protocol/limits.ts';
import { type ContentFingerprint, fingerprintBytes } from '../rules/fingerprint.ts';
import { connectionError } from './client.ts';
import { type FollowOptions, followRedirects } from './follow.ts';
import { discard, firstHeader, parseRetryAfter } from './response.ts';

/** The final response of an address, after its redirects. */
export interface FetchedContent {
  readonly httpCode: number;
  /** The fingerprint of the body; `null` unless the status was 200. */
  readonly fingerprint: ContentFingerprint | null;
  /** Hosts that were requested, in order. */
  readonly hosts: readonly string[];
  /** Whether a redirect led to a login page, as on GitHub Enterprise in private mode. */
  readonly login: boolean;
  /** Milliseconds that the host asks to wait before the next request; absent where it does not. */
  readonly retryAfter?: number | undefined;
}

export interface FetchBackOptions extends FollowOptions {
  /** Starts to show the progress; `total` is in bytes, or 0 if the host does not send a length. */
  readonly startProgress?: (total: number) => Progress;
}

/**
 * Sends an anonymous GET, follows redirects and computes the fingerprint of the body, which may be of any size.
 *
 * @param needles byte strings to count in the body
 * @throws {DeliveryError} like `followRedirects`; `CONNECTION` when the body is interrupted, `NOT_PROVEN`
 * when it is longer than any file that can be delivered.
 * @see protocol 4.5
 */
export async function fetchBack(
  http: SendHttp,
  url: URL,
  options: FetchBackOptions,
  needles: readonly Buffer[],
): Promise<FetchedContent> {
  const { response, hops } = await followRedirects(http, url, options);
  const hosts = hops.map((hop) => hop.host);
  const login = !isLoginPage(url) && hops.some(isLoginPage);
  if (response.status !== 200) {
    discard(response);
    // A date in Retry-After is compared with the host's own clock.
    const retryAfter = parseRetryAfter(response, Date.parse(firstHeader(response, 'date') ?? ''));
    return { httpCode: response.status, fingerprint: null, hosts, login, retryAfter };
  }
  const length = Number(firstHeader(response, 'content-length') ?? 0);
  const progress = options.startProgress?.(length);
  const onChunk = (chunk: Buffer): void => progress?.advance(chunk.length);
  try {
    const fingerprint = await fingerprintBytes(limitSize(response.body), needles, onChunk);
    return { httpCode: 200, fingerprint, hosts, login };
  } catch (thrown) {
    throw connectionError(thrown, { url: hops.at(-1) ?? url, signal: options.signal });
  } finally {
    progress?.end();
  }
}

const isLoginPage = ({ pathname }: URL): boolean => /^\/login(\/|$)/.test(pathname);

async function* limitSize(body: Readable): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_FETCHED_BODY) {
      throw new DeliveryError('NOT_PROVEN', 'the body is longer than any file that can be delivered', {
        httpCode: 200,
      });
    }
    yield chunk;
  }
}
