import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { truthy } from '@actions/expressions/result';
import { ensureStatusFunction } from '@actions/workflow-parser/model/converter/if-condition';

/** What expressions can look at, by the name of the context. */
export type Contexts = Readonly<Record<string, unknown>>;

/** How a job stands, or those that it needs. */
export type Status = 'success' | 'failure' | 'skipped';

const STATUS_FUNCTIONS: Readonly<Record<string, (status: Status) => boolean>> = {
  success: (status) => status === 'success',
  failure: (status) => status === 'failure',
  always: () => true,
  // Nobody cancels a run here.
  cancelled: () => false,
};

/** A text with every `${{ … }}` in it put in by GitHub's own evaluator. */
export function fill(text: string, contexts: Contexts): string {
  return text.replace(/\$\{\{(.*?)\}\}/gs, (_, expression: string) =>
    evaluate(expression, contexts).coerceString(),
  );
}

/** A mapping of scalars, such as `with:` or `env:`, with its expressions put in. */
export function fillAll(
  values: Readonly<Record<string, unknown>> = {},
  contexts: Contexts,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, fill(String(value ?? ''), contexts)]),
  );
}

/** Whether an `if:` holds; where it asks for no status, it asks for success, as on GitHub. */
export function holds(condition: unknown, contexts: Contexts, status: Status): boolean {
  const said = String(condition ?? 'success()').trim();
  const [, inner = said] = /^\$\{\{(.*)\}\}$/s.exec(said) ?? [];
  return truthy(evaluate(withStatus(inner, contexts), contexts, status));
}

function withStatus(condition: string, contexts: Contexts): string {
  const allowedContext = [
    ...Object.keys(contexts),
    ...Object.keys(STATUS_FUNCTIONS).map((name) => `${name}(0,0)`),
  ];
  return ensureStatusFunction(condition, { allowedContext } as Parameters<typeof ensureStatusFunction>[1]);
}

function evaluate(expression: string, contexts: Contexts, status?: Status): data.ExpressionData {
  const functions = status === undefined ? [] : statusFunctions(status);
  const tree = new Parser(new Lexer(expression).lex().tokens, Object.keys(contexts), functions).parse();
  // The evaluator's own types are made by its own reviver.
  const known = JSON.parse(JSON.stringify(contexts), data.reviver) as data.Dictionary;
  return new Evaluator(tree, known, new Map(functions.map((one) => [one.name, one]))).evaluate();
}

const statusFunctions = (status: Status) =>
  Object.entries(STATUS_FUNCTIONS).map(([name, answer]) => ({
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(answer(status)),
  }));
