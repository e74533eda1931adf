import { expect, test } from '@jest/globals';
import type { PageToView } from '../../../src/browser/screen-view.ts';
import { newDelivery } from '../../../src/delivery/delivery.ts';
import { pageToView } from '../../../src/delivery/screen/page-to-view.ts';
import { siteOfFile } from '../../../src/rules/local-site.ts';
import { memoryFile } from '../../channels/pages/site/memory-files.ts';
import { PAGE } from '../builders.ts';

/** What a browser is to look for. */
const look = (file: ReturnType<typeof memoryFile> | null, marker?: string): Promise<PageToView> =>
  pageToView(PAGE, { ...newDelivery('deliver', 'page.html'), site: file && siteOfFile(file) }, { marker });

test.each([
  ['build 42', 'build 42'],
  ['<p>build 42</p>', undefined],
  ['x'.repeat(5_000), undefined],
  [undefined, undefined],
])('Of a link a browser looks for the marker %j only where it is text: %j.', async (marker, wanted) => {
  expect((await look(null, marker)).marker).toBe(wanted);
});

test.each([
  ['<div id="app"></div><!-- build 42 --><script>start()</script>', undefined, ''],
  ['<h1>build 42</h1><script>start()</script>', 'build 42', 'build42'],
])('What a page says by its own text is known: %j.', async (html, marker, ownText) => {
  expect(await look(memoryFile(html, 'index.html'), 'build 42')).toMatchObject({ marker, ownText });
});
