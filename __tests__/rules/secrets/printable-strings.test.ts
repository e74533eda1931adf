import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ENCODINGS, printableStrings } from '../../../src/rules/secrets/printable-strings.ts';

async function* inChunks(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function stringsIn(bytes: Buffer, as: keyof typeof ENCODINGS, chunk = 65_536): Promise<string[]> {
  let text = '';
  for await (const piece of printableStrings(inChunks(bytes, chunk), ENCODINGS[as])) text += piece;
  return text.split('\n\0\n').slice(0, -1);
}

/** What the bytes hold, said in the plainest way. */
const plainly = (bytes: Buffer): string[] => bytes.toString('latin1').match(/[\t\n\r -~]{6,}/g) ?? [];

const noisy = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 65, 97, 10)), { maxLength: 400 })
  .map((codes) => Buffer.from(codes));
const chunks = fc.integer({ min: 1, max: 50 });

describe('printable strings', () => {
  test('are runs of six characters and more, line breaks and tabs within', async () => {
    const bytes = Buffer.from('\0short\0longer\0two\n\tlines\r\n\x7fé"quoted"');
    expect(await stringsIn(bytes, 'ascii')).toEqual(['longer', 'two\n\tlines\r\n', '"quoted"']);
  });

  test('are the same however the bytes arrive', async () => {
    await fc.assert(
      fc.asyncProperty(noisy, chunks, async (bytes, chunk) => {
        expect(await stringsIn(bytes, 'ascii', chunk)).toEqual(plainly(bytes));
        expect(await stringsIn(bytes, 'utf16', chunk)).toEqual(await stringsIn(bytes, 'utf16'));
      }),
    );
  });

  test.each([0, 1])('in UTF-16LE are found at any alignment: %i', async (shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift, 7), Buffer.from('a string\u0416short', 'utf16le')]);
    expect(await stringsIn(bytes, 'utf16', 3)).toEqual(['a string']);
  });

  test.each([
    ['ascii', 'utf8'],
    ['utf16', 'utf16le'],
  ] as const)('of any length stay in one piece: %s', async (as, encoding) => {
    const string = 'abcdefghi '.repeat(30_000);
    const bytes = Buffer.concat([Buffer.of(0), Buffer.from(string, encoding), Buffer.of(0, 0)]);
    for (const chunk of [9_999, 65_536, bytes.length])
      expect(await stringsIn(bytes, as, chunk)).toEqual([string]);
  });

  test('that end with a chunk are kept apart', async () => {
    const long = 'a'.repeat(70_000);
    expect(await stringsIn(Buffer.from(`${long}\0another`), 'ascii', long.length)).toEqual([long, 'another']);
  });
});
