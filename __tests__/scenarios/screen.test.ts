import { beforeAll, describe, expect, test } from '@jest/globals';
import { findChromium, type StepBrowser } from '../world/chromium.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
let browser: StepBrowser;

beforeAll(async () => {
  browser = await findChromium();
});

const BROKEN = `<!doctype html><title>App</title><div id="app"></div>
<script>throw new Error('no configuration ${MARKER}')</script>\n`;

describe('a page in a real browser', () => {
  test('is shown, and the report says what was seen', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { marker: MARKER, ...browser.inputs },
      env: browser.env,
    });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect(delivered.outputs.screen).toBe('shown');
  });

  test('that throws before anything is painted is refused, and nothing is written', async () => {
    const repository = await scenario.repository();
    const head = await repository.head();
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': BROKEN },
      inputs: { ...browser.inputs },
      env: browser.env,
    });
    expectNotReady(delivered, { step: 'check', reason: /does not show the page/ });
    expect(await repository.head()).toBe(head);
  });
});
