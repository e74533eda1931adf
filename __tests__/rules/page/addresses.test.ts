import { describe, expect, test } from '@jest/globals';
import {
  formatAddress,
  isExternal,
  isSpecifierAddress,
  parseRefresh,
  parseSrcset,
} from '../../../src/rules/page/addresses.ts';

describe('the check of an address', () => {
  test.each([
    'https://a.example/a.png',
    'HTTP://a.example',
    '//a.example/a.png',
    '\\\\a.example\\a.png',
    '/a.png',
    './a.png',
    '../a.png',
    'a.png',
    '?a',
    'a b.png',
    ' \n a.png',
    'ftp://a.example',
    'file:///a.png',
    'C:\\a.png',
    'sandbox:/mnt/data/a.png',
    'ht\ntps://a.example',
    'data/a.png',
  ])('isExternal returns true for %j', (address) => {
    expect(isExternal(address)).toBe(true);
  });

  test.each([
    '',
    ' \n',
    '#a',
    ' #a',
    'data:image/png;base64,AA',
    'DATA:,a',
    ' da\nta:,a',
    'blob:https://a.example/1',
    'about:blank',
    'javascript:void 0',
    'mailto:a',
    'node:fs',
  ])('isExternal returns false for %j', (address) => {
    expect(isExternal(address)).toBe(false);
  });

  test.each([
    ['./a', true],
    ['../a', true],
    ['/a', true],
    ['https://a', true],
    ['data:,a', true],
    ['a', false],
    ['@a/b', false],
    ['.a', false],
  ])('isSpecifierAddress for %j returns %j', (specifier, expected) => {
    expect(isSpecifierAddress(specifier)).toBe(expected);
  });
});

describe('parseSrcset', () => {
  test.each([
    ['a.png', ['a.png']],
    ['a.png 1x, b.png 2x', ['a.png', 'b.png']],
    ['a.png 1x,b.png', ['a.png', 'b.png']],
    ['a.png, b.png', ['a.png', 'b.png']],
    ['a,b.png 2x', ['a,b.png']],
    ['data:image/png;base64,AA,BB 1x, b.png 2x', ['data:image/png;base64,AA,BB', 'b.png']],
    ['data:,a, b.png', ['data:,a', 'b.png']],
    ['\n a.png 100w (a, b) , b.png', ['a.png', 'b.png']],
    [',,a.png,,', ['a.png']],
    ['', []],
  ])('returns the addresses of %j', (srcset, addresses) => {
    expect([...parseSrcset(srcset)]).toEqual(addresses);
  });
});

describe('parseRefresh', () => {
  test.each([
    ['0; url=a.html', 'a.html'],
    ['5;URL = "a.html"', 'a.html'],
    ["3,url='a b.html' c", 'a b.html'],
    [' 1.5 ; a.html', 'a.html'],
    ['0 a.html', 'a.html'],
    [';url=a.html', 'a.html'],
    ['0; url="a.html', 'a.html'],
    ['0; url=\n', ''],
    ['5', ''],
    ['5;', ''],
    ['', ''],
  ])('returns the address of %j', (content, address) => {
    expect(parseRefresh(content)).toBe(address);
  });
});

describe('formatAddress', () => {
  test.each([
    ['returns one line', ' https://a.example/a\nb\u202e\u0007c ', 'https://a.example/ab c'],
    ['removes credentials', 'https://user:word@a.example/b', 'https://***@a.example/b'],
    ['removes credentials without a scheme', '//user@a.example/b', '//***@a.example/b'],
    ['keeps an @ in the path', 'https://a.example/@b/c', 'https://a.example/@b/c'],
    ['removes the query', 'https://a.example/b?token=1#c', 'https://a.example/b?…'],
  ])('%s', (_, address, shown) => {
    expect(formatAddress(address)).toBe(shown);
  });

  test('returns at most 100 characters and cuts none of them', () => {
    const shown = formatAddress(`a${'🙂'.repeat(200)}`);
    expect([...shown]).toHaveLength(100);
    expect(shown).toBe(`a${'🙂'.repeat(98)}…`);
  });
});
