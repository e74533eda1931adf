import { connectionError } from '../../http/client.ts';
import { readText } from '../../http/response.ts';
import type { Clock, HttpResponse, SendHttp } from '../../ports.ts';
import { EXCHANGE } from '../../protocol/limits.ts';

/** The part of `fetch` that Octokit calls. */
interface OctokitInit {
  readonly method: string;
  readonly body?: string;
  readonly headers: Record<string, string>;
  readonly signal?: AbortSignal;
}

/**
 * `fetch` as Octokit wants it, on the one door to the network: proxied, https only, bounded,
 * and blind to redirects, along which a credential could travel.
 */
export function octokitFetch(
  http: SendHttp,
  clock: Pick<Clock, 'timeout'>,
): (url: string, init: OctokitInit) => Promise<Response> {
  return async (url, init) => {
    const { body, signal } = init;
    const address = new URL(url);
    try {
      const answer = await http({
        method: init.method,
        url: address,
        headers: init.headers,
        ...(body === undefined ? {} : { body: () => body }),
        signal: AbortSignal.any([clock.timeout(EXCHANGE.api), ...(signal === undefined ? [] : [signal])]),
      });
      return asResponse(answer, await readText(answer.body, EXCHANGE.apiBody));
    } catch (thrown) {
      throw connectionError(thrown, { url: address, signal });
    }
  };
}

function asResponse({ status, headers: given }: HttpResponse, text: string): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  return new Response(status === 204 || status === 304 ? null : text, { status, headers });
}
