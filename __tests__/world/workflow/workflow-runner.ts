import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitHubWorld } from '../world.ts';
import {
  isTriggeredBy,
  type JobDefinition,
  listMatrixCombinations,
  readWorkflow,
  type WorkflowDefinition,
} from './definition.ts';
import { computeJobPermissions, createGithubContext, type WorkflowEvent } from './event.ts';
import {
  type ExpressionContexts,
  interpolate,
  interpolateAll,
  isConditionMet,
  type JobStatus,
} from './expressions.ts';
import type { ActionContext } from './fake-actions.ts';
import { type JobContext, runStep, type StepOutcome } from './steps.ts';

export interface StepRun extends StepOutcome {
  readonly id: string | undefined;
  readonly name: string;
}

/** A finished or skipped job; a matrix has one per combination. */
export interface JobRun {
  readonly id: string;
  readonly conclusion: JobStatus;
  /** The concurrency group; `null` without one. */
  readonly group: string | null;
  readonly steps: readonly StepRun[];
}

export interface WorkflowRun {
  readonly id: number;
  readonly name: string;
  readonly conclusion: JobStatus;
  readonly group: string | null;
  readonly event: WorkflowEvent;
  readonly jobs: readonly JobRun[];
}

/** Runs workflows as GitHub and its runners would. */
export interface WorkflowRunner {
  /** Runs a workflow of the project for an event; `null` where the event doesn't start it. */
  run(workflow: string | WorkflowDefinition, event: WorkflowEvent): Promise<WorkflowRun | null>;
}

export function createWorkflowRunner(world: GitHubWorld): WorkflowRunner {
  const artifacts: ActionContext['artifacts'] = new Map();
  let lastRun = 7000;
  return {
    async run(named, event) {
      const workflow = typeof named === 'string' ? await readWorkflow(named) : named;
      if (!isTriggeredBy(workflow, event)) return null;
      const id = ++lastRun;
      return runWorkflow(workflow, { world, artifacts, event, id });
    },
  };
}

interface RunContext {
  readonly world: GitHubWorld;
  readonly artifacts: ActionContext['artifacts'];
  readonly event: WorkflowEvent;
  readonly id: number;
}

async function runWorkflow(workflow: WorkflowDefinition, run: RunContext): Promise<WorkflowRun> {
  const { event, id } = run;
  const { name, concurrency } = workflow;
  const github = createGithubContext(event, { id, workflow: name }, '', '');
  const ended = new Map<string, readonly JobRun[]>();
  // In the examples a job follows the jobs that it needs.
  for (const [jobId, job] of Object.entries(workflow.jobs)) {
    ended.set(jobId, await runJobs({ id: jobId, job, workflow }, run, ended));
  }
  const jobs = [...ended.values()].flat();
  const group = concurrency === undefined ? null : interpolate(concurrency.group, { github });
  return { id, name, conclusion: combineConclusions(jobs), group, event, jobs };
}

/** `failure` if any job failed; `skipped` if none ran. */
function combineConclusions(jobs: readonly JobRun[]): JobStatus {
  const all = jobs.map(({ conclusion }) => conclusion);
  if (all.includes('failure')) return 'failure';
  return all.includes('success') ? 'success' : 'skipped';
}

/** Runs a job, or all jobs of a matrix concurrently. */
async function runJobs(
  {
    id,
    job,
    workflow,
  }: { readonly id: string; readonly job: JobDefinition; readonly workflow: WorkflowDefinition },
  run: RunContext,
  ended: ReadonlyMap<string, readonly JobRun[]>,
): Promise<readonly JobRun[]> {
  const { event, world } = run;
  const grants = job.permissions ?? workflow.permissions ?? {};
  const token = world.token(computeJobPermissions(grants, event));
  const github = createGithubContext(event, { id: run.id, workflow: workflow.name }, id, token);
  const needed = job.needs === undefined ? [] : (ended.get(job.needs) ?? []);
  const status = needed.length === 0 ? 'success' : combineConclusions(needed);
  const known = { github, inputs: event.payload.inputs ?? {}, secrets: { GITHUB_TOKEN: token } };
  if (!isConditionMet(job.if, known, status)) return [{ id, conclusion: 'skipped', group: null, steps: [] }];
  return Promise.all(
    listMatrixCombinations(job).map(async (matrix) => {
      const temporary = await mkdtemp(join(world.folder, 'job-'));
      const workspace = join(temporary, 'workspace');
      await mkdir(workspace);
      const group =
        job.concurrency === undefined ? null : interpolate(job.concurrency.group, { ...known, matrix });
      const identity = grants['id-token'] === 'write';
      const actionEnv = world.actions.startJob({ identity, environment: job.environment });
      const jobContext = { ...run, runId: run.id, actionEnv, github, grants, token, workspace, temporary };
      return { id, group, ...(await runSteps(job, { ...known, matrix }, jobContext)) };
    }),
  );
}

async function runSteps(
  job: JobDefinition,
  known: ExpressionContexts,
  jobContext: JobContext,
): Promise<Pick<JobRun, 'conclusion' | 'steps'>> {
  const done: StepRun[] = [];
  const steps: Record<string, object> = {};
  const jobEnv = interpolateAll(job.env, known);
  let status: JobStatus = 'success';
  for (const step of job.steps) {
    const contexts = { ...known, steps, env: jobEnv, job: { status } };
    if (!isConditionMet(step.if, contexts, status)) continue;
    const env = { ...jobEnv, ...interpolateAll(step.env, contexts) };
    const inputs = interpolateAll(step.with, { ...contexts, env });
    const ran = await runStep(interpolateScript(step, { ...contexts, env }), inputs, env, jobContext);
    const outcome = ran.succeeded ? 'success' : 'failure';
    const tolerated = step['continue-on-error'] === true;
    if (!ran.succeeded && !tolerated) status = 'failure';
    if (step.id !== undefined) {
      steps[step.id] = { outputs: ran.outputs, outcome, conclusion: tolerated ? 'success' : outcome };
    }
    done.push({ ...ran, id: step.id, name: step.name ?? step.uses ?? '' });
  }
  return { conclusion: status, steps: done };
}

const interpolateScript = <T extends { readonly run?: string }>(step: T, contexts: ExpressionContexts): T =>
  step.run === undefined ? step : { ...step, run: interpolate(step.run, contexts) };
