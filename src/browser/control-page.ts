import { Readable } from 'node:stream';
import type { PageToView } from './screen-view.ts';

const HTML = Buffer.from('<!doctype html><title>Control</title><h1>This browser can show a page</h1>');

/**
 * A page that every browser shows: where this one does not, for want of fonts or of memory, a blank page says
 * nothing about the page itself.
 */
export const CONTROL_PAGE: PageToView = {
  url: 'https://control.invalid/page.html',
  picture: false,
  local: new Map([
    ['/page.html', { size: HTML.length, contentType: 'text/html', read: () => Readable.from([HTML]) }],
  ]),
};
