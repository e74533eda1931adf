import { readFile } from 'node:fs/promises';
import { matchesGlob } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The supported parts of a workflow. Any other key is refused, so that nothing is ignored. */
export interface WorkflowDefinition {
  readonly name: string;
  readonly on: Readonly<Record<string, Trigger | readonly { readonly cron: string }[] | null>>;
  readonly permissions?: PermissionGrants;
  readonly concurrency?: Concurrency;
  readonly jobs: Readonly<Record<string, JobDefinition>>;
}

export interface JobDefinition {
  readonly if?: unknown;
  readonly needs?: string;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
  readonly permissions?: PermissionGrants;
  readonly concurrency?: Concurrency;
  readonly env?: Readonly<Record<string, unknown>>;
  readonly environment?: string;
  readonly 'timeout-minutes'?: number;
  /** Of a job that is a workflow of its own, which has no steps. */
  readonly uses?: string;
  readonly steps: readonly StepDefinition[];
}

export interface StepDefinition {
  readonly id?: string;
  readonly name?: string;
  readonly if?: unknown;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly run?: string;
  readonly env?: Readonly<Record<string, unknown>>;
  readonly 'continue-on-error'?: boolean;
}

export type PermissionGrants = Readonly<Record<string, 'read' | 'write' | 'none'>>;
type Concurrency = { readonly group: string; readonly 'cancel-in-progress'?: boolean };

interface Trigger {
  readonly types?: readonly string[];
  readonly workflows?: readonly string[];
  readonly branches?: readonly string[];
  readonly tags?: readonly string[];
  readonly inputs?: object;
}

const SUPPORTED_KEYS = {
  workflow: ['name', 'on', 'permissions', 'concurrency', 'jobs'],
  job: [
    ...['if', 'needs', 'strategy', 'permissions', 'concurrency', 'env', 'environment', 'steps'],
    // These have no effect here.
    ...['name', 'runs-on', 'timeout-minutes', 'environment'],
  ],
  step: ['id', 'name', 'if', 'uses', 'with', 'run', 'env', 'continue-on-error'],
  strategy: ['matrix', 'fail-fast'],
  trigger: ['types', 'workflows', 'branches', 'tags', 'inputs'],
} as const;

const ROOT = new URL('../../../', import.meta.url);

/** Reads a workflow of the project, such as `examples/matrix.yml`. */
export async function readWorkflow(path: string): Promise<WorkflowDefinition> {
  return parseWorkflowDefinition(await readFile(fileURLToPath(new URL(path, ROOT)), 'utf8'));
}

export function parseWorkflowDefinition(yaml: string): WorkflowDefinition {
  const workflow = parse(yaml) as WorkflowDefinition;
  refuseUnsupported('workflow', workflow);
  for (const trigger of Object.values(workflow.on)) {
    if (trigger !== null && !Array.isArray(trigger)) refuseUnsupported('trigger', trigger);
  }
  for (const job of Object.values(workflow.jobs)) {
    refuseUnsupported('job', job);
    refuseUnsupported('strategy', job.strategy ?? {});
    for (const step of job.steps) refuseUnsupported('step', step);
  }
  return workflow;
}

function refuseUnsupported(kind: keyof typeof SUPPORTED_KEYS, part: object): void {
  const played: readonly string[] = SUPPORTED_KEYS[kind];
  const unknown = Object.keys(part).find((key) => !played.includes(key));
  if (unknown !== undefined) throw new Error(`\`${unknown}\` of a ${kind} is not supported here.`);
}

/** The default activity types of events. */
const DEFAULT_TYPES: Readonly<Record<string, readonly string[]>> = {
  pull_request: ['opened', 'synchronize', 'reopened'],
  pull_request_target: ['opened', 'synchronize', 'reopened'],
};

/** The part of an event that decides which workflows start. */
export interface TriggerEvent {
  readonly name: string;
  readonly ref: string;
  readonly payload: {
    readonly action?: string;
    readonly schedule?: string;
    readonly workflow_run?: { readonly name: string };
  };
}

/** Whether the event starts the workflow. */
export function isTriggeredBy({ on }: WorkflowDefinition, { name, ref, payload }: TriggerEvent): boolean {
  const trigger = on[name];
  if (trigger === undefined) return false;
  if (Array.isArray(trigger)) return trigger.some(({ cron }) => cron === payload.schedule);
  const { types = DEFAULT_TYPES[name], workflows, branches, tags } = (trigger ?? {}) as Trigger;
  if (types !== undefined && !types.includes(payload.action ?? '')) return false;
  if (workflows !== undefined && !workflows.includes(payload.workflow_run?.name ?? '')) return false;
  if (branches === undefined && tags === undefined) return true;
  const patterns = [
    ...(branches ?? []).map((pattern) => `refs/heads/${pattern}`),
    ...(tags ?? []).map((pattern) => `refs/tags/${pattern}`),
  ];
  return patterns.some((pattern) => matchesGlob(ref, pattern));
}

/** The combinations of a matrix; one empty combination without a matrix. */
export function listMatrixCombinations({ strategy }: JobDefinition): Record<string, unknown>[] {
  return Object.entries(strategy?.matrix ?? {}).reduce<Record<string, unknown>[]>(
    (found, [name, values]) => found.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
}
