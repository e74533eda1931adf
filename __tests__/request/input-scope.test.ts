import { describe, expect, test } from '@jest/globals';
import {
  INPUT_SCOPES,
  listScopedInputs,
  noteOtherInputs,
  refuseFolderInputs,
} from '../../src/request/input-scope.ts';
import { INPUTS, type InputName, type RawInputs } from '../../src/request/inputs.ts';
import { rawInputs, requestWith } from '../delivery/builders.ts';

/** A value of each input that only some deliveries use. */
const VALUES: Readonly<Partial<RawInputs>> = {
  entry: 'start.html',
  prune: 'false',
  keep: '20',
  nojekyll: 'true',
  setup: 'true',
  branch: 'gh-pages',
  'site-workflow': 'pages.yml',
  message: 'a report',
  'self-contained': 'warn',
  screen: 'enforce',
  picture: 'true',
  'pages-base': 'https://pages.example.com/',
  'raw-base': 'https://raw.example.com/',
  tag: 'v1',
  bin: 'abcdefgh',
  'bin-host-url': 'https://bin.example.com',
  url: 'https://example.com/page.html',
};
const NAMES = Object.keys(INPUT_SCOPES) as InputName[];

describe('INPUT_SCOPES', () => {
  test('has the inputs whose description names the only channel or the folder that they are for', () => {
    const named = (Object.keys(INPUTS) as InputName[]).filter((name) =>
      /^(K\d:|Of a folder:)|\(K1\)/.test(INPUTS[name].description),
    );
    // A path is for three channels, and names the comment of the fourth; a confinement has rules of its own.
    const others = ['file', 'path', 'confine', 'allow-public-bin'];
    expect(NAMES).toEqual(expect.arrayContaining(named.filter((name) => !others.includes(name))));
    expect(NAMES.filter((name) => VALUES[name] === undefined)).toEqual([]);
  });

  test.each(NAMES)('lets `%s` pass on each of its channels, and refuses it on any other.', (name) => {
    for (const key of ['K1', 'K2', 'K3'] as const) {
      const parse = () => requestWith({ channel: key, [name]: VALUES[name] });
      if (INPUT_SCOPES[name]?.channels.includes(key)) expect(parse).not.toThrow();
      else
        expect(parse).toThrow(new RegExp(`^input \`${name}\` has no effect on channel ${key}: it is for K`));
    }
  });
});

describe('parseRequest', () => {
  test.each<[Partial<RawInputs>, string, string]>([
    [
      { channel: 'K1', tag: 'v1' },
      'input `tag` has no effect on channel K1: it is for K2',
      'leave `tag:` out, or use channel: K2',
    ],
    [
      { channel: 'K1+K2', bin: 'abcdefgh' },
      'input `bin` has no effect on channels K1 and K2: it is for K3',
      'leave `bin:` out, or use channel: K3',
    ],
    [
      { channel: 'K2', 'bin-host-url': 'https://bin.example.com' },
      'input `bin-host-url` has no effect on channel K2: it is for K3 and K4',
      'leave `bin-host-url:` out, or use channel: K3 or K4',
    ],
    [
      { file: '', url: 'https://example.com/page.html', marker: 'a text', branch: 'main' },
      'input `branch` has no effect on channel K4: it is for K1',
      'leave `branch:` out, or use channel: K1',
    ],
    [
      { operation: 'withdraw', channel: 'K3', bin: 'abcdefgh', branch: 'main' },
      'input `branch` has no effect on channel K3: it is for K1',
      'leave `branch:` out, or use channel: K1',
    ],
  ])('refuses an input of another channel: %j.', (inputs, message, hint) => {
    expect(() => requestWith(inputs)).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', step: 'check', message, hint }),
    );
  });

  test.each<[string, Partial<RawInputs>]>([
    ['an input of one of several channels', { channel: 'K1+K3', bin: 'abcdefgh', branch: 'main' }],
    ['inputs of all channels, where the channel is chosen later', { ...VALUES, url: '' }],
    ['a switch that is off', { channel: 'K2', setup: 'False', picture: 'false', nojekyll: 'FALSE' }],
    ['a default, in any case', { channel: 'K2', prune: 'True', 'self-contained': 'Enforce' }],
    ['checks that are to be left out', { channel: 'K2', screen: 'off', 'self-contained': 'off' }],
    ['the account, what is allowed, and times', { channel: 'K3', overwrite: 'true', timeout: '20' }],
  ])('takes %s.', (_, inputs) => {
    expect(() => requestWith(inputs)).not.toThrow();
  });

  test('counts a default that a person wrote, and nothing that others wrote', () => {
    const raw = rawInputs({ prune: 'true', tag: 'v1', setup: 'false' });
    expect(listScopedInputs(raw, ['prune', 'setup', 'marker'])).toEqual(['prune']);
    expect(listScopedInputs(raw, undefined)).toEqual(['tag']);
  });
});

describe('Of a delivery that is chosen later,', () => {
  test.each(['entry', 'prune', 'keep', 'nojekyll'] as const)('`%s` refuses a single file.', (name) => {
    expect(() => refuseFolderInputs(['branch', name])).toThrow(
      expect.objectContaining({
        message: `input \`${name}\` has no effect on a single file: it is for a folder`,
        hint: `leave \`${name}:\` out, or set \`file:\` to a folder`,
      }),
    );
    expect(() => refuseFolderInputs(['branch', 'tag'])).not.toThrow();
  });

  test('what has no effect becomes a note that says why', () => {
    const chosen = { channels: ['K1'], reason: 'the file is shown on the screen', hasFolder: false } as const;
    expect(noteOtherInputs(['keep', 'branch', 'tag'], chosen)).toEqual([
      'input `keep` had no effect: it is for a folder, and none was found',
      'input `tag` had no effect: it is for K2 (release), and K1 was chosen, because the file is shown on the screen',
    ]);
    expect(noteOtherInputs(['keep', 'branch'], { ...chosen, hasFolder: true })).toEqual([]);
  });
});
