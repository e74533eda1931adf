import { hasFailed, resultOf } from '../errors.ts';
import type { GitHubClient } from './api/client.ts';

/** Who delivers, as every mark names it. A person on the command line has no mark. */
export interface Deliverer {
  /** The workflow's file with its repository, such as `octo/site/.github/workflows/nightly.yml`, or an agent's name. */
  readonly name: string;
  /** Such as `4242/1`, with the attempt; absent outside a workflow. */
  readonly run?: string | undefined;
  /** Whether it only replaces and removes its own deliveries, like an agent. No mark shows this. */
  readonly isRestricted?: boolean;
}

/** The current run, by variables that a workflow can't set. Workflow names may repeat, so the file counts. */
export function readWorkflowRun(env: Readonly<Record<string, string | undefined>>): Deliverer | undefined {
  const [, name] = /^([^\n]+?\.ya?ml)@/.exec(env.GITHUB_WORKFLOW_REF ?? '') ?? [];
  const { GITHUB_RUN_ID: id = '', GITHUB_RUN_ATTEMPT: attempt = '1' } = env;
  return name && /^\d+$/.test(id) ? { name, run: `${id}/${attempt}` } : undefined;
}

export const nameDeliverer = ({ name, run }: Deliverer): string =>
  run === undefined ? name : `run ${run.split('/')[0]} of ${name}`;

/** The repository of the workflow, such as `octo/site`; `undefined` outside a workflow. */
export const repositoryOf = (deliverer: Deliverer | undefined): string | undefined =>
  /^([\w.-]+\/[\w.-]+)\/\.github\//.exec(deliverer?.name ?? '')?.[1]?.toLowerCase();

/** How an attempt of a run ended, in GitHub's words; `null` if it still runs or is unknown. */
export async function getRunConclusion(
  { rest, repository }: GitHubClient,
  deliverer: Deliverer,
): Promise<string | null> {
  const { owner, repo } = repository;
  const { run = '' } = deliverer;
  if (repositoryOf(deliverer) !== `${owner}/${repo}`.toLowerCase()) return null;
  const [run_id = 0, attempt_number = 0] = run.split('/').map(Number);
  const attempt = { ...repository, run_id, attempt_number };
  const read = await resultOf(() => rest.actions.getWorkflowRunAttempt(attempt));
  return hasFailed(read) ? null : (read.data.conclusion ?? null);
}
