import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { findLocalFile } from '../../src/browser/local-answer.ts';
import type { UnpublishedFile } from '../../src/browser/screen-view.ts';

const file = (contentType: string): UnpublishedFile => ({
  size: 0,
  contentType,
  read: () => Readable.from([]),
});
const FILES = new Map(
  ['/site/index.html', '/site/page.html', '/site/a b.css', '/site/docs/index.html', '/site/404.html'].map(
    (path) => [path, file(path)],
  ),
);

describe('findLocalFile', () => {
  test.each([
    ['/site/page.html', '/site/page.html', 200],
    ['/site/', '/site/index.html', 200],
    ['/site/page', '/site/page.html', 200],
    ['/site/a%20b.css', '/site/a b.css', 200],
    ['/site/missing.js', '/site/404.html', 404],
    ['/site/%zz', '/site/404.html', 404],
    ['/other/page.html', undefined, 404],
  ])('answers %s with %s', (path, expected, httpCode) => {
    const found = findLocalFile(FILES, path);
    expect([found.file?.contentType, found.httpCode]).toEqual([expected, httpCode]);
  });

  test('redirects to a folder, as Pages does', () => {
    expect(findLocalFile(FILES, '/site/docs')).toMatchObject({ httpCode: 301, redirect: '/site/docs/' });
  });
});
