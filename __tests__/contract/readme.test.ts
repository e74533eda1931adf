import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { inputsPage } from '../../scripts/documents.ts';
import { CHANNELS } from '../../src/protocol/words.ts';
import { INPUTS } from '../../src/request/inputs.ts';
import { listTexts } from '../support/source-texts.ts';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const PAGE = read('docs/inputs.md');

test('docs/inputs.md has the tables that the sources generate', () => {
  const emptied = PAGE.replace(/(<!-- (inputs|outputs) -->\n)[\s\S]*?(<!-- \/\2 -->)/g, '$1$3');
  for (const name of ['fail-on-not-ready', 'raw-url']) {
    expect([PAGE, emptied].map((text) => text.includes(`\n| \`${name}\` |`))).toEqual([true, false]);
  }
  expect(inputsPage(emptied)).toBe(PAGE);
});

describe('the README', () => {
  const text = read('README.md');
  const section = (title: string): string => text.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

  test('is short enough to read', () => {
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(190);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(15_000);
  });

  test.each([
    'GitHub Pages',
    'uses: OWNER/',
    'commits',
    'public',
    'Needs more',
    'deploy action',
    'overwrite',
    'MIT',
    'runners',
  ])('says in its first twenty lines: %s', (word) => {
    expect(text.split('\n').slice(0, 20).join('\n')).toContain(word);
  });

  test('names only existing inputs and channels', () => {
    const named = (rows: string) =>
      rows.match(/^\| [^|]*`[^|]* \|/gm)?.flatMap((cell) => cell.match(/[\w-]{2,}/g) ?? []);
    expect(named(section('Channels'))).toEqual([
      'channel',
      ...Object.entries(CHANNELS).flatMap(([key, { name }]) => [name, key]),
    ]);
    const inputs = named(section('Inputs that matter')) ?? [];
    expect(inputs.filter((name) => !Object.hasOwn(INPUTS, name))).toEqual([]);
    expect(inputs.length).toBeGreaterThan(10);
  });

  test('begins with the preview that the scenarios run', () => {
    const [, shown = ''] = /```yaml\n([\s\S]*?)```/.exec(section('A preview for each pull request')) ?? [];
    const readJob = (workflow: string) => {
      const { on, jobs } = parse(workflow);
      const { permissions, steps } = jobs.preview;
      const { channel: _, ...inputs } = steps.at(-1).with;
      return { on, permissions, inputs };
    };
    expect(readJob(shown)).toEqual(readJob(read('examples/site-preview.yml')));
    expect(shown.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
  });
});

test('docs/dependencies.md lists every dependency with its purpose', () => {
  const { dependencies = {}, devDependencies } = JSON.parse(read('package.json'));
  const named = read('docs/dependencies.md').matchAll(/^\|(?! Package)(.*?)\| .+ \|$/gm);
  const packages = [...named].flatMap(([, names = '']) => names.match(/(?<=`)[^`, ]+(?=`)/g) ?? []);
  expect(packages.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
});

test('docs/troubleshooting.md quotes only messages of the sources', () => {
  const [ours = ''] = read('docs/troubleshooting.md').split('## Error messages from GitHub');
  const texts = listTexts(() => false).map(({ text }) => text);
  const isKnown = (message: string): boolean => {
    const parts = message.match(/[\w',-]+(?: [\w',-]+){2}/g) ?? [''];
    return parts.every((words) => words !== '' && texts.some((one) => one.includes(words)));
  };
  const messages = [...ours.matchAll(/^\| (`.+?) \| /gm)].flatMap(([, cell = '']) => cell.split(/`, `/));
  expect(messages.length).toBeGreaterThan(40);
  expect(messages.filter((message) => !isKnown(message))).toEqual([]);
});
