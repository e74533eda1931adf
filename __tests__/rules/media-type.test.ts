import { describe, expect, test } from '@jest/globals';
import { getContentType } from '../../src/rules/media-type.ts';

describe('getContentType', () => {
  test.each([
    ['page.html', 'text/html; charset=utf-8'],
    ['a/b.c/APP.MJS', 'application/javascript; charset=utf-8'],
    ['fonts/a.woff2', 'font/woff2'],
    ['LICENSE', 'application/octet-stream'],
    ['a.html/raw', 'application/octet-stream'],
    ['x.constructor', 'application/octet-stream'],
  ])('of %s is %s', (path, type) => {
    expect(getContentType(path)).toBe(type);
  });
});
