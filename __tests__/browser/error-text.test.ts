import { describe, expect, test } from '@jest/globals';
import { isErrorPageName, isOnlyError } from '../../src/browser/error-text.ts';

describe('isOnlyError', () => {
  test.each([
    ...[
      '404',
      '404 Not Found',
      '404: not found',
      'Not Found',
      '404 | This page could not be found.',
      'Error 404',
    ],
    ...[
      '404 Page Not Found',
      'Oops! Page not found. Go back home',
      '404. That’s an error.',
      'HTTP ERROR 500',
    ],
    ...[
      'Cannot GET /',
      'Cannot GET /previews/pr-12/',
      'The requested URL /a.html was not found on this server.',
    ],
    ...[
      '404 Oops! The page you are looking for doesn’t exist. Go back home',
      'Sorry, the page you are looking for could not be found.',
      'Page not found: /previews/ Go back home',
      'No routes matched location "/previews/"',
      'The page you were looking for was moved or does not exist.',
      "Not Found Sorry, we couldn't find this page.",
      '502 Bad Gateway nginx/1.18.0 (Ubuntu)',
      '503 Service Temporarily Unavailable',
      '403 Forbidden',
      '410 Gone',
    ],
    ...[
      'Internal Server Error',
      'Access denied',
      "This page doesn't exist",
      "The page can't be found.",
      'Error',
    ],
    ...[
      'undefined',
      'null',
      'NaN',
      '[object Object]',
      'undefined undefined',
      'null, null',
      '{{ title }}',
      '{{a}} {{b}}',
    ],
    ...[
      'Application error',
      'An error occurred.',
      'An unexpected error has occurred',
      'Something went wrong',
    ],
    ...[
      'Oops, something went wrong. Please try again later.',
      'Failed to load data',
      'Unable to connect',
      'Error: 500',
    ],
    ...[
      'Failed to fetch dynamically imported module: https://a.dev/b.js',
      'You need to enable JavaScript to run this app.',
    ],
    ...[
      'Seite nicht gefunden',
      'Страница не найдена',
      'ページが見つかりません',
      'Ein Fehler ist aufgetreten',
      'Произошла ошибка',
    ],
    ...[
      "TypeError: Cannot read properties of undefined (reading 'items')",
      'ReferenceError: x is not defined',
    ],
    ...[
      'Uncaught TypeError: a.b is not a function',
      'Error: ENOENT: no such file or directory, open /a.json',
    ],
    'TypeError: x is null at render (https://a.dev/app.js:10:5) at https://a.dev/app.js:3:1',
    'Traceback (most recent call last): File "a.py", line 3, in <module> main() ZeroDivisionError: division by zero',
    'Exception in thread "main" java.lang.NullPointerException at com.a.Main.run(Main.java:3) at com.a.Main.main(Main.java:1)',
    'Fatal error: Uncaught Error: Call to undefined function a() in /var/www/a.php:3 on line 3',
    'panic: runtime error: index out of range [3] with length 2 goroutine 1 [running]: main.main()',
  ])('%s is one', (text) => {
    expect(isOnlyError(text, 'Page')).toBe(true);
  });

  test.each([
    ...[
      '',
      '1',
      '500',
      '1404',
      '404 tests passed',
      '404 km',
      'Errors: 0',
      '0 errors',
      'Error rate 5 %',
      'No errors found',
    ],
    ...[
      'Status: OK',
      'Home',
      'Back to the start page',
      'Lost and found',
      'Gone with the wind',
      'null and void',
    ],
    ...[
      'How to fix "404 Not Found"',
      'TypeError: what it means. A guide for beginners.',
      'Not found: 3 of 12 files',
    ],
    ...[
      'undefined behavior in C',
      'The error of our ways',
      'Error budget',
      'Margin of error: 3 %',
      'Forbidden Planet',
    ],
    ...[
      'Error: ±0.3 mm',
      'Access denied requests per day: 12',
      'Weather in Nice',
      'Sorry, we are closed on Sunday',
    ],
    'Nightly report. 3 failures. TypeError: x is null at render (https://a.dev/app.js:10:5)',
  ])('%s is content', (text) => {
    expect(isOnlyError(text, 'Visitors')).toBe(false);
  });

  test('a lone number is one where the title says nothing else', () => {
    expect(isOnlyError('502', '')).toBe(true);
    expect(isOnlyError('502', '502 Bad Gateway')).toBe(true);
    expect(isOnlyError('503', 'Server error')).toBe(true);
    expect(isOnlyError('200', '')).toBe(false);
  });

  test('a long text is read in a moment', () => {
    for (const piece of [
      'the page ',
      'error ',
      'Error: at ',
      'go back to the home page ',
      'at a:1:1 ',
      'a.b.',
    ]) {
      const start = performance.now();
      isOnlyError(`TypeError: x ${piece.repeat(4_000 / piece.length)}`.slice(0, 3_999), '');
      isOnlyError(`${piece.repeat(400 / piece.length)}x`.slice(0, 400), '');
      expect(performance.now() - start).toBeLessThan(1_000);
    }
  });
});

describe('isErrorPageName', () => {
  test.each([
    '/site/404.html',
    '/404',
    '/a/500.html',
    '/a/error.html',
    '/a/404/',
    '/a/404/index.html',
    '/a/not-found.html',
  ])('%s is a page that shows an error on purpose', (path) => expect(isErrorPageName(path)).toBe(true));

  test.each([
    '/site/',
    '/site/index.html',
    '/a404.html',
    '/errors/report.html',
    '/404/report.html',
    '/1404.html',
  ])('%s is any page', (path) => expect(isErrorPageName(path)).toBe(false));
});
