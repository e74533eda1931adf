import { describe, expect, test } from '@jest/globals';
import { noteOtherInput } from '../../src/delivery/tasks.ts';
import { INPUT_NAMES, INPUTS, type RawInputs } from '../../src/request/inputs.ts';
import { requestWith } from './builders.ts';

const NAMES = INPUT_NAMES.filter((name) => INPUTS[name].channels !== undefined);

describe('The inputs for some channels alone', () => {
  test('are those whose description names the only channel or the folder that they are for', () => {
    const named = INPUT_NAMES.filter((name) => /^(K\d:|Of a folder:)|\(K1\)/.test(INPUTS[name].description));
    // A path is for three channels, and names the comment of the fourth; a confinement has rules of its own.
    const others = ['file', 'path', 'confine', 'allow-public-bin'];
    expect(NAMES).toEqual(expect.arrayContaining(named.filter((name) => !others.includes(name))));
  });

  test.each(NAMES)('of `%s`, a note on every other channel says what it is for.', (name) => {
    for (const key of ['K1', 'K2', 'K3'] as const) {
      const notes = noteOtherInput(name, { channels: [key], reason: 'so' }, true);
      const expected = [expect.stringMatching(new RegExp(`^input \`${name}\` had no effect: it is for K`))];
      expect(notes).toEqual(INPUTS[name].channels?.includes(key) ? [] : expected);
    }
  });
});

describe('The inputs that are noted', () => {
  test.each<[string, Partial<RawInputs>]>([
    ['a switch that is off', { setup: 'False', picture: 'false', nojekyll: 'FALSE' }],
    ['a default, in any case', { prune: 'True', 'self-contained': 'Auto' }],
    ['checks that are to be left out', { screen: 'off', 'self-contained': 'off' }],
    ['what is allowed, and times', { overwrite: 'true', timeout: '20' }],
    ['what a runner fills in', { repository: 'octo/demo', token: 'ghp_AbCd0123' }],
  ])('leaves out %s.', (_, inputs) => {
    expect(requestWith(inputs).scopedInputs).toEqual([]);
  });

  test('counts what is no default, and belongs to the call', () => {
    const inputs = { prune: 'true', tag: 'v1', branch: 'main' };
    expect(requestWith(inputs).scopedInputs).toEqual(['branch', 'tag']);
    expect(requestWith(inputs, { givenInputs: ['tag'] }).scopedInputs).toEqual(['tag']);
  });
});

describe('noteOtherInput', () => {
  test('says why an input has no effect', () => {
    const reason = 'the file is shown on the screen';
    const noteAll = (hasFolder: boolean) =>
      (['keep', 'branch', 'tag'] as const).flatMap((name) =>
        noteOtherInput(name, { channels: ['K1'], reason }, hasFolder),
      );
    expect(noteAll(false)).toEqual([
      "input `keep` had no effect: it is for a folder, but the delivery doesn't contain a folder",
      'input `tag` had no effect: it is for K2 (release), and K1 was chosen, because the file is shown on the screen',
    ]);
    expect(noteAll(true)).toHaveLength(1);
  });
});
