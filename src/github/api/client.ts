import { Octokit } from '@octokit/rest';
import { DeliveryError, unsentError } from '../../errors.ts';
import { sendRequest, type TextAnswer, type TextRequest } from '../../http/send-request.ts';
import { toFields } from '../../plain-text.ts';
import type { Ports } from '../../ports.ts';
import { API, type CallTemplate, getApiCall, RESULT_FIELDS } from '../../protocol/calls.ts';
import { HOUR, LIST_PAGE, LIST_TOTAL, MINUTE, SECOND, WRITES_PER_HOUR } from '../../protocol/limits.ts';
import { API_VERSION, PROTOCOL, TOOL } from '../../protocol/words.ts';
import { withRetries } from '../../retry.ts';
import type { RepositoryName } from '../hosts.ts';
import { RETRY_HINT } from '../refusals.ts';
import { refusedCallError } from './failures.ts';

export interface ApiConnection {
  readonly apiUrl: URL;
  readonly token: string;
  readonly repository: RepositoryName;
}

type CallRequest = Omit<TextRequest, 'method'>;

/** Octokit for one repository, paced and retried by the table of API calls. Every failure is a `DeliveryError`. */
export interface GitHubClient extends Pick<Octokit, 'rest' | 'graphql'>, ApiConnection {
  /** Queues a write that Octokit has no method for, such as an upload. */
  readonly pace: PaceWrite;
  withSignal(signal: AbortSignal): GitHubClient;
}

/** Creates an Octokit that uses our HTTP client, because its own copies long answers three times. @see protocol 4.2 */
export function createGitHubClient(connection: ApiConnection, ports: Ports): GitHubClient {
  const octokit = new Octokit({
    baseUrl: connection.apiUrl.href.replace(/\/$/, ''),
    userAgent: `${TOOL.name}/${TOOL.version}`,
    log: SILENT,
  });
  const pace = createWritePacer(ports);
  octokit.hook.wrap('request', async (_send, parameters) => {
    // On GitHub Enterprise Server, GraphQL has a URL of its own, so Octokit's route is then a whole URL.
    const route = parameters.url.endsWith('/graphql') ? '/graphql' : parameters.url;
    const call = getApiCall(`${parameters.method} ${route}`);
    const { url, headers, body } = octokit.request.endpoint.parse(parameters);
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const request = {
      url: new URL(url),
      headers: { ...texts, accept: String(headers.accept).replace(/\.v3\+json$/, '+json') },
      body: body === undefined ? undefined : () => JSON.stringify(body),
    };
    const send = sendCall.bind(null, call, request, connection, ports);
    const isPaced = call.method !== 'GET' && call !== API.graphql && !call.partOfWrite;
    const paced = isPaced ? () => pace(send) : send;
    const answer = await (call.repeatable ? withRetries(ports, paced) : paced());
    return { status: answer.status, headers: answer.headers, url, data: answer.json };
  });
  const { rest, graphql } = octokit;
  const withSignal = (signal: AbortSignal) => createGitHubClient(connection, { ...ports, signal });
  return { ...connection, rest, graphql, pace, withSignal };
}

async function sendCall(
  call: CallTemplate,
  request: CallRequest,
  connection: ApiConnection,
  ports: Pick<Ports, 'http' | 'clock' | 'signal'>,
): Promise<TextAnswer> {
  const headers = {
    accept: `application/vnd.${PROTOCOL.vendor}+json`,
    ...request.headers,
    authorization: `Bearer ${connection.token}`,
    'x-github-api-version': API_VERSION,
  };
  const answer = await sendRequest({ ...request, method: call.method, headers }, ports);
  const { status, json } = answer;
  const isExpected = (call.expects ?? [200, 201, 204]).includes(status);
  // An answer with `errors` may lack a part of its data. A missing part doesn't mean that something is absent.
  const hasErrors = call === API.graphql && Object.hasOwn(Object(json), 'errors');
  if (hasErrors || (!isExpected && status >= 300)) throw refusedCallError(answer, call, ports.clock.date());
  if (isExpected && (status >= 204 || isResult(json, call))) return answer;
  throw new DeliveryError('HOST_ERROR', `${call.description} failed: HTTP ${status}, but no result`, {
    httpCode: status,
    hint: RETRY_HINT,
    retryable: true,
  });
}

