import { DeliveryError } from '../../errors.ts';
import { sendRequest, type TextAnswer, type TextRequest } from '../../http/send-request.ts';
import type { Ports } from '../../ports.ts';
import { API, type CallTemplate } from '../../protocol/calls.ts';
import { API_VERSION, PROTOCOL } from '../../protocol/words.ts';
import { RETRY_HINT } from '../hints.ts';
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
  ports: Pick<Ports, 'http' | 'clock' | 'signal'>,
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
  const isExpected = expects.includes(status);
  // An answer with `errors` may have a part of its `data`, in which what is missing is not absent: none of it counts.
  const hasErrors = call === API.graphql && Object.hasOwn(Object(json), 'errors');
  if (hasErrors || (!isExpected && status >= 300)) throw refusedCallError(answer, call, ports.clock.now());
  if (isExpected && (status >= 204 || (typeof json === 'object' && json !== null))) return answer;
  const problem = isExpected
    ? 'returned something that is not JSON'
    : `answered HTTP ${status} instead of ${expects.join(' or ')}`;
  throw new DeliveryError('HOST_ERROR', `${description} ${problem}`, {
    httpCode: status,
    hint: RETRY_HINT,
    retryable: true,
  });
}
