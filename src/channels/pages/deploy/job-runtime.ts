import { DeliveryError } from '../../../errors.ts';
import type { Words } from '../../../words.ts';

/** What the runner gives to an action in a job, and to nothing else. The tokens are credentials. */
export interface JobRuntime {
  /** The service that keeps artifacts, and the token for it. */
  readonly resultsUrl: URL;
  readonly resultsToken: string;
  /** Where GitHub says which job this is, and the token for that; `null` where the job may not ask. */
  readonly identity: { readonly url: URL; readonly token: string } | null;
  /** The repository of the run, as `owner/name`, and its commit. */
  readonly repository: string;
  readonly commit: string;
}

/** Reads the runner's variables; `null` outside of an action, and on an instance without this service. */
export function readJobRuntime(env: Readonly<Record<string, string | undefined>>): JobRuntime | null {
  const resultsUrl = httpsAddress(env.ACTIONS_RESULTS_URL);
  const resultsToken = env.ACTIONS_RUNTIME_TOKEN ?? '';
  if (resultsUrl === null || resultsToken === '') return null;
  const url = httpsAddress(env.ACTIONS_ID_TOKEN_REQUEST_URL);
  const token = env.ACTIONS_ID_TOKEN_REQUEST_TOKEN ?? '';
  const identity = url === null || token === '' ? null : { url, token };
  return {
    resultsUrl,
    resultsToken,
    identity,
    repository: env.GITHUB_REPOSITORY ?? '',
    commit: env.GITHUB_SHA ?? '',
  };
}

function httpsAddress(text = ''): URL | null {
  const url = URL.parse(text);
  return url?.protocol === 'https:' ? url : null;
}

/** The other ways to a site that GitHub Actions deploys. */
export const OTHER_WAYS = (w: Words): string =>
  `set ${w.input('site-workflow')} to the workflow that builds the site, or set Settings → Pages → Source to "Deploy from a branch"${w.orUse('K2 or K3')}`;

/** @throws {DeliveryError} where this is no action in a job. */
export function requireJobRuntime(runtime: JobRuntime | null | undefined): JobRuntime {
  if (runtime != null) return runtime;
  const message =
    'GitHub Actions deploys this site, and what that needs exists only in an action of a job on github.com';
  throw new DeliveryError('BAD_INPUT', message, {
    step: 'check',
    hint: (w) => `run this as an action (\`uses:\`), or ${OTHER_WAYS(w)}`,
    leftBehind: [],
  });
}

/** Names all that a job needs which deploys a site. */
export const mayNotDeployError = (message: string): DeliveryError =>
  new DeliveryError('NO_PERMISSION', message, {
    step: 'check',
    hint: (w) =>
      `give the job the environment github-pages (\`jobs.<id>.environment\`), and ${w.grant('pages: write, id-token: write')}; or ${OTHER_WAYS(w)}`,
    leftBehind: [],
  });
