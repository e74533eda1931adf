import { describe, expect, test } from '@jest/globals';
import { parseImportMap, resolveSpecifier } from '../../../src/rules/page/import-map.ts';

const BASE = 'https://a.example/site/index.html';
const INNER = 'https://a.example/site/inner/';

const MAP = {
  imports: {
    app: './app.js',
    'lib/': './vendor/lib/',
    'lib/special': './special.js',
    './old.js': './new.js',
    broken: 'bare',
  },
  scopes: {
    '/site/inner/': { app: './inner/app.js' },
    '/site/inner/deep/': { app: 'https://b.example/app.js' },
  },
};

const resolve = (specifier: string, importer = BASE): string | null =>
  resolveSpecifier(specifier, parseImportMap(JSON.stringify(MAP)), importer, BASE);

describe('resolveSpecifier', () => {
  test.each([
    ['a bare name', 'app', undefined, 'https://a.example/site/app.js'],
    ['a name below a prefix', 'lib/a/b.js', undefined, 'https://a.example/site/vendor/lib/a/b.js'],
    ['the longest name', 'lib/special', undefined, 'https://a.example/site/special.js'],
    ['an address that the map changes', './old.js', undefined, 'https://a.example/site/new.js'],
    ['an address that it does not change', './a.js', undefined, 'https://a.example/site/a.js'],
    ['the address of a host', 'https://b.example/b.js', undefined, 'https://b.example/b.js'],
    ['a name in a scope', 'app', `${INNER}a.js`, `${INNER}app.js`],
    ['a name in the longest scope', 'app', `${INNER}deep/a.js`, 'https://b.example/app.js'],
    ['a name that no entry has', 'react', undefined, null],
    ['a name without a usable address', 'broken', undefined, null],
  ])('resolves %s', (_, specifier, importer, expected) => {
    expect(resolve(specifier, importer)).toBe(expected);
  });
});

describe('parseImportMap', () => {
  test('returns the entries in the order of the text, with their places', () => {
    const json = '{"scopes":{"x":{"a":"./a.js"}},"imports":{"b":"./b.js"}}';
    expect(parseImportMap(json)).toEqual([
      { scope: 'x', specifier: 'a', address: './a.js', offset: json.indexOf('./a.js') },
      { scope: '', specifier: 'b', address: './b.js', offset: json.indexOf('./b.js') },
    ]);
  });
});
