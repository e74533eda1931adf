import { describe, expect, test } from '@jest/globals';
import { expectNotReady } from './expect-report.ts';
import { createPage, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

describe('links that no one outside can open are refused without a request', () => {
  test.each([
    ['sandbox:/mnt/data/page.html', 'begins with sandbox:'],
    ['/mnt/data/page.html', 'a local path'],
    ['C:\\Users\\report.html', 'begins with c:'],
    ['file:///tmp/page.html', 'begins with file:'],
    ['http://www.octo-org.com/page.html', 'begins with http:'],
    ['javascript:alert(1)', 'begins with javascript:'],
    ['data:text/html,<p>x</p>', 'begins with data:'],
    ['https://localhost/page.html', 'single-label'],
    ['https://app.localhost:8443/page.html', 'internal network'],
    ['https://127.0.0.1:8080/page.html', 'loopback'],
    ['https://2130706433/page.html', 'loopback'],
    ['https://0x7f.1/page.html', 'loopback'],
    ['https://0177.0.0.1/page.html', 'loopback'],
    ['https://10.1.2.3/page.html', 'private'],
    ['https://169.254.169.254/latest/meta-data', 'linkLocal'],
    ['https://[::1]/page.html', 'loopback'],
    ['https://[::ffff:10.0.0.1]/page.html', 'private'],
    ['https://[fe80::1]/page.html', 'linkLocal'],
    ['https://someone:secret@www.octo-org.com/page.html', 'contains credentials'],
    ['https://intranet/page.html', 'single-label'],
    ['https://printer.local/page.html', 'internal network'],
    ['https://build.internal./page.html', 'internal network'],
  ])('%s', async (url, why) => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({ repository, inputs: { channel: 'K4', url, marker: MARKER } });
    expectNotReady(delivered, {
      step: 'check',
      httpCode: null,
      reason: new RegExp(`^input \`url\` is not an external https address: .*${why}`),
      hint: /https address that opens without this environment/,
    });
    expect(delivered.report.lines.RESULT).not.toContain('secret@');
    expect(scenario.world.traffic.lines()).toEqual([]);
  });
});

describe('a public link that leads inside', () => {
  test.each([
    ['https://10.0.0.5/page.html', /10\.0\.0\.5 is a private address/],
    ['https://169.254.169.254/latest/meta-data', /linkLocal address/],
    ['https://[::1]:8443/', /loopback address/],
    ['https://wiki.corp/page', /internal network/],
  ])('a redirect to %s is refused, and the target is never asked', async (location, reason) => {
    const repository = await scenario.repository();
    scenario.world.host('preview.agent-host.com', () => ({ status: 302, headers: { location } }));
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { channel: 'K4', url: 'https://preview.agent-host.com/page' },
    });
    expectNotReady(delivered, { step: 'verify', reason });
    expect(scenario.world.traffic.lines()).toEqual(['GET https://preview.agent-host.com/page 302']);
  });

  test('a link that shows something else is not ready', async () => {
    const repository = await scenario.repository();
    scenario.world.host('preview.agent-host.com', () => ({ status: 200, body: '<h1>Sign in</h1>' }));
    const delivered = await scenario.deliver({
      repository,
      inputs: { channel: 'K4', url: 'https://preview.agent-host.com/page', marker: MARKER },
      simulatedTime: true,
    });
    expectNotReady(delivered, { step: 'verify', httpCode: 200, reason: /with other content/ });
  });
});
