import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { NARROW_INPUTS, NARROW_WORDING } from '../../src/action/inputs.ts';

const OTHERS =
  ' (this action takes `name`, `content` and `marker` alone; a step that uses the whole action can set ';

test('the inputs of the narrow action are those of its action.yml', () => {
  const { inputs } = parse(readFileSync('agent/action.yml', 'utf8')) as { inputs: object };
  expect(Object.keys(inputs)).toEqual(NARROW_INPUTS);
});

test.each<[string, string]>([
  ['set `name:` to another name', 'set `name:` to another name'],
  ['add `permissions: { contents: write }` to the job', 'add `permissions: { contents: write }` to the job'],
  [
    'set `setup: true` and `branch: gh-pages`, or use channel: K2 or K3',
    `set \`setup: true\` and \`branch: gh-pages\`, or use channel: K2 or K3${OTHERS}\`setup\`, \`branch\`, \`channel\`)`,
  ],
  [
    "set `token:` to a valid token, or leave it out for the job's own ${{ github.token }}",
    'set `GITHUB_TOKEN` in the `env:` of the step to a valid token',
  ],
  [
    'set `token: ${{ github.token }}` with `permissions: { contents: write }`',
    "set `env: { GITHUB_TOKEN: '${{ github.token }}' }` with `permissions: { contents: write }`",
  ],
  [
    'input `token` is too short or too common to be a token',
    '`GITHUB_TOKEN` in the `env:` of the step is too short or too common to be a token',
  ],
])('in the words of the narrow action: %s', (text, worded) => {
  expect(NARROW_WORDING(text)).toBe(worded);
});
