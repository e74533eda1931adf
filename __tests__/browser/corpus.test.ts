import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createScreenViewer } from '../../src/browser/browser.ts';
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
let views: ReadonlyMap<string, ScreenView>;

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

/** Looks at the pages, one after the other. */
async function viewAll(pages: readonly CorpusPage[], render: number): Promise<[string, ScreenView][]> {
  const viewer = await createViewer(render);
  const seen: [string, ScreenView][] = [];
  for (const { name, marker } of pages) {
    const page = { url: `${HOST}/${name}/page`, marker, picture: false };
    seen.push([name, await viewer.view(page, new AbortController().signal)]);
  }
  await viewer.close();
  return seen;
}

beforeAll(async () => {
  site = await startTestSite(await temporaryFolder(), answer);
  const patient = BLANK_PAGES.filter(({ isPatient }) => isPatient);
  const quick = BLANK_PAGES.filter(({ isPatient }) => !isPatient);
  // A blank page must not take ten seconds here; most of the time these only wait.
  const seen = await Promise.all([
    viewAll([...SHOWN_PAGES, ...patient], VIEW_TIMES.render),
    ...[0, 1, 2].map((part) =>
      viewAll(
        quick.filter((_page, index) => index % 3 === part),
        1_200,
      ),
    ),
  ]);
  views = new Map(seen.flat());
});

afterAll(() => site.close());

describe('a page of which a person sees nothing', () => {
  test.each(BLANK_PAGES)('is not shown: $name', ({ name, reason = '' }) => {
    expect(views.get(name)).toMatchObject({
      verdict: 'not-shown',
      reason: expect.stringContaining(reason),
    });
  });
});

describe('a page that a person sees', () => {
  test.each(SHOWN_PAGES)('is shown: $name', ({ name, marker }) => {
    expect(views.get(name)).toMatchObject({
      verdict: 'shown',
      reason: '',
      isMarkerVisible: marker === undefined ? null : true,
    });
  });
});
