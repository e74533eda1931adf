import { parse } from '@babel/parser';

/** A guard: an early end of a function, or a call of a check. */
export interface Guard {
  /** Start and end of the guarded text in the source, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly line: number;
  /** A condition becomes false; a call is removed. */
  readonly kind: 'condition' | 'call';
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly loc: { readonly start: { readonly line: number } };
  readonly [field: string]: unknown;
}

const CHECKS = /^(refuse|check|require|assert)/;

/** Finds each `if` that throws, and each statement that only calls a check, in a TypeScript source. */
export function findGuards(source: string): readonly Guard[] {
  const { program } = parse(source, { sourceType: 'module', plugins: ['typescript'] });
  const found: Guard[] = [];
  visit(program, (node) => {
    const { line } = node.loc.start;
    if (node.type === 'IfStatement' && throws(node.consequent as SyntaxNode)) {
      const { start, end } = node.test as SyntaxNode;
      found.push({ start, end, line, kind: 'condition' });
    }
    if (node.type === 'ExpressionStatement' && CHECKS.test(calledName(node.expression as SyntaxNode))) {
      found.push({ start: node.start, end: node.end, line, kind: 'call' });
    }
  });
  return found;
}

/** The source with each guard controlled by `keepGuard(id)`, which returns whether it works. */
export function putUnderControl(source: string, guards: readonly Guard[], firstId: number): string {
  let changed = source;
  for (const [at, { start, end, kind }] of [...guards.entries()].reverse()) {
    const text = changed.slice(start, end);
    const keep = `globalThis.keepGuard(${firstId + at})`;
    const controlled = kind === 'condition' ? `(${text}) && ${keep}` : `if (${keep}) { ${text} }`;
    changed = changed.slice(0, start) + controlled + changed.slice(end);
  }
  return changed;
}

function throws(statement: SyntaxNode): boolean {
  const body = statement.type === 'BlockStatement' ? (statement.body as SyntaxNode[]) : [statement];
  return body.at(-1)?.type === 'ThrowStatement';
}

function calledName(expression: SyntaxNode): string {
  const call = expression.type === 'AwaitExpression' ? (expression.argument as SyntaxNode) : expression;
  return call.type === 'CallExpression' ? String((call.callee as SyntaxNode).name ?? '') : '';
}

function visit(value: unknown, act: (node: SyntaxNode) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, act);
  else if (typeof value === 'object' && value !== null) {
    if ('type' in value && 'start' in value) act(value as SyntaxNode);
    for (const child of Object.values(value)) visit(child, act);
  }
}
