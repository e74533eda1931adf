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

/** What Octokit reads of a `Response`. A real one copies a long body three times. */
interface FetchResponse
  extends Pick<Response, 'url' | 'status' | 'statusText' | 'headers' | 'text' | 'arrayBuffer'> {
  readonly body: Buffer | null;
}

/**
 * `fetch` for Octokit on our own HTTP client: through the proxy, https only, with a time and size limit,
 * without following redirects, which could send the token to another host.
 */
export function octokitFetch(
  http: SendHttp,
  clock: Pick<Clock, 'timeout'>,
): (address: string, options: FetchOptions) => Promise<FetchResponse> {
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

function toFetchResponse({ status, headers: received }: HttpResponse, bytes: Buffer): FetchResponse {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  const body = status === 204 || status === 304 ? null : bytes;
  const text = async (): Promise<string> => new TextDecoder().decode(body ?? undefined);
  return {
    url: '',
    status,
    statusText: '',
    headers,
    body,
    text,
    arrayBuffer: async () => new ArrayBuffer(0),
  };
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/**
 * What a successful answer returns: its JSON, or else its text.
 *
 * Octokit's own parser keeps numbers beyond 2^53, which the API never has, and makes an object of every value for it:
 * the list of 10,000 files took 17 MB instead of 3.
 *
 * @param body as Octokit passes it on with `parseSuccessResponseBody: false`
 */
export function parseBody(body: unknown, type: unknown): unknown {
  if (!Buffer.isBuffer(body)) return body;
  const text = new TextDecoder().decode(body);
  if (!JSON_TYPE.test(String(type))) return text;
  try {
    return JSON.parse(text);
  } catch {
    // The client refuses what is no JSON, and says so.
    return text;
  }
}
