import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createRedactor } from '../src/redact.ts';

const TOKEN = 'ghs_AbCd0123';

/** Blots out these secrets. */
function redactorOf(secrets: readonly string[]): (text: string) => string {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.addSecret(secret);
  return redactor.redact;
}

const redact = redactorOf([TOKEN]);

describe('a secret is blotted out', () => {
  test.each([
    ['as it is', `token ${TOKEN}.`, 'token ***.'],
    ['each time', `${TOKEN}${TOKEN} ${TOKEN}`, '****** ***'],
    ['in a URL', `https://x.example/?t=${TOKEN}&u=1`, 'https://x.example/?t=***&u=1'],
    [
      'as base64, with and without its padding',
      `${Buffer.from(TOKEN).toString('base64')} ${Buffer.from('short').toString('base64')}`,
      `*** ${Buffer.from('short').toString('base64')}`,
    ],
  ])('%s', (_where, text, clean) => {
    expect(redact(text)).toBe(clean);
  });

  test.each<[string, (secret: string) => string]>([
    ['as it is', (secret) => secret],
    ['percent-encoded', encodeURIComponent],
    ['in JSON', (secret) => JSON.stringify(secret).slice(1, -1)],
    ['as base64', (secret) => Buffer.from(secret).toString('base64').replace(/=+$/, '')],
  ])('%s, whatever its characters', (_where, write) => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (secret) => {
        // Asterisks are what a secret is blotted out with.
        fc.pre(!/^\*+$/.test(secret));
        expect(redactorOf([secret])(`<${write(secret)}>`)).not.toContain(write(secret));
      }),
    );
  });

  test('as the credentials of git’s own login', () => {
    const login = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
    expect(redact(`Authorization: Basic ${login}`)).not.toContain(
      Buffer.from(TOKEN).toString('base64').slice(0, 8),
    );
  });

  test('where there are several', () => {
    expect(redactorOf(['first', '', 'second'])('first second third')).toBe('*** *** third');
  });

  test.each([[['abc', 'abcdef']], [['abcdef', 'abc']], [['def', 'abcdef']]])(
    'whole, where one of %j holds the other',
    (secrets) => {
      expect(redactorOf(secrets)('abcdef')).toBe('***');
    },
  );

  test('literally: its characters are no pattern, and no replacement', () => {
    expect(redactorOf(['a.c$&'])('abc$& a.c$&')).toBe('abc$& ***');
  });
});

describe('everything else stays', () => {
  test.each([[[]], [['']]])('with the secrets %j', (secrets) => {
    expect(redactorOf(secrets)('a text, letter by letter')).toBe('a text, letter by letter');
  });

  test('around a secret, too', () => {
    expect(redact('ghs_AbCd012 ghs_abcd0123')).toBe('ghs_AbCd012 ghs_abcd0123');
  });
});
