import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { escapeMarkdown, formatAddressLink, formatLink, formatMessage } from '../../src/action/markdown.ts';
import { shown } from './runner.ts';

describe('escapeMarkdown', () => {
  test('shows what changes the direction of a text or cannot be seen', () => {
    const safe = escapeMarkdown('a\u202eb\u2066c\u200bd\u034fe\u001bf');
    expect(shown(safe)).toBe('a\\u202eb\\u2066c\\u200bd\\u034fe f');
  });

  test.each([
    '@octo/team',
    'octo/site#42',
    'gh-42',
    'https://github.com/octo',
    'www.evil.example',
    'a::key::B',
    ':+1:',
  ])('turns %s into plain text, not into a reference', (text) => {
    // The host looks for references once entities are signs again, and for bare addresses before.
    expect(shownWithSeparators(escapeMarkdown(text))).not.toMatch(/@\w|#\d|\bgh-\d|:[\w+]+:/i);
    expect(escapeMarkdown(text)).not.toMatch(/:\/\/|\bwww\./);
    expect(shown(escapeMarkdown(text))).toBe(text);
  });

  test('shows any text unchanged and never as markup', () => {
    const markup = fc.constantFrom(...'[a](b) <!-- &lt; &#64; \\| ** _ ~~ # - $ `'.split(' '));
    const any = fc.string({ unit: 'grapheme', maxLength: 9 });
    const text = fc
      .array(fc.oneof(any, markup), { maxLength: 9 })
      .map((parts) => parts.join('').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ''));
    fc.assert(
      fc.property(text, (said) => {
        expect(escapeMarkdown(said)).not.toMatch(/[\\`*_{}[\]<>()|~!$@\n\r-]|&(?!#\d+;)/);
        expect(shown(escapeMarkdown(said))).toBe(said.replace(/[\s\p{Cc}]+/gu, ' '));
      }),
    );
  });
});

/** Markdown with its entities decoded, its separators kept. */
const shownWithSeparators = (markdown: string): string =>
  markdown.replace(/&#(\d+);/g, (_, sign: string) => String.fromCharCode(Number(sign)));

describe('formatMessage', () => {
  test.each([
    ['set `path: a_b`, or `file:`', 'set <code>path: a_b</code>, or <code>file:</code>'],
    ['(`x`).', '(<code>x</code>).'],
    ['opens at https://octo.github.io/a#1; so', 'opens at <code>https://octo.github.io/a#1</code>; so'],
    ['see https://octo.github.io/a.', 'see <code>https://octo.github.io/a</code>.'],
    ['see `https://octo.github.io/a.`', 'see <code>https://octo.github.io/a.</code>'],
    ['a`b`c', 'a`b`c'],
    ['an odd ` in it', 'an odd ` in it'],
    ['` a ` and ``', '` a ` and ``'],
    ['no code, no address', 'no code, no address'],
  ])('shows code and addresses as inline code: %j', (text, expected) => {
    expect(shown(formatMessage(text))).toBe(expected);
  });

  test('never shows anything else than its text and inline code', () => {
    const unit = fc.constantFrom(' ', '\n', ...'` a <b> @octo #1 gh-1 https://x.dev/@a | * ]('.split(' '));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
        const formatted = formatMessage(text);
        const plain = formatted.replace(/<\/?code>|<wbr>/g, '');
        expect(plain).not.toMatch(/[\\`*_{}[\]<>()|~!$@\n\r-]|&(?!#\d+;)|:\/\//);
        expect(shownWithSeparators(formatted)).not.toMatch(/@\w|#\d|\bgh-\d|:[\w+]+:/i);
        const whole = text.replace(/\s+/g, ' ').replaceAll('`', '');
        expect(shown(plain).replaceAll('`', '')).toBe(whole);
      }),
    );
  });
});

describe('formatAddressLink and formatLink', () => {
  test.each([
    ['https://octo.github.io/a_b(c).html', '<https://octo.github.io/a_b(c).html>'],
    ['https://octo.github.io/a|b>c<d`e\\f?g|h', '<https://octo.github.io/a%7Cb%3Ec%3Cd%60e/f?g%7Ch>'],
    ['https://octo.github.io/?a=`b`&c=\\d', '<https://octo.github.io/?a=%60b%60&amp;c=%5Cd>'],
    [
      "https://octo.github.io/@a&copy;b&lt'*_$;.html",
      "<https://octo.github.io/@a&amp;copy;b&amp;lt'*_$;.html>",
    ],
    ['https://octo.github.io/?a=1&lt;b', '<https://octo.github.io/?a=1&amp;lt;b>'],
    ['https://octo.github.io/слайды.html', /^<https:\/\/octo\.github\.io\/(%[0-9A-F]{2})+\.html>$/],
  ])('keep the address %s intact', (address, expected) => {
    expect(formatAddressLink(address)).toEqual(
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    );
  });

  test('put the text before the address', () => {
    expect(formatLink('page', 'https://octo.github.io/')).toBe('[page](<https://octo.github.io/>)');
  });
});
