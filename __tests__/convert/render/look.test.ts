import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from '#puppeteer';
import type { BrowserProcess } from '../../../src/browser/browser-process.ts';
import { launchChromium } from '../../support/launch-chromium.ts';
import { render } from './rendering.ts';

const WIDE = 'Donaudampfschifffahrt'.repeat(20);
const ROW = `|${` ${'cell'.repeat(5)} |`.repeat(12)}`;

const TEXTS: Readonly<Record<string, string>> = {
  'a.md': `# ${WIDE}\n\n> [!NOTE]\n> ${WIDE}\n\n${ROW}\n|${'-|'.repeat(12)}\n${ROW}\n\n- א\n\n  \`\`\`\n  ${WIDE}\n  \`\`\`\n\n\`${WIDE}\``,
  'a.csv': `a,b\n${`"${'text '.repeat(50)}",`.repeat(12)}`,
  'a.json': JSON.stringify({ [WIDE]: [WIDE] }),
  'a.log': `${WIDE}\n${'  '.repeat(200)}\u001b[31m^`,
  'a.diff': `-${WIDE}\n+${WIDE}`,
  'a.xml': `<testsuite name="${WIDE}"><testcase name="${WIDE}"><failure>${WIDE}</failure></testcase></testsuite>`,
};

let running: BrowserProcess;
let page: Page;

beforeAll(async () => {
  running = await launchChromium();
  page = await running.browser.newPage();
});
afterAll(() => running.kill());

async function open(name: string, width: number): Promise<void> {
  const result = await render(name, TEXTS[name] ?? '');
  await page.setViewport({ width, height: 900 });
  await page.setContent('page' in result ? result.page.toString() : '');
}

/** What a browser says of the opened page. @param expression JavaScript for `page` */
const ask = (expression: string): Promise<unknown> => page.evaluate(expression);

describe.each(Object.keys(TEXTS))('a rendered %s', (name) => {
  test.each([400, 1280])('is not wider than a window of %i', async (width) => {
    await open(name, width);
    expect(await ask('document.documentElement.scrollWidth')).toBe(width);
  });

  test('is not cut off on paper', async () => {
    await page.emulateMediaType('print');
    await open(name, 720);
    const cut = `[...document.querySelectorAll('body *')].filter((one) => one.scrollWidth > one.clientWidth
      && getComputedStyle(one).overflowX !== 'visible').map((one) => one.outerHTML.slice(0, 100))`;
    const found = await ask(cut);
    await page.emulateMediaType('screen');
    expect(found).toEqual([]);
  });
});

test.each([
  ['an icon before the title of an alert', '.markdown-alert-title', 'backgroundImage', /^url\("data:image/],
  ['code that reads from left to right in every text', 'li pre', 'direction', /^ltr$/],
  ['texts that read in the direction of their letters', 'ul', 'direction', /^rtl$/],
])('rendered Markdown has %s', async (_, selector, property, expected) => {
  await open('a.md', 400);
  const element = `document.querySelector('${selector}')`;
  const pseudo = selector.endsWith('title') ? "'::before'" : 'null';
  expect(await ask(`getComputedStyle(${element}, ${pseudo}).${property}`)).toMatch(expected);
});
