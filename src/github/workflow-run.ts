import { hasFailed, resultOf } from '../errors.ts';
import type { GitHubClient } from './api/client.ts';

/** The run of a workflow that delivers. What is made outside of a workflow has none. */
export interface WorkflowRun {
  /** The workflow's file with its repository, such as `octo/site/.github/workflows/nightly.yml`. */
  readonly workflow: string;
  /** The number of its page and of its attempt, such as `4242/1`. */
  readonly run: string;
}

/**
 * Which run this is, by the runner's variables, which a workflow can't set. Two workflows may have the same name, so the
 * file counts.
 *
 * @see https://docs.github.com/actions/reference/workflows-and-actions/variables
 */
export function readWorkflowRun(env: Readonly<Record<string, string | undefined>>): WorkflowRun | undefined {
  const [, workflow] = /^([^\n]+?\.ya?ml)@/.exec(env.GITHUB_WORKFLOW_REF ?? '') ?? [];
  const { GITHUB_RUN_ID: id = '', GITHUB_RUN_ATTEMPT: attempt = '1' } = env;
  return workflow && /^\d+$/.test(id) ? { workflow, run: `${id}/${attempt}` } : undefined;
}

/** How a message names the run. */
export const nameRun = ({ workflow, run }: WorkflowRun): string => `run ${run.split('/')[0]} of ${workflow}`;

/** GitHub's word for how an attempt of a run of the repository ended; `null` if it is not known, or goes on. */
export async function getRunConclusion(
  { rest, repository }: GitHubClient,
  { workflow, run }: WorkflowRun,
): Promise<string | null> {
  const { owner, repo } = repository;
  if (!workflow.toLowerCase().startsWith(`${owner}/${repo}/`.toLowerCase())) return null;
  const [run_id = 0, attempt_number = 0] = run.split('/').map(Number);
  const attempt = { ...repository, run_id, attempt_number };
  const read = await resultOf(() => rest.actions.getWorkflowRunAttempt(attempt));
  return hasFailed(read) ? null : (read.data.conclusion ?? null);
}
