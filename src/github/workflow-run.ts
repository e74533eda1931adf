import { hasFailed, resultOf } from '../errors.ts';
import type { GitHubClient } from './api/client.ts';

/** Who delivers, as every mark names it. A person on the command line has no mark. */
export interface Deliverer {
  /** The workflow's file with its repository, such as `octo/site/.github/workflows/nightly.yml`; or who `isRestricted`. */
  readonly name: string;
  /** The number of the run's page and of its attempt, such as `4242/1`; absent outside of a workflow. */
  readonly run?: string | undefined;
  /** Whether it replaces and removes only what it delivered itself, such as agents. No mark says so. */
  readonly isRestricted?: boolean;
}

/**
 * Which run this is, by the runner's variables, which a workflow can't set. Two workflows may have the same name, so the
 * file counts.
 *
 * @see https://docs.github.com/actions/reference/workflows-and-actions/variables
 */
export function readWorkflowRun(env: Readonly<Record<string, string | undefined>>): Deliverer | undefined {
  const [, name] = /^([^\n]+?\.ya?ml)@/.exec(env.GITHUB_WORKFLOW_REF ?? '') ?? [];
  const { GITHUB_RUN_ID: id = '', GITHUB_RUN_ATTEMPT: attempt = '1' } = env;
  return name && /^\d+$/.test(id) ? { name, run: `${id}/${attempt}` } : undefined;
}

/** How a message names who delivered. */
export const nameDeliverer = ({ name, run }: Deliverer): string =>
  run === undefined ? name : `run ${run.split('/')[0]} of ${name}`;

/** GitHub's word for how an attempt of a run of the repository ended; `null` if it is not known, or goes on. */
export async function getRunConclusion(
  { rest, repository }: GitHubClient,
  { name, run = '' }: Deliverer,
): Promise<string | null> {
  const { owner, repo } = repository;
  if (!name.toLowerCase().startsWith(`${owner}/${repo}/`.toLowerCase())) return null;
  const [run_id = 0, attempt_number = 0] = run.split('/').map(Number);
  const attempt = { ...repository, run_id, attempt_number };
  const read = await resultOf(() => rest.actions.getWorkflowRunAttempt(attempt));
  return hasFailed(read) ? null : (read.data.conclusion ?? null);
}
