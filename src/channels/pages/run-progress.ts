import { DeliveryError } from '../../errors.ts';
import type { WorkflowRun } from '../../github/api/workflows.ts';
import { BUILD_WAIT } from '../../protocol/limits.ts';

/** How far the run of the site's workflow is. */
export interface RunProgress {
  readonly words: string;
  /** The https address of the run's page; empty where it is not known. */
  readonly page: string;
  /** What to change where it gets no further. */
  readonly hint?: string;
  /** Why it will publish nothing. */
  readonly failure?: DeliveryError;
}

const OTHER_CHANNEL = 'or use channel: K2 or K3';

const at = (page: string): string => (page === '' ? 'under Actions' : `at ${page}`);

/** What a run that may still publish the site is doing, by GitHub's word for it. */
const STATES: Readonly<Record<string, { readonly words: string; readonly change: string }>> = {
  queued: { words: 'waits for a runner', change: 'check that a runner has the labels of `runs-on:`' },
  pending: { words: 'waits for another run', change: 'wait for the other run of its `concurrency:` group' },
  waiting: {
    words: "waits for a rule of the site's environment",
    change: 'wait for that rule, or change it under Settings → Environments',
  },
  in_progress: { words: 'is in progress', change: 'set a longer `timeout:`' },
};

const SUCCESS = {
  words: 'ended with success',
  change: 'let the workflow publish this file too, also when `workflow_dispatch` started it',
};

/** A run that has published the site, or may still do so. */
export function describeRun({ status, conclusion, page }: WorkflowRun): RunProgress {
  const state = conclusion === 'success' ? SUCCESS : STATES[status];
  const { words, change } = state ?? { words: `is ${status}`, change: 'wait until it has started' };
  return { words: `its run ${words}`, page, hint: `see the run ${at(page)}: ${change}, ${OTHER_CHANNEL}` };
}

/** What to change after each conclusion that publishes nothing; any other asks for a look at the run. */
const CHANGES: Readonly<Record<string, string>> = {
  cancelled: 'run the step again',
  skipped: 'change the `if:` that leaves its jobs out when `workflow_dispatch` starts it',
  startup_failure: 'fix the workflow file, which GitHub cannot start',
  action_required:
    'approve it and run the step again, or remove the required reviewers under Settings → Environments',
};

/** A run that ended without success, or that a person must approve first. */
export function describeUnsuccessful(file: string, { conclusion, page }: WorkflowRun): RunProgress {
  const ending = conclusion ?? 'no conclusion';
  const words = ending === 'action_required' ? 'waits for an approval' : `ended with ${ending}`;
  const change = CHANGES[ending] ?? 'fix what failed there and run the step again';
  const hint = `see the run ${at(page)}: ${change}, ${OTHER_CHANNEL}`;
  const failure = new DeliveryError('BUILD_ERRORED', `the run of the workflow ${file} ${words}`, { hint });
  return { words: `its run ${words}`, page, hint, failure };
}

/** No run has appeared yet, after so many polls. */
export function describeAbsence(file: string, polls: number): RunProgress {
  const words = 'it has no run yet';
  if (polls < BUILD_WAIT.pollsBeforeRun) return { words, page: '' };
  const hint = `look for it under Actions and at https://www.githubstatus.com, and run the step again, ${OTHER_CHANNEL}`;
  const failure = new DeliveryError(
    'BUILD_ERRORED',
    `the workflow ${file} was started, but no run of it has appeared`,
    { hint },
  );
  return { words, page: '', hint, failure };
}
