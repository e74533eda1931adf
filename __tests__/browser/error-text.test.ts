import { describe, expect, test } from '@jest/globals';
import { isErrorPageName, isOnlyError, isOnlyWaiting } from '../../src/browser/error-text.ts';
import { finish } from '../support/finish.ts';

const ERRORS = `404
404 Not Found
404 | This page could not be found.
Oops! Page not found. Go back home
404. That’s an error.
HTTP ERROR 500
Cannot GET /previews/pr-12/
The requested URL /a.html was not found on this server.
404 Oops! The page you are looking for doesn’t exist. Go back home
The page you were looking for was moved or does not exist.
502 Bad Gateway nginx/1.18.0 (Ubuntu)
503 Service Temporarily Unavailable
403 Forbidden
410 Gone
Access denied
The page can't be found.
Error
undefined undefined
null, null
NaN
[object Object]
{{a}} {{b}}
An unexpected error has occurred
Oops, something went wrong. Please try again later.
Failed to load data
Failed to fetch dynamically imported module: https://a.dev/b.js
You need to enable JavaScript to run this app.
TypeError: Cannot read properties of undefined (reading 'items')
Uncaught TypeError: a.b is not a function
Error: ENOENT: no such file or directory, open /a.json
TypeError: x is null at render (https://a.dev/app.js:10:5) at https://a.dev/app.js:3:1
Traceback (most recent call last): File "a.py", line 3, in <module> main() ZeroDivisionError: division by zero
Exception in thread "main" java.lang.NullPointerException at com.a.Main.run(Main.java:3) at com.a.Main.main(Main.java:1)`;

const CONTENT = `1
500
404 tests passed
Errors: 0
Error rate 5 %
No errors found
No error found
No exception occurred
No network error. All is available
Status: OK
Back to the start page
Lost and found
Gone with the wind
null and void
How to fix "404 Not Found"
TypeError: what it means. A guide for beginners.
Not found: 3 of 12 files
undefined behavior in C
Margin of error: 3 %
Error: ±0.3 mm
Forbidden Planet
Sorry, we are closed on Sunday
Nightly report. 3 failures. TypeError: x is null at render (https://a.dev/app.js:10:5)`;

describe('isOnlyError', () => {
  test.each(ERRORS.split('\n'))('%s is only an error', (text) => expect(isOnlyError(text)).toBe(true));

  test.each(['', ...CONTENT.split('\n')])('%s is content', (text) => expect(isOnlyError(text)).toBe(false));

  test.each(['the page ', 'error ', 'Error: at ', 'go back home ', 'at a:1:1 ', 'a.b.'])(
    'a long text of %j is read to the end',
    (piece) => {
      const long = `TypeError: x ${piece.repeat(4_000 / piece.length)}`.slice(0, 3_999);
      const [short, error] = [piece.repeat(400 / piece.length), `Error ${piece.repeat(300 / piece.length)}!`];
      finish(() => [long, `${short}x`.slice(0, 400), error].map(isOnlyError));
    },
  );
});

test.each([
  [true, true, 'Loading|loading...|Loading… 40%|Please wait|LOADING…|Loading… Please wait…'],
  [false, true, 'Wird geladen …|Chargement…|Загрузка…|読み込み中…|加载中...|Einen Moment... 40 %'],
  [false, false, 'Report|App|Loading times|Reloading|Done||40%|Loaded|To be continued|... and so on'],
  [false, false, 'Loading… if this takes long, call 555-1234'],
])(
  'A text asks the reader to wait: %s, or %s if something is unfinished, for %s',
  (alone, unfinished, texts) => {
    for (const text of texts.split('|')) {
      expect([text, isOnlyWaiting(text, false), isOnlyWaiting(text, true)]).toEqual([
        text,
        alone,
        unfinished,
      ]);
    }
  },
);

test.each([
  [true, '/site/404.html /404 /a/500.html /a/error.html /a/404/ /a/404/index.html /a/not-found.html'],
  [false, '/site/ /site/index.html /a404.html /errors/report.html /404/report.html /1404.html'],
])('A page shows an error on purpose: %s for %s', (expected, paths) => {
  expect(paths.split(' ').filter((path) => isErrorPageName(path) !== expected)).toEqual([]);
});