/** Whether the answer has the field that we read. A proxy may answer with anything. */
function isResult(json: unknown, call: CallTemplate): boolean {
  const [field] = RESULT_FIELDS.find(([, calls]) => calls.includes(call)) ?? [];
  if (field === '[]') return Array.isArray(json) && !json.includes(null);
  const names = field?.split('.') ?? [];
  return names.reduce((value, name) => toFields(value)[name], json) != null && typeof json === 'object';
}

/** Octokit would log every request, and every 404 that we expect. */
const ignore = (): undefined => undefined;
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

interface ListedPage<T> {
  readonly data: readonly T[];
  readonly headers: { readonly link?: string | undefined };
}

/** Reads all pages of a list, up to a total number of items. @param isEnough whether a page's last item ends it */
export async function listAll<T>(
  getPage: (query: { page: number; per_page: number }) => Promise<ListedPage<T>>,
  { page: perPage, total } = { page: LIST_PAGE, total: LIST_TOTAL },
  isEnough: (last: T) => boolean = () => false,
): Promise<T[]> {
  const items: T[] = [];
  for (let page = 1; page <= total / perPage; page += 1) {
    const answer = await getPage({ page, per_page: perPage });
    items.push(...answer.data);
    const last = answer.data.at(-1);
    if (isLastPage(answer, perPage) || (last !== undefined && isEnough(last))) break;
  }
  return items;
}

/** Whether this is the last page. Hidden items make pages shorter, so the `link` header decides. */
export const isLastPage = ({ data, headers: { link } }: ListedPage<unknown>, perPage: number): boolean =>
  link === undefined ? data.length < perPage : !/\brel="?next\b/.test(link);

/** Streams a large body once, queued among the writes. @throws {DeliveryError} `CONNECTION` if arrival is unknown */
export async function sendStreamed(
  github: GitHubClient,
  call: CallTemplate,
  request: CallRequest & { readonly length: number },
  ports: Ports,
): Promise<unknown> {
  const startProgress = () => ports.logger.progress('uploaded', request.length, 'bytes');
  return (await github.pace(() => sendCall(call, { ...request, startProgress }, github, ports))).json;
}

type PaceWrite = <T>(write: () => Promise<T>) => Promise<T>;

/** Runs writes one by one, a second apart and at most `WRITES_PER_HOUR` in an hour, as GitHub asks of clients. */
export function createWritePacer({
  clock,
  logger,
  signal,
}: Pick<Ports, 'clock' | 'logger' | 'signal'>): PaceWrite {
  let queue: Promise<unknown> = Promise.resolve();
  let starts: readonly number[] = [];
  const remaining = (time: number, start = Number.NEGATIVE_INFINITY): number => start + time - clock.now();

  async function runInTurn<T>(write: () => Promise<T>): Promise<T> {
    const untilHour = remaining(HOUR, starts.at(-WRITES_PER_HOUR));
    const pause = Math.max(remaining(SECOND, starts.at(-1)), untilHour);
    if (untilHour > 0) {
      const minutes = Math.ceil(untilHour / MINUTE);
      logger.info(`Waiting ${minutes} min: GitHub allows about ${WRITES_PER_HOUR} writes an hour`);
    }
    // It rejects only if the signal aborts.
    if (pause > 0) await clock.sleep(pause, signal).catch(() => undefined);
    if (signal.aborted) throw unsentError(signal);
    starts = [...starts, clock.now()].slice(-WRITES_PER_HOUR);
    return write();
  }

  return (write) => {
    const turn = queue.then(() => runInTurn(write));
    queue = turn.catch(() => undefined);
    return turn;
  };
}
