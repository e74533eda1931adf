import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { truthy } from '@actions/expressions/result';
import { ensureStatusFunction } from '@actions/workflow-parser/model/converter/if-condition';

/** What expressions can look at, by the name of the context. */
export type ExpressionContexts = Readonly<Record<string, unknown>>;

/** How a job stands, or those that it needs. */
export type JobStatus = 'success' | 'failure' | 'skipped';

const STATUS_FUNCTIONS: Readonly<Record<string, (status: JobStatus) => boolean>> = {
  success: (status) => status === 'success',
  failure: (status) => status === 'failure',
  always: () => true,
  // Nobody cancels a run here.
  cancelled: () => false,
};

/** A text with every `${{ … }}` in it put in by GitHub's own evaluator. */
export function interpolate(text: string, contexts: ExpressionContexts): string {
  return text.replace(/\$\{\{(.*?)\}\}/gs, (_, expression: string) =>
    evaluate(expression, contexts).coerceString(),
  );
}

/** A mapping of scalars, such as `with:` or `env:`, with its expressions put in. */
export function interpolateAll(
  values: Readonly<Record<string, unknown>> = {},
  contexts: ExpressionContexts,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, interpolate(String(value ?? ''), contexts)]),
  );
}

/** Whether an `if:` holds; where it asks for no status, it asks for success, as on GitHub. */
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
  // The evaluator's own types are made by its own reviver.
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
