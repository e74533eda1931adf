import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { type BuildRequest, describeUnreadable } from '../../github/api/pages-build.ts';
import { listWorkflowRuns, needsApproval, startWorkflow } from '../../github/api/workflows.ts';
import { API } from '../../protocol/calls.ts';
import { describeAbsence, describeRun, describeUnsuccessful, type RunProgress } from './run-progress.ts';

/** The workflow that `site-workflow` names. */
export interface SiteRun {
  /** A failure that may be gone later leaves the start to the next poll. @throws {DeliveryError} any other */
  start(): Promise<BuildRequest>;
  /** How far the run is: one request, and one more for a run that waits. @throws {DeliveryError} `BAD_TOKEN` */
  follow(): Promise<RunProgress>;
}

/**
 * Starts the workflow that builds the site, and follows its run. GitHub's answer to the start names no run, so the
 * newest run before it is remembered. All later ones count, also those that others started on the branch: they
 * begin with our commit or a later one, and a `concurrency` group may cancel our run for one of them.
 *
 * @see https://docs.github.com/actions/how-tos/write-workflows/choose-when-workflows-run/control-workflow-concurrency
 */
export function createSiteRun(github: GitHubClient, file: string, branch: string): SiteRun {
  /** The number of the newest run before ours; `undefined` where the runs cannot be read. */
  let newestBefore: number | undefined;
  let polls = 0;
  const readProgress = async (before: number): Promise<RunProgress> => {
    polls += 1;
    const runs = (await listWorkflowRuns(github, file, branch)).filter(({ id }) => id > before);
    const [newest] = runs;
    if (newest === undefined) return describeAbsence(file, polls);
    const hopeful = runs.find(({ conclusion }) => conclusion === 'success' || conclusion === null);
    if (hopeful === undefined) return describeUnsuccessful(file, newest);
    if (hopeful.status === 'waiting' && (await needsApproval(github, hopeful))) {
      return describeUnsuccessful(file, { ...hopeful, conclusion: 'action_required' });
    }
    return describeRun(hopeful);
  };
  return {
    async start() {
      try {
        newestBefore = await findNewestRun(github, file, branch);
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

/** 0 where the workflow never ran; `undefined` where the token may not read the runs, but may start one. */
async function findNewestRun(
  github: GitHubClient,
  file: string,
  branch: string,
): Promise<number | undefined> {
  try {
    return (await listWorkflowRuns(github, file, branch))[0]?.id ?? 0;
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'NO_PERMISSION') return undefined;
    throw thrown;
  }
}
