import { Octokit } from '@octokit/rest';
import { DeliveryError, toDeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { API, type CallTemplate, getApiCall, getRoute } from '../../protocol/calls.ts';
import { API_VERSION, TOOL } from '../../protocol/words.ts';
import { withRetries } from '../../retry.ts';
import { RETRY_HINT } from '../hints.ts';
import type { RepositoryName } from '../hosts.ts';
import { apiError, refusalError } from './failures.ts';
import { movedError, type ReadRepositoryById } from './moved.ts';
import { octokitFetch, parseBody } from './octokit-fetch.ts';
import { createWritePacer, type PaceWrite } from './pacing.ts';
import { type ApiRefusal, findGraphqlRefusal } from './refusal.ts';

/**
 * Octokit for one repository. Every request follows the row of its route in the table of API calls: writes
 * are paced, repeatable calls are retried, and every failure is a `DeliveryError` with the permission or
 * setting to change.
 */
export interface GitHubClient extends Pick<Octokit, 'rest' | 'graphql'> {
  /** Parameters of every call below the repository. */
  readonly repository: RepositoryName;
  readonly apiUrl: URL;
  /** The bearer token: only for the upload host, the streamed blob and git. */
  readonly token: string;
  /** Queues a write that Octokit does not send, such as an upload, among the client's writes. */
  readonly pace: PaceWrite;
  /** The same client with another abort signal, for cleaning up after the delivery was stopped. */
  withSignal(signal: AbortSignal): GitHubClient;
}

export interface GitHubClientOptions extends RepositoryName {
  readonly apiUrl: URL;
  readonly token: string;
}

/**
 * Creates Octokit on our own HTTP client, with our own rules in its request hook.
 *
 * @see protocol 4.2, 4.3
 */
export function createGitHubClient(options: GitHubClientOptions, ports: Ports): GitHubClient {
  const { owner, repo, apiUrl, token } = options;
  const log = createOctokitLog(ports);
  const octokit = new Octokit({
    auth: token,
    baseUrl: apiUrl.href.replace(/\/$/, ''),
    userAgent: `${TOOL.name}/${TOOL.version}`,
    request: {
      fetch: octokitFetch(ports.http, ports.clock),
      signal: ports.signal,
      log,
      parseSuccessResponseBody: false,
    },
    log,
  });
  const pace = createWritePacer(ports);
  octokit.hook.before('request', ({ headers }) => setApiVersion(headers));
  const readById = createIdReader(octokit);
  octokit.hook.wrap('request', (request, parameters) => {
    const call = getCall(parameters);
    const send = async () => {
      const answer = await request(parameters);
      // The call for the new name is never followed by another one.
      const data = parseBody(answer.data, answer.headers['content-type']);
      if (answer.status < 300 || call === API.repository_by_id) return { ...answer, data };
      const moved = { apiUrl, repository: { owner, repo }, location: answer.headers.location };
      throw await movedError({ ...call, httpCode: answer.status }, moved, readById);
    };
    const paced = call.method === 'GET' || call.partOfWrite ? send : () => pace(send);
    const attempt = () => sendOnce(call, paced, ports);
    return call.repeatable ? withRetries(ports, attempt) : attempt();
  });
  return {
    rest: octokit.rest,
    graphql: octokit.graphql,
    repository: { owner, repo },
    apiUrl,
    token,
    pace,
    withSignal: (signal) => createGitHubClient(options, { ...ports, signal }),
  };
}

const createIdReader =
  ({ request }: Pick<Octokit, 'request'>): ReadRepositoryById =>
  async (id) =>
    (await request(getRoute(API.repository_by_id), { repository_id: id })).data;

function setApiVersion(headers: Record<string, unknown> & { accept?: string | undefined }): void {
  // Octokit's default media type without the version, which GitHub ignores.
  headers.accept = headers.accept?.replace(/\.v3\+json$/, '+json');
  headers['x-github-api-version'] = API_VERSION;
}

/**
 * Octokit's plugin logs every request, every expected 404 included, and warns of deprecated calls, which only
 * this action's authors can change: its warnings are debug lines, one for each text.
 */
function createOctokitLog({ logger }: Pick<Ports, 'logger'>) {
  const ignore = (): undefined => undefined;
  const warned = new Set<string>();
  const warn = (line: string): void => {
    if (!warned.has(line)) logger.debug(line);
    warned.add(line);
  };
  return { debug: ignore, info: ignore, warn, error: ignore };
}

/** GitHub Enterprise Server has GraphQL at an address of its own, so Octokit's route is then a whole address. */
function getCall({ method, url }: { readonly method: string; readonly url: string }): CallTemplate {
  return getApiCall(`${method} ${url.endsWith('/graphql') ? '/graphql' : url}`);
}

/** One attempt; a failure becomes a `DeliveryError`, after an abort that of the abort. */
async function sendOnce<T extends ApiAnswer>(
  call: CallTemplate,
  send: () => Promise<T>,
  { signal, clock }: Pick<Ports, 'signal' | 'clock'>,
): Promise<T> {
  try {
    const answer = await send();
    refuseUnusable(answer, call);
    const refusal = call.path === API.graphql.path ? findGraphqlRefusal(answer.data) : undefined;
    if (refusal !== undefined) throw refusalError({ ...answer, ...refusal }, call, clock.now());
    return answer;
  } catch (thrown) {
    if (signal.aborted) throw toDeliveryError(signal.reason);
    throw apiError(thrown, call, clock.now());
  }
}

interface ApiAnswer {
  readonly status: number;
  readonly headers: ApiRefusal['headers'];
  readonly data: unknown;
}

/**
 * Octokit returns an answer that is not JSON as text or bytes: it is refused, and so are an answer that GitHub has
 * only accepted and one without what is read from it.
 */
function refuseUnusable({ status, data }: ApiAnswer, { description, expects, returns }: CallTemplate): void {
  const unusable = (message: string): DeliveryError =>
    new DeliveryError('HOST_ERROR', message, { httpCode: status, hint: RETRY_HINT, retryable: true });
  if (expects !== undefined && !expects.includes(status)) {
    const expected = expects.join(' or ');
    throw unusable(`${description} answered HTTP ${status} instead of ${expected}`);
  }
  if (status === 202) throw unusable(`${description} answered HTTP 202: it is not done yet`);
  if (status !== 204 && (typeof data !== 'object' || data === null || data instanceof ArrayBuffer)) {
    throw unusable(`${description} returned something that is not JSON`);
  }
  if (returns !== undefined && !hasReturned(data, returns)) {
    const isNoList = returns === '[]' || (returns.startsWith('[]') && !Array.isArray(data));
    throw unusable(
      `${description} returned JSON without ${isNoList ? 'a list' : returns.replace('[].', '')}`,
    );
  }
}

/** @see CallTemplate.returns */
function hasReturned(data: unknown, returns: string): boolean {
  const [name = '', ...rest] = returns.split('.');
  const further = rest.join('.');
  if (name === '[]') {
    // Every list of the API is one of objects.
    const isUsable = (item: unknown): boolean =>
      further === '' ? typeof item === 'object' && item !== null : hasReturned(item, further);
    return Array.isArray(data) && data.every(isUsable);
  }
  const value = (data as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  if (further !== '') return hasReturned(value, further);
  return TEXT_NAME.test(name) ? typeof value === 'string' : value !== undefined && value !== null;
}

/** The properties of `returns` that hold a text. */
const TEXT_NAME = /(_url|sha|state|status|name)$/;
