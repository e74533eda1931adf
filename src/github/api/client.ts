import { Octokit } from '@octokit/rest';
import type { Ports } from '../../ports.ts';
import { getApiCall } from '../../protocol/calls.ts';
import { TOOL } from '../../protocol/words.ts';
import { withRetries } from '../../retry.ts';
import type { RepositoryName } from '../hosts.ts';
import { createWritePacer, type PaceWrite } from './pacing.ts';
import { type ApiAccess, sendCall } from './send-call.ts';

/**
 * Octokit for one repository. Every request follows the row of its route in the table of API calls: writes
 * are paced, repeatable calls are retried, and every failure is a `DeliveryError` with the permission or
 * setting to change.
 */
export interface GitHubClient extends Pick<Octokit, 'rest' | 'graphql'>, ApiAccess {
  /** Queues a write that Octokit does not name, such as an upload, among the client's writes. */
  readonly pace: PaceWrite;
  /** The same client with another abort signal, for cleaning up after the delivery was stopped. */
  withSignal(signal: AbortSignal): GitHubClient;
}

export interface GitHubClientOptions extends RepositoryName {
  readonly apiUrl: URL;
  readonly token: string;
}

/**
 * Creates Octokit, which names the calls, fills in their parameters and types their answers. Its own way of sending
 * them is not used: it copies a long answer three times, and makes an object of every value of it for numbers beyond
 * 2^53, which the API does not have. The list of 10,000 files took 17 MB instead of 3.
 *
 * @see protocol 4.2, 4.3
 */
export function createGitHubClient(options: GitHubClientOptions, ports: Ports): GitHubClient {
  const { owner, repo, apiUrl, token } = options;
  const access = { apiUrl, token, repository: { owner, repo } };
  const octokit = new Octokit({
    baseUrl: apiUrl.href.replace(/\/$/, ''),
    userAgent: `${TOOL.name}/${TOOL.version}`,
    log: SILENT,
  });
  const pace = createWritePacer(ports);
  octokit.hook.wrap('request', async (_send, parameters) => {
    // GitHub Enterprise Server has GraphQL at an address of its own, so Octokit's route is then a whole address.
    const route = parameters.url.endsWith('/graphql') ? '/graphql' : parameters.url;
    const call = getApiCall(`${parameters.method} ${route}`);
    const { url, headers, body } = octokit.request.endpoint.parse(parameters);
    const request = {
      url: new URL(url),
      // Octokit's default media type without the version, which GitHub ignores.
      headers: { ...toTexts(headers), accept: String(headers.accept).replace(/\.v3\+json$/, '+json') },
      body: body === undefined ? undefined : () => JSON.stringify(body),
    };
    const send = sendCall.bind(null, call, request, access, ports);
    const paced = call.method === 'GET' || call.partOfWrite ? send : () => pace(send);
    const answer = await (call.repeatable ? withRetries(ports, paced) : paced());
    return { status: answer.status, headers: answer.headers, url, data: answer.json };
  });
  const { rest, graphql } = octokit;
  const withSignal = (signal: AbortSignal) => createGitHubClient(options, { ...ports, signal });
  return { ...access, rest, graphql, pace, withSignal };
}

const toTexts = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** Octokit would log every request, every expected 404 included. */
const ignore = (): undefined => undefined;
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };
