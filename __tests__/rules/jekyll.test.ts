import { describe, expect, test } from '@jest/globals';
import { isLeftOutByJekyll, mayBeRendered } from '../../src/rules/jekyll.ts';

describe('mayBeRendered', () => {
  test.each([
    ['notes.md', '# x', true],
    ['NOTES.Markdown', '# x', true],
    ['page.html', '---\ntitle: x\n---', true],
    ['page.html', '<!doctype html>', false],
    ['md.html', '<p>', false],
    ['data.json', '--', false],
  ])('for the file %s that begins with %j returns %s', (path, head, expected) => {
    expect(mayBeRendered(path, head)).toBe(expected);
  });
});

describe('isLeftOutByJekyll', () => {
  test.each([
    '_a.html',
    '.a.html',
    '#a.html',
    'a.html~',
    'docs/_drafts/a.html',
    'docs/.hidden/a.html',
    'docs~/a.html',
    'node_modules/a.html',
    'vendor/a.html',
  ])('returns true for %s', (path) => {
    expect(isLeftOutByJekyll(path)).toBe(true);
  });

  test.each([
    'a.html',
    'a_b.html',
    'docs/a.html',
    'docs/vendor/a.html',
    'a~b.html',
    'vendor.html',
    'a#b.html',
  ])('returns false for %s', (path) => {
    expect(isLeftOutByJekyll(path)).toBe(false);
  });
});
