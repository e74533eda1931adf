import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { type ChildResult, runChild } from './child.ts';
import type { TestRepository } from './repository.ts';
import type { GitHubWorld } from './world.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NODE = join(ROOT, 'node_modules/.bin/node');
/** The environment of a process whose pauses take no real time. @see simulated-time.ts */
export const SIMULATED_TIME = {
  NODE_OPTIONS: `--import=${new URL('simulated-time.ts', import.meta.url).href}`,
};
/** Inputs for a step in simulated time: ten polls until the timeout. */
export const SIMULATED_LIMITS = { 'poll-interval': '2', timeout: '20' };

/** The runner gives a step an empty file for each of these. */
const COMMAND_FILES = [
  'GITHUB_OUTPUT',
  'GITHUB_STEP_SUMMARY',
  'GITHUB_STATE',
  'GITHUB_ENV',
  'GITHUB_PATH',
] as const;

export interface ActionRun {
  readonly world: GitHubWorld;
  readonly repository: TestRepository;
  /** The step's `with:`; inputs that are not given get their defaults from action.yml. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** The `github.token`; a new token with the default permissions if absent. */
  readonly token?: string;
  /** The step's `env:`, over everything else. */
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly event?: { readonly name: string; readonly payload: object };
  /** The workspace of an earlier run, to continue in it. */
  readonly workspace?: string;
  readonly timeoutMs?: number;
  /** Called with the process id as soon as the step runs. */
  readonly onStart?: (pid: number) => void;
  /** A program instead of the one in action.yml. */
  readonly bundle?: string;
}

export interface ActionResult extends ChildResult {
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly workspace: string;
  /** The token that the step had. */
  readonly token: string;
}

/** Runs the unmodified bundle as a GitHub runner would, against the local GitHub. */
export async function runAction(run: ActionRun): Promise<ActionResult> {
  const { world, repository, inputs = {}, token = world.token(), timeoutMs, onStart } = run;
  const temporary = await mkdtemp(join(world.folder, 'run-'));
  const workspace = run.workspace ?? join(temporary, 'workspace');
  await writeFiles(workspace, run.files ?? {});
  const action = parse(await readFile(join(ROOT, 'action.yml'), 'utf8')) as ActionDefinition;
  const context = { 'github.token': token, 'github.repository': repository.fullName };
  const commandFiles = await createCommandFiles(temporary);
  const env = {
    PATH: process.env.PATH ?? '',
    ...(await createRunnerEnvironment(run, temporary, workspace)),
    ...commandFiles,
    ...world.env,
    ...createInputEnvironment(action, inputs, context),
    ...run.env,
  };
  const result = await runChild(NODE, {
    args: [run.bundle ?? join(ROOT, action.runs.main)],
    cwd: workspace,
    env,
    onStart,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const outputs = parseOutputs(await readFile(commandFiles.GITHUB_OUTPUT, 'utf8'));
  const summary = await readFile(commandFiles.GITHUB_STEP_SUMMARY, 'utf8');
  return { ...result, outputs, summary, workspace, token };
}

/** Writes files into a folder. */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}

interface ActionDefinition {
  readonly inputs?: Readonly<Record<string, { readonly default?: unknown } | null>>;
  readonly runs: { readonly main: string };
}

/** The runner passes every declared input, without a default as an empty text; names keep hyphens. */
function createInputEnvironment(
  { inputs = {} }: ActionDefinition,
  given: Readonly<Record<string, string>>,
  context: Readonly<Record<string, string>>,
): Record<string, string> {
  const resolve = (value: unknown) =>
    String(value ?? '').replace(/\$\{\{\s*([\w.]+)\s*\}\}/g, (_, name: string) => context[name] ?? '');
  const defaults = Object.entries(inputs).map(([name, input]) => [name, resolve(input?.default)] as const);
  const all = Object.entries({ ...Object.fromEntries(defaults), ...given });
  return Object.fromEntries(
    all.map(([name, value]) => [`INPUT_${name.replaceAll(' ', '_').toUpperCase()}`, value]),
  );
}

async function createCommandFiles(folder: string): Promise<Record<(typeof COMMAND_FILES)[number], string>> {
  const entries = COMMAND_FILES.map((name) => [name, join(folder, name.toLowerCase())] as const);
  for (const [, path] of entries) await writeFile(path, '');
  return Object.fromEntries(entries) as Record<(typeof COMMAND_FILES)[number], string>;
}

async function createRunnerEnvironment(
  { repository, event }: ActionRun,
  temporary: string,
  workspace: string,
): Promise<Record<string, string>> {
  const { owner, fullName, branch, instance } = repository;
  const { name, payload } = event ?? { name: 'push', payload: { repository: { full_name: fullName } } };
  const eventPath = join(temporary, 'event.json');
  await writeFile(eventPath, JSON.stringify(payload));
  const folders = { HOME: join(temporary, 'home'), RUNNER_TEMP: join(temporary, 'temp') };
  for (const folder of Object.values(folders)) await mkdir(folder);
  return {
    ...folders,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTOR: owner,
    GITHUB_API_URL: instance.api,
    GITHUB_EVENT_NAME: name,
    GITHUB_EVENT_PATH: eventPath,
    GITHUB_GRAPHQL_URL: `${instance.api.replace(/\/v3$/, '')}/graphql`,
    GITHUB_JOB: 'deliver',
    GITHUB_REF: `refs/heads/${branch}`,
    GITHUB_REF_NAME: branch,
    GITHUB_REPOSITORY: fullName,
    GITHUB_REPOSITORY_OWNER: owner,
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_RUN_ID: '4242',
    GITHUB_RUN_NUMBER: '7',
    GITHUB_SERVER_URL: `https://${instance.host}`,
    GITHUB_SHA: (await repository.head()) ?? '0'.repeat(40),
    GITHUB_WORKFLOW: 'Deliver',
    GITHUB_WORKSPACE: workspace,
    RUNNER_ARCH: 'X64',
    RUNNER_OS: 'Linux',
  };
}

/** Reads the file behind GITHUB_OUTPUT: `name=value` lines, and values between delimiters. */
export function parseOutputs(content: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = content.split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const [, name = '', operator, rest = ''] = /^(.+?)(<<|=)(.*)$/.exec(lines[at] as string) ?? [];
    if (operator === undefined) continue;
    if (operator === '=') {
      outputs[name] = rest;
      continue;
    }
    const end = lines.indexOf(rest, at + 1);
    if (end === -1) throw new Error(`The value of ${name} has no end.`);
    outputs[name] = lines.slice(at + 1, end).join('\n');
    at = end;
  }
  return outputs;
}
