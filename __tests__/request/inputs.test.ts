import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { INPUTS, OUTPUTS } from '../../src/request/inputs.ts';

interface ActionDefinition {
  readonly inputs: Readonly<Record<string, { required: boolean; default: string; description: string }>>;
  readonly outputs: Readonly<Record<string, { description: string }>>;
}

const action = parse(
  await readFile(new URL('../../action.yml', import.meta.url), 'utf8'),
) as ActionDefinition;

describe('action.yml', () => {
  test('declares exactly the inputs of the code, with their defaults and meanings', () => {
    const declared = Object.entries(INPUTS).map(([name, { default: usual, description }]) => [
      name,
      { default: usual, description, required: false },
    ]);
    expect(action.inputs).toEqual(Object.fromEntries(declared));
  });

  test('declares exactly the outputs of the code', () => {
    const declared = Object.entries(OUTPUTS).map(([name, description]) => [name, { description }]);
    expect(action.outputs).toEqual(Object.fromEntries(declared));
  });
});

describe('the defaults of INPUTS', () => {
  test('keep the limits of the protocol: 240 s in total, 5 s between polls', () => {
    expect([INPUTS.timeout.default, INPUTS['poll-interval'].default]).toEqual(['240', '5']);
  });

  test('allow nothing that the user must ask for', () => {
    expect([INPUTS.overwrite.default, INPUTS['allow-public-bin'].default]).toEqual(['false', 'false']);
    expect(INPUTS['fail-on-not-ready'].default).toBe('true');
  });

  test('name no host except the runner’s own and the public bin', () => {
    const hosts = Object.values(INPUTS).filter((input) => input.default.includes('://'));
    expect(hosts).toEqual([INPUTS['bin-host-url']]);
  });
});
