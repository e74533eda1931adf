import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from '#puppeteer';
import type { BrowserProcess } from '../../src/browser/browser-process.ts';
import { getTypeDisplay } from '../../src/rules/media-type.ts';
import { launchChromium } from '../support/launch-chromium.ts';

/** Content types of hosts, and similar ones that a pattern could confuse. PDF is missing: this build has no viewer. */
const TYPES = {
  text: 'plain html css csv xml yaml vtt markdown javascript x-python x-php x-c x-diff x-calendar calendar vcalendar x-vcalendar vcard x-vcard x-vcf directory ldif qif x-qif x-csv tsv rtf x-rtf richtext ofx comma-separated-values tab-separated-values vnd.sun.j2me.app-descriptor vnd.graphviz x-ms-iqy x-ms-odc x-ms-rqy x-ms-contact x-ms-other',
  image:
    'png apng jpeg pjpeg gif webp avif bmp svg+xml x-icon vnd.microsoft.icon x-xbitmap tiff heic heif jxl jp2 vnd.djvu vnd.adobe.photoshop',
  audio:
    'aac flac x-flac mp4 x-m4a mpeg mp3 x-mp3 ogg wav x-wav wave webm matroska x-matroska mpegurl x-mpegurl amr midi aiff basic',
  video: '3gpp 3gpp2 mp4 x-m4v ogg webm matroska x-matroska quicktime mpeg mp2t x-msvideo x-flv x-ms-asf',
  application:
    'json geo+json ld+json har+json x-ndjson xml xhtml+xml atom+xml rss+xml gpx+xml owl+xml gml+xml vnd.google-earth.kml+xml vnd.garmin.tcx+xml sparql-results+xml x-xliff+xml javascript x-javascript ecmascript ogg vnd.apple.mpegurl x-mpegurl x-subrip x-python x-sh zip gzip x-7z-compressed wasm octet-stream postscript epub+zip vnd.microsoft.portable-executable x-elf x-sqlite3',
  model: 'gltf+json x3d+xml vnd.collada+xml',
  font: 'woff2',
};

const HOST = 'https://octo.github.io/';

let running: BrowserProcess;
let page: Page;

beforeAll(async () => {
  running = await launchChromium();
  const context = await running.browser.createBrowserContext({ downloadBehavior: { policy: 'deny' } });
  page = await context.newPage();
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const type = decodeURIComponent(request.url().slice(HOST.length));
    const headers = { 'content-type': type, 'content-disposition': 'inline; filename="file"' };
    void request.respond({ status: 200, headers, body: 'some text\n' });
  });
});
afterAll(() => running.kill());

/** A navigation that becomes a download is aborted. */
async function isShown(type: string): Promise<boolean> {
  try {
    await page.goto(HOST + encodeURIComponent(type), { waitUntil: 'domcontentloaded' });
    return true;
  } catch (thrown) {
    if (String(thrown).includes('net::ERR_ABORTED')) return false;
    throw thrown;
  }
}

test.each(Object.entries(TYPES))(
  'Chromium shows the types of %s that the table names.',
  async (kind, names) => {
    const types = names.split(' ').map((name) => `${kind}/${name}`);
    const shown: string[] = [];
    for (const type of types) if (await isShown(type)) shown.push(type);
    expect(types.filter((type) => getTypeDisplay(type) !== 'none')).toEqual(shown);
  },
);
