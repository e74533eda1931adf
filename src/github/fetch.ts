import { readText } from '../http/body.ts';
import type { Clock, Http } from '../ports.ts';
import { EXCHANGE } from '../protocol/limits.ts';

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
  http: Http,
  clock: Pick<Clock, 'timeout'>,
): (url: string, init: OctokitInit) => Promise<Response> {
  return async (url, init) => {
    const { body } = init;
    const answer = await http({
      method: init.method,
      url: new URL(url),
      headers: init.headers,
      ...(body === undefined ? {} : { body: () => body }),
      signal: AbortSignal.any([
        clock.timeout(EXCHANGE.api),
        ...(init.signal === undefined ? [] : [init.signal]),
      ]),
    });
    const text = await readText(answer.body, EXCHANGE.apiBody);
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) headers.set(name, String(value));
    }
    const empty = answer.status === 204 || answer.status === 304;
    return new Response(empty ? null : text, { status: answer.status, headers });
  };
}
