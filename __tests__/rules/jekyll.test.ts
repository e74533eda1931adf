import { expect, test } from '@jest/globals';
import { mayBeRendered } from '../../src/rules/jekyll.ts';

test.each([
  ['notes.md', '# x', true],
  ['NOTES.Markdown', '# x', true],
  ['page.html', '---\ntitle: x\n---', true],
  ['page.html', '<!doctype html>', false],
  ['md.html', '<p>', false],
  ['data.json', '--', false],
])('a build may change %s that begins with %j: %s', (path, head, changes) => {
  expect(mayBeRendered(path, head)).toBe(changes);
});
