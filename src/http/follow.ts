import { DeliveryError } from '../errors.ts';
import type { HttpResponse, SendHttp } from '../ports.ts';
import { MAX_REDIRECTS } from '../protocol/limits.ts';
import { discard, firstHeader } from './response.ts';

/** Cookies by host name, kept for one delivery and given back to no other host. */
export type CookieJar = Map<string, Map<string, string>>;

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Sees every address before it is asked; throws to refuse it. */
  readonly guard: (url: URL) => void;
  readonly cookies: CookieJar;
  /** Whether only public addresses may be connected to. */
  readonly publicOnly?: boolean;
}

/** The last answer of a chain of redirects. */
export interface RedirectChain {
  readonly answer: HttpResponse;
  /** Every address that was asked, the first one first. */
  readonly hops: readonly URL[];
}

/**
 * GETs an address and follows its redirects by hand, as anybody would: no credential goes along, ever.
 *
 * @throws {DeliveryError} `HOST_ERROR` for a chain that never ends or leaves https, `CONNECTION` or
 * `NO_NETWORK` when a host can't be talked to, and whatever `guard` throws.
 * @see protocol 4.5
 */
export async function followRedirects(
  http: SendHttp,
  start: URL,
  options: FollowOptions,
): Promise<RedirectChain> {
  const { signal, guard, cookies } = options;
  const hops: URL[] = [];
  for (let url = start; ; ) {
    if (hops.length > MAX_REDIRECTS) {
      throw new DeliveryError('HOST_ERROR', `the address redirects more than ${MAX_REDIRECTS} times`);
    }
    guard(url);
    hops.push(url);
    const cookie = cookiesFor(cookies, url);
    const answer = await http({
      method: 'GET',
      url,
      headers: {
        accept: '*/*',
        'accept-encoding': 'identity',
        'cache-control': 'no-cache',
        ...(cookie === '' ? {} : { cookie }),
      },
      signal,
      publicOnly: options.publicOnly ?? false,
    });
    keepCookies(cookies, url, answer);
    const target = redirectTarget(answer, url);
    if (target === null) return { answer, hops };
    discard(answer);
    url = target;
  }
}

function redirectTarget(answer: HttpResponse, from: URL): URL | null {
  if (![301, 302, 303, 307, 308].includes(answer.status)) return null;
  const location = firstHeader(answer, 'location');
  const target = location === undefined ? null : URL.parse(location, from.href);
  if (target?.protocol === 'https:') return target;
  discard(answer);
  throw new DeliveryError('HOST_ERROR', `${from.host} redirects to something that is no https address`, {
    httpCode: answer.status,
  });
}

function cookiesFor(jar: CookieJar, { hostname }: URL): string {
  return [...(jar.get(hostname) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
}

function keepCookies(jar: CookieJar, { hostname }: URL, answer: HttpResponse): void {
  for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
    const [, name, value] = /^\s*([^=;\s]+)=([^;]*)/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const own = jar.get(hostname) ?? new Map<string, string>();
    jar.set(hostname, own.set(name, value));
  }
}
