import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import type { Browser } from 'puppeteer-core';
import { inFolder, readOutput } from './generator-outputs.ts';
import { launchBrowser, serveFolder, viewPage } from './real-browser.ts';
import { type DeliveredStep, setUpScenario } from './scenario.ts';

/** Generators, and how many requests it takes until their first page is complete. */
const GENERATORS = [
  ['c8', 7],
  ['coverage-py', 4],
  ['parcel', 5],
  ['pdoc', 3],
  ['sphinx', 9],
  ['sveltekit', 11],
  ['vite', 7],
  ['webpack', 4],
] as const;

const scenario = setUpScenario();
let browser: Browser;
let delivered: DeliveredStep;

beforeAll(async () => {
  browser = await launchBrowser(scenario.world);
  const names = GENERATORS.map(([name]) => name);

  delivered = await scenario.deliver({
    files: Object.assign({}, ...names.map((name) => inFolder(name, readOutput(name)))),
    inputs: { channel: 'K1', file: names.join('\n'), path: 'generated/', nojekyll: 'true' },
  });
});
afterAll(() => browser.close());

test.each(GENERATORS)(
  'a folder that %s made looks as it does from a local server, and no request fails',
  async (name, requests) => {
    const report = delivered.reports.find(({ file }) => file?.path === name);
    expect(report?.notReady).toBeNull();
    const server = await serveFolder(readOutput(name));
    const views = [server.url, report?.url ?? ''].map((url) => viewPage(browser, url, requests));
    const [local, shown] = await Promise.all(views).finally(() => server.close());
    expect([local?.problems, shown?.problems]).toEqual([[], []]);
    expect([local?.requests, shown?.requests]).toEqual([requests, requests]);
    expect(countDifferentPixels(local?.picture, shown?.picture)).toBe(0);
  },
);

function countDifferentPixels(one: Buffer = Buffer.of(), other: Buffer = Buffer.of()): number {
  const { data, width, height } = PNG.sync.read(one);
  return pixelmatch(data, PNG.sync.read(other).data, undefined, width, height);
}
