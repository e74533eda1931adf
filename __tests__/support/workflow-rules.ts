import { readFileSync } from 'node:fs';
import { validateWorkflow } from '@action-validator/core';
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { parse } from 'yaml';
import { OUTPUTS } from '../../src/action/output-texts.ts';
import { INPUTS } from '../../src/request/inputs.ts';

/** The parts of a workflow that are read here. */
export interface WorkflowDefinition {
  readonly permissions?: object;
  readonly concurrency?: object;
  readonly jobs: Readonly<Record<string, JobDefinition>>;
}

interface JobDefinition {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  /** Of a job that is a workflow of its own, which has no steps. */
  readonly uses?: string;
  readonly steps: readonly StepDefinition[];
}

interface StepDefinition {
  readonly id?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly run?: string;
}

const ROOT = new URL('../../', import.meta.url);

/** Lines that are newer than the schema; GitHub's own parser checks them. */
const NEWER_LINES = /^ +attestations: write\b.*\n/gm;

/** The errors of GitHub's own parser and of the published JSON schema about a workflow. */
export async function listWorkflowErrors(content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name: 'workflow', content }, new NoOperationTraceWriter());
  if (value === undefined) return context.errors.getErrors().map(({ message }) => message);
  const ofThisRepository = {
    getFileContent: async ({ path }: { readonly path: string }) => ({
      name: path,
      content: readFileSync(new URL(path, ROOT), 'utf8'),
    }),
  };
  const { errors = [] } = await convertWorkflowTemplate(context, value, ofThisRepository, {
    fetchReusableWorkflowDepth: 1,
  });
  return [
    ...errors.map(({ Message }) => Message),
    ...validateWorkflow(content.replaceAll(NEWER_LINES, '')).errors.map((error) => JSON.stringify(error)),
  ];
}

/** The rules that a workflow breaks, each with the place. More rules apply to the project's own workflows. */
export function listBrokenRules(content: string, whose: 'own' | 'example'): string[] {
  const workflow = parse(content) as WorkflowDefinition;
  const rules = whose === 'own' ? [...COMMON_RULES, ...OWN_RULES] : COMMON_RULES;
  return rules.flatMap(([rule, places]) => places(workflow, content).map((place) => `${rule}: ${place}`));
}

/** A rule, and the places where a workflow breaks it. */
type WorkflowRule = readonly [
  rule: string,
  places: (workflow: WorkflowDefinition, content: string) => readonly string[],
];

const WORKFLOW_PLACE = 'the workflow';
/** This action, by local path or by its published name. */
const THIS_ACTION = /^(\.\/|[\w-]+\/screen-delivery@v\d+)$/;
const LOCAL = /^\.\//;
const PINNED = /^[\w.-]+(\/[\w.-]+)+@[0-9a-f]{40}$/;
/** Expressions with untrusted text: a title, a comment, a branch name. */
const UNTRUSTED_TEXT = /\$\{\{[^}]*\b(github\.(event|head_ref|ref_name|actor)\b|inputs\.)/;

const COMMON_RULES: readonly WorkflowRule[] = [
  ['says its permissions', ({ permissions }) => (permissions === undefined ? [WORKFLOW_PLACE] : [])],
  [
    'bounds each job',
    (workflow) => listJobs(workflow, (job) => job.uses === undefined && !job['timeout-minutes']),
  ],
  [
    'pins each action by its commit',
    (workflow) =>
      listUsedActions(workflow).filter(
        (name) => !PINNED.test(name) && !THIS_ACTION.test(name) && !LOCAL.test(name),
      ),
  ],
  [
    'says the version beside each commit',
    (_, content) => content.match(/uses: \S+@[0-9a-f]{40}\b(?! # v\d+\.\d+\.\d+$).*$/gm) ?? [],
  ],
  [
    'puts no stranger’s text into a script',
    (workflow) => listScripts(workflow).filter((script) => UNTRUSTED_TEXT.test(script)),
  ],
  [
    'gives this action inputs that it has',
    (workflow) =>
      listOwnSteps(workflow).flatMap((step) => Object.keys(step.with ?? {}).filter(isMissingFrom(INPUTS))),
  ],
  [
    'takes outputs that this action has',
    (workflow, content) =>
      listOwnSteps(workflow).flatMap(({ id = '' }) =>
        [...content.matchAll(/\bsteps\.([\w-]+)\.outputs\.([\w-]+)/g)]
          .filter(([, step]) => step === id)
          .map(([, , output = '']) => output)
          .filter(isMissingFrom(OUTPUTS)),
      ),
  ],
];

const OWN_RULES: readonly WorkflowRule[] = [
  [
    'grants nothing by default',
    ({ permissions }) => (JSON.stringify(permissions) === '{}' ? [] : [WORKFLOW_PLACE]),
  ],
  [
    'grants to each job what it needs',
    (workflow) => listJobs(workflow, ({ permissions }) => typeof permissions !== 'object'),
  ],
  ['says what may run at once', ({ concurrency }) => (concurrency === undefined ? [WORKFLOW_PLACE] : [])],
  [
    'keeps expressions out of scripts',
    (workflow) => listScripts(workflow).filter((text) => text.includes('${{')),
  ],
  [
    'leaves no token in the checkout',
    (workflow) =>
      listSteps(workflow)
        .filter((step) => step.uses?.startsWith('actions/checkout@'))
        .filter((step) => step.with?.['persist-credentials'] !== false)
        .map(({ uses = '' }) => uses),
  ],
];

const isMissingFrom =
  (table: object) =>
  (name: string): boolean =>
    !Object.hasOwn(table, name);

const listSteps = ({ jobs }: WorkflowDefinition): StepDefinition[] =>
  Object.values(jobs).flatMap((job) => job.steps ?? []);

const listOwnSteps = (workflow: WorkflowDefinition): StepDefinition[] =>
  listSteps(workflow).filter(({ uses = '' }) => THIS_ACTION.test(uses));

function listUsedActions(workflow: WorkflowDefinition): string[] {
  return [...Object.values(workflow.jobs), ...listSteps(workflow)].flatMap(({ uses }) => uses ?? []);
}

/** All scripts that a shell or an interpreter runs. */
function listScripts(workflow: WorkflowDefinition): string[] {
  return listSteps(workflow).flatMap((step) =>
    [step.run, step.with?.script].flatMap((text) => String(text ?? '')),
  );
}

function listJobs({ jobs }: WorkflowDefinition, breaks: (job: JobDefinition) => boolean): string[] {
  return Object.entries(jobs).flatMap(([name, job]) => (breaks(job) ? [name] : []));
}
