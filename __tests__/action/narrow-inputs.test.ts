import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { NARROW_INPUTS } from '../../src/action/inputs.ts';

test('the inputs of the narrow action are those of its action.yml', () => {
  const { inputs } = parse(readFileSync('agent/action.yml', 'utf8')) as { inputs: object };
  expect(Object.keys(inputs)).toEqual(NARROW_INPUTS);
});
