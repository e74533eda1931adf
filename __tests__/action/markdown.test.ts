import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  escapeMarkdown,
  formatAddressLink,
  formatFoldedSection,
  formatInlineCode,
  formatLink,
  formatMessage,
  formatTable,
  formatTableRow,
  joinBlocks,
} from '../../src/action/markdown.ts';
import { shown } from './runner.ts';

describe('escapeMarkdown', () => {
  test('shows what changes the direction of a text or cannot be seen', () => {
    const safe = escapeMarkdown('a\u202eb\u2066c\u200bd\u034fe\u001bf');
    expect(shown(safe)).toBe('a\\u202eb\\u2066c\\u200bd\\u034fe f');
  });

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
  ])('shows %j unchanged', (text) => {
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
  ])('turns %s into plain text, not into a reference to %s', (text) => {
    const entitiesRead = escapeMarkdown(text).replace(/&#(\d+);/g, (_, sign: string) =>
      String.fromCharCode(Number(sign)),
    );
    // The host looks for references once entities are signs again, and for bare addresses before.
    expect(entitiesRead).not.toMatch(/@\w|#\d|\bgh-\d/i);
    expect(escapeMarkdown(text)).not.toMatch(/:\/\/|\bwww\./);
    expect(shown(escapeMarkdown(text))).toBe(text);
  });

  test('shows any text unchanged and never as markup', () => {
    const text = fc
      .string({ unit: 'grapheme', maxLength: 60 })
      .map((said) => said.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ''));
    fc.assert(
      fc.property(text, (said) => {
        expect(escapeMarkdown(said)).not.toMatch(/[\\`*_{}[\]<>()|~!$@\n\r-]|&(?!#\d+;)/);
        expect(shown(escapeMarkdown(said))).toBe(said.replace(/[\s\p{Cc}]+/gu, ' '));
      }),
    );
  });

  test.each(['a\nb', 'a\r\n\r\nb', 'a\u0000b', 'a\u2028b', 'a\u0085b'])('puts %j in one line', (text) => {
    expect(escapeMarkdown(text)).toBe('a b');
  });
});

/** Everything between tags, as a browser shows it and a person copies it. */
const copied = (html: string): string =>
  html.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_, sign: string) => String.fromCharCode(Number(sign)));

describe('formatInlineCode', () => {
  test('shows markup as text', () => {
    expect(formatInlineCode('</code><b>')).toBe('<code>&#60;/code&#62;&#60;b&#62;</code>');
  });

  test.each(['https://octo.github.io/@me/#1?a=gh-1', 'a@evil.example', '@octo/team#42', 'www.evil.example'])(
    'is copied without any further character: %s',
    (text) => {
      expect(copied(formatInlineCode(text))).toBe(text);
    },
  );

  test('contains no reference, no automatic link and no markup, whatever its text', () => {
    const text = fc.string({
      unit: fc.constantFrom('@', '#', 'o', '1', '-', 'gh', '://', 'www', '.', '`', '<', '|'),
    });
    fc.assert(
      fc.property(text, (content) => {
        const code = formatInlineCode(content);
        expect(copied(code)).toBe(content);
        const inner = code.slice('<code>'.length, -'</code>'.length).replaceAll('<wbr>', '\u200b');
        expect(inner).not.toMatch(/[\\`*_{}[\]<>()|~!$@\n\r-]|&(?!#\d+;)|:\/\/|\bwww\./);
        expect(shownWithSeparators(inner)).not.toMatch(/@\w|#\d|\bgh-\d/i);
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
    const unit = fc.constantFrom(
      '`',
      ' ',
      'a',
      '<b>',
      '@octo',
      '#1',
      'gh-1',
      'https://x.dev/@a',
      '|',
      '*',
      '](',
      '\n',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
        const formatted = formatMessage(text);
        const plain = formatted.replace(/<\/?code>|<wbr>/g, '');
        expect(plain).not.toMatch(/[\\`*_{}[\]<>()|~!$@\n\r-]|&(?!#\d+;)|:\/\//);
        expect(shownWithSeparators(formatted)).not.toMatch(/@\w|#\d|\bgh-\d/i);
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
    ['https://octo.github.io/?a=`b`&c=\\d', '<https://octo.github.io/?a=%60b%60&c=%5Cd>'],
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

describe('the parts of a page in Markdown', () => {
  test('a table has one line for each row', () => {
    expect(formatTable(['a', 'b'], [formatTableRow(['1', '2'])])).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |');
  });

  test('a folded section has empty lines around its content, so that it is read as Markdown', () => {
    expect(formatFoldedSection('More', '- x')).toBe('<details><summary>More</summary>\n\n- x\n\n</details>');
  });

  test('empty blocks leave no gap', () => {
    expect(joinBlocks(['a', '', 'b'])).toBe('a\n\nb');
  });
});
