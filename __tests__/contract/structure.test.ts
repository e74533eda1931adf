import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { readTree } from '../../scripts/check-structure.ts';
import { formatCounts, type SourceFile } from '../../scripts/structure/counts.ts';
import { parseModule } from '../../scripts/structure/parse-module.ts';
import { findProblems } from '../../scripts/structure/problems.ts';

/** A made-up tree: source by path. */
type Tree = Readonly<Record<string, string>>;

const parseTree = (tree: Tree): SourceFile[] =>
  Object.entries(tree).map(([path, source]) => ({ ...parseModule(path, source), source }));

const problemsOf = (tree: Tree): string[] => findProblems(parseTree(tree));

test('the real tree has no cycles, no upward imports and no name with two meanings', () => {
  const files = readTree(fileURLToPath(new URL('../../src', import.meta.url)));
  expect(files.length).toBeGreaterThan(50);
  expect(findProblems(files)).toEqual([]);
});

describe('findProblems, on import cycles', () => {
  test.each([
    ['a value import', "import { a } from './a.ts';"],
    ['an import for its effects', "import './a.ts';"],
    ['a type-only import', "import type { a } from './a.ts';"],
    ['a re-export', "export { a } from './a.ts';"],
    ['a re-export of types', "export type { a } from './a.ts';"],
    ['a re-export of everything', "export * from './a.ts';"],
    ['a dynamic import within a function', "const load = () => import('./a.ts');"],
    ['the type of a dynamic import', "type A = import('./a.ts').A;"],
    ['typeof a dynamic import', "type A = typeof import('./a.ts');"],
  ])('refuses a cycle closed by %s', (_, back) => {
    const tree = { 'http/a.ts': "import { b } from './b.ts';\nexport const a = b;", 'http/b.ts': back };
    expect(problemsOf(tree)).toEqual(['import cycle: http/a.ts → http/b.ts → http/a.ts']);
  });

  test.each<[string, Tree, readonly string[]]>([
    ['no cycle of two files that import a third', { a: 'c', b: 'c', c: '' }, []],
    ['each file of a cycle once', { a: 'b', b: 'c', c: 'a', outside: 'a' }, ['a → b → c → a']],
    [
      'the shortest of several, and then the files that it leaves out',
      { a: 'bc', b: 'c', c: 'a' },
      ['a → c → a', 'b → c → a → b'],
    ],
    ['two separate ones', { a: 'b', b: 'a', c: 'c' }, ['a → b → a', 'c → c']],
  ])('names %s', (_, imports, cycles) => {
    const tree = Object.entries(imports).map(([name, targets]) => [
      `http/${name}.ts`,
      [...targets].map((target) => `import './${target}.ts';`).join('\n'),
    ]);
    const named = cycles.map((cycle) => `import cycle: ${cycle.replaceAll(/\w+/g, 'http/$&.ts')}`);
    expect(problemsOf(Object.fromEntries(tree))).toEqual(named);
  });

  test('does not take an import in a comment or in a text for one', () => {
    const back = "// import './a.ts';\nexport const text = \"import './a.ts'\";";
    expect(problemsOf({ 'http/a.ts': "import './b.ts';", 'http/b.ts': back })).toEqual([]);
  });
});

