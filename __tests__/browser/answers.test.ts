import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { answerLocally } from '../../src/browser/answers.ts';

const NAMES = ['index.html', 'page.html', 'a b.css', 'docs/index.html', '404.html', '@a+b.js', 'a:b.js'];
const PATHS = NAMES.map((name) => `/site/${name}`);
const read = () => Readable.from([]);
const FILES = new Map(PATHS.map((path) => [path, { size: 0, contentType: path, read }]));

test.each([
  ['/site/page.html', '/site/page.html', 200],
  ['/site/', '/site/index.html', 200],
  ['/site/page', '/site/page.html', 200],
  ['/site/a%20b.css', '/site/a b.css', 200],
  ['/site/@a+b.js', '/site/@a+b.js', 200],
  ['/site/%40a%2Bb.js', '/site/@a+b.js', 200],
  ['/site/a:b.js', '/site/a:b.js', 200],
  ['/site/missing.js', '/site/404.html', 404],
  ['/site/%zz', '/site/404.html', 404],
  ['/other/page.html', 'text/plain', 404],
])('%s is answered with %s, as Pages does.', (path, contentType, status) => {
  const answer = answerLocally((path) => FILES.get(path), new URL(`https://octo.github.io${path}`));
  expect([answer.headers['content-type'], answer.status]).toEqual([contentType, status]);
});

test('A folder without its slash is redirected, as Pages does.', () => {
  const folder = new URL('https://octo.github.io/site/docs?a');
  const { status, headers } = answerLocally((path) => FILES.get(path), folder);
  expect([status, headers.location]).toEqual([301, '/site/docs/?a']);
});
