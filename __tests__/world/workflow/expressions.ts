import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { truthy } from '@actions/expressions/result';
import { ensureStatusFunction } from '@actions/workflow-parser/model/converter/if-condition';

/** The contexts that expressions can read, by name. */
export type ExpressionContexts = Readonly<Record<string, unknown>>;

/** The status of a job, or of the jobs that it needs. */
export type JobStatus = 'success' | 'failure' | 'skipped';

const STATUS_FUNCTIONS: Readonly<Record<string, (status: JobStatus) => boolean>> = {
  success: (status) => status === 'success',
  failure: (status) => status === 'failure',
  always: () => true,
  // Runs are never canceled here.
  cancelled: () => false,
};

/** Replaces every `${{ … }}` in a text, evaluated by GitHub's own library. */
export function interpolate(text: string, contexts: ExpressionContexts): string {
  return text.replace(/\$\{\{(.*?)\}\}/gs, (_, expression: string) =>
    evaluate(expression, contexts).coerceString(),
  );
}

/** Evaluates the expressions in a mapping such as `with:` or `env:`. */
export function interpolateAll(
  values: Readonly<Record<string, unknown>> = {},
  contexts: ExpressionContexts,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, interpolate(String(value ?? ''), contexts)]),
  );
}

/** Evaluates an `if:`; without a status function it implies `success()`, as on GitHub. */
export function isConditionMet(condition: unknown, contexts: ExpressionContexts, status: JobStatus): boolean {
  const said = String(condition ?? 'success()').trim();
  const [, inner = said] = /^\$\{\{(.*)\}\}$/s.exec(said) ?? [];
  return truthy(evaluate(addStatusFunction(inner, contexts), contexts, status));
}

function addStatusFunction(condition: string, contexts: ExpressionContexts): string {
  const allowedContext = [
    ...Object.keys(contexts),
    ...Object.keys(STATUS_FUNCTIONS).map((name) => `${name}(0,0)`),
  ];
  return ensureStatusFunction(condition, { allowedContext } as Parameters<typeof ensureStatusFunction>[1]);
}

function evaluate(expression: string, contexts: ExpressionContexts, status?: JobStatus): data.ExpressionData {
  const functions = status === undefined ? [] : createStatusFunctions(status);
  const tree = new Parser(new Lexer(expression).lex().tokens, Object.keys(contexts), functions).parse();
  // The evaluator needs its own data types.
  const known = JSON.parse(JSON.stringify(contexts), data.reviver) as data.Dictionary;
  return new Evaluator(tree, known, new Map(functions.map((one) => [one.name, one]))).evaluate();
}

const createStatusFunctions = (status: JobStatus) =>
  Object.entries(STATUS_FUNCTIONS).map(([name, answer]) => ({
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(answer(status)),
  }));
