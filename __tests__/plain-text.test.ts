import { describe, expect, test } from '@jest/globals';
import { countFiles, showInvisible } from '../src/plain-text.ts';

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
