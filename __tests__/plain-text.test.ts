import { describe, expect, test } from '@jest/globals';
import { countFiles, neutralizeText, shorten, showInvisible } from '../src/plain-text.ts';
import { REPORT_LINES } from '../src/protocol/words.ts';

describe('showInvisible', () => {
  test.each([
    ...['\u00ad', '\u034f', '\u061c', '\u115f', '\u17b4', '\u180b', '\u180e', '\u200b', '\u200e', '\u200f'],
    ...['\u202a', '\u202e', '\u2060', '\u2066', '\u2069', '\u206f', '\u3164', '\ufe00', '\ufeff', '\uffa0'],
    ...['\ufff9', '\u{1d173}', '\u{e0041}', '\u{e0100}', '\u{e01ef}'],
  ])('shows %j by its number', (character) => {
    const number = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    expect(showInvisible(`a${character}b`)).toBe(number.length > 4 ? `a\\u{${number}}b` : `a\\u${number}b`);
  });

  test.each(['Привет', 'نمی\u200cخواهم', '👨\u200d👩\u200d👧', '❤\ufe0f', 'क्\u200dष', 'e\u0301'])(
    'leaves %s as it is',
    (text) => {
      expect(showInvisible(text)).toBe(text);
    },
  );
});

test('one file is counted in the singular', () => {
  expect([0, 1, 2].map(countFiles)).toEqual(['0 files', '1 file', '2 files']);
});

test('a text is cut between characters', () => {
  expect(shorten('😀'.repeat(10), 10)).toBe('😀'.repeat(10));
  expect(shorten('😀'.repeat(11), 10)).toBe(`${'😀'.repeat(10)}…`);
});

describe('a text from outside', () => {
  test.each([...REPORT_LINES])('never holds the name of the line %s as the line begins', (name) => {
    for (const end of [':', ' :', '\t:', '\u00a0:', '\ufe0f:', '\u3164:']) {
      expect(neutralizeText(`a ${name}${end} b`)).toBe(`a ${name}; b`);
    }
  });

  test.each(['ГОТОВО', 'готово', 'ГО\u034fТОВО', 'ГО\ufe0fТОВО', 'ГО\u00adТОВО', 'ГО\u2064ТОВО'])(
    'never holds the word of the result: %s',
    (word) => {
      expect(neutralizeText(`${word} → https://octo.dev/x`)).toBe('готово → https://octo.dev/x');
    },
  );

  test('is on one line, whatever breaks it', () => {
    expect(neutralizeText('a\nb\r\nc\u2028d\u2029e\u0085f\u000bg\u001bh\0i')).toBe('a b c d e f g h i');
  });

  test.each(['octo/demo', 'Результат готов', 'the test: 3 of 4', 'отчёт за июнь.html', '報告書.html', 'a→b'])(
    'stays as it is without such words: %s',
    (text) => {
      expect(neutralizeText(text)).toBe(text);
    },
  );
});
