import { DeliveryError } from '../../errors.ts';
import { sendRequest, type TextAnswer, type TextRequest } from '../../http/send-request.ts';
import type { Ports } from '../../ports.ts';
import { API, type CallTemplate } from '../../protocol/calls.ts';
import { API_VERSION } from '../../protocol/words.ts';
import type { Words } from '../../words.ts';
import { MOVED_HINT, RETRY_HINT } from '../hints.ts';
import type { RepositoryName } from '../hosts.ts';
import { findGraphqlRefusal, parseErrorBody, refusalError } from './failures.ts';

/** The API of one repository, and the token for it. */
export interface ApiAccess {
  readonly apiUrl: URL;
  readonly token: string;
  readonly repository: RepositoryName;
}

/**
 * Sends a call once, with the token.
 *
 * @returns the answer of a success, with what is read from it
 * @throws {DeliveryError} for every other answer, by the permission or setting to change; as `sendRequest`.
 */
export async function sendCall(
  call: CallTemplate,
  request: Omit<TextRequest, 'method'>,
  access: ApiAccess,
  ports: Pick<Ports, 'http' | 'clock' | 'signal'>,
): Promise<TextAnswer> {
  const headers = {
    ...request.headers,
    authorization: `Bearer ${access.token}`,
    'x-github-api-version': API_VERSION,
  };
  const answer = await sendRequest({ ...request, method: call.method, headers }, ports);
  const { status, json } = answer;
  if (status >= 300 && call.expects?.includes(status)) return answer;
  // The call for the new name is never followed by another one. A 304 comes from a cache on the way.
  if (status >= 300 && status < 400 && status !== 304 && call !== API.repository_by_id) {
    const readById = async (url: URL): Promise<unknown> =>
      (await sendCall(API.repository_by_id, { url, headers: request.headers }, access, ports)).json;
    throw await movedError({ ...call, httpCode: status }, answer.headers.location, access, readById);
  }
  const refusal =
    status >= 300 ? parseErrorBody(json) : call === API.graphql ? findGraphqlRefusal(json) : undefined;
  if (refusal !== undefined) throw refusalError({ ...answer, ...refusal }, call, ports.clock.now());
  const problem = findProblem(answer, call);
  if (problem === undefined) return answer;
  throw new DeliveryError('HOST_ERROR', `${call.description} ${problem}`, {
    httpCode: status,
    hint: RETRY_HINT,
    retryable: true,
  });
}

/** Why a success can't be used: it is not done, not JSON, or lacks what is read from it; `undefined` if it can. */
function findProblem({ status, json }: TextAnswer, { expects, returns }: CallTemplate): string | undefined {
  if (expects !== undefined && !expects.includes(status)) {
    return `answered HTTP ${status} instead of ${expects.join(' or ')}`;
  }
  if (status === 202) return 'answered HTTP 202: it is not done yet';
  if (status === 204) return undefined;
  if (typeof json !== 'object' || json === null) return 'returned something that is not JSON';
  const isUsable = returns === undefined || hasReturned(json, returns.split('.'));
  return isUsable ? undefined : `returned JSON that lacks ${returns}`;
}

/** @see CallTemplate.returns */
function hasReturned(data: unknown, [name, ...further]: readonly string[]): boolean {
  if (name === undefined) return data !== undefined && data !== null;
  if (name === '[]') return Array.isArray(data) && data.every((item) => hasReturned(item, further));
  return hasReturned((data as Readonly<Record<string, unknown>> | null | undefined)?.[name], further);
}

/**
 * The error of a call that was redirected. GitHub sends it on to the repository's id, so the repository is asked for
 * its name: nothing is written there, because the new one may be somebody else's.
 *
 * @see https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
 */
async function movedError(
  { description, httpCode }: { readonly description: string; readonly httpCode: number },
  location: string | undefined,
  { apiUrl, repository }: ApiAccess,
  readById: (url: URL) => Promise<unknown>,
): Promise<DeliveryError> {
  const url = findAddressById(location, apiUrl);
  const newName = url === null ? undefined : parseName(await readById(url).catch(() => undefined));
  const oldName = `${repository.owner}/${repository.repo}`;
  const message = `${description} was redirected: the repository`;
  if (newName === undefined || newName.toLowerCase() === oldName.toLowerCase()) {
    return new DeliveryError('NOT_FOUND', `${message} has moved`, { httpCode, hint: MOVED_HINT });
  }
  const hint = (w: Words) => `set ${w.input('repository', newName)} if that is where it belongs`;
  return new DeliveryError('NOT_FOUND', `${message} ${oldName} has moved, its name is ${newName} now`, {
    httpCode,
    hint,
  });
}

/** The repository's address by its id in the same API; no other address is asked, because the token would go there. */
function findAddressById(location: string | undefined, apiUrl: URL): URL | null {
  const base = apiUrl.href.replace(/\/$/, '');
  const target = URL.parse(location ?? '', apiUrl.href)?.href ?? '';
  const [path] = /^\/repositories\/\d{1,15}(?=[/?#]|$)/.exec(target.slice(base.length)) ?? [];
  return path === undefined || !target.startsWith(`${base}/`) ? null : new URL(base + path);
}

function parseName(repository: unknown): string | undefined {
  const { full_name: name } = (repository ?? {}) as { full_name?: unknown };
  return typeof name === 'string' && /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(name) ? name : undefined;
}
