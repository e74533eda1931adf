import { DeliveryError } from '../../errors.ts';
import { sendRequest, type TextAnswer, type TextRequest } from '../../http/send-request.ts';
import type { Ports } from '../../ports.ts';
import { API, type CallTemplate } from '../../protocol/calls.ts';
import { API_VERSION, PROTOCOL } from '../../protocol/words.ts';
import { MOVED_HINT, RETRY_HINT } from '../hints.ts';
import type { RepositoryName } from '../hosts.ts';
import { refusedCallError } from './failures.ts';

export interface ApiAccess {
  readonly apiUrl: URL;
  readonly token: string;
  readonly repository: RepositoryName;
}

/** An address below that of the API, which may end in a slash. @param path begins with one */
export const apiAddress = ({ apiUrl }: Pick<ApiAccess, 'apiUrl'>, path: string): URL =>
  new URL(apiUrl.href.replace(/\/$/, '') + path);

export type CallRequest = Omit<TextRequest, 'method'>;

type CallPorts = Pick<Ports, 'http' | 'clock' | 'signal'>;

/**
 * Sends a call once, with the token.
 *
 * @returns the answer of a success
 * @throws {DeliveryError} for every other answer, by the permission or setting to change; as `sendRequest`.
 */
export async function sendCall(
  call: CallTemplate,
  request: CallRequest,
  access: ApiAccess,
  ports: CallPorts,
): Promise<TextAnswer> {
  const headers = {
    accept: `application/vnd.${PROTOCOL.vendor}+json`,
    ...request.headers,
    authorization: `Bearer ${access.token}`,
    'x-github-api-version': API_VERSION,
  };
  const answer = await sendRequest({ ...request, method: call.method, headers }, ports);
  const { status, json } = answer;
  const { description, expects = [200, 201, 204] } = call;
  if (expects.includes(status)) {
    if (status >= 204) return answer;
    // An answer with `errors` may have a part of its `data`, in which what is missing is not absent: none of it counts.
    if (call === API.graphql && Object.hasOwn(Object(json), 'errors')) {
      throw refusedCallError(answer, call, ports.clock.now());
    }
    if (typeof json === 'object' && json !== null) return answer;
    throw wrongAnswerError(`${description} returned something that is not JSON`, status);
  }
  if ([301, 302, 307, 308].includes(status) && call !== API.repository_by_id) {
    throw await movedError(call, answer, access, ports);
  }
  if (status >= 300) throw refusedCallError(answer, call, ports.clock.now());
  throw wrongAnswerError(`${description} answered HTTP ${status} instead of ${expects.join(' or ')}`, status);
}

const wrongAnswerError = (message: string, httpCode: number): DeliveryError =>
  new DeliveryError('HOST_ERROR', message, { httpCode, hint: RETRY_HINT, retryable: true });

/**
 * The error of a call that was redirected. GitHub sends it on to the repository's id, so the repository is asked for
 * its name: nothing is written there, because the new one may be somebody else's. No other address is asked, because
 * the token would go there.
 *
 * @see https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
 */
async function movedError(
  { description }: CallTemplate,
  { status: httpCode, headers: { location = '' } }: TextAnswer,
  access: ApiAccess,
  ports: CallPorts,
): Promise<DeliveryError> {
  const { owner, repo } = access.repository;
  const message = `${description} was redirected: the repository ${owner}/${repo} has moved`;
  const [path] = /\/repositories\/\d+/.exec(location) ?? [];
  const request = { url: apiAddress(access, path ?? ''), headers: {} };
  const found =
    path === undefined
      ? undefined
      : await sendCall(API.repository_by_id, request, access, ports).catch(() => undefined);
  const { full_name: name } = Object(found?.json) as { readonly full_name?: unknown };
  if (typeof name !== 'string' || !/^[\w.-]+\/[\w.-]+$/.test(name)) {
    return new DeliveryError('NOT_FOUND', message, { httpCode, hint: MOVED_HINT });
  }
  return new DeliveryError('NOT_FOUND', `${message}, its name is ${name} now`, {
    httpCode,
    hint: (w) => `set ${w.input('repository', name)} if that is where it belongs`,
  });
}