describe('findProblems, on the layers', () => {
  test.each([
    ['action/run.ts', '../context.ts'],
    ['context.ts', './delivery/deliver.ts'],
    ['request/values.ts', '../channels/channel.ts'],
    ['channels/pages/publish.ts', '../release/publish.ts'],
    ['rules/secrets/lines.ts', '../../errors.ts'],
    ['errors.ts', './ports.ts'],
    ['action/run.ts', '../protocol/words.ts'],
  ])('accept that %s imports %s', (path, target) => {
    expect(problemsOf({ [path]: `import '${target}';` })).toEqual([]);
  });

  const LAYERS = ['cli', 'context.ts', 'delivery', 'request', 'channels', 'github', 'http', 'rules'];
  const fileOf = (layer: string): string => (layer.endsWith('.ts') ? layer : `${layer}/a.ts`);
  test.each(LAYERS.slice(1).map((layer, at) => [layer, LAYERS[at] ?? '']))(
    'refuse that %s imports %s, upwards',
    (layer, above) => {
      const target = `${layer.endsWith('.ts') ? './' : '../'}${fileOf(above)}`;
      expect(problemsOf({ [fileOf(layer)]: `\nimport '${target}';` })).toEqual([
        `${fileOf(layer)}:2: imports ${fileOf(above)}, upwards: ${layer} may not import ${above}`,
      ]);
    },
  );

  test.each([
    ['protocol/words.ts', '../errors.ts', 'errors.ts, upwards: protocol may not import other files of src'],
    ['errors.ts', './rules/naming.ts', 'rules/naming.ts, upwards: other files of src may not import rules'],
    ['cli/main.ts', '../action/run.ts', 'action/run.ts, sideways: cli may not import action'],
    ['github/hosts.ts', '../browser/a.ts', 'browser/a.ts, sideways: github may not import browser'],
  ])('refuse that %s imports %s', (path, target, problem) => {
    expect(problemsOf({ [path]: `\nimport '${target}';` })).toEqual([`${path}:2: imports ${problem}`]);
  });

  test('refuse an upward import that is only a type or only dynamic', () => {
    const source = "import type { A } from '../action/run.ts';\nawait import('../cli/main.ts');";
    expect(problemsOf({ 'http/client.ts': source })).toEqual([
      'http/client.ts:1: imports action/run.ts, upwards: http may not import action',
      'http/client.ts:2: imports cli/main.ts, upwards: http may not import cli',
    ]);
  });

  test('refuse that the generic channel interface imports anything of GitHub', () => {
    const source = "import type { RepositoryContext } from '../github/api/repository.ts';";
    expect(problemsOf({ 'channels/channel.ts': source, 'channels/other.ts': source })).toEqual([
      'channels/channel.ts:1: imports github/api/repository.ts, but is the generic interface: nothing of github',
    ]);
  });

  test('refuse a folder that no layer names', () => {
    expect(problemsOf({ 'utils/text.ts': '' })).toEqual([
      'utils/text.ts: the folder utils has no layer in LAYERS',
    ]);
  });

  test('refuse an import whose path is computed', () => {
    expect(problemsOf({ 'http/client.ts': 'await import(name);' })).toEqual([
      "http/client.ts:1: a computed import can't be checked",
    ]);
  });

  test('leave packages and modules of Node alone', () => {
    expect(problemsOf({ 'http/client.ts': "import 'node:fs';\nimport('undici');" })).toEqual([]);
  });
});

describe('findProblems, on exported names', () => {
  const shared = (name: string): string[] => [`exported name ${name} is used in http/a.ts and rules/b.ts`];

  test.each([
    ['two functions', 'export function place() {}', 'export function place() {}'],
    ['two types', 'export interface place {}', 'export type place = 1;'],
    ['a type and a value', 'export type place = 1;', 'export const place = 1;'],
    ['a class and a const', 'export class place {}', 'export const place = 1;'],
    ['a const that a pattern declares', 'export const { a: place } = x;', 'export const [, place] = x;'],
    ['the rest of a pattern', 'export const { ...place } = x;', 'export const [b = 1, ...place] = x;'],
    ['a list of exports', 'const place = 1;\nexport { place };', 'export const place = 1;'],
    ['an export under another name', 'const at = 1;\nexport { at as place };', 'export const place = 1;'],
  ])('refuses %s of one name', (_, first, second) => {
    expect(problemsOf({ 'http/a.ts': first, 'rules/b.ts': second })).toEqual(shared('place'));
  });

  test.each([
    ['a name that only one file exports', 'const place = 1;', 'export const place = 1;'],
    ['a re-export from the other file', "export { place } from '../rules/b.ts';", 'export const place = 1;'],
    [
      'a re-export of an import',
      "import { place } from '../rules/b.ts';\nexport { place };",
      'export const place = 1;',
    ],
    ['overloads', 'export function f(a: 1): 1;\nexport function f(a: unknown) { return a; }', ''],
    ['a type and a value of one file', 'export const A = 1;\nexport type A = typeof A;', ''],
    ['default exports', 'export default 1;', 'export default 2;'],
  ])('accepts %s', (_, first, second) => {
    expect(problemsOf({ 'http/a.ts': first, 'rules/b.ts': second })).toEqual([]);
  });
});

test('formatCounts names long functions, long parameter lists and names with two meanings', () => {
  const tree = {
    'http/a.ts': `export function short() {}\nexport const long = () => {\n${'void 0;\n'.repeat(39)}};\n`,
    'rules/b.ts': 'const short = (a, b, c, d, e) => 1;\n',
  };
  expect(formatCounts(parseTree(tree))).toMatch(
    /: 1\n {2}http\/a\.ts:2 long: 41 lines.*: 1\n {2}rules\/b\.ts:1 short: .*5 parameters.*: 1\n {2}short: http\/a\.ts, rules/s,
  );
});
