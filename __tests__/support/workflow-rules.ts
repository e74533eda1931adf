import { readFileSync } from 'node:fs';
import { validateWorkflow } from '@action-validator/core';
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { parse } from 'yaml';
import { INPUTS, OUTPUTS } from '../../src/request/inputs.ts';

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly uses?: string;
  readonly permissions?: unknown;
  readonly 'timeout-minutes'?: number;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly permissions?: unknown;
  readonly concurrency?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const ROOT = new URL('../../', import.meta.url);

/** Lines that the schema is too old to know; GitHub's own parser holds them to their words. */
const NEWER = /^ +attestations: write\b.*\n/gm;

/** What GitHub's own parser and the published JSON schema have against a workflow. */
export async function faultsOf(content: string): Promise<string[]> {
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
    ...validateWorkflow(content.replaceAll(NEWER, '')).errors.map((error) => JSON.stringify(error)),
  ];
}

/** The rules that a workflow breaks, each with the place. The project's own ones have more to hold to. */
export function brokenRules(content: string, whose: 'own' | 'example'): string[] {
  const workflow = parse(content) as Workflow;
  const rules = whose === 'own' ? [...EVERYBODYS, ...OURS] : EVERYBODYS;
  return rules.flatMap(([rule, places]) => places(workflow, content).map((place) => `${rule}: ${place}`));
}

/** A rule, and the places where a workflow breaks it. */
type Rule = readonly [rule: string, places: (workflow: Workflow, content: string) => readonly string[]];

const HERE = 'the workflow';
/** This action, as it stands beside the workflow or as others name it. */
const ITSELF = /^(\.\/|[\w-]+\/screen-delivery@v\d+)$/;
const LOCAL = /^\.\//;
const PINNED = /^[\w.-]+(\/[\w.-]+)+@[0-9a-f]{40}$/;
/** What a stranger may have written: a title, a comment, a branch's name. */
const STRANGERS_TEXT = /\$\{\{[^}]*\b(github\.(event|head_ref|ref_name|actor)\b|inputs\.)/;

const EVERYBODYS: readonly Rule[] = [
  ['says its permissions', ({ permissions }) => (permissions === undefined ? [HERE] : [])],
  [
    'bounds each job',
    (workflow) => jobsWhere(workflow, (job) => job.uses === undefined && !job['timeout-minutes']),
  ],
  [
    'pins each action by its commit',
    (workflow) =>
      used(workflow).filter((name) => !PINNED.test(name) && !ITSELF.test(name) && !LOCAL.test(name)),
  ],
  [
    'says the version beside each commit',
    (_, content) => content.match(/uses: \S+@[0-9a-f]{40}\b(?! # v\d+\.\d+\.\d+$).*$/gm) ?? [],
  ],
  [
    'puts no stranger’s text into a script',
    (workflow) => scripts(workflow).filter((script) => STRANGERS_TEXT.test(script)),
  ],
  [
    'gives this action inputs that it has',
    (workflow) => itself(workflow).flatMap((step) => Object.keys(step.with ?? {}).filter(isNot(INPUTS))),
  ],
  [
    'takes outputs that this action has',
    (workflow, content) =>
      itself(workflow).flatMap(({ id = '' }) =>
        [...content.matchAll(/\bsteps\.([\w-]+)\.outputs\.([\w-]+)/g)]
          .filter(([, step]) => step === id)
          .map(([, , output = '']) => output)
          .filter(isNot(OUTPUTS)),
      ),
  ],
];

const OURS: readonly Rule[] = [
  ['grants nothing by default', ({ permissions }) => (JSON.stringify(permissions) === '{}' ? [] : [HERE])],
  [
    'grants to each job what it needs',
    (workflow) => jobsWhere(workflow, ({ permissions }) => typeof permissions !== 'object'),
  ],
  ['says what may run at once', ({ concurrency }) => (concurrency === undefined ? [HERE] : [])],
  [
    'keeps expressions out of scripts',
    (workflow) => scripts(workflow).filter((text) => text.includes('${{')),
  ],
  [
    'leaves no token in the checkout',
    (workflow) =>
      steps(workflow)
        .filter((step) => step.uses?.startsWith('actions/checkout@'))
        .filter((step) => step.with?.['persist-credentials'] !== false)
        .map(({ uses = '' }) => uses),
  ],
];

const isNot =
  (table: object) =>
  (name: string): boolean =>
    !Object.hasOwn(table, name);

const steps = ({ jobs }: Workflow): Step[] => Object.values(jobs).flatMap((job) => job.steps ?? []);

const itself = (workflow: Workflow): Step[] => steps(workflow).filter(({ uses = '' }) => ITSELF.test(uses));

function used(workflow: Workflow): string[] {
  return [...Object.values(workflow.jobs), ...steps(workflow)].flatMap(({ uses }) => uses ?? []);
}

/** Whatever a shell or an interpreter is given to run. */
function scripts(workflow: Workflow): string[] {
  return steps(workflow).flatMap((step) =>
    [step.run, step.with?.script].flatMap((text) => String(text ?? '')),
  );
}

function jobsWhere({ jobs }: Workflow, breaks: (job: Job) => boolean): string[] {
  return Object.entries(jobs).flatMap(([name, job]) => (breaks(job) ? [name] : []));
}
