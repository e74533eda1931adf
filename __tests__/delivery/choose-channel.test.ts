import { describe, expect, test } from '@jest/globals';
import { CHANNEL_RULES, chooseChannels, refuseTooLarge } from '../../src/delivery/choose-channel.ts';
import type { RepositoryContext } from '../../src/github/api/repository.ts';
import type { ChannelKey } from '../../src/protocol/words.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import { repositoryContextWith } from '../channels/repository-context.ts';
import { requestWith } from './builders.ts';

const MEGABYTE = 1_048_576;
const LINK = 'https://a.dev/x';
const LINK_ALONE = { file: '', url: LINK, marker: 'It works' };
const NO_TOKEN = { hasToken: false, privateRepository: null, site: 'unasked' } as const;

interface Situation {
  readonly size: number | null;
  readonly inputs?: Partial<RawInputs>;
  readonly circumstances?: Partial<RepositoryContext>;
}

const chosen = (
  { size, inputs = {}, circumstances = {} }: Situation,
  sourceIsPrivate: boolean | null = null,
) => chooseChannels(requestWith(inputs, { sourceIsPrivate }), size, repositoryContextWith(circumstances));

/** One situation for each row, just inside its border; rows in their order. */
const ROWS: readonly [string, string, Situation][] = [
  ['a link alone', 'K4', { size: null, inputs: LINK_ALONE }],
  ['no token, but a link', 'K4', { size: 9, inputs: { url: LINK }, circumstances: NO_TOKEN }],
  [
    'a token, but no repository',
    'K3',
    { size: 9, inputs: { token: 'ghs_token', 'allow-public-bin': 'true' }, circumstances: NO_TOKEN },
  ],
  ['no token', 'K3', { size: 9, inputs: { 'allow-public-bin': 'true' }, circumstances: NO_TOKEN }],
  ['more than 2 GB', 'K3', { size: 2_048 * MEGABYTE + 1, inputs: { 'allow-public-bin': 'true' } }],
  ['more than 95 MB', 'K2', { size: 95 * MEGABYTE + 1 }],
  [
    'more than 95 MB, private',
    'K3',
    {
      size: 95 * MEGABYTE + 1,
      inputs: { 'allow-public-bin': 'true' },
      circumstances: { privateRepository: true },
    },
  ],
  ['no site', 'K2', { size: 9, circumstances: { site: null } }],
  [
    'no site, private',
    'K3',
    {
      size: 9,
      inputs: { 'allow-public-bin': 'true' },
      circumstances: { site: null, privateRepository: true },
    },
  ],
  ['a site', 'K1', { size: 9 }],
];

describe('the choice of a channel', () => {
  test('has one situation here for every row', () => {
    expect(ROWS.map(([, channel]) => channel)).toEqual(CHANNEL_RULES.map(({ channel }) => channel));
  });

  test.each(ROWS.map((row, nth) => [...row, nth] as const))('with %s is %s', (_, channel, situation, nth) => {
    expect(chosen(situation)).toEqual({
      main: channel,
      duplicates: [],
      reason: CHANNEL_RULES[nth]?.reason,
    });
  });

  test.each<[string, string, Situation]>([
    ['exactly 95 MB', 'K1', { size: 95 * MEGABYTE }],
    ['exactly 2 GB', 'K2', { size: 2_048 * MEGABYTE }],
    ['a private repository that has a site', 'K1', { size: 9, circumstances: { privateRepository: true } }],
    ['settings that can’t be read', 'K1', { size: 9, circumstances: { site: 'unreadable' } }],
    [
      'a pages base instead of a site',
      'K1',
      { size: 9, inputs: { 'pages-base': 'https://p.dev/' }, circumstances: { site: null } },
    ],
    [
      '`setup` instead of a site',
      'K1',
      { size: 9, inputs: { setup: 'true' }, circumstances: { site: null } },
    ],
    ['a link beside a token', 'K1', { size: 9, inputs: { url: LINK } }],
    ['a link beside a large file', 'K2', { size: 96 * MEGABYTE, inputs: { url: LINK } }],
  ])('with %s is %s', (_, channel, situation) => {
    expect(chosen(situation).main).toBe(channel);
  });

  test('is what was asked for, with its duplicates, whatever the situation', () => {
    expect(
      chosen({ size: 9, inputs: { channel: 'K3+K2' }, circumstances: { privateRepository: true } }),
    ).toEqual({
      main: 'K3',
      duplicates: ['K2'],
      reason: 'it was asked for',
    });
  });
});

describe('the public bin', () => {
  const onlyBinLeft: Situation = { size: 9, circumstances: NO_TOKEN };
  const privateWithoutSite: Situation = { size: 9, circumstances: { site: null, privateRepository: true } };

  test.each([
    ['known to be public', onlyBinLeft, false],
    ['known to be public, whatever it is published in', privateWithoutSite, false],
  ] as const)('is chosen unasked for a file from a repository %s', (_, situation, sourceIsPrivate) => {
    expect(chosen(situation, sourceIsPrivate).main).toBe('K3');
  });

  test('is refused unasked where the repository of the file is not the public one that is published in', () => {
    const request = requestWith({}, { sources: ['octo/site', null] });
    const facts = repositoryContextWith({ hasToken: false, privateRepository: false });
    expect(() => chooseChannels(request, 9, facts)).toThrow('may be private');
    const known = requestWith({}, { sources: ['Octo/Site'] });
    expect(chooseChannels(known, 9, facts).main).toBe('K3');
  });

  test.each([
    ['is private', privateWithoutSite, null],
    ['is private', onlyBinLeft, true],
    ['may be private', onlyBinLeft, null],
  ] as const)('is refused unasked where the repository %s', (known, situation, sourceIsPrivate) => {
    expect(() => chosen(situation, sourceIsPrivate)).toThrow(
      expect.objectContaining({
        code: 'NOT_EXTERNAL',
        step: 'authorize',
        message: expect.stringMatching(
          new RegExp(`^the file's repository ${known}, and only the public file-bin \\(K3\\) is left: `),
        ),
        hint: expect.stringMatching(/`allow-public-bin: true`.*`channel: K3`/),
      }),
    );
  });

  test('is taken on the owner’s word', () => {
    const inputs = { 'allow-public-bin': 'true' };
    expect(chosen({ ...onlyBinLeft, inputs }, true).main).toBe('K3');
  });
});

describe('a file that is too large for what was asked', () => {
  test.each<[ChannelKey, number, string]>([
    ['K1', 95 * 1_048_576, 'use channel: K2 or K3'],
    ['K2', 2_048 * 1_048_576, 'use channel: K3'],
  ])('is refused by %s above %d bytes, with the channels to use', (channel, most, hint) => {
    expect(() => refuseTooLarge([channel], most)).not.toThrow();
    expect(() => refuseTooLarge(['K3', channel], most + 1)).toThrow(
      expect.objectContaining({
        code: 'TOO_LARGE',
        hint,
        message: expect.stringContaining(`${most + 1} bytes`),
      }),
    );
  });

  test('is left to the choice of a channel by `auto`', () => {
    expect(() => refuseTooLarge('auto', Number.MAX_SAFE_INTEGER)).not.toThrow();
  });
});
