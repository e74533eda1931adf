import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createScreenViewer } from '../../src/browser/index.ts';
import type { ScreenView, ScreenViewer } from '../../src/browser/screen-view.ts';
import { VIEW_TIMES } from '../../src/browser/view-times.ts';
import { systemClock } from '../../src/system.ts';
import { chromiumPath } from '../support/chromium.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeLogger } from '../support/ports.ts';
import { BLANK_PAGES, type CorpusPage, SHOWN_PAGES } from './corpus.ts';
import { startTestSite, type TestSite } from './test-site.ts';

const HOST = 'https://octo.github.io';
const PAGES = new Map([...BLANK_PAGES, ...SHOWN_PAGES].map((page) => [page.name, page]));

let site: TestSite;
let patientViewer: ScreenViewer;
/** A blank page must not take ten seconds here. */
let quickViewer: ScreenViewer;

/** `/name/page` is the page itself, `/name/file` one of its files. */
function answer(message: IncomingMessage, response: ServerResponse): void {
  const [, name = '', file = ''] = new URL(message.url ?? '/', HOST).pathname.split('/');
  const found = file === 'page' ? PAGES.get(name)?.page : PAGES.get(name)?.files?.[file];
  if (found === undefined) return void response.writeHead(404).end('not found');
  const {
    status = 200,
    type = 'text/html; charset=utf-8',
    headers,
    body,
    start,
  } = typeof found === 'string' ? { body: found } : found;
  if (body === undefined && start === undefined && headers === undefined) return;
  response.writeHead(status, { 'content-type': type, ...headers });
  if (start === undefined) response.end(body);
  else response.write(start);
}

const createViewer = async (render: number): Promise<ScreenViewer> =>
  createScreenViewer({
    executablePath: await chromiumPath(),
    sandbox: false,
    environment: { PATH: process.env.PATH, ...site.environment },
    clock: systemClock,
    logger: new FakeLogger(),
    tempFolder: await temporaryFolder(),
    times: { ...VIEW_TIMES, total: 60_000, render },
  });

const view = (viewer: ScreenViewer, { name, marker }: CorpusPage): Promise<ScreenView> =>
  viewer.view({ url: `${HOST}/${name}/page`, marker, picture: false }, new AbortController().signal);

beforeAll(async () => {
  site = await startTestSite(await temporaryFolder(), answer);
  patientViewer = await createViewer(VIEW_TIMES.render);
  quickViewer = await createViewer(1_200);
});

afterAll(async () => {
  await patientViewer.close();
  await quickViewer.close();
  await site.close();
});

describe('a page of which a person sees nothing', () => {
  test.each(BLANK_PAGES)('is not shown: $name', async (page) => {
    expect(await view(page.isPatient ? patientViewer : quickViewer, page)).toMatchObject({
      verdict: 'not-shown',
      reason: expect.stringContaining(page.reason ?? ''),
    });
  });
});

describe('a page that a person sees', () => {
  test.each(SHOWN_PAGES)('is shown: $name', async (page) => {
    expect(await view(patientViewer, page)).toMatchObject({
      verdict: 'shown',
      reason: '',
      isMarkerVisible: page.marker === undefined ? null : true,
    });
  });
});
