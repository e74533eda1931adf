import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '../world.ts';
import { Artifacts } from './artifacts.ts';
import { combinations, type Job, readWorkflow, startsOn, type Workflow } from './definition.ts';
import { type Contexts, fill, fillAll, holds, type Status } from './expressions.ts';
import { githubContext, type Occasion, permissionsOf } from './occasion.ts';
import { type Done, runStep, type Workplace } from './steps.ts';

/** A step that was run. */
export interface StepRun extends Done {
  readonly id: string | undefined;
  readonly name: string;
  /** Milliseconds on a clock that all steps share. */
  readonly began: number;
  readonly ended: number;
}

/** A job that was run or skipped; of a matrix there is one for each combination. */
export interface JobRun {
  readonly id: string;
  readonly conclusion: Status;
  /** The group in which it runs alone; `null` where any may run beside it. */
  readonly group: string | null;
  readonly steps: readonly StepRun[];
}

/** A run of a workflow. */
export interface WorkflowRun {
  readonly id: number;
  readonly name: string;
  readonly conclusion: Status;
  readonly group: string | null;
  readonly occasion: Occasion;
  readonly jobs: readonly JobRun[];
}

/** Plays workflows in a world as GitHub and its runners would. */
export interface Player {
  /** Lets something happen to a workflow of the project; `null` where it doesn't start it. */
  play(workflow: string | Workflow, occasion: Occasion): Promise<WorkflowRun | null>;
}

export function createPlayer(world: World): Player {
  const artifacts = new Artifacts(join(world.folder, 'artifacts'));
  let lastRun = 7000;
  return {
    async play(named, occasion) {
      const workflow = typeof named === 'string' ? await readWorkflow(named) : named;
      if (!startsOn(workflow, occasion)) return null;
      const id = ++lastRun;
      return runWorkflow(workflow, { world, artifacts, occasion, id });
    },
  };
}

interface Run {
  readonly world: World;
  readonly artifacts: Artifacts;
  readonly occasion: Occasion;
  readonly id: number;
}

async function runWorkflow(workflow: Workflow, run: Run): Promise<WorkflowRun> {
  const { occasion, id } = run;
  const { name, concurrency } = workflow;
  const github = githubContext(occasion, { id, workflow: name }, '', '');
  const ended = new Map<string, readonly JobRun[]>();
  // The examples name a job after those that it needs.
  for (const [jobId, job] of Object.entries(workflow.jobs)) {
    ended.set(jobId, await runJobs(jobId, job, workflow, run, ended));
  }
  const jobs = [...ended.values()].flat();
  const group = concurrency === undefined ? null : fill(concurrency.group, { github });
  return { id, name, conclusion: together(jobs), group, occasion, jobs };
}

/** A failure is one of all; where nothing ran, all was skipped. */
function together(jobs: readonly JobRun[]): Status {
  const all = jobs.map(({ conclusion }) => conclusion);
  if (all.includes('failure')) return 'failure';
  return all.includes('success') ? 'success' : 'skipped';
}

/** A job, or all of a matrix at once. */
async function runJobs(
  id: string,
  job: Job,
  workflow: Workflow,
  run: Run,
  ended: ReadonlyMap<string, readonly JobRun[]>,
): Promise<readonly JobRun[]> {
  const { occasion, world } = run;
  const grants = job.permissions ?? workflow.permissions ?? {};
  const token = world.token(permissionsOf(grants, occasion));
  const github = githubContext(occasion, { id: run.id, workflow: workflow.name }, id, token);
  const needed = job.needs === undefined ? [] : (ended.get(job.needs) ?? []);
  const status = needed.length === 0 ? 'success' : together(needed);
  const known = { github, inputs: occasion.payload.inputs ?? {} };
  if (!holds(job.if, known, status)) return [{ id, conclusion: 'skipped', group: null, steps: [] }];
  return Promise.all(
    combinations(job).map(async (matrix) => {
      const temporary = await mkdtemp(join(world.folder, 'job-'));
      const workspace = join(temporary, 'workspace');
      await mkdir(workspace);
      const group = job.concurrency === undefined ? null : fill(job.concurrency.group, { ...known, matrix });
      const place = { ...run, run: run.id, github, grants, token, workspace, temporary };
      return { id, group, ...(await runSteps(job, { ...known, matrix }, place)) };
    }),
  );
}

async function runSteps(
  job: Job,
  known: Contexts,
  place: Workplace,
): Promise<Pick<JobRun, 'conclusion' | 'steps'>> {
  const done: StepRun[] = [];
  const steps: Record<string, object> = {};
  const jobEnv = fillAll(job.env, known);
  let status: Status = 'success';
  for (const step of job.steps) {
    const contexts = { ...known, steps, env: jobEnv, job: { status } };
    if (!holds(step.if, contexts, status)) continue;
    const env = { ...jobEnv, ...fillAll(step.env, contexts) };
    const inputs = fillAll(step.with, { ...contexts, env });
    const began = performance.now();
    const ran = await runStep(filled(step, { ...contexts, env }), inputs, env, place);
    const outcome = ran.succeeded ? 'success' : 'failure';
    const tolerated = step['continue-on-error'] === true;
    if (!ran.succeeded && !tolerated) status = 'failure';
    if (step.id !== undefined) {
      steps[step.id] = { outputs: ran.outputs, outcome, conclusion: tolerated ? 'success' : outcome };
    }
    done.push({ ...ran, id: step.id, name: step.name ?? step.uses ?? '', began, ended: performance.now() });
  }
  return { conclusion: status, steps: done };
}

const filled = <T extends { readonly run?: string }>(step: T, contexts: Contexts): T =>
  step.run === undefined ? step : { ...step, run: fill(step.run, contexts) };
