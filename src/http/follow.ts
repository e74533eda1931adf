import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { DeliveryError } from '../errors.ts';
import type { HttpResponse, SendHttp } from '../ports.ts';
import { MAX_REDIRECTS } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { addressRange, isMachineRange } from '../rules/external-address.ts';
import { BROWSER_ENCODINGS, discard, firstHeader } from './response.ts';

/** Cookies by host name, sent back only to the host that set them. */
export type CookieJar = Map<string, Map<string, string>>;

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Called with every address before it is requested; throws to refuse it. */
  readonly guard: (url: URL) => void;
  /** Where cookies are kept; without it none is ever sent back, as in a request of somebody new. */
  readonly cookies?: CookieJar;
  /** Whether to ask as a browser does: some hosts show browsers another page, or another copy of a cache. */
  readonly asBrowser?: boolean;
  /** Whether to accept anything: to a browser that asks for pages, some hosts write a refusal as a page. */
  readonly plainRefusals?: boolean;
  /** Whether to connect to public addresses only. */
  readonly publicOnly?: boolean;
}

/** By these, hosts tell a browser from a tool; the tool is named all the same. */
const BROWSER_HEADERS = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-encoding': BROWSER_ENCODINGS,
  'accept-language': 'en',
  'user-agent': `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36 ${TOOL.name}/${TOOL.version}`,
} as const;

const TOOL_HEADERS = { accept: '*/*', 'accept-encoding': 'identity' } as const;

/** The last response of a chain of redirects. */
interface RedirectChain {
  readonly response: HttpResponse;
  /** Every address that was requested, in order. */
  readonly hops: readonly URL[];
}

/**
 * Sends an anonymous GET and follows its redirects. Credentials are never sent.
 *
 * @throws {DeliveryError} `HOST_ERROR` for too many redirects or one that is not https, `CONNECTION` or
 * `NO_NETWORK` when a request fails, and what `guard` throws.
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
    const cookie = cookies === undefined ? '' : cookiesFor(cookies, url);
    const response = await http({
      method: 'GET',
      url,
      headers: {
        ...(options.asBrowser ? BROWSER_HEADERS : TOOL_HEADERS),
        ...(options.plainRefusals ? { accept: TOOL_HEADERS.accept } : {}),
        'cache-control': 'no-cache',
        ...(cookie === '' ? {} : { cookie }),
      },
      signal,
      publicOnly: options.publicOnly ?? false,
    });
    if (cookies !== undefined) saveCookies(cookies, url, response);
    const target = redirectTarget(response, url);
    if (target === null) return { response, hops };
    discard(response);
    url = target;
  }
}

function redirectTarget(response: HttpResponse, from: URL): URL | null {
  if (![301, 302, 303, 307, 308].includes(response.status)) return null;
  const location = firstHeader(response, 'location');
  const target = location === undefined ? null : URL.parse(location, from.href);
  if (target?.protocol === 'https:') return target;
  discard(response);
  throw new DeliveryError('HOST_ERROR', `${from.host} redirects to an address that is not https`, {
    httpCode: response.status,
  });
}

function cookiesFor(jar: CookieJar, { hostname }: URL): string {
  return [...(jar.get(hostname) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
}

function saveCookies(jar: CookieJar, { hostname }: URL, response: HttpResponse): void {
  for (const line of [response.headers['set-cookie'] ?? []].flat()) {
    const [, name, value] = /^\s*([^=;\s]+)=([^;]*)/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const cookies = jar.get(hostname) ?? new Map<string, string>();
    jar.set(hostname, cookies.set(name, value));
  }
}

/** A resolver as Node's own `lookup`. */
export type ResolveHost = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const isInternalRange = (range: string): boolean => range !== 'unicast';

/**
 * Creates a DNS lookup for connections that refuses names with an address that is not public. The connection
 * uses exactly the addresses that were checked, so a second DNS answer can't replace them (DNS rebinding).
 *
 * @param resolve the resolver of the operating system
 */
export function publicLookup(resolve: ResolveHost = lookup): LookupFunction {
  return checkedLookup(isInternalRange, resolve);
}

/**
 * The same for a host that the settings name: it may be in a private network, but never on this machine, at a
 * link-local address or at the service that gives a cloud's machines their credentials.
 */
export function networkLookup(resolve: ResolveHost = lookup): LookupFunction {
  return checkedLookup(isMachineRange, resolve);
}

function checkedLookup(isRefused: (range: string) => boolean, resolve: ResolveHost): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) return callback(error, '');
      const internal = addresses.find(({ address }) => isRefused(addressRange(address)));
      if (internal !== undefined) {
        return callback(notPublicAddressError(host, addressRange(internal.address)), '');
      }
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

/** Milliseconds to wait for this machine's own resolver, whose answer a proxy does not need. */
const OWN_LOOKUP_TIME = 300;

/**
 * Refuses a name behind a proxy that this machine can resolve as well, and that leads to a machine's own
 * addresses, or to any that is not public. What only the proxy can resolve is not known here.
 *
 * @param publicOnly whether private addresses are refused as well
 * @throws {DeliveryError} `NOT_EXTERNAL`
 */
export async function refuseInternalName(
  host: string,
  publicOnly: boolean,
  resolve: ResolveHost = lookup,
): Promise<void> {
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) return;
  const found = Promise.withResolvers<readonly LookupAddress[]>();
  const timer = setTimeout(() => found.resolve([]), OWN_LOOKUP_TIME);
  resolve(host, { all: true }, (error, addresses) => found.resolve(error === null ? addresses : []));
  const addresses = await found.promise;
  clearTimeout(timer);
  const isRefused = publicOnly ? isInternalRange : isMachineRange;
  const internal = addresses.find(({ address }) => isRefused(addressRange(address)));
  if (internal !== undefined) throw notPublicAddressError(host, addressRange(internal.address));
}

function notPublicAddressError(host: string, range: string): DeliveryError {
  return new DeliveryError('NOT_EXTERNAL', `${host} resolves to a ${range} address`, {
    hint: 'use an https address that can be opened from the public internet',
  });
}
