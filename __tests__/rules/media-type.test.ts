import { describe, expect, test } from '@jest/globals';
import { type BrowserDisplay, getBrowserDisplay, getContentType } from '../../src/rules/media-type.ts';
import { isHtml } from '../../src/rules/page/page-file.ts';
import { getMediaType } from '../world/media-types.ts';

describe('getContentType', () => {
  test.each([
    ['page.html', 'text/html; charset=utf-8'],
    ['a/b.c/APP.MJS', 'application/javascript; charset=utf-8'],
    ['fonts/a.woff2', 'font/woff2'],
    ['a.json.gz', 'application/gzip'],
    ['LICENSE', 'application/octet-stream'],
    ['a.html/raw', 'application/octet-stream'],
    ['x.constructor', 'application/octet-stream'],
  ])('of %s is %s', (path, type) => {
    expect(getContentType(path)).toBe(type);
  });
});

const NAMES: readonly (readonly [BrowserDisplay, string])[] = [
  ['page', 'a.html a.HTM a.shtml a.xhtml a.xht a.b.html .html'],
  [
    'plain',
    'a.svg a.png a.JPG a.webp a.avif a.ico a.txt a.md a.json a.xml a.mjs a.log a.yml a.yaml a.bmp a.gif',
  ],
  ['viewer', 'a.pdf a.svgz a.mp4 a.ogg a.mkv a.3gp'],
  ['none', 'a.zip a.csv a.gpx a.exe a a.html.zip html a.htmlx .svg/a a.wasm a.heic'],
];

describe('how a browser shows a file of Pages', () => {
  test.each(NAMES.flatMap(([display, names]) => names.split(' ').map((name) => [name, display] as const)))(
    '%s: %s',
    (name, display) => {
      expect(getBrowserDisplay(name)).toBe(display);
      // The local GitHub serves it alike.
      expect(getMediaType(name)).toBe(getContentType(name));
      expect(isHtml(name)).toBe(display === 'page');
      // A file that is opened from this machine gets a type that browsers show.
      if (display === 'plain') expect(getContentType(name)).not.toBe('application/octet-stream');
    },
  );
});
