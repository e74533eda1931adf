import { describe, expect, test } from '@jest/globals';
import {
  dataContent,
  isExternal,
  isSpecifierAddress,
  namesHost,
  refreshAddress,
  shownAddress,
  srcsetAddresses,
} from '../../../src/rules/page/addresses.ts';

describe('what leads elsewhere', () => {
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
  ])('%j does', (address) => {
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
  ])('%j does not', (address) => {
    expect(isExternal(address)).toBe(false);
  });

  test.each([
    ['https://a', true],
    [' wss://a', true],
    ['//a', true],
    ['/a', false],
    ['a', false],
    ['data:,//a', false],
  ])('%j names a host: %j', (address, names) => {
    expect(namesHost(address)).toBe(names);
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
  ])('%j is an address and no bare name: %j', (specifier, is) => {
    expect(isSpecifierAddress(specifier)).toBe(is);
  });
});

describe('content of a data: address', () => {
  test.each([
    ['data:text/html,<p>', 'text/html', '<p>'],
    ['DATA:Text/HTML;charset=utf-8,%3Cp%3E', 'text/html', '<p>'],
    ['data:text/css;base64,QGltcG9ydA==', 'text/css', '@import'],
    ['data:text/css;charset=utf-8; BASE64 ,QGlt%63G9ydA==', 'text/css', '@import'],
    ['data:,a,b', '', 'a,b'],
    ['data:text/html,100%,%C3%A4#end', 'text/html', '100%,ä'],
  ])('of %s', (address, type, text) => {
    expect(dataContent(address)).toEqual({ type, text });
  });

  test.each(['data:text/html', 'https://a.example/,', 'a,b'])('there is none in %s', (address) => {
    expect(dataContent(address)).toBeNull();
  });
});

describe('addresses of a srcset', () => {
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
  ])('%j', (srcset, addresses) => {
    expect(srcsetAddresses(srcset)).toEqual(addresses);
  });
});

describe('where a refresh leads', () => {
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
  ])('%j', (content, address) => {
    expect(refreshAddress(content)).toBe(address);
  });
});

describe('an address in a message', () => {
  test.each([
    ['is one line', ' https://a.example/a\nb\u202e\u0007c ', 'https://a.example/ab c'],
    ['has no credentials', 'https://user:word@a.example/b', 'https://***@a.example/b'],
    ['has none without a scheme either', '//user@a.example/b', '//***@a.example/b'],
    ['keeps an @ of its path', 'https://a.example/@b/c', 'https://a.example/@b/c'],
    ['has no query', 'https://a.example/b?token=1#c', 'https://a.example/b?…'],
  ])('%s', (_, address, shown) => {
    expect(shownAddress(address)).toBe(shown);
  });

  test('has at most 100 characters, none of them cut in two', () => {
    const shown = shownAddress(`a${'🙂'.repeat(200)}`);
    expect([...shown]).toHaveLength(100);
    expect(shown).toBe(`a${'🙂'.repeat(98)}…`);
  });
});
