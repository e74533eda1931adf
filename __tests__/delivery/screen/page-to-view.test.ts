import { describe, expect, test } from '@jest/globals';
import type { PageToView } from '../../../src/browser/screen-view.ts';
import { newDelivery } from '../../../src/delivery/delivery.ts';
import { createPageOpener, pageToView } from '../../../src/delivery/screen/page-to-view.ts';
import { siteOfFile } from '../../../src/rules/local-site.ts';
import { memoryFile } from '../../channels/pages/site/memory-files.ts';
import { FakeScreen, viewWith } from '../../support/fake-screen.ts';
import { FakeClock, fakePorts } from '../../support/ports.ts';
import { PAGE } from '../builders.ts';

/** What a browser is to look for. */
const look = (file: ReturnType<typeof memoryFile> | null, marker?: string): Promise<PageToView> =>
  pageToView(PAGE, { ...newDelivery('deliver', 'page.html'), site: file && siteOfFile(file) }, { marker });

test.each([
  ['build 42', 'build 42'],
  ['<p>build 42</p>', undefined],
  ['x'.repeat(5_000), undefined],
  [undefined, undefined],
])('Of a link a browser looks for the marker %j only where it is text: %j.', async (marker, wanted) => {
  expect((await look(null, marker)).marker).toBe(wanted);
});

test.each([
  ['<div id="app"></div><!-- build 42 --><script>start()</script>', undefined, true],
  ['<h1>build 42</h1><script>start()</script>', 'build 42', false],
])('What a page says by its own text is known: %j.', async (html, marker, isScripted) => {
  expect(await look(memoryFile(html, 'index.html'), 'build 42')).toMatchObject({ marker, isScripted });
});

const TO_VIEW: PageToView = { url: PAGE.href, picture: true };

/** A clock whose next deadline is over at once. */
class LateClock extends FakeClock {
  readonly limits: number[] = [];

  override timeout(ms = 0): AbortSignal {
    this.limits.push(ms);
    return AbortSignal.abort(new DOMException('over', 'TimeoutError'));
  }
}

describe('opening pages', () => {
  test('gives up on a browser that does not answer, and asks it no more', async () => {
    const clock = new LateClock();
    const screen = new FakeScreen(() => {
      clock.time += 30_000;
      return new Promise(() => undefined);
    });
    const open = createPageOpener(screen, { ...fakePorts(), clock });
    await expect(open(TO_VIEW)).resolves.toMatchObject({
      verdict: 'not-checked',
      reason: 'the browser did not answer in time',
    });
    await expect(open(TO_VIEW)).resolves.toMatchObject({ verdict: 'not-checked' });
    expect({ limits: clock.limits, asked: screen.asked.length }).toEqual({ limits: [30_000], asked: 1 });
  });

  test.each([
    ['loses at most 30 s to a browser that fails slowly', 'not-checked', 3],
    ['does not count the time of pages that were seen', 'shown', 5],
  ] as const)('%s', async (_, verdict, asked) => {
    const ports = fakePorts();
    const screen = new FakeScreen(() => {
      ports.clock.time += 12_000;
      return viewWith({ verdict });
    });
    const open = createPageOpener(screen, ports);
    for (let count = 0; count < 5; count += 1) await open(TO_VIEW);
    expect(screen.asked).toHaveLength(asked);
  });

  test('ends with the delivery', async () => {
    const ports = fakePorts();
    const screen = new FakeScreen(() => {
      ports.stop.abort(new Error('stopped'));
      return new Promise(() => undefined);
    });
    await expect(createPageOpener(screen, ports)(TO_VIEW)).rejects.toThrow('stopped');
  });
});
