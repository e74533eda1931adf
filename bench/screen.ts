import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { chromiumPath } from '../__tests__/support/chromium.ts';
import { OwnBrowser } from '../src/browser/browser.ts';
import type { PageToView } from '../src/browser/screen-view.ts';
import { systemClock } from '../src/system.ts';
import { median } from './measure.ts';

/** Medians in seconds. */
export interface ScreenCost {
  /** The start of a browser until its first page, without the page's own time. */
  readonly start: number;
  /** One ordinary page, from the call to the verdict. */
  readonly page: number;
}

const PAGE = Buffer.from(
  `<!doctype html><title>Report</title><style>td { padding: 4px }</style><h1>Report</h1><table>${'<tr><td>test</td><td>passed</td></tr>'.repeat(500)}</table>
<canvas id="c" width="600" height="200"></canvas><script>c.getContext('2d').fillRect(10, 10, 500, 150)</script>`,
);

const TO_VIEW: PageToView = {
  url: 'https://octo.github.io/site/page.html',
  local: (path) =>
    path === '/site/page.html'
      ? { size: PAGE.length, contentType: 'text/html; charset=utf-8', read: () => Readable.from([PAGE]) }
      : undefined,
};

/** Opens a page in the Chromium that `npm ci` installs, twice with a new browser in each turn. */
export async function measureScreen(turns: number): Promise<ScreenCost> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-screen-'));
  const [starts, pages]: [number[], number[]] = [[], []];
  try {
    for (let turn = 0; turn < turns; turn += 1) {
      const [first, second] = await viewTwice(folder, await chromiumPath());
      starts.push(first - second);
      pages.push(second);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { start: median(starts), page: median(pages) };
}

/** Seconds of the first view, which starts the browser, and of the second one. */
async function viewTwice(tempFolder: string, executablePath: string): Promise<[number, number]> {
  const nothing = (): void => undefined;
  const logger = {
    ...{ info: nothing, warning: nothing, debug: nothing, startSection: nothing, endSection: nothing },
    ...{ mask: nothing, progress: () => ({ advance: nothing, end: nothing }) },
  };
  const http = () => Promise.reject(new Error('there is no network'));
  const options = {
    executablePath,
    sandbox: false,
    env: { PATH: process.env.PATH },
    http,
    tempFolder,
    sandboxHint: () => '',
  };
  const viewer = new OwnBrowser({ ...options, clock: systemClock, logger });
  const view = async (): Promise<number> => {
    const begun = performance.now();
    const { verdict, reason } = await viewer.view(TO_VIEW, new AbortController().signal);
    if (verdict !== 'shown') throw new Error(`the page is ${verdict}: ${reason}`);
    return (performance.now() - begun) / 1e3;
  };
  try {
    return [await view(), await view()];
  } finally {
    await viewer.close();
  }
}
