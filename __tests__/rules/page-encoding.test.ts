import { describe, expect, test } from '@jest/globals';
import { isReadAsWritten } from '../../src/rules/text-encoding.ts';

const latin1 = (text: string, encoding: BufferEncoding = 'utf8'): string =>
  Buffer.from(text, encoding).toString('latin1');
const PAGE = latin1('<!doctype html><meta charset="utf-8"><p>Привет');
/** Cut within a character. */
const CUT = PAGE.slice(0, -1);
const PLAIN = '<!doctype html><p>Hello';

describe('the encoding that the host of a text declares', () => {
  test.each([
    ['none, but the page does', PAGE, 'text/html'],
    ['none, of letters that all have in common', PLAIN, 'text/html'],
    ['none, of what has the encoding of its page', latin1('alert("Привет")'), 'text/javascript'],
    ['none, of what is always in UTF-8', latin1('{"a":"Привет"}'), 'application/json'],
    ['none, of a page in another one', latin1('<p>für', 'latin1'), 'text/html'],
    ['that of the page', PAGE, 'text/html; charset=utf-8'],
    ['that of the page, in other words', PAGE, 'text/html;Charset="UTF8"'],
    ['that of a page that is cut within a character', CUT, 'text/html; charset=utf-8'],
    ['one that is the same for its letters', PLAIN, 'text/html; charset=iso-8859-1'],
    ['one that no browser knows', PAGE, 'text/html; charset=nonsense'],
    ['another one than that of a mark', `\xef\xbb\xbf${PAGE}`, 'text/html; charset=windows-1251'],
    ['that of a page in another one', '<meta charset=windows-1251>\xcf\xf0\xe8', 'text/html; charset=utf-8'],
  ])('lets a browser read it: %s', (_, head, type) => {
    expect(isReadAsWritten(head, type)).toBe(true);
  });

  test.each([
    ['one of 8 bits', PAGE, 'text/html; charset=windows-1251'],
    ['none, nor does the page', latin1('<!doctype html><p>Привет'), 'text/html'],
    ['none, nor does a page without a type', latin1('<!doctype html><p>Привет'), ''],
    ['none, but the page a wrong one', PAGE.replace('utf-8', 'windows-1251'), 'text/html'],
    ['none of a plain text', latin1('Привет'), 'text/plain'],
    ['one of 8 bits for a script', latin1('alert("Привет")'), 'text/javascript; charset=windows-1251'],
    ['one of 8 bits, for a cut page', CUT, 'text/html; charset=iso-8859-1'],
    ['one of 16 bits', PAGE, 'text/html; charset=utf-16le'],
    ['one of 16 bits, for plain letters', PLAIN, 'text/html; charset=UTF-16'],
  ])('keeps a browser from reading it: %s', (_, head, type) => {
    expect(isReadAsWritten(head, type)).toBe(false);
  });
});
