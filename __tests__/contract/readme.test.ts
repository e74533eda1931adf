import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { inputsPage } from '../../scripts/documents.ts';
import { listTexts } from '../support/source-texts.ts';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const PAGE = read('docs/inputs.md');

test('docs/inputs.md has the tables that the sources make', () => {
  const emptied = PAGE.replace(/(<!-- (inputs|outputs) -->\n)[\s\S]*?(<!-- \/\2 -->)/g, '$1$3');
  for (const name of ['fail-on-not-ready', 'raw-url']) {
    expect([PAGE, emptied].map((text) => text.includes(`\n| \`${name}\` |`))).toEqual([true, false]);
  }
  expect(inputsPage(emptied)).toBe(PAGE);
});

test('the README is one that a person reads', () => {
  const text = read('README.md');
  expect(text.split('\n').length).toBeLessThanOrEqual(200);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(15_000);
});

test('docs/dependencies.md lists every dependency with its purpose', () => {
  const { dependencies = {}, devDependencies } = JSON.parse(read('package.json'));
  const named = read('docs/dependencies.md').matchAll(/^\|(?! Package)(.*?)\| .+ \|$/gm);
  const packages = [...named].flatMap(([, names = '']) => names.match(/(?<=`)[^`, ]+(?=`)/g) ?? []);
  expect(packages.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
});

test('docs/troubleshooting.md quotes messages that the sources have', () => {
  const [ours = ''] = read('docs/troubleshooting.md').split('## Answers that GitHub words itself');
  const texts = listTexts(() => false).map(({ text }) => text);
  const isKnown = (message: string): boolean => {
    const parts = message.match(/[\w',-]+(?: [\w',-]+){2}/g) ?? [''];
    return parts.every((words) => words !== '' && texts.some((one) => one.includes(words)));
  };
  const messages = [...ours.matchAll(/^\| (`.+?) \| /gm)].flatMap(([, cell = '']) => cell.split(/`, `/));
  expect(messages.length).toBeGreaterThan(40);
  expect(messages.filter((message) => !isKnown(message))).toEqual([]);
});
