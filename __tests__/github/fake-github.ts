import { Octokit } from '@octokit/rest';
import { DeliveryError, type ErrorCode, type ErrorDetails } from '../../src/errors.ts';
import type { GitHubClient } from '../../src/github/api/client.ts';
import { API, getApiCall } from '../../src/protocol/calls.ts';

export type CallName = keyof typeof API;

/** Parameters of a call below the repository. */
export type CallParameters = Record<string, unknown>;

export interface ReceivedCall {
  readonly name: CallName;
  readonly parameters: CallParameters;
}

export type Answers = Readonly<Partial<Record<CallName, unknown>>>;

type AnswerFunction = (parameters: CallParameters, nth: number) => unknown;

type RequestOptions = { readonly method: string; readonly url: string } & CallParameters;

/**
 * The repository's API as a table: by call, the data to answer with, an Error to throw, or a function of the
 * parameters and of how often this call was made, which returns either. Requests are made by Octokit's own
 * methods and end in its request hook.
 */
export class FakeGitHub implements GitHubClient {
  readonly repository = { owner: 'octo', repo: 'site' };
  readonly apiUrl = new URL('https://api.github.com');
  readonly token = 'ghs_0123456789abcdef';
  readonly rest: GitHubClient['rest'];
  readonly graphql: GitHubClient['graphql'];
  /** Number of writes that were paced beside the calls. */
  paced = 0;
  readonly pace: GitHubClient['pace'] = (write) => {
    this.paced += 1;
    return write();
  };
  readonly calls: ReceivedCall[] = [];
  readonly #answers: Answers;

  constructor(answers: Answers = {}) {
    this.#answers = answers;
    const octokit = new Octokit({ log: SILENT });
    octokit.hook.wrap('request', async (_request, options) => ({
      data: await this.#answer(options as unknown as RequestOptions),
      status: 200,
      url: '',
      headers: {},
    }));
    this.rest = octokit.rest;
    this.graphql = octokit.graphql;
  }

  withSignal(): FakeGitHub {
    return this;
  }

  /** The parameters of every call of that name. */
  sent(name: CallName): CallParameters[] {
    return this.calls.filter((call) => call.name === name).map(({ parameters }) => parameters);
  }

  get names(): CallName[] {
    return this.calls.map(({ name }) => name);
  }

  /** The names of the calls that change something, in order. */
  get writes(): CallName[] {
    return this.names.filter((name) => name !== 'graphql' && API[name].method !== 'GET');
  }

  async #answer(options: RequestOptions): Promise<unknown> {
    const { method, url, baseUrl, headers, mediaType, request, owner, repo, ...parameters } = options;
    const name = getCallName(`${method} ${url}`);
    this.calls.push({ name, parameters });
    const isHistory = name === 'graphql' && String(parameters.query).includes(': history(');
    if (isHistory && 'commits_of_path' in this.#answers) return { data: this.#historyOf(parameters) };
    return this.#dataOf(name, parameters, this.sent(name).length);
  }

  #dataOf(name: CallName, parameters: CallParameters, nth: number): unknown {
    if (!(name in this.#answers)) throw new Error(`nothing answers ${name}`);
    const answer = this.#answers[name];
    const data = typeof answer === 'function' ? (answer as AnswerFunction)(parameters, nth) : answer;
    if (data instanceof Error) throw data;
    return data;
  }

  /** The last commit of each path of a query, from the answer for `commits_of_path`. */
  #historyOf(parameters: CallParameters): object {
    const variables = parameters.variables as Record<string, string>;
    const names = [...String(parameters.query).matchAll(/(\w+): history\(/g)].map(([, one = '']) => one);
    const histories = this.sent('graphql').filter(({ query }) => String(query).includes(': history('));
    const pages = names.map((name) => {
      const asked = { path: variables[name], sha: variables.head };
      const commits = this.#dataOf('commits_of_path', asked, histories.length) as readonly RestCommit[];
      const nodes = commits.slice(0, 1).map(({ sha, commit, blobs: [now = null, before = null] = [] }) => ({
        oid: sha,
        message: commit.message,
        committedDate: commit.committer?.date ?? '',
        file: now,
        parents: { nodes: [{ file: before }] },
      }));
      return [name, { nodes }];
    });
    return { repository: { object: Object.fromEntries(pages) } };
  }
}

/** A commit as REST lists it; with the path's blob since then and before. */
interface RestCommit {
  readonly sha: string;
  readonly commit: { readonly message: string; readonly committer?: { readonly date: string } };
  readonly blobs?: readonly { readonly oid: string; readonly size: number }[];
}

const ignore = (): undefined => undefined;
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function getCallName(route: string): CallName {
  const call = getApiCall(route);
  const names = Object.keys(API) as CallName[];
  return names.find((name) => API[name] === call) as CallName;
}

/** A failure as the client throws it. */
export function failure(code: ErrorCode, httpCode?: number, details: ErrorDetails = {}): DeliveryError {
  return new DeliveryError(code, `the host said ${httpCode ?? code}`, { httpCode, ...details });
}

export const absent = failure('NOT_FOUND', 404);
