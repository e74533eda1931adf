import { describe, expect, test } from '@jest/globals';
import { chooseChannels, listChoices, refuseTooLarge } from '../../src/delivery/choose-channel.ts';
import { DeliveryError } from '../../src/errors.ts';
import { noAccessError, type RepositoryContext } from '../../src/github/api/repository.ts';
import type { ChannelKey } from '../../src/protocol/words.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import type { RunContext } from '../../src/request/parse-request.ts';
import { siteOfFile } from '../../src/rules/local-site.ts';
import { repositoryContextWith } from '../channels/repository-context.ts';
import { deliveryWith, fileWith, requestWith } from './builders.ts';

const MEGABYTE = 1_048_576;
const LINK = 'https://a.dev/x';
const LINK_ALONE = { file: '', url: LINK, marker: 'It works' };
const NO_TOKEN = {
  github: noAccessError(false, true),
  privateRepository: null,
  pagesSettings: 'not-requested',
} as const;
const DECLINED = {
  ...NO_TOKEN,
  github: new DeliveryError('NOT_AUTHORIZED', 'the person declined it'),
} as const;
const PRIVATE = { privateRepository: true } as const;
const OWNERS_WORD = { 'allow-public-bin': 'true' } as const;
const OWN_BIN = { bin: 'my-own-bin', ...OWNERS_WORD } as const;

interface Situation {
  /** Bytes; a few unless told. */
  readonly size?: number;
  readonly name?: string;
  readonly inputs?: Partial<RawInputs>;
  readonly circumstances?: Partial<RepositoryContext>;
  /** Whether a repository, a branch or a folder was named. */
  readonly namesPlace?: boolean;
}

const chosen = (
  { size = 9, name = 'page.html', inputs = {}, circumstances = {}, namesPlace = false }: Situation,
  around: Partial<RunContext> = {},
) =>
  chooseChannels(
    deliveryWith({
      name,
      site: siteOfFile(fileWith({ name, size })),
      operation: inputs.operation === 'withdraw' ? 'withdraw' : 'deliver',
    }),
    requestWith(inputs, { namesDestination: namesPlace, ...around }),
    { access: repositoryContextWith(circumstances) },
  );

/** One situation for each row, just inside its border; rows in their order. */
const ROWS: readonly [string, string, Situation][] = [
  ['a link alone', 'K4', { size: 0, inputs: LINK_ALONE }],
  ['a named bin', 'K3', { inputs: OWN_BIN }],
  ['a named tag', 'K2', { inputs: { tag: 'v1.2.0' } }],
  ['a named place', 'K1', { inputs: OWNERS_WORD, circumstances: NO_TOKEN, namesPlace: true }],
  ['a token alone', 'K3', { inputs: { token: 'ghs_token', ...OWNERS_WORD }, circumstances: NO_TOKEN }],
  ['no token', 'K3', { inputs: OWNERS_WORD, circumstances: NO_TOKEN }],
  ['more than 2 GB', 'K3', { size: 2_048 * MEGABYTE + 1, inputs: OWNERS_WORD }],
  ['more than 95 MB', 'K2', { size: 95 * MEGABYTE + 1 }],
  ['over 95 MB, private', 'K3', { size: 95 * MEGABYTE + 1, inputs: OWNERS_WORD, circumstances: PRIVATE }],
  ['a program', 'K2', { name: 'setup.exe' }],
  ['a program, private', 'K1', { name: 'setup.exe', circumstances: PRIVATE }],
  ['a page', 'K1', {}],
];

const CHOICES = listChoices(requestWith(), repositoryContextWith(), 9, 'page');

