import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { actionYml, contractJson, inputsPage } from '../../scripts/documents.ts';
import { INPUTS, OUTPUTS } from '../../src/request/inputs.ts';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const PAGE = read('docs/inputs.md');

/** The cells of a table's rows, by the heading that it stands under. */
function tableUnder(heading: string): string[][] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  const [, , ...rows] = text.split('\n').filter((line) => line.startsWith('|'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const code = (text: string): string => `\`${text}\``;

describe('docs/inputs.md', () => {
  test('lists the inputs of the code with their defaults and descriptions', () => {
    const rows = Object.entries(INPUTS).map(([name, input]) => [
      code(name),
      input.default === '' ? '–' : code(input.default),
      input.description,
    ]);
    expect(tableUnder('Inputs')).toEqual(rows);
  });

  test('lists the outputs of the code with their descriptions', () => {
    const rows = Object.entries(OUTPUTS).map(([name, meaning]) => [code(name), meaning]);
    expect(tableUnder('Outputs')).toEqual(rows);
  });

  test('stays the same when its tables are generated again', () => {
    const emptied = PAGE.replace(/(<!-- (inputs|outputs) -->\n)[\s\S]*?(<!-- \/\2 -->)/g, '$1$3');
    expect(emptied).not.toMatch(/^\| `fail-on-not-ready` \|/m);
    expect(inputsPage(emptied)).toBe(PAGE);
  });
});

test('the README is one that a person reads', () => {
  const text = read('README.md');
  expect(text.split('\n').length).toBeLessThanOrEqual(200);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(15_000);
});

test.each([
  ['action.yml', actionYml()],
  ['contract.json', contractJson()],
])('%s is up to date with the code', (name, made) => {
  expect(read(name)).toBe(made);
});

test('docs/dependencies.md lists every dependency with its purpose', () => {
  const { dependencies = {}, devDependencies } = JSON.parse(read('package.json'));
  const named = read('docs/dependencies.md').matchAll(/^\|(?! Package)(.*?)\| .+ \|$/gm);
  const packages = [...named].flatMap(([, names = '']) => names.match(/(?<=`)[^`, ]+(?=`)/g) ?? []);
  expect(packages.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
});
