import { connectionError } from '../../http/client.ts';
import { readBody } from '../../http/response.ts';
import type { Clock, HttpResponse, SendHttp } from '../../ports.ts';
import { EXCHANGE } from '../../protocol/limits.ts';

/** The options of `fetch` that Octokit sets. */
interface FetchOptions {
  readonly method: string;
  readonly body?: string;
  readonly headers: Record<string, string>;
  readonly signal?: AbortSignal;
}

/**
 * `fetch` for Octokit on our own HTTP client: through the proxy, https only, with a time and size limit,
 * without following redirects, which could send the token to another host.
 */
export function octokitFetch(
  http: SendHttp,
  clock: Pick<Clock, 'timeout'>,
): (address: string, options: FetchOptions) => Promise<Response> {
  return async (address, { method, headers, body, signal }) => {
    const url = new URL(address);
    try {
      const answer = await http({
        method,
        url,
        headers,
        ...(body === undefined ? {} : { body: () => body }),
        signal: AbortSignal.any([clock.timeout(EXCHANGE.api), ...(signal === undefined ? [] : [signal])]),
      });
      return toFetchResponse(answer, await readBody(answer.body, EXCHANGE.apiBody));
    } catch (thrown) {
      throw connectionError(thrown, { url, signal });
    }
  };
}

function toFetchResponse({ status, headers: received }: HttpResponse, body: Buffer<ArrayBuffer>): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  return new Response(status === 204 || status === 304 ? null : body, { status, headers });
}
