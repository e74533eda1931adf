import { describe, expect, test } from '@jest/globals';
import { neutralizeText } from '../../src/delivery/neutral-text.ts';
import { REPORT_LINES, RESULTS } from '../../src/protocol/words.ts';

describe('a text from outside', () => {
  test.each([...REPORT_LINES])('never looks like the line %s', (name) => {
    const written = [name, name.replace('E', 'Е').replace('O', 'О').replace('M', 'Μ'), toFullWidth(name)];
    const ends = [':', ' :', '\t:', '\u00a0:', '：', '꞉', '︓', '\u034f:', '\ufe0f:', '\u3164:', '\u0338:'];
    for (const word of written) {
      for (const end of ends) expect(neutralizeText(`a ${word}${end} b`)).toBe(`a ${name}; b`);
    }
  });

  test.each([
    ...['ГОТОВО', 'готово', 'ГOTOBO', 'ΓΟΤΟΒΟ', 'Г0Т0В0', 'ГＯＴＯВО', 'Г𝐎𝐓𝐎𝐁𝐎', 'ГⓄⓉⓄⒷⓄ'],
    ...['ГО\u0301ТОВО', 'ГО\u034fТОВО', 'ГО\ufe0fТОВО', 'ГО\u{e0100}ТОВО', 'ГО\u00adТОВО', 'ГО\u2064ТОВО'],
  ])('never holds the word of the result: %s', (word) => {
    const clean = neutralizeText(`${word} → https://octo.dev/x`);
    expect(clean).toBe('готово → https://octo.dev/x');
    expect(clean).not.toContain(RESULTS.ready);
  });

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

const toFullWidth = (word: string): string =>
  Array.from(word, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)).join('');
