import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { checkEncoding } from '../../../src/rules/page/check-encoding.ts';

/** `Привет` in windows-1251. */
const PRIVET = '\xcf\xf0\xe8\xe2\xe5\xf2';
const check = (text: string, name: string): Promise<readonly string[]> => {
  const bytes = Buffer.from(text, 'latin1');
  return checkEncoding({ size: bytes.length, read: () => Readable.from([bytes]) }, name);
};

test.each(['page.html', 'page.htm', 'page.xhtml'])('refuses %s that is not in UTF-8', async (name) => {
  await expect(check(`<p>\n${PRIVET}`, name)).rejects.toMatchObject({
    code: 'BAD_FILE',
    message: expect.stringMatching(/^page\.\w+ line 2: the page is not in UTF-8, /),
    hint: 'save it as UTF-8',
  });
});

test.each(['notes.txt', 'notes.md', 'app.js', 'style.css', 'data.json'])('notes %s', async (name) => {
  expect(await check(PRIVET, name)).toEqual([
    expect.stringContaining(`${name} line 1: the text is not in UTF-8`),
  ]);
});

test.each(['photo.png', 'archive.tar.gz', 'data.xml', 'drawing.svg', 'file'])('accepts %s', async (name) => {
  expect(await check(PRIVET, name)).toEqual([]);
});

test('notes a page that looks wrong everywhere', async () => {
  expect(await check(`<meta charset=utf-8>${PRIVET}`, 'page.html')).toEqual([
    'page.html line 1: the page calls itself UTF-8 and is not, so a browser shows � where it is not',
  ]);
});

test('searches only the beginning of a large text, which may end within a letter', async () => {
  const bytes = Buffer.from('й'.repeat(600_000));
  const parts = [bytes.subarray(0, 1_048_577), Buffer.from(PRIVET, 'latin1')];
  const file = { size: bytes.length, read: () => Readable.from(parts) };
  expect(await checkEncoding(file, 'notes.txt')).toEqual([]);
});
