import { readFileSync } from 'node:fs';
import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { parse } from 'yaml';
import type { WorkflowDefinition } from '../support/workflow-rules.ts';
import { SIMULATED_LIMITS } from '../world/runner.ts';
import { NO_PERMISSIONS, type TokenPermissions } from '../world/tokens.ts';
import type { DeliveredStep, ScenarioWorld } from './scenario.ts';
import type { WorkflowEvent } from './workflow-events.ts';

const THIS_ACTION = /^[\w-]+\/screen-delivery@v\d+$/;

/**
 * Runs the step of a job of an example that uses this action, with the job's permissions and for an event: GitHub's own
 * library evaluates its expressions. The other steps are the user's own: the event has the files that they leave.
 */
export function runExample(
  scenario: ScenarioWorld,
  [example, jobId]: readonly [example: string, job: string],
  event: WorkflowEvent,
): Promise<DeliveredStep> {
  const text = readFileSync(new URL(`../../examples/${example}`, import.meta.url), 'utf8');
  const job = (parse(text) as WorkflowDefinition).jobs[jobId];
  const [step, ...others] = job?.steps.filter(({ uses = '' }) => THIS_ACTION.test(uses)) ?? [];
  if (step === undefined || others.length > 0)
    throw new Error(`${example} has not one such step in ${jobId}`);
  const { repository, name, payload, ref, sha, files = {} } = event;
  const refName = ref.replace(/^refs\/\w+\//, '');
  const github = { event: payload, event_name: name, ref, ref_name: refName, run_id: '7', sha };
  const given = Object.entries(step.with ?? {}).map(([input, value]) => [
    input,
    String(value).replace(/\$\{\{(.*?)\}\}/gs, (_, expression: string) => evaluate(expression, { github })),
  ]);
  return scenario.deliver({
    repository,
    files,
    inputs: { ...SIMULATED_LIMITS, ...Object.fromEntries(given) },
    token: scenario.world.token(permissionsOf(job?.permissions ?? {}, event)),
    event: { name, payload },
    env: {
      ...{ GITHUB_REF: ref, GITHUB_REF_NAME: refName, GITHUB_SHA: sha },
      GITHUB_WORKFLOW_REF: `${repository.fullName}/.github/workflows/${example}@${ref}`,
    },
    simulatedTime: true,
  });
}

function evaluate(expression: string, contexts: object): string {
  const tree = new Parser(new Lexer(expression).lex().tokens, Object.keys(contexts), []).parse();
  // The evaluator needs its own data types.
  const known = JSON.parse(JSON.stringify(contexts), data.reviver) as data.Dictionary;
  return new Evaluator(tree, known, new Map()).evaluate().coerceString();
}

/** The permissions of a job's token: those granted, and at most read for a fork. */
function permissionsOf(
  grants: Readonly<Record<string, string>>,
  { name, payload: { pull_request: pull } }: WorkflowEvent,
): TokenPermissions {
  const isForks = name === 'pull_request' && pull?.head.repo.full_name !== pull?.base.repo.full_name;
  const granted = Object.entries(grants).map(([grant, level]) => [
    grant.replaceAll('-', '_'),
    isForks && level === 'write' ? 'read' : level,
  ]);
  return { ...NO_PERMISSIONS, ...Object.fromEntries(granted) };
}
