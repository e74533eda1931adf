import { DeliveryError } from '../errors.ts';
import type { HttpResponse, SendHttp } from '../ports.ts';
import { MAX_REDIRECTS } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { BROWSER_ENCODINGS, discard, firstHeader } from './response.ts';

export type CookieJar = Map<string, Map<string, string>>;

export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly guard: (url: URL) => void;
  /** Keeps cookies. Without it every request looks like a new visitor's. */
  readonly cookies?: CookieJar | undefined;
  /** Whether to send a browser's headers: some hosts and caches serve browsers something else. */
  readonly asBrowser?: boolean;
  /** Whether to accept any type: some hosts write a refusal as HTML for a client that asks for HTML. */
  readonly plainRefusals?: boolean;
  readonly publicOnly?: boolean;
  readonly connections?: number;
}

/** Hosts recognize browsers by these headers. The user agent still names this tool. */
const BROWSER_HEADERS = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-encoding': BROWSER_ENCODINGS,
  'accept-language': 'en',
  'user-agent': `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36 ${TOOL.name}/${TOOL.version}`,
} as const;

const TOOL_HEADERS = { accept: '*/*', 'accept-encoding': 'identity' } as const;

/**
 * Follows the redirects of an anonymous GET. @throws {DeliveryError} `HOST_ERROR` for too many redirects. @see protocol
 * 4.5
 */
export async function followRedirects(
  http: SendHttp,
  start: URL,
  options: FollowOptions,
): Promise<{ readonly response: HttpResponse; readonly hops: readonly URL[] }> {
  const { signal, guard, cookies } = options;
  const hops: URL[] = [];
  for (let url = start; ; ) {
    if (hops.length > MAX_REDIRECTS) {
      throw new DeliveryError('HOST_ERROR', `the URL redirects more than ${MAX_REDIRECTS} times`);
    }
    guard(url);
    hops.push(url);
    const cookie = [...(cookies?.get(url.hostname) ?? [])].map((pair) => pair.join('=')).join('; ');
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
      connections: options.connections,
    });
    if (cookies !== undefined) saveCookies(cookies, url, response);
    const redirect = getRedirect(response, url);
    if (redirect === null) return { response, hops };
    discard(response);
    url = redirect;
  }
}

function getRedirect(response: HttpResponse, from: URL): URL | null {
  if (![301, 302, 303, 307, 308].includes(response.status)) return null;
  const location = firstHeader(response, 'location');
  const redirect = location === undefined ? null : URL.parse(location, from.href);
  if (redirect?.protocol === 'https:') return redirect;
  discard(response);
  throw new DeliveryError('HOST_ERROR', `${from.host} redirects to a URL that is not https`, {
    httpCode: response.status,
  });
}

function saveCookies(jar: CookieJar, { hostname }: URL, response: HttpResponse): void {
  for (const line of [response.headers['set-cookie'] ?? []].flat()) {
    const [, name, value] = /^\s*([^=;\s]+)=([^;]*)/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const cookies = jar.get(hostname) ?? new Map<string, string>();
    jar.set(hostname, cookies.set(name, value));
  }
}

const SIGN_IN =
  /^\/(?:cdn-cgi\/access\/|\.?[\w-]+\/)?(?:log[-_]?in|sign[-_]?in|sso(?:-api)?|saml2?|oauth2?|auth(?:orize)?)(?:[./]|$)/i;

/** Whether a redirect led to a sign-in page. A sign-in page that was requested directly is content. */
export function leadsToSignIn([start, ...redirects]: readonly URL[]): boolean {
  const isSignIn = ({ pathname }: URL): boolean => SIGN_IN.test(pathname);
  return start !== undefined && !isSignIn(start) && redirects.some(isSignIn);
}
