import { Readable } from 'node:stream';
import { collectBytes } from './server/messages.ts';
import type { GitHubWorld } from './world.ts';

export interface ClientResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON; only for answers that are. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes
  readonly json: any;
}

/** Sends a request to a host of the local GitHub, without sockets: no redirects, no retries, no cookies. */
export type WorldClient = (
  operation: string,
  body?: object | string | null,
  headers?: Readonly<Record<string, string>>,
) => Promise<ClientResponse>;

/** Sends a token with each request, or null; `client('PUT /repos/o/r/…')` goes to api.github.com, else name the host. */
export const createWorldClient =
  (world: GitHubWorld, token: string | null = world.token()): WorldClient =>
  async (operation, body = null, given = {}) => {
    const [method = '', target] = operation.split(' ');
    const {
      href: url,
      host,
      pathname: path,
      searchParams: query,
    } = new URL(target ?? '', 'https://api.github.com');
    const sent = Buffer.from(typeof body === 'object' && body !== null ? JSON.stringify(body) : (body ?? ''));
    const headers = {
      'user-agent': 'world-tests',
      ...(body !== null && { 'content-length': String(sent.length) }),
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...given,
    };
    const asked = { method, url, host, path, query, headers, body: Readable.from([sent]), connection: 0 };
    const reply = await world.ask(asked);
    const shown = reply.body ?? '';
    const bytes = shown instanceof Readable ? await collectBytes(shown) : Buffer.from(shown);
    return {
      status: reply.status,
      headers: reply.headers ?? {},
      bytes,
      get text() {
        return bytes.toString();
      },
      get json() {
        return JSON.parse(bytes.toString());
      },
    };
  };

const MAX_REQUESTS = 10;

/**
 * Fetches a URL like a browser without credentials: follows redirects, keeps cookies, and passes one warning page.
 * @throws {Error} after ten requests
 */
export async function fetchAsBrowser(world: GitHubWorld, start: string): Promise<ClientResponse> {
  const send = createWorldClient(world, null);
  const cookies = new Map<string, string>();
  let url = new URL(start);
  let continued = false;
  for (let requests = 0; requests < MAX_REQUESTS; requests += 1) {
    const cookie = cookies.get(url.host);
    const headers = { 'user-agent': 'Mozilla/5.0', ...(cookie !== undefined && { cookie }) };
    const response = await send(`GET ${url.href}`, null, headers);
    const given = response.headers['set-cookie'];
    if (given !== undefined) cookies.set(url.host, given.replace(/;.*/, ''));
    if (response.status >= 300 && response.status < 400) {
      url = new URL(String(response.headers.location), url);
    } else if (given !== undefined && !continued) {
      continued = true;
    } else {
      return response;
    }
  }
  throw new Error(`${start} redirects forever.`);
}
