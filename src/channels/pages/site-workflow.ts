import type { RestEndpointMethodTypes } from '@octokit/rest';
import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { dataOrNull } from '../../github/api/failures.ts';
import { describeUnreadable } from '../../github/api/pages-build.ts';
import { knownSettings, type RepositoryContext } from '../../github/api/repository.ts';
import type { KnownRefusal } from '../../proof/check.ts';
import { API } from '../../protocol/calls.ts';
import { BUILD_WAIT } from '../../protocol/limits.ts';
import type { Text, Words } from '../../words.ts';
import type { PagesOptions } from './destination.ts';

/**
 * Refuses a workflow that could never publish the file, before anything is committed.
 * @see https://docs.github.com/rest/actions/workflows#get-a-workflow
 */
export async function checkSiteWorkflow(
  { rest, repository }: GitHubClient,
  { siteWorkflow: file }: Pick<PagesOptions, 'siteWorkflow'>,
  site: RepositoryContext['pagesSettings'],
): Promise<void> {
  if (file === undefined || site === 'not-requested') return;
  if (knownSettings(site)?.builtBy === 'branch') {
    throw new DeliveryError('BAD_INPUT', `the site is built from a branch, not by the workflow ${file}`, {
      hint: (w) => `leave ${w.input('site-workflow')} out`,
    });
  }
  const workflow = await dataOrNull(rest.actions.getWorkflow({ ...repository, workflow_id: file }));
  if (workflow === null) {
    throw new DeliveryError('BAD_INPUT', `the workflow ${file} does not exist on the default branch`, {
      httpCode: 404,
      hint: (w) => `set ${w.input('site-workflow')} to the name of a file in .github/workflows`,
    });
  }
  if (workflow.state === 'active') return;
  throw new DeliveryError('BAD_INPUT', `the workflow ${file} is switched off (${workflow.state})`, {
    hint: (w) => `switch it on under Actions, or set ${w.input('site-workflow')} to another one`,
  });
}

type Runs = RestEndpointMethodTypes['actions']['listWorkflowRuns']['response']['data']['workflow_runs'];

export interface BuildStarter {
  /** @returns what was started. @throws {DeliveryError} if retryable, the next poll tries again */
  start(): Promise<string>;
  /** Reads the run's progress, if the build has none. @throws {DeliveryError} `BAD_TOKEN` */
  follow?(): Promise<RunProgress>;
}

/**
 * Starts the workflow that builds the site, and follows its run. GitHub's answer names no run, so every newer run on
 * the branch counts: a `concurrency` group may cancel ours for another.
 * @see https://docs.github.com/rest/actions/workflows#create-a-workflow-dispatch-event
 * @see
 * https://docs.github.com/actions/how-tos/write-workflows/choose-when-workflows-run/control-workflow-concurrency
 */
export function createSiteRun(github: GitHubClient, file: string, branch: string): Required<BuildStarter> {
  const { rest, repository } = github;
  /** Id of the newest run before ours; `undefined` if runs can't be read. */
  let newestBefore: number | undefined;
  const listRuns = async (): Promise<Runs> => {
    const query = { workflow_id: file, branch, per_page: BUILD_WAIT.runs, exclude_pull_requests: true };
    const { data } = await rest.actions.listWorkflowRuns({ ...repository, ...query });
    return data.workflow_runs.toSorted((run, other) => other.id - run.id);
  };
  return {
    async start() {
      const runs = await resultOf(listRuns);
      // A token that can't read runs may still start one.
      if (hasFailed(runs) && runs.code !== 'NO_PERMISSION') throw runs;
      newestBefore = hasFailed(runs) ? undefined : (runs[0]?.id ?? 0);
      const dispatch = { ...repository, workflow_id: file, ref: branch };
      const sent = await resultOf(() => rest.actions.createWorkflowDispatch(dispatch));
      if (!hasFailed(sent)) return `the workflow ${file} was started`;
      if (sent.httpCode !== 422) throw sent;
      throw new DeliveryError('BAD_INPUT', sent.message, {
        httpCode: 422,
        hint: `add \`on: workflow_dispatch\`, without required inputs, to .github/workflows/${file} on the branch ${branch}`,
        cause: sent,
      });
    },
    async follow() {
      if (newestBefore === undefined) return { text: 'its runs cannot be read', page: '' };
      try {
        const runs = (await listRuns()).filter(({ id }) => id > (newestBefore ?? 0));
        const isOpenOrDone = ({ conclusion }: Runs[0]) => conclusion === 'success' || conclusion === null;
        const run = runs.find(isOpenOrDone) ?? runs[0];
        return run === undefined ? NO_RUN : describeRun(file, run);
      } catch (thrown) {
        return { text: describeUnreadable(thrown, API.workflow_runs).detail, page: '' };
      }
    },
  };
}

export interface RunProgress {
  readonly text: string;
  /** The run's https URL; empty if unknown. */
  readonly page: string;
  readonly hint?: Text;
  readonly failure?: DeliveryError;
}

/** Explains a 404 after the workflow deployed our commit. @param itemPath the file, or the folder ending in `/` */
export function notDeployed(itemPath: string, workflow = 'the workflow that builds the site'): KnownRefusal {
  const what = itemPath.endsWith('/') ? `all of \`${itemPath}\`` : `\`${itemPath}\``;
  return {
    httpCodes: [404],
    hint: (w) =>
      `${workflow} deployed our commit without ${what}; let its upload include it${w.orUse(['K2', 'K3'])}`,
  };
}

/** GitHub's states and conclusions of a run, each with what to change. */
const STATES: Readonly<Record<string, { readonly words?: string; readonly change: Text }>> = {
  queued: { words: 'waits for a runner', change: 'check that a runner has the labels of `runs-on:`' },
  pending: { words: 'waits for another run', change: 'wait for the other run of its `concurrency:` group' },
  waiting: {
    words: "waits for a rule of the site's environment",
    change: 'approve it or wait, or change that rule under Settings → Environments',
  },
  in_progress: { words: 'is in progress', change: (w) => `set a longer ${w.input('timeout')}` },
  success: { change: 'let the workflow publish this file too, also when `workflow_dispatch` started it' },
  cancelled: { change: 'try again' },
  skipped: { change: 'change the `if:` that leaves its jobs out when `workflow_dispatch` starts it' },
  startup_failure: { change: 'fix the workflow file, which GitHub cannot start' },
  action_required: {
    words: 'waits for an approval',
    change: 'approve it and try again',
  },
};

function describeRun(file: string, { status, conclusion, html_url: page }: Runs[0]): RunProgress {
  const isLost = conclusion !== null && conclusion !== 'success';
  const { words = conclusion === null ? `is ${status}` : `ended with ${conclusion}`, change } = STATES[
    conclusion ?? status ?? ''
  ] ?? { change: isLost ? 'fix what failed there and try again' : 'wait until it has started' };
  const hint = (w: Words) => `see the run at ${page}: ${w.say(change)}${w.orUse(['K2', 'K3'])}`;
  const failure = new DeliveryError('BUILD_ERRORED', `the run of the workflow ${file} ${words}`, { hint });
  return { text: `its run ${words}`, page, hint, ...(isLost && { failure }) };
}

const NO_RUN: RunProgress = {
  text: 'its run has not started',
  page: '',
  hint: (w) => `check Actions and https://www.githubstatus.com, and run this again${w.orUse(['K2', 'K3'])}`,
};
