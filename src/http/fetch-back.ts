import type { Readable } from 'node:stream';
import { DeliveryError } from '../errors.ts';
import type { HttpResponse, Progress, SendHttp } from '../ports.ts';
import { MAX_FETCHED_BODY, TEXT } from '../protocol/limits.ts';
import { type ContentFingerprint, fingerprintBytes } from '../rules/fingerprint.ts';
import { connectionError } from './client.ts';
import { type FollowOptions, followRedirects } from './follow.ts';
import { discard, firstHeader, readText, shortHostMessage } from './response.ts';

/** The final response of an address, after its redirects. */
export interface FetchedContent {
  readonly httpCode: number;
  /** The fingerprint of the body; `null` unless the status was 200. */
  readonly fingerprint: ContentFingerprint | null;
  /** Hosts that were requested, in order. */
  readonly hosts: readonly string[];
  /** Why the host refuses, in its own plain text, on one line; absent where it says nothing beyond its code. */
  readonly refusal?: string | undefined;
  /** Whether a redirect led to a login page, as on GitHub Enterprise in private mode. */
  readonly login: boolean;
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
    return {
      httpCode: response.status,
      fingerprint: null,
      hosts,
      login,
      refusal: await readRefusal(response),
    };
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

/** The reason that a host gives in plain text; a page is written for a person, and where nothing exists there is none. */
async function readRefusal(response: HttpResponse): Promise<string | undefined> {
  const isText = /^text\/plain\b/i.test(firstHeader(response, 'content-type') ?? '');
  if (!isText || [404, 410].includes(response.status)) {
    discard(response);
    return undefined;
  }
  // A body that breaks off or goes on for too long is no reason.
  return shortHostMessage(await readText(response.body, TEXT.refusal).catch(() => '')) || undefined;
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
