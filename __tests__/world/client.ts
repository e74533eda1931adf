import { type Dispatcher, ProxyAgent, request } from 'undici';
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

/** A plain HTTP client for the local GitHub: no redirects, no retries, no cookies. */
export type WorldClient = ReturnType<typeof createWorldClient>;

/**
 * Creates a client that sends a token with each request; null for no token.
 * `ask('PUT /repos/o/r/contents/x', {…})` goes to api.github.com; other hosts need the whole address.
 */
export function createWorldClient(world: GitHubWorld, token: string | null = world.token()) {
  const dispatcher = new ProxyAgent({ uri: world.proxyUrl, requestTls: { ca: world.ca } });
  return {
    async send(
      operation: string,
      body: object | string | Buffer | null = null,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<ClientResponse> {
      const [method = '', target = ''] = operation.split(' ');
      const url = target.startsWith('/') ? `https://api.github.com${target}` : target;
      const isRaw = body === null || typeof body === 'string' || Buffer.isBuffer(body);
      const response = await request(url, {
        dispatcher,
        method: method as Dispatcher.HttpMethod,
        body: isRaw ? body : JSON.stringify(body),
        headers: {
          'user-agent': 'world-tests',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
      });
      const bytes = Buffer.from(await response.body.arrayBuffer());
      return {
        status: response.statusCode,
        headers: response.headers as Record<string, string>,
        bytes,
        get text() {
          return bytes.toString();
        },
        get json() {
          return JSON.parse(bytes.toString());
        },
      };
    },
    close: () => dispatcher.destroy(),
  };
}
