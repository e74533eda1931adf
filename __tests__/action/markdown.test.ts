import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addressLink,
  blocks,
  escapeMarkdown,
  foldedSection,
  inlineCode,
  link,
  table,
  tableRow,
  takeWhileFits,
} from '../../src/action/markdown.ts';
import { shown } from './runner.ts';

describe('text from outside', () => {
  test.each([
    '[click](https://evil.example)',
    '![x](https://evil.example/p.png)',
    '<img src=x onerror=alert(1)>',
    '<!-- hidden',
    '`code`',
    '**bold** _it_ ~~no~~',
    'a | b',
    '# heading',
    '- item',
    '$x^2$',
    '&lt;',
    '&#64;octo',
    '\\|',
  ])('%j is shown as it is', (text) => {
    expect(escapeMarkdown(text)).not.toMatch(/[\\`*_{}[\]<>()|~!$@-]|&(?!#\d+;)|(?<!&)#/);
    expect(shown(escapeMarkdown(text))).toBe(text);
  });

  test.each([
    ['@octo', 'a person'],
    ['@octo/team', 'a team'],
    ['#42', 'an issue'],
    ['octo/site#42', 'an issue elsewhere'],
    ['gh-42', 'an issue by its old name'],
    ['octo/site@c0ffee1', 'a commit'],
    ['https://github.com/octo/site/issues/42', 'an address'],
    ['www.evil.example', 'an address without a scheme'],
    ['a@evil.example', 'a mailbox'],
  ])('%s tells nobody and leads nowhere: it is %s', (text) => {
    const entitiesRead = escapeMarkdown(text).replace(/&#(\d+);/g, (_, sign: string) =>
      String.fromCharCode(Number(sign)),
    );
    // The host looks for references once entities are signs again, and for bare addresses before.
    expect(entitiesRead).not.toMatch(/@\w|#\d|\bgh-\d/i);
    expect(escapeMarkdown(text)).not.toMatch(/:\/\/|www\./);
    expect(shown(escapeMarkdown(text))).toBe(text);
  });

  test('is shown as it is, whatever its signs, and never as markup', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 }).map((said) => said.replaceAll('\u200b', ''));
    fc.assert(
      fc.property(text, (said) => {
        expect(escapeMarkdown(said)).not.toMatch(/[\\`*_{}[\]<>()|~!$@\n\r-]|&(?!#\d+;)/);
        expect(shown(escapeMarkdown(said))).toBe(said.replace(/[\s\p{Cc}]+/gu, ' '));
      }),
    );
  });

  test.each(['a\nb', 'a\r\n\r\nb', 'a\u0000b', 'a\u2028b', 'a\u0085b'])('%j stays in one line', (text) => {
    expect(escapeMarkdown(text)).toBe('a b');
  });

  test('stays text in a typewriter’s letters', () => {
    expect(inlineCode('</code><b>')).toBe('<code>&#60;/code&#62;&#60;b&#62;</code>');
  });
});

describe('a link', () => {
  test.each([
    ['https://octo.github.io/a_b(c).html', '<https://octo.github.io/a_b(c).html>'],
    ['https://octo.github.io/a|b>c<d`e\\f?g|h', '<https://octo.github.io/a%7Cb%3Ec%3Cd%60e/f?g%7Ch>'],
    ['https://octo.github.io/?a=`b`&c=\\d', '<https://octo.github.io/?a=%60b%60&c=%5Cd>'],
    ['https://octo.github.io/?a=1&lt;b', '<https://octo.github.io/?a=1&amp;lt;b>'],
    ['https://octo.github.io/слайды.html', /^<https:\/\/octo\.github\.io\/(%[0-9A-F]{2})+\.html>$/],
  ])('to %s stays whole', (address, expected) => {
    expect(addressLink(address)).toEqual(
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    );
  });

  test('carries its text', () => {
    expect(link('page', 'https://octo.github.io/')).toBe('[page](<https://octo.github.io/>)');
  });
});

describe('the parts of a page', () => {
  test('a table is one line a row', () => {
    expect(table(['a', 'b'], [tableRow(['1', '2'])])).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |');
  });

  test('what is folded stands apart from its frame, so that it is read as Markdown', () => {
    expect(foldedSection('More', '- x')).toBe('<details><summary>More</summary>\n\n- x\n\n</details>');
  });

  test('blocks without content leave no gap', () => {
    expect(blocks(['a', '', 'b'])).toBe('a\n\nb');
  });

  test.each([
    [0, ''],
    [2, ''],
    [3, 'A'],
    [5, 'A'],
    [6, 'AB'],
    [100, 'ABC'],
  ])('in a room of %d fits %j of the whole, and little more is written', (room, expected) => {
    const asked: string[] = [];
    const write = (item: string): string => {
      asked.push(item);
      return item.toUpperCase();
    };
    expect(takeWhileFits(['a', 'b', 'c'], write, room, (text) => text.length).join('')).toBe(expected);
    expect(asked.length).toBeLessThanOrEqual(expected.length + 1);
  });
});
