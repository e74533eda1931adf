import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { decodeTextParts, isEncodedText } from '../../../src/rules/secrets/encoded-text.ts';

const TEXT = 'a text of ASCII characters, 42 or more';
const image = Buffer.concat(
  Array.from({ length: 40 }, (_, nth) => createHash('sha512').update(`${nth}`).digest()),
);
const decode = (run: string): string[] =>
  decodeTextParts(Buffer.from(run)).map(({ bytes }) => bytes.toString('latin1'));

describe('decodeTextParts', () => {
  test.each(['', 'a', 'a/', 'a/b', 'a/bc', 'path/to/'])(
    'finds base64 after %j, and where it begins',
    (before) => {
      const run = Buffer.from(before + Buffer.from(TEXT).toString('base64url'));
      const parts = decodeTextParts(run).filter(({ bytes }) => bytes.includes(TEXT));
      expect(parts.map(({ bytes, positionOf }) => positionOf(bytes.indexOf(TEXT)))).toEqual([before.length]);
    },
  );

  test.each(['', '0x', '0', 'ab'])('finds hex after %j, and where it begins', (before) => {
    const run = Buffer.from(before + Buffer.from(TEXT).toString('hex'));
    const parts = decodeTextParts(run).filter(({ bytes }) => bytes.includes(TEXT));
    expect(parts.map(({ bytes, positionOf }) => positionOf(bytes.indexOf(TEXT)))).toEqual([before.length]);
  });

  test('finds the text inside of binary content', () => {
    const content = Buffer.concat([image, Buffer.from(TEXT), image]).toString('base64');
    const found = decode(content);
    expect(found.filter((one) => one.includes(TEXT))).toHaveLength(1);
    expect(found.join('').length).toBeLessThan(3 * TEXT.length);
  });

  test.each(['sha256', 'sha384', 'sha512'])('decodes no hash of %s', (algorithm) => {
    const hashes = Array.from({ length: 50 }, (_, nth) => createHash(algorithm).update(`x${nth}`));
    const parts = hashes.flatMap((hash) => {
      const bytes = hash.digest();
      return [...decode(bytes.toString('base64')), ...decode(bytes.toString('hex'))];
    });
    // A few groups of a hash look like text by chance.
    expect(parts.join('').length).toBeLessThan(200);
  });
});

test.each([
  ['encoded text', Buffer.from(TEXT).toString('base64'), true],
  ['hex', Buffer.from(TEXT).toString('hex'), true],
  ['a name', 'aVeryLongNameOfAFunctionThatNobodyWouldLikeToType', false],
  ['a path', 'src/rules/secrets/encoded-text/of/several/files', false],
  ['a ruler', '-'.repeat(80), false],
  ['a constant', 'MAX_LENGTH_OF_A_NAME_THAT_IS_USED_AS_KEY_2', false],
])('tells %s from the rest', (_, run, expected) => {
  expect(isEncodedText(Buffer.from(run))).toBe(expected);
});
