import { DeliveryError } from '../../../errors.ts';
import { STATUS_HINT } from '../../../github/refusals.ts';
import { parseRetryAfter, shortHostMessage } from '../../../http/response.ts';
import { sendRequest, type TextAnswer, type TextRequest } from '../../../http/send-request.ts';
import { parseJson, toFields } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { withRetries } from '../../../retry.ts';
import type { Words } from '../../../words.ts';

/** Credentials and ids that the runner gives only to an action in a job. */
export interface JobRuntime {
  /** The artifact service, and its token. */
  readonly resultsUrl: URL;
  readonly resultsToken: string;
  /** Where to request a token that identifies the job; `null` without that permission. */
  readonly identity: { readonly url: URL; readonly token: string } | null;
  /** The run's repository as `owner/name`, and its commit. */
  readonly repository: string;
  readonly commit: string;
}

/** Reads the runner's variables; `null` outside an action, or if the instance has no artifact service. */
export function readJobRuntime(env: Readonly<Record<string, string | undefined>>): JobRuntime | null {
  const resultsUrl = URL.parse(env.ACTIONS_RESULTS_URL ?? '');
  const resultsToken = env.ACTIONS_RUNTIME_TOKEN ?? '';
  if (resultsUrl === null || resultsToken === '') return null;
  const url = URL.parse(env.ACTIONS_ID_TOKEN_REQUEST_URL ?? '');
  const token = env.ACTIONS_ID_TOKEN_REQUEST_TOKEN ?? '';
  const identity = url?.protocol === 'https:' && token !== '' ? { url, token } : null;
  const { GITHUB_REPOSITORY: repository = '', GITHUB_SHA: commit = '' } = env;
  return { resultsUrl, resultsToken, identity, repository, commit };
}

export const otherWays = (w: Words): string =>
  `set ${w.input('site-workflow')} to the workflow that builds the site (it needs \`actions: write\`), or set Settings → Pages → Source to "Deploy from a branch"${w.orUse(['K2', 'K3'])}`;

const mayNotDeployError = (message: string): DeliveryError =>
  new DeliveryError('NO_PERMISSION', message, {
    step: 'check',
    hint: (w) =>
      `give the job the environment github-pages (\`jobs.<id>.environment\`), and ${w.grant('pages: write, id-token: write')}`,
  });

interface ServiceRequest extends TextRequest {
  readonly description: string;
  readonly expects: number;
}

/**
 * Sends a request once. URL and answer may hold credentials, so only a refusal is quoted. @throws as `sendRequest`
 */
export async function askService(request: ServiceRequest, ports: Ports): Promise<TextAnswer> {
  const answer = await sendRequest(request, ports);
  const { status, json } = answer;
  if (status === request.expects) return answer;
  const { msg, message = msg } = toFields(json);
  const reason = typeof message === 'string' ? `: ${shortHostMessage(message)}` : '';
  const isRefused = status === 401 || status === 403;
  throw new DeliveryError(
    status === 429 ? 'RATE_LIMITED' : isRefused ? 'NO_PERMISSION' : 'HOST_ERROR',
    `${request.description} failed with HTTP ${status}${reason}`,
    {
      httpCode: status,
      hint: isRefused
        ? 'run the job again: its credentials expire after a few hours; if it fails again, check the artifact storage (Settings → Billing)'
        : STATUS_HINT,
      retryable: status < 300 || status === 408 || status === 429 || status >= 500,
      retryAfter: parseRetryAfter(answer, ports.clock.date()),
    },
  );
}

export const unusableError = (description: string): DeliveryError =>
  new DeliveryError('HOST_ERROR', `${description} returned an unusable answer`, {
    hint: STATUS_HINT,
    retryable: true,
  });

const ASKING = 'requesting the identity token of the job';

/**
 * Requests a token that identifies the job. It expires within minutes, so each deployment gets its own.
 * @throws {DeliveryError} `NO_PERMISSION` if the job lacks the permission or an environment
 * @see https://docs.github.com/actions/reference/security/oidc
 */
export async function getIdToken({ identity }: JobRuntime, ports: Ports): Promise<string> {
  if (identity === null)
    throw mayNotDeployError("the job can't request the identity token that deploys a site");
  const headers = { accept: 'application/json', authorization: `Bearer ${identity.token}` };
  const request = { description: ASKING, expects: 200, method: 'GET', url: identity.url, headers };
  const value = await withRetries(ports, async () => {
    const { value: token } = toFields((await askService(request, ports)).json);
    if (typeof token !== 'string' || token === '') throw unusableError(ASKING);
    ports.logger.mask(token);
    return token;
  });
  const { environment } = readTokenClaims(value);
  if (environment === undefined) {
    throw mayNotDeployError(
      "the job doesn't name an environment, and GitHub deploys a site only from a job with an environment",
    );
  }
  return value;
}

/** Decodes a token without checking it; empty if it can't be decoded. */
export const readTokenClaims = (token: string): Readonly<Record<string, unknown>> =>
  toFields(parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
