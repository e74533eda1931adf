import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runChild } from '../child.ts';
import { type ActionResult, parseOutputs, runAction, SIMULATED_LIMITS, SIMULATED_TIME } from '../runner.ts';
import type { StepDefinition } from './definition.ts';
import { createGithubEnvironment, type GithubContext } from './event.ts';
import { type ActionContext, findFakeAction } from './fake-actions.ts';

/** The job of a step. */
export interface JobContext extends Omit<ActionContext, 'inputs'> {
  readonly github: GithubContext;
  /** What the runner gives to actions alone. */
  readonly actionEnv: Readonly<Record<string, string>>;
  /** For files of the steps outside the workspace. */
  readonly temporary: string;
}

export interface StepOutcome {
  readonly succeeded: boolean;
  readonly outputs: Readonly<Record<string, string>>;
  /** Its standard output and error. */
  readonly log: string;
  /** Its part of the job summary. */
  readonly summary: string;
  /** Set if the step was this action. */
  readonly action?: ActionResult;
}

const THIS_ACTION = /^[\w-]+\/screen-delivery@v\d+$/;
type TextValues = Readonly<Record<string, string>>;

/** Runs one step: a script with bash, this action with its bundle, other actions with their fakes. */
export async function runStep(
  step: StepDefinition,
  inputs: TextValues,
  env: TextValues,
  context: JobContext,
): Promise<StepOutcome> {
  if (step.run !== undefined) return runScript(step.run, env, context);
  const uses = step.uses ?? '';
  if (THIS_ACTION.test(uses)) return runThisAction(inputs, env, context);
  const play = findFakeAction(uses, Object.keys(inputs));
  try {
    const outputs = (await play({ ...context, inputs })) ?? {};
    return { succeeded: true, outputs, log: '', summary: '' };
  } catch (thrown) {
    return { succeeded: false, outputs: {}, log: String(thrown), summary: '' };
  }
}

async function runThisAction(inputs: TextValues, env: TextValues, context: JobContext): Promise<StepOutcome> {
  const { world, github, workspace, token, event, actionEnv } = context;
  const { repository, name, payload } = event;
  // The examples are not about time: pauses take none, and the site answers after its builds.
  if (repository.site !== null) repository.site.beforeAnswer = () => repository.pages.whenBuilt();
  const action = await runAction({
    world,
    repository,
    inputs: { ...SIMULATED_LIMITS, ...inputs },
    token,
    env: { ...SIMULATED_TIME, ...actionEnv, ...createGithubEnvironment(github), ...env },
    event: { name, payload },
    workspace,
  });
  const { exitCode, outputs, stdout, stderr, summary } = action;
  return { succeeded: exitCode === 0, outputs, log: stdout + stderr, summary, action };
}

async function runScript(script: string, env: TextValues, context: JobContext): Promise<StepOutcome> {
  const { world, github, workspace, temporary } = context;
  const folder = await mkdtemp(join(temporary, 'step-'));
  const at = (name: string): string => join(folder, name);
  for (const name of ['output', 'summary', 'env', 'path']) await writeFile(at(name), '');
  await writeFile(at('script.sh'), script);
  await mkdir(workspace, { recursive: true });
  const { exitCode, stdout, stderr } = await runChild('bash', {
    args: ['-e', at('script.sh')],
    cwd: workspace,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      ...createGithubEnvironment(github),
      GITHUB_WORKSPACE: workspace,
      GITHUB_OUTPUT: at('output'),
      GITHUB_STEP_SUMMARY: at('summary'),
      GITHUB_ENV: at('env'),
      GITHUB_PATH: at('path'),
      RUNNER_TEMP: temporary,
      ...world.env,
      ...env,
    },
  });
  for (const name of ['env', 'path']) {
    if ((await readFile(at(name), 'utf8')) !== '') {
      throw new Error(`GITHUB_${name.toUpperCase()} is not supported here.`);
    }
  }
  const outputs = parseOutputs(await readFile(at('output'), 'utf8'));
  const summary = await readFile(at('summary'), 'utf8');
  return { succeeded: exitCode === 0, outputs, log: stdout + stderr, summary };
}
