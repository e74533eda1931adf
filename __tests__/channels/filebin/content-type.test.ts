import { describe, expect, test } from '@jest/globals';
import { describeShown } from '../../../src/channels/filebin/publish.ts';

/** Types that the real server named for such bytes, and what a browser does with them. */
describe('describeShown', () => {
  test.each([
    'text/plain; charset=utf-8',
    'text/plain; charset=utf-16le',
    'text/xml; charset=utf-8',
    'text/x-python',
    'text/vtt',
    'application/json',
    'application/geo+json',
    'application/xhtml+xml',
    'application/rss+xml',
    'application/ogg',
    'image/svg+xml',
    'image/webp',
    'audio/mpeg',
    'video/mp4',
    'video/x-matroska',
    'video/x-m4v',
    'video/3gpp',
    'application/vnd.apple.mpegurl',
    'TEXT/PLAIN',
  ])('a browser shows %s', (type) => {
    expect(describeShown(type)).toEqual({ claim: 'opens', notes: [] });
  });

  test.each([
    'text/html; charset=utf-8',
    'application/pdf',
    'text/csv',
    'text/tab-separated-values',
    'text/rtf',
    'text/vcard',
    'text/calendar',
    'application/x-ndjson',
    'application/zip',
    'application/gzip',
    'application/wasm',
    'application/octet-stream',
    'application/postscript',
    'font/woff2',
    'image/tiff',
    'audio/midi',
    'application/gpx+xml',
    'application/vnd.google-earth.kml+xml',
    'application/owl+xml',
    'application/sparql-results+xml',
  ])('a browser downloads %s', (type) => {
    expect(describeShown(type).claim).toBe('downloads');
  });

  test.each([undefined, '', ' '])('nothing is said of the type %j', (type) => {
    expect(describeShown(type)).toEqual({ claim: 'is available', notes: [] });
  });
});