describe('the choice of a channel', () => {
  test('has one situation here for every row', () => {
    expect(ROWS.map(([, channel]) => channel)).toEqual(CHOICES.map(([, channel]) => channel));
  });

  test.each(ROWS.map((row, nth) => [...row, nth] as const))('with %s is %s', (_, channel, situation, nth) => {
    const isPrivate = situation.circumstances === PRIVATE;
    expect(chosen(situation)).toEqual({ channels: [channel], reason: CHOICES[nth]?.[2], isPrivate });
  });

  test.each(ROWS.slice(1))(
    'with %s is %s for its withdrawal too, from a bin only if it is named',
    (_, channel, situation) => {
      const inputs = { operation: 'withdraw', ...situation.inputs };
      const choose = () => chosen({ ...situation, inputs }).channels;
      if (channel !== 'K3' || 'bin' in inputs) expect(choose()).toEqual([channel]);
      else expect(choose).toThrow(/, so only a named bin of the file-bin can be emptied$/);
    },
  );

  test.each<[string, string, Situation]>([
    ['exactly 95 MB', 'K1', { size: 95 * MEGABYTE }],
    ['exactly 2 GB', 'K2', { size: 2_048 * MEGABYTE }],
    ['no site, which K1 refuses', 'K1', { circumstances: { pagesSettings: null } }],
    ['a link beside a token', 'K4', { inputs: { url: LINK } }],
    ['a bin, large', 'K3', { size: 3_000 * MEGABYTE, inputs: OWN_BIN }],
    [
      'a place that was named, but declined',
      'K3',
      { inputs: OWNERS_WORD, circumstances: DECLINED, namesPlace: true },
    ],
    ['a place and a bin', 'K3', { inputs: OWN_BIN, circumstances: NO_TOKEN, namesPlace: true }],
    ['a tag, but no token', 'K2', { inputs: { tag: 'v1', ...OWNERS_WORD }, circumstances: NO_TOKEN }],
    ['a tag, private, which K2 refuses', 'K2', { inputs: { tag: 'v1' }, circumstances: PRIVATE }],
    ['a text', 'K1', { name: 'run.log' }],
    ['an archive and no site', 'K2', { name: 'a.zip', circumstances: { pagesSettings: null } }],
  ])('with %s is %s', (_, channel, situation) => {
    expect(chosen(situation).channels).toEqual([channel]);
  });

  test('is what was asked for, with its duplicates, whatever the situation', () => {
    expect(chosen({ inputs: { channel: 'K3+K2' }, circumstances: PRIVATE })).toEqual({
      channels: ['K3', 'K2'],
      reason: 'it was asked for',
      isPrivate: true,
    });
  });

  test('refuses a file that the release of the named tag does not take', () => {
    const situation = { size: 2_048 * MEGABYTE + 1, inputs: { tag: 'v1' } };
    expect(() => chosen(situation)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }));
  });
});

describe('the public bin', () => {
  const named: Situation = { inputs: { bin: 'my-own-bin' } };
  const privateTarget: Situation = { ...named, circumstances: PRIVATE };
  const unknownTarget: Situation = { ...named, circumstances: { privateRepository: null } };
  const noToken: Situation = { circumstances: NO_TOKEN };
  const elsewhere = { sourceRepositories: ['octo/site', null] };

  test.each<[string, Situation, Partial<RunContext>]>([
    ['says the event', noToken, { sourceIsPrivate: false }],
    ['says the event, and it is published elsewhere', named, { sourceIsPrivate: false, ...elsewhere }],
    ['says the API', named, {}],
    ['says the API, in other letters', named, { sourceRepositories: ['Octo/Site'] }],
  ])('is chosen unasked for a file from a public repository, as %s', (_, situation, around) => {
    expect(chosen(situation, around).channels).toEqual(['K3']);
  });

  test.each<[string, string, Situation, Partial<RunContext>]>([
    ['is private', 'says the API, but not the event', privateTarget, { sourceIsPrivate: false }],
    ['is private', 'says the API', privateTarget, {}],
    ['is private', 'says the event, but not the API', named, { sourceIsPrivate: true }],
    ['is private', 'says the event', noToken, { sourceIsPrivate: true }],
    ['may be private', 'nobody says', noToken, {}],
    ['may be private', 'the API does not say', unknownTarget, {}],
    ['may be private', 'the API says of another one', named, elsewhere],
  ])('is refused unasked where the repository %s, as %s', (known, _, situation, around) => {
    expect(() => chosen(situation, around)).toThrow(
      expect.objectContaining({
        code: 'NOT_EXTERNAL',
        step: 'authorize',
        message: expect.stringContaining(
          `, so the public file-bin was chosen, but the file's repository ${known}`,
        ),
        hint: expect.stringMatching(/`allow-public-bin: true` if the file may be public$/),
      }),
    );
  });

  test('is taken on the owner’s word', () => {
    expect(chosen({ ...noToken, inputs: OWNERS_WORD }, { sourceIsPrivate: true }).channels).toEqual(['K3']);
  });
});

describe('a file that is too large for what was asked', () => {
  test.each<[ChannelKey, number, string]>([
    ['K1', 95 * 1_048_576, 'use channel: K2 or K3 (public to anyone with the link)'],
    ['K2', 2_048 * 1_048_576, 'use channel: K3 (public to anyone with the link)'],
  ])('is refused by %s above %d bytes, with the channels to use', (channel, most, hint) => {
    expect(() => refuseTooLarge([channel], most, 'a.bin')).not.toThrow();
    const message = expect.stringContaining(`the file a.bin has ${most + 1} bytes`);
    const refuse = () => refuseTooLarge(['K3', channel], most + 1, 'a.bin');
    expect(refuse).toThrow(expect.objectContaining({ code: 'TOO_LARGE', hint, message }));
  });
});
