import { describe, expect, test } from '@jest/globals';
import { readCharset } from '../../src/rules/page/link-page.ts';
import { createEncodingCheck, isReadAsWritten } from '../../src/rules/text-encoding.ts';

/** `Привет` in windows-1251. */
const PRIVET = '\xcf\xf0\xe8\xe2\xe5\xf2';
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const find = (bytes: string | Buffer, isWhole?: boolean): string => {
  const check = createEncodingCheck(readCharset);
  check.add(typeof bytes === 'string' ? latin1(bytes) : bytes);
  const found = check.end(isWhole);
  return found === null
    ? 'right'
    : `${found.line} ${/not in UTF-8|in [^,:]+/.exec(found.text)?.[0]}, ${found.isUnreadable}`;
};

describe('a text that its host calls UTF-8', () => {
  test.each<[string, string | Buffer]>([
    ['UTF-8', Buffer.from('<meta charset=utf-8><p>Привет')],
    ['UTF-8 that calls itself something else', Buffer.from('<meta charset=windows-1251><p>Привет')],
    ['Latin letters of one that no browser knows', '<meta charset=nonsense><p>Hello'],
    ['UTF-8 with a mark', Buffer.from('\ufeff<p>Привет')],
    ['UTF-16 with a mark', Buffer.from('\ufeff<p>Привет', 'utf16le')],
    ['UTF-16 with a mark, the other bytes first', Buffer.from('\ufeff<p>Привет', 'utf16le').swap16()],
    ['nothing', ''],
  ])('is read as it was written: %s', (_, bytes) => {
    expect(find(bytes)).toBe('right');
  });

  test.each<[string, string | Buffer, string]>([
    ['an 8-bit encoding', `<meta charset="windows-1251">\n\n<p>${PRIVET}`, '3 in windows-1251, true'],
    [
      'the longer one',
      `<meta http-equiv=content-type content="a; charset=KOI8-R">${PRIVET}`,
      '1 in koi8-r, true',
    ],
    ['one without a declaration', `<p>${PRIVET}`, '1 not in UTF-8, true'],
    ['UTF-8 with a wrong byte', '<meta charset=UTF8>\n\n\n<p>\xe9', '4 not in UTF-8, false'],
    ['UTF-16 without a mark', Buffer.from('<p>\nHello', 'utf16le'), '1 not in UTF-8, true'],
    ['UTF-16 in other letters', Buffer.from('Привет, мир', 'utf16le'), '1 not in UTF-8, true'],
    ['UTF-8 with a mark and a wrong byte', '\xef\xbb\xbf<p>\n\xe9\n', '2 not in UTF-8, false'],
  ])('is not: %s', (_, bytes, found) => {
    expect(find(bytes)).toBe(found);
  });

  test('may be cut within a character', () => {
    for (const letter of ['й', '€', '😀']) {
      const bytes = Buffer.from(`<p>${letter}`);
      for (let length = 4; length < bytes.length; length += 1) {
        expect(find(bytes.subarray(0, length), false)).toBe('right');
        expect(find(bytes.subarray(0, length))).toBe('1 not in UTF-8, true');
      }
    }
    expect(find(`${PRIVET} and more`, false)).toBe('1 not in UTF-8, true');
  });
});

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');
const PAGE = bytesOf('<!doctype html><p>Привет');
/** Cut within a character. */
const CUT = PAGE.slice(0, -1);

describe('a text in UTF-8', () => {
  test.each([
    ['UTF-8', PAGE, 'utf-8'],
    ['UTF-8 that is cut within a character', CUT, 'utf-8'],
    ['one that is the same for its letters', '<p>Hello', 'windows-1252'],
    ['another encoding than its mark', `\xef\xbb\xbf${PAGE}`, 'windows-1251'],
    ['the one that it has', `<p>${PRIVET}`, 'windows-1251'],
    ['UTF-8, but is not', `<p>${PRIVET}`, 'utf-8'],
  ])('is read as it was written in %s', (_, head, encoding) => {
    expect(isReadAsWritten(head, encoding)).toBe(true);
  });

  test.each([
    ['of 8 bits', PAGE, 'windows-1251'],
    ['of 8 bits that is cut within a character', CUT, 'windows-1252'],
    ['of 16 bits', '<p>Hello', 'utf-16le'],
    ['that shows nothing', '<p>Hello', 'replacement'],
  ])('is not read as it was written in one %s', (_, head, encoding) => {
    expect(isReadAsWritten(head, encoding)).toBe(false);
  });
});

test.each([
  ['<!doctype html><title>T</title><meta charset="utf-8">', 'utf-8'],
  ['<meta charset=UTF8>', 'utf-8'],
  ['<META HTTP-EQUIV=Content-Type CONTENT="text/html; charset=windows-1251">', 'windows-1251'],
  ['<meta charset=koi8-r><meta charset=utf-8>', 'koi8-r'],
  ['<meta charset=utf8mb4><meta charset=utf-8>', 'utf-8'],
  ['<meta charset=utf8mb4>', null],
  ['<meta http-equiv=content-type content="text/html; charset=utf-8" charset=utf8mb4>', null],
  ['<!-- <meta charset=utf-8> -->', null],
  ["<script>const t = '<meta charset=utf-8>'</script>", null],
  ['<title><meta charset=utf-8></title>', null],
  ['<meta name=description content="charset=utf-8">', null],
  [`<p>${'x'.repeat(1_024)}</p><meta charset=utf-8>`, 'utf-8'],
  ['<meta charset=utf-16>', 'utf-8'],
  ['<meta http-equiv=content-type content="text/html; charset=\'utf-8\'">', 'utf-8'],
  ['<meta charset=iso-2022-kr>', 'replacement'],
  ['<noscript><meta charset=windows-1251></noscript><meta charset=utf-8>', 'windows-1251'],
  ['', null],
])('A page declares in %s the encoding %s.', (head, encoding) => {
  expect(readCharset(head)).toBe(encoding);
});
