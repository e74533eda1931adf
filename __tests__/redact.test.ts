import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createRedactor } from '../src/redact.ts';

const TOKEN = 'ghs_AbCd0123';

/** A function that replaces these secrets. */
function redactWith(secrets: readonly string[]): (text: string) => string {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.addSecret(secret);
  return redactor.redact;
}

const redact = redactWith([TOKEN]);

describe('createRedactor replaces a secret', () => {
  test.each([
    ['in plain text', `token ${TOKEN}.`, 'token ***.'],
    ['in every place', `${TOKEN}${TOKEN} ${TOKEN}`, '****** ***'],
    ['in a URL', `https://x.example/?t=${TOKEN}&u=1`, 'https://x.example/?t=***&u=1'],
    [
      'as base64, with and without its padding',
      `${Buffer.from(TOKEN).toString('base64')} ${Buffer.from('short').toString('base64')}`,
      `*** ${Buffer.from('short').toString('base64')}`,
    ],
  ])('%s', (_case, text, clean) => {
    expect(redact(text)).toBe(clean);
  });

  test.each<[string, (secret: string) => string]>([
    ['in plain text', (secret) => secret],
    ['percent-encoded', encodeURIComponent],
    ['in JSON', (secret) => JSON.stringify(secret).slice(1, -1)],
    ['as base64', (secret) => Buffer.from(secret).toString('base64').replace(/=+$/, '')],
  ])('%s, with any characters', (_case, encode) => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (secret) => {
        // The replacement itself consists of asterisks.
        fc.pre(!/^\*+$/.test(secret));
        expect(redactWith([secret])(`<${encode(secret)}>`)).not.toContain(encode(secret));
      }),
    );
  });

  test('in the Basic credentials that git sends', () => {
    const login = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
    expect(redact(`Authorization: Basic ${login}`)).not.toContain(
      Buffer.from(TOKEN).toString('base64').slice(0, 8),
    );
  });

  test('when there are several secrets', () => {
    expect(redactWith(['first', '', 'second'])('first second third')).toBe('*** *** third');
  });

  test.each([[['abc', 'abcdef']], [['abcdef', 'abc']], [['def', 'abcdef']]])(
    'completely, when one of %j contains the other',
    (secrets) => {
      expect(redactWith(secrets)('abcdef')).toBe('***');
    },
  );

  test('literally, not as a pattern or a replacement pattern', () => {
    expect(redactWith(['a.c$&'])('abc$& a.c$&')).toBe('abc$& ***');
  });
});

describe('createRedactor keeps everything else', () => {
  test.each([[[]], [['']]])('with the secrets %j', (secrets) => {
    expect(redactWith(secrets)('a text without a secret')).toBe('a text without a secret');
  });

  test('that only looks like a secret', () => {
    expect(redact('ghs_AbCd012 ghs_abcd0123')).toBe('ghs_AbCd012 ghs_abcd0123');
  });
});
