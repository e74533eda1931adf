import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { describeMisreadFile } from '../../../src/rules/page/page-file.ts';

/** `Привет` in windows-1251. */
const PRIVET = Buffer.from('\xcf\xf0\xe8\xe2\xe5\xf2', 'latin1');

/** In pieces of a size that cuts letters. */
const describe = (bytes: Buffer, name: string): Promise<readonly string[]> => {
  const count = Math.ceil(bytes.length / 1_001);
  const parts = Array.from({ length: count }, (_, at) => bytes.subarray(at * 1_001, (at + 1) * 1_001));
  return describeMisreadFile({ size: bytes.length, pieces: () => Readable.from(parts) }, name);
};

test.each(['notes.txt', 'notes.md', 'app.js', 'style.css', 'data.json'])('notes %s', async (name) => {
  expect(await describe(PRIVET, name)).toEqual([
    expect.stringContaining(`${name} line 1: the text is not in UTF-8`),
  ]);
});

test.each(['photo.png', 'archive.tar.gz', 'data.xml', 'drawing.svg', 'file'])('accepts %s', async (name) => {
  expect(await describe(PRIVET, name)).toEqual([]);
});

test('searches only the beginning of a large text, which may end within a letter', async () => {
  const bytes = Buffer.concat([Buffer.from(`x${'й'.repeat(600_000)}`), PRIVET]);
  expect(await describe(bytes, 'notes.txt')).toEqual([]);
});
