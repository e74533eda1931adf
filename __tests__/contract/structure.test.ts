import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { readTree } from '../../scripts/check-structure.ts';
import type { SourceFile } from '../../scripts/structure/counts.ts';
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

test('only the entries of the interfaces read the environment, and the composition root names a temporary folder', () => {
  const src = fileURLToPath(new URL('../../src', import.meta.url));
  const isReading = ({ source }: SourceFile): boolean => /process\.env|tmpdir\(\)/.test(source);
  const readers = readTree(src).filter(isReading);
  expect(readers.map(({ path }) => path).sort()).toEqual(['action/index.ts', 'cli/index.ts', 'context.ts']);
});

test('files of src import packages only through their documented entries', () => {
  const src = fileURLToPath(new URL('../../src', import.meta.url));
  const parts = readTree(src).flatMap(({ source }) =>
    [...source.matchAll(/(?:from|import) '((?:@[^/']+\/)?[^.:/'@]+\/[^']+)'/g)].map(([, part]) => part),
  );
  expect([...new Set(parts)].sort()).toEqual([
    '@modelcontextprotocol/server/stdio',
    'css-tree/tokenizer',
    'css-tree/utils',
    'csv-parse/sync',
    'es-module-lexer/minimal/js',
  ]);
  // https://pptr.dev/guides/running-puppeteer-in-the-browser
  expect(JSON.parse(readFileSync(join(src, '../package.json'), 'utf8')).imports).toEqual({
    '#puppeteer': 'puppeteer-core/lib/esm/puppeteer/puppeteer-core-browser.js',
  });
});

test.each([
  "import { a } from './a.ts';",
  "import './a.ts';",
  "import type { a } from './a.ts';",
  "export * from './a.ts';",
  "export type { a } from './a.ts';",
  "const load = () => import('./a.ts');",
  "type A = typeof import('./a.ts');",
])('a cycle that is closed by %s is refused', (back) => {
  const tree = { 'http/a.ts': "import { b } from './b.ts';\nexport const a = b;", 'http/b.ts': back };
  expect(problemsOf(tree)).toEqual(['import cycle: http/a.ts → http/b.ts → http/a.ts']);
});

test.each<[string, Tree, readonly string[]]>([
  ['no cycle for two files that import a third file', { a: 'c', b: 'c', c: '' }, []],
  [
    'the shortest of several cycles, then the files outside it',
    { a: 'bc', b: 'c', c: 'a' },
    ['a → c → a', 'b → c → a → b'],
  ],
  ['two separate cycles', { a: 'b', b: 'a', c: 'c' }, ['a → b → a', 'c → c']],
])('the check names %s', (_, imports, cycles) => {
  const tree = Object.entries(imports).map(([name, targets]) => [
    `http/${name}.ts`,
    [...targets].map((target) => `import './${target}.ts';`).join('\n'),
  ]);
  const named = cycles.map((cycle) => `import cycle: ${cycle.replaceAll(/\w+/g, 'http/$&.ts')}`);
  expect(problemsOf(Object.fromEntries(tree))).toEqual(named);
});

describe('the layers', () => {
  test.each([
    ['action/run.ts', "import '../context.ts';"],
    ['context.ts', "import './delivery/deliver.ts';"],
    ['channels/pages/publish.ts', "import '../release/publish.ts';"],
    ['errors.ts', "import './ports.ts';"],
    ['http/client.ts', "import 'node:fs';\nimport('undici');"],
    ['http/client.ts', "// import '../cli/main.ts';\nexport const text = \"import '../cli/main.ts'\";"],
  ])('accept in %s: %s', (path, source) => {
    expect(problemsOf({ [path]: source })).toEqual([]);
  });

  const LAYERS = ['cli', 'context.ts', 'delivery', 'request', 'channels', 'github', 'http', 'rules'];
  const fileOf = (layer: string): string => (layer.endsWith('.ts') ? layer : `${layer}/a.ts`);
  test.each(LAYERS.slice(1).map((layer, at) => [layer, LAYERS[at] ?? '']))(
    'refuse an upward import from %s to %s',
    (layer, above) => {
      const target = `${layer.endsWith('.ts') ? './' : '../'}${fileOf(above)}`;
      for (const source of [`import '${target}';`, `import type { A } from '${target}';`]) {
        expect(problemsOf({ [fileOf(layer)]: source })).toEqual([
          `${fileOf(layer)}:1: imports ${fileOf(above)}, upwards: ${layer} may not import ${above}`,
        ]);
      }
    },
  );

  test.each([
    ['protocol/words.ts', "import '../errors.ts';", ':1: imports errors.ts, upwards: protocol may not'],
    ['errors.ts', "import './rules/naming.ts';", ':1: imports rules/naming.ts, upwards: other files of src'],
    ['cli/main.ts', "import '../action/run.ts';", ':1: imports action/run.ts, sideways: cli may not import'],
    [
      'channels/channel.ts',
      "import type { A } from '../github/api/repository.ts';",
      ':1: imports github/api/repository.ts, but is the generic interface: nothing of github',
    ],
    ['utils/text.ts', '', ': the folder utils has no layer in LAYERS'],
    ['http/client.ts', 'await import(name);', ":1: a computed import can't be checked"],
  ])('refuse in %s: %s', (path, source, problem) => {
    expect(problemsOf({ [path]: source })).toEqual([expect.stringContaining(`${path}${problem}`)]);
  });
});

test.each([
  ['two functions', 'export function place() {}', 'export function place() {}', true],
  ['consts that patterns declare', 'export const { a: place } = x;', 'export const [, ...place] = x;', true],
  ['an export under another name', 'const at = 1;\nexport { at as place };', 'export class place {}', true],
  ['one export alone', 'const place = 1;', 'export const place = 1;', false],
  ['a re-export', "export { place } from '../rules/b.ts';", 'export const place = 1;', false],
  ['a type and a value of one file', 'export const A = 1;\nexport type A = typeof A;', '', false],
])('an exported name that two files declare is refused: %s', (_, first, second, isRefused) => {
  const problem = 'exported name place is used in http/a.ts and rules/b.ts';
  expect(problemsOf({ 'http/a.ts': first, 'rules/b.ts': second })).toEqual(isRefused ? [problem] : []);
});
