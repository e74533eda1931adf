import type { Readable } from 'node:stream';
import { DeliveryError } from '../errors.ts';
import type { Http, Meter } from '../ports.ts';
import { FETCHED_BODY } from '../protocol/limits.ts';
import { type Fingerprint, fingerprint } from '../rules/fingerprint.ts';
import { discard } from './body.ts';
import { connectionFailure } from './client.ts';
import { header } from './headers.ts';
import { type Following, follow } from './follow.ts';

/** What an address answered in the end. */
export interface Fetched {
  readonly httpCode: number;
  /** The body's fingerprint; `null` unless the answer was 200. */
  readonly print: Fingerprint | null;
  /** Hosts that were asked, the first one first. */
  readonly hosts: readonly string[];
  /** Whether a redirect led to a login page, as on a GitHub Enterprise in private mode. */
  readonly login: boolean;
}

export interface FetchingBack extends Following {
  /** Begins to show how far it is, of so many bytes; 0 where the host names none. */
  readonly meter?: (total: number) => Meter;
}

/**
 * GETs an address as anybody would and takes the fingerprint of the body, whatever its size.
 *
 * @param needles byte strings to count in the body
 * @throws {DeliveryError} as `follow` does; `CONNECTION` when the body broke off.
 * @see protocol 4.5
 */
export async function fetchBack(
  http: Http,
  url: URL,
  following: FetchingBack,
  needles: readonly Buffer[],
): Promise<Fetched> {
  const { answer, hops } = await follow(http, url, following);
  const hosts = hops.map((hop) => hop.host);
  const login = !isLogin(url) && hops.some(isLogin);
  if (answer.status !== 200) {
    discard(answer);
    return { httpCode: answer.status, print: null, hosts, login };
  }
  const length = Number(header(answer, 'content-length') ?? 0);
  const meter = following.meter?.(length);
  const onChunk = (chunk: Buffer): void => meter?.advance(chunk.length);
  try {
    const print = await fingerprint(bounded(answer.body), needles, onChunk);
    return { httpCode: 200, print, hosts, login };
  } catch (thrown) {
    throw connectionFailure(thrown, { url: hops.at(-1) ?? url, signal: following.signal });
  } finally {
    meter?.end();
  }
}

const isLogin = ({ pathname }: URL): boolean => /^\/login(\/|$)/.test(pathname);

async function* bounded(body: Readable): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > FETCHED_BODY) {
      throw new DeliveryError('NOT_PROVEN', 'the body is longer than any file that can be delivered', {
        httpCode: 200,
      });
    }
    yield chunk;
  }
}
