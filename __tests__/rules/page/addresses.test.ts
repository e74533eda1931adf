import { expect, test } from '@jest/globals';
import {
  formatAddress,
  isExternal,
  isSpecifierAddress,
  parseRefresh,
  parseSrcset,
} from '../../../src/rules/page/addresses.ts';

const FETCHED =
  `https://a.example/a.png HTTP://a.example //a.example/a.png \\\\a.example\\a.png /a.png ./a.png
 ../a.png a.png ?a ftp://a.example file:///a.png C:\\a.png sandbox:/mnt/data/a.png data/a.png`.split(/\s+/);
const NOT_FETCHED =
  `#a data:image/png;base64,AA DATA:,a blob:https://a.example/1 about:blank javascript:void mailto:a
 node:fs`.split(/\s+/);

test.each([
  ...[...FETCHED, 'a b.png', ' \n a.png', 'ht\ntps://a.example'].map((address) => [address, true] as const),
  ...[...NOT_FETCHED, '', ' \n', ' #a', ' da\nta:,a'].map((address) => [address, false] as const),
])('A browser fetches %j: %s.', (address, expected) => {
  expect(isExternal(address)).toBe(expected);
});

test.each([
  ...['./a', '../a', '/a', 'https://a', 'data:,a'].map((specifier) => [specifier, true] as const),
  ...['a', '@a/b', '.a'].map((specifier) => [specifier, false] as const),
])('The specifier %j is an address: %s.', (specifier, expected) => {
  expect(isSpecifierAddress(specifier)).toBe(expected);
});

test.each([
  ['a.png 1x, b.png 2x', 'a.png b.png'],
  ['a.png 1x,b.png', 'a.png b.png'],
  ['a.png, b.png', 'a.png b.png'],
  ['a,b.png 2x', 'a,b.png'],
  ['data:image/png;base64,AA,BB 1x, b.png 2x', 'data:image/png;base64,AA,BB b.png'],
  ['data:,a, b.png', 'data:,a b.png'],
  ['\n a.png 100w , b.png', 'a.png b.png'],
  [',,a.png,,', 'a.png'],
  ['', ''],
])('The addresses of the srcset %j are %s.', (srcset, addresses) => {
  expect(Array.from(parseSrcset(srcset), ({ address }) => address).join(' ')).toBe(addresses);
});

test.each([
  ['0; url=a.html', 'a.html'],
  ['5;URL = "a.html"', 'a.html'],
  ["3,url='a b.html' c", 'a b.html'],
  [' 1.5 ; a.html', 'a.html'],
  ['0 a.html', 'a.html'],
  [';url=a.html', 'a.html'],
  ['0; url="a.html', 'a.html'],
  ['0; url=\n', ''],
  ['5;', ''],
  ['30 ;', ''],
  ['', ''],
])('The address of the refresh %j is %j.', (content, address) => {
  expect(parseRefresh(content)).toBe(address);
});

test.each([
  [' https://a.example/a\nb\u202e\u0007c ', 'https://a.example/ab c'],
  ['https://user:word@a.example/b', 'https://***@a.example/b'],
  ['//user@a.example/b', '//***@a.example/b'],
  ['https://a.example/@b/c', 'https://a.example/@b/c'],
  ['https://a.example/b?token=1#c', 'https://a.example/b?…'],
  // 100 characters, of which none is cut.
  [`a${'🙂'.repeat(200)}`, `a${'🙂'.repeat(99)}…`],
])('A message shows the address %j as %s.', (address, shown) => {
  expect(formatAddress(address)).toBe(shown);
});
