import type { Readable } from 'node:stream';
import { DeliveryError } from '../errors.ts';
import type { Progress, SendHttp } from '../ports.ts';
import { MAX_FETCHED_BODY } from '../protocol/limits.ts';
import { type ContentFingerprint, fingerprintBytes } from '../rules/fingerprint.ts';
import { connectionError } from './client.ts';
import { type FollowOptions, followRedirects } from './follow.ts';
import { discard, firstHeader } from './response.ts';

/** What an address answered in the end. */
export interface FetchedContent {
  readonly httpCode: number;
  /** The body's fingerprint; `null` unless the answer was 200. */
  readonly fingerprint: ContentFingerprint | null;
  /** Hosts that were asked, the first one first. */
  readonly hosts: readonly string[];
  /** Whether a redirect led to a login page, as on a GitHub Enterprise in private mode. */
  readonly login: boolean;
}

export interface FetchBackOptions extends FollowOptions {
  /** Begins to show how far it is, of so many bytes; 0 where the host names none. */
  readonly meter?: (total: number) => Progress;
}

/**
 * GETs an address as anybody would and takes the fingerprint of the body, whatever its size.
 *
 * @param needles byte strings to count in the body
 * @throws {DeliveryError} as `follow` does; `CONNECTION` when the body broke off.
 * @see protocol 4.5
 */
export async function fetchBack(
  http: SendHttp,
  url: URL,
  following: FetchBackOptions,
  needles: readonly Buffer[],
): Promise<FetchedContent> {
  const { answer, hops } = await followRedirects(http, url, following);
  const hosts = hops.map((hop) => hop.host);
  const login = !isLogin(url) && hops.some(isLogin);
  if (answer.status !== 200) {
    discard(answer);
    return { httpCode: answer.status, fingerprint: null, hosts, login };
  }
  const length = Number(firstHeader(answer, 'content-length') ?? 0);
  const meter = following.meter?.(length);
  const onChunk = (chunk: Buffer): void => meter?.advance(chunk.length);
  try {
    const fingerprint = await fingerprintBytes(bounded(answer.body), needles, onChunk);
    return { httpCode: 200, fingerprint, hosts, login };
  } catch (thrown) {
    throw connectionError(thrown, { url: hops.at(-1) ?? url, signal: following.signal });
  } finally {
    meter?.end();
  }
}

const isLogin = ({ pathname }: URL): boolean => /^\/login(\/|$)/.test(pathname);

async function* bounded(body: Readable): AsyncGenerator<Buffer> {
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
