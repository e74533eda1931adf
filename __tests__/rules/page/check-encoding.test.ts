import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { checkEncoding } from '../../../src/rules/page/page-file.ts';

/** `Привет` in windows-1251. */
const PRIVET = '\xcf\xf0\xe8\xe2\xe5\xf2';
/** In pieces of a size that cuts letters. */
const check = (text: string | Buffer, name: string): Promise<readonly string[]> => {
  const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text, 'latin1');
  const count = Math.ceil(bytes.length / 1_001);
  const parts = Array.from({ length: count }, (_, at) => bytes.subarray(at * 1_001, (at + 1) * 1_001));
  const pieces = () => Readable.from(parts);
  return checkEncoding({ size: bytes.length, pieces }, name);
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
    'page.html line 1: the page is not in UTF-8 everywhere: a browser shows � where it is not',
  ]);
});

test('searches only the beginning of a large text, which may end within a letter', async () => {
  const bytes = Buffer.concat([Buffer.from(`x${'й'.repeat(600_000)}`), Buffer.from(PRIVET, 'latin1')]);
  expect(await check(bytes, 'notes.txt')).toEqual([]);
});

test('searches a large page to its end, in letters that are cut anywhere', async () => {
  const lines = Buffer.from('й€😀\n'.repeat(20_000));
  expect(await check(lines, 'page.html')).toEqual([]);
  const page = Buffer.concat([lines, Buffer.from(PRIVET, 'latin1')]);
  await expect(check(page, 'page.html')).rejects.toThrow(/^page\.html line 20001: /);
  expect(await check(lines.subarray(0, -2), 'page.html')).toEqual([
    expect.stringMatching(/^page\.html line 20000: /),
  ]);
});
