import { expect, test } from '@jest/globals';
import { pageToView } from '../../../src/delivery/screen/page-to-view.ts';
import { memoryFile } from '../../channels/pages/site/site-runs.ts';

const URL_OF_PAGE = new URL('https://octo.dev/x');

test.each([
  ['build 42', 'build 42'],
  ['<p>build 42</p>', undefined],
  ['x'.repeat(5_000), undefined],
  [undefined, undefined],
])('of a link a browser looks for the marker %j only where it is text: %j', async (marker, wanted) => {
  const delivery = { file: null } as Parameters<typeof pageToView>[1];
  await expect(pageToView(URL_OF_PAGE, delivery, { marker })).resolves.toMatchObject({ marker: wanted });
});

test.each([
  ['<div id="app"></div><script>start()</script>', true],
  ['<h1>Report</h1><script>start()</script>', false],
])('whether scripts make all of a page is known from its own text: %j', async (html, isScripted) => {
  const delivery = { file: memoryFile(html, 'index.html') } as unknown as Parameters<typeof pageToView>[1];
  await expect(pageToView(URL_OF_PAGE, delivery, { marker: undefined })).resolves.toMatchObject({
    isScripted,
  });
});
