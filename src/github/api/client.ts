import { Octokit } from '@octokit/core';
import { DeliveryError, toDeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import type { CallTemplate } from '../../protocol/calls.ts';
import { PROTOCOL, TOOL } from '../../protocol/words.ts';
import { withRetries } from '../../retry.ts';
import { apiError, RETRY_HINT } from './failures.ts';
import { octokitFetch } from './octokit-fetch.ts';
import { createWritePacer, type PaceWrite } from './pacing.ts';

/** An answer of the API: any JSON object or array. */
export type Json = Record<string, unknown>;

export interface GitHubClient {
  readonly owner: string;
  readonly repo: string;
  readonly apiUrl: URL;
  /** The bearer token: only for the upload host and the streamed blob. */
  readonly token: string;
  /**
   * Makes a call and answers with its JSON. A call that is safe to send again is retried by the policy.
   *
   * @throws {DeliveryError} by status, with the permission or setting to change.
   */
  call<T = Json>(call: CallTemplate, parameters?: Json, headers?: Record<string, string>): Promise<T>;
  /** The same for a call that must not be sent twice blindly: one attempt, the caller looks before another. */
  callOnce<T = Json>(call: CallTemplate, parameters?: Json): Promise<T>;
  /** The same repository under another signal: what must still be cleared away after a stop. */
  withSignal(signal: AbortSignal): GitHubClient;
  /** Through which a write that is no call, such as an upload, takes its turn among them. */
  readonly pace: PaceWrite;
}

export interface GitHubClientOptions {
  readonly apiUrl: URL;
  readonly token: string;
  readonly owner: string;
  readonly repo: string;
}

/**
 * The repository's REST API through Octokit, without its plugins: writes are paced here, and whether a
 * failure is waited out is for the one retry policy to decide.
 */
export function createGitHubClient(options: GitHubClientOptions, ports: Ports): GitHubClient {
  const { owner, repo, apiUrl, token } = options;
  const octokit = new Octokit({
    auth: token,
    baseUrl: apiUrl.href.replace(/\/$/, ''),
    userAgent: `${TOOL.name}/${TOOL.version}`,
    request: { fetch: octokitFetch(ports.http, ports.clock), signal: ports.signal },
    log: {
      debug: () => undefined,
      info: () => undefined,
      warn: ports.logger.warning,
      error: ports.logger.warning,
    },
  });
  const pace = createWritePacer(ports);

  async function once<T>(call: CallTemplate, parameters: Json, headers: Record<string, string>): Promise<T> {
    try {
      const send = () =>
        octokit.request({
          method: call.method,
          url: call.path,
          ...(call.path.includes('{owner}') ? { owner, repo } : {}),
          ...parameters,
          headers: { accept: `application/vnd.${PROTOCOL.vendor}+json`, ...headers },
        });
      const answer = await (call.method === 'GET' || call.part ? send() : pace(send));
      return usable<T>(answer.data, answer.status, call);
    } catch (thrown) {
      if (ports.signal.aborted) throw toDeliveryError(ports.signal.reason);
      throw apiError(thrown, call, ports.clock.now());
    }
  }

  return {
    owner,
    repo,
    apiUrl,
    token,
    pace,
    call: (call, parameters = {}, headers = {}) => withRetries(ports, () => once(call, parameters, headers)),
    callOnce: (call, parameters = {}) => once(call, parameters, {}),
    withSignal: (signal) => createGitHubClient(options, { ...ports, signal }),
  };
}

/** Octokit hands over an answer that is no JSON as text, and a redirect as a success: both are refused here. */
function usable<T>(data: unknown, status: number, call: CallTemplate): T {
  if (status >= 300) {
    throw new DeliveryError('NOT_FOUND', `${call.description} was redirected: the repository has moved`, {
      httpCode: status,
      hint: 'set `repository:` to its present name',
    });
  }
  if (call.expects !== undefined && !call.expects.includes(status)) {
    const wanted = call.expects.join(' or ');
    throw new DeliveryError('HOST_ERROR', `${call.description} answered HTTP ${status} and not ${wanted}`, {
      httpCode: status,
      hint: RETRY_HINT,
    });
  }
  if (status === 204) return undefined as T;
  if (typeof data !== 'object' || data === null) {
    throw new DeliveryError(
      'HOST_ERROR',
      `${call.description} was answered with something that is not JSON`,
      {
        httpCode: status,
        hint: RETRY_HINT,
        retryable: true,
      },
    );
  }
  return data as T;
}
