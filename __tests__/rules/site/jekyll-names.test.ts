import { describe, expect, test } from '@jest/globals';
import { findJekyllNames } from '../../../src/rules/site/jekyll-names.ts';

const files = [
  { path: 'index.html', head: '<!doctype' },
  { path: '_static/a.css', head: 'a' },
  { path: '_next/a.js', head: 'a' },
  { path: '.well-known/a', head: 'a' },
  { path: 'vendor/a.js', head: 'a' },
  { path: 'a.md', head: '# a' },
  { path: 'front.html', head: '---\n' },
];

describe('findJekyllNames', () => {
  test('returns what Jekyll leaves out, and what it changes', () => {
    expect(findJekyllNames(files, '')).toEqual({
      leftOut: ['_static/a.css', '_next/a.js', '.well-known/a', 'vendor/a.js'],
      rendered: ['a.md', 'front.html'],
    });
  });

  test('knows that some names count only at the root of the site', () => {
    expect(findJekyllNames(files, 'previews/pr-12').leftOut).toEqual([
      '_static/a.css',
      '_next/a.js',
      '.well-known/a',
    ]);
  });

  test('sees the folder itself', () => {
    expect(findJekyllNames([{ path: 'index.html', head: '' }], '_previews').leftOut).toEqual(['index.html']);
  });
});
