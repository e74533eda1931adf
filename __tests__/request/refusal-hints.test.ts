import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';
import { expect, test } from '@jest/globals';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** What only the person who wrote the inputs, or the files, can change. */
const CHANGED_BY_PEOPLE = /^(?:BAD_INPUT|BAD_FILE|TOO_LARGE|NOT_OURS)$/;

interface SyntaxNode {
  readonly type?: string;
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly SyntaxNode[];
  readonly properties?: readonly { readonly key?: { readonly name?: string } }[];
  readonly value?: unknown;
  readonly loc?: { readonly start: { readonly line: number } };
}

/** The errors in the sources, and whether they have a hint. */
function listFailures(file: string): readonly { readonly place: string; readonly hasHint: boolean }[] {
  const failures: { place: string; hasHint: boolean }[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, callee, arguments: given = [], loc } = node as SyntaxNode;
    const [code, , details] = given;
    if (
      type === 'NewExpression' &&
      callee?.name === 'DeliveryError' &&
      CHANGED_BY_PEOPLE.test(`${code?.value}`)
    ) {
      const hasHint = details?.properties?.some(({ key }) => key?.name === 'hint') === true;
      failures.push({ place: `${file}:${loc?.start.line}`, hasHint });
    }
    for (const inner of Object.values(node)) visit(inner);
  };
  const text = readFileSync(join(SRC, file), 'utf8');
  visit(parse(text, { sourceType: 'module', plugins: ['typescript'] }).program);
  return failures;
}

test('every refusal of an input or a file has a hint', () => {
  const failures = globSync('**/*.ts', { cwd: SRC })
    .filter((file) => !file.endsWith('.d.ts'))
    .flatMap(listFailures);
  expect(failures.length).toBeGreaterThan(40);
  expect(failures.filter(({ hasHint }) => !hasHint).map(({ place }) => place)).toEqual([]);
});
