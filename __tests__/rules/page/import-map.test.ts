import { expect, test } from '@jest/globals';
import { addImportMap, NO_IMPORT_MAP, resolveSpecifier } from '../../../src/rules/page/import-map.ts';

const BASE = 'https://a.example/site/index.html';

const MAP = {
  imports: {
    app: './app.js',
    'lib/': './vendor/lib/',
    'lib/special': './special.js',
    './old.js': './new.js',
    broken: 'bare',
    'file/': './file',
    './blocked.js': null,
  },
  scopes: {
    './': { app: './own.js', other: 'https://b.example/other.js' },
    '/site/index.html': { app: './inner/app.js' },
    '/elsewhere/': { app: './gone.js', react: './gone.js' },
  },
};

test.each([
  ['a bare name', 'app', 'https://a.example/site/inner/app.js'],
  ['a name of a scope around it', 'other', 'https://b.example/other.js'],
  ['a name below a prefix', 'lib/a/b.js', 'https://a.example/site/vendor/lib/a/b.js'],
  ['the longest name', 'lib/special', 'https://a.example/site/special.js'],
  ['an address that the map changes', './old.js', 'https://a.example/site/new.js'],
  ['an address that it does not change', './a.js', './a.js'],
  ['the address of a host', 'https://b.example/b.js', 'https://b.example/b.js'],
  ['a name that no entry has', 'react', null],
  ['a name without a usable address', 'broken', null],
  ['a name below a prefix without a slash', 'file/a.js', null],
  ['an address that the map blocks', './blocked.js', null],
])('An import map resolves %s.', (_, specifier, expected) => {
  const map = addImportMap(NO_IMPORT_MAP, JSON.stringify(MAP), BASE);
  expect(resolveSpecifier(specifier, map, BASE)).toBe(expected);
  expect(addImportMap(map, 'no JSON', BASE)).toEqual(map);
});
