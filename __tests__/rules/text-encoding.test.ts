import { describe, expect, test } from '@jest/globals';
import { createEncodingCheck, isReadAsWritten } from '../../src/rules/text-encoding.ts';

/** `Привет` in windows-1251. */
const PRIVET = '\xcf\xf0\xe8\xe2\xe5\xf2';
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const find = (bytes: string | Buffer, isWhole?: boolean): string => {
  const check = createEncodingCheck();
  check.add(typeof bytes === 'string' ? latin1(bytes) : bytes);
  const found = check.end(isWhole);
  return found === null
    ? 'right'
    : `${found.line} ${/NUL bytes|not in UTF-8|in [^,:]+/.exec(found.text)?.[0]}, ${found.isUnreadable}`;
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
    ['the longer one', `<meta http-equiv=x content="a; charset=KOI8-R">${PRIVET}`, '1 in KOI8-R, true'],
    ['that of XHTML', `<?xml encoding="windows-1251"?>\n<p>${PRIVET}`, '2 in windows-1251, true'],
    ['that of CSS', `@charset "windows-1251";\na { b: "${PRIVET}" }`, '2 in windows-1251, true'],
    ['one without a declaration', `<p>${PRIVET}`, '1 not in UTF-8, true'],
    ['UTF-8 with a wrong byte', '<meta charset=UTF8>\n\n\n<p>\xe9', '4 not in UTF-8, false'],
    ['UTF-16 without a mark', Buffer.from('<p>\nHello', 'utf16le'), '1 NUL bytes, true'],
    ['UTF-16 in other letters', Buffer.from('Привет, мир', 'utf16le'), '1 NUL bytes, true'],
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

const bytesOf = (text: string, encoding: BufferEncoding = 'utf8'): string =>
  Buffer.from(text, encoding).toString('latin1');
const PAGE = bytesOf('<!doctype html><meta charset="utf-8"><p>Привет');
/** Cut within a character. */
const CUT = PAGE.slice(0, -1);
const PLAIN = '<!doctype html><p>Hello';

describe('the encoding that the host of a text declares', () => {
  test.each([
    ['none, but the page does', PAGE, 'text/html'],
    ['none, of what has the encoding of its page', bytesOf('alert("Привет")'), 'text/javascript'],
    ['none, of a page in another one', bytesOf('<p>für', 'latin1'), 'text/html'],
    ['that of the page', PAGE, 'text/html; charset=utf-8'],
    ['that of a page that is cut within a character', CUT, 'text/html; charset=utf-8'],
    ['one that is the same for its letters', PLAIN, 'text/html; charset=iso-8859-1'],
    ['one that no browser knows', PAGE, 'text/html; charset=nonsense'],
    ['another one than that of a mark', `\xef\xbb\xbf${PAGE}`, 'text/html; charset=windows-1251'],
    ['that of a page in another one', '<meta charset=windows-1251>\xcf\xf0\xe8', 'text/html; charset=utf-8'],
  ])('lets a browser read it: %s', (_, head, type) => {
    expect(isReadAsWritten(() => head, type)).toBe(true);
  });

  test.each([
    ['one of 8 bits', PAGE, 'text/html; charset=windows-1251'],
    ['none, nor does the page', bytesOf('<!doctype html><p>Привет'), 'text/html'],
    ['none, but the page a wrong one', PAGE.replace('utf-8', 'windows-1251'), 'text/html'],
    ['none of a plain text', bytesOf('Привет'), 'text/plain'],
    ['one of 8 bits for a script', bytesOf('alert("Привет")'), 'text/javascript; charset=windows-1251'],
    ['one of 8 bits, for a cut page', CUT, 'text/html; charset=iso-8859-1'],
    ['one of 16 bits', PAGE, 'text/html; charset=utf-16le'],
  ])('keeps a browser from reading it: %s', (_, head, type) => {
    expect(isReadAsWritten(() => head, type)).toBe(false);
  });
});
