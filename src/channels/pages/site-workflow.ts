import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { type BuildRequest, describeUnreadable } from '../../github/api/pages-build.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import {
  getWorkflowState,
  listWorkflowRuns,
  startWorkflow,
  type WorkflowRun,
} from '../../github/api/workflow-runs.ts';
import { API } from '../../protocol/calls.ts';
import type { Text, Words } from '../../words.ts';
import type { KnownRefusal } from '../channel.ts';
import type { PagesOptions } from './destination.ts';

/**
 * Refuses, before anything is committed, a workflow that `site-workflow` names and that could never publish the file.
 *
 * @see https://docs.github.com/actions/concepts/security/github_token#when-github_token-triggers-workflow-runs
 */
export async function checkSiteWorkflow(
  github: GitHubClient,
  { siteWorkflow }: Pick<PagesOptions, 'siteWorkflow'>,
  site: RepositoryContext['site'],
): Promise<void> {
  if (siteWorkflow === undefined) return;
  const refuse = (message: string, hint: Text, httpCode?: number): never => {
    throw new DeliveryError('BAD_INPUT', message, { httpCode, hint });
  };
  if (site !== null && typeof site === 'object' && site.builtBy === 'branch') {
    const message = `the site is built from a branch, not by the workflow ${siteWorkflow}`;
    refuse(message, (w) => `leave ${w.input('site-workflow')} out`);
  }
  const state = await getWorkflowState(github, siteWorkflow);
  if (state === null) {
    const hint = (w: Words) => `set ${w.input('site-workflow')} to the name of a file in .github/workflows`;
    refuse(`the repository has no workflow ${siteWorkflow} on its default branch`, hint, 404);
  }
  if (state !== 'active') {
    const hint = (w: Words) =>
      `switch it on under Actions, or set ${w.input('site-workflow')} to another one`;
    refuse(`the workflow ${siteWorkflow} is switched off (${state})`, hint);
  }
}

/** What starts a build. */
export interface BuildStarter {
  /** A failure that may be gone later leaves the start to the next poll. @throws {DeliveryError} any other */
  start(): Promise<BuildRequest>;
  /** How far it is, where the build itself does not tell. @throws {DeliveryError} `BAD_TOKEN` */
  follow?(): Promise<RunProgress>;
}

/**
 * Starts the workflow that builds the site, and follows its run. GitHub's answer to the start names no run, so the
 * newest run before it is remembered. All later ones count, also those that others started on the branch: they
 * begin with our commit or a later one, and a `concurrency` group may cancel our run for one of them.
 *
 * @see https://docs.github.com/actions/how-tos/write-workflows/choose-when-workflows-run/control-workflow-concurrency
 */
export function createSiteRun(github: GitHubClient, file: string, branch: string): Required<BuildStarter> {
  /** The number of the newest run before ours; `undefined` where the runs cannot be read. */
  let newestBefore: number | undefined;
  const readProgress = async (before: number): Promise<RunProgress> => {
    const runs = (await listWorkflowRuns(github, file, branch)).filter(({ id }) => id > before);
    const [newest] = runs;
    if (newest === undefined) return NO_RUN;
    const run = runs.find(({ conclusion }) => conclusion === 'success' || conclusion === null) ?? newest;
    return describeRun(file, run);
  };
  return {
    async start() {
      try {
        const runs = await resultOf(() => listWorkflowRuns(github, file, branch));
        // The token may start one all the same.
        if (hasFailed(runs) && runs.code !== 'NO_PERMISSION') throw runs;
        newestBefore = hasFailed(runs) ? undefined : (runs[0]?.id ?? 0);
        await startWorkflow(github, file, branch);
        return { words: `the workflow ${file} was started`, again: false, started: true };
      } catch (thrown) {
        if (!(thrown instanceof DeliveryError) || !thrown.retryable) throw thrown;
        return { words: thrown.message, again: true, started: false };
      }
    },
    async follow() {
      try {
        if (newestBefore !== undefined) return await readProgress(newestBefore);
        return { words: 'its runs cannot be read', page: '' };
      } catch (thrown) {
        return { words: describeUnreadable(thrown, API.workflow_runs).detail, page: '' };
      }
    },
  };
}

/** How far the run of the site's workflow is. */
export interface RunProgress {
  readonly words: string;
  /** The https address of the run's page; empty where it is not known. */
  readonly page: string;
  readonly hint?: Text;
  /** Why it will publish nothing. */
  readonly failure?: DeliveryError;
}

/**
 * What 404 means where the workflow has deployed our commit, which is waited for before.
 *
 * @param place the file, or the folder with a slash at its end
 */
export function notDeployed(place: string, workflow = 'the workflow that builds the site'): KnownRefusal {
  const what = place.endsWith('/') ? `all of \`${place}\`` : `\`${place}\``;
  return {
    httpCodes: [404],
    hint: (w) =>
      `${workflow} deployed our commit without ${what}; let its upload include it${w.orUse('K2 or K3')}`,
  };
}

/** What GitHub's words for a run mean, before its end and as its conclusion, and what to change. */
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

function describeRun(file: string, { status, conclusion, html_url: page }: WorkflowRun): RunProgress {
  const isLost = conclusion !== null && conclusion !== 'success';
  const { words = conclusion === null ? `is ${status}` : `ended with ${conclusion}`, change } = STATES[
    conclusion ?? status ?? ''
  ] ?? { change: isLost ? 'fix what failed there and try again' : 'wait until it has started' };
  const hint = (w: Words) => `see the run at ${page}: ${w.say(change)}${w.orUse('K2 or K3')}`;
  const failure = new DeliveryError('BUILD_ERRORED', `the run of the workflow ${file} ${words}`, { hint });
  return { words: `its run ${words}`, page, hint, ...(isLost && { failure }) };
}

const NO_RUN: RunProgress = {
  words: 'it has no run yet',
  page: '',
  hint: (w) =>
    `look for it under Actions and at https://www.githubstatus.com, and try again${w.orUse('K2 or K3')}`,
};
