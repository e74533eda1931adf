import { expect, test } from '@jest/globals';
import { findGuards, putUnderControl } from '../../scripts/guards/find-guards.ts';

const SOURCE = `
export async function open(name: string): Promise<void> {
  if (name === '') throw new Error('no name');
  if (name === 'a') return;
  await refuseOutside(name);
  if (name === 'b') {
    close();
    throw new Error('b');
  }
}
`;

test('a guard is an `if` that throws, or a statement that only calls a check', () => {
  const guards = findGuards(SOURCE);
  expect(guards.map(({ line, kind }) => [line, kind])).toEqual([
    [3, 'condition'],
    [5, 'call'],
    [6, 'condition'],
  ]);
});

test('each guard of a source asks whether it is to work', () => {
  const controlled = putUnderControl(SOURCE, findGuards(SOURCE), 7);
  expect(controlled).toContain("if ((name === '') && globalThis.keepGuard(7)) throw");
  expect(controlled).toContain('if (globalThis.keepGuard(8)) { await refuseOutside(name); }');
  expect(controlled).toContain("if ((name === 'b') && globalThis.keepGuard(9)) {");
});
