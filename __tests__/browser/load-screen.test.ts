import { describe, expect, test } from '@jest/globals';
import type { BrowserOptions } from '../../src/browser/browser.ts';
import { createLazyScreen, loadScreen } from '../../src/browser/load-screen.ts';
import { FakeScreen, viewWith } from '../support/fake-screen.ts';
import { FakeClock, fakePorts } from '../support/ports.ts';

const PAGE = { url: 'https://octo.github.io/site/page.html' };

describe('a lazy screen', () => {
  test('loads its code once for all pages, and nothing without one', async () => {
    const screen = new FakeScreen(() => viewWith());
    let loaded = 0;
    const lazy = createLazyScreen(async () => {
      loaded += 1;
      return screen;
    }, fakePorts());
    await lazy.close();
    expect({ loaded, closed: screen.closed }).toEqual({ loaded: 0, closed: 0 });
    await lazy.view(PAGE);
    await lazy.view(PAGE);
    await lazy.close();
    expect({ loaded, closed: screen.closed }).toEqual({ loaded: 1, closed: 1 });
  });

  test('gives no answer on pages and pictures if the code can’t be loaded', async () => {
    const broken = createLazyScreen(() => Promise.reject(new Error('no such file')), fakePorts());
    await expect(broken.compare(new Uint8Array(1), new Uint8Array(1))).resolves.toBeNull();
    expect((await broken.view(PAGE)).reason).toContain('no such file');
    await expect(broken.close()).resolves.toBeUndefined();
  });

  test('reports why no browser is started', async () => {
    const options = { env: { CHROME_PATH: '/nowhere' } } as unknown as BrowserOptions;
    const view = await createLazyScreen(() => loadScreen(options), fakePorts()).view(PAGE);
    const reason = "the file in `CHROME_PATH` can't be run";
    expect(view).toMatchObject({ verdict: 'not-checked', reason, hint: 'correct or unset `CHROME_PATH`' });
  });
});

/** A clock whose next deadline is over at once. */
class LateClock extends FakeClock {
  readonly limits: number[] = [];

  override timeout(ms = 0): AbortSignal {
    this.limits.push(ms);
    return AbortSignal.abort(new DOMException('over', 'TimeoutError'));
  }
}

describe('the time of a screen', () => {
  test('gives up on a browser that does not answer, and does not use it again', async () => {
    const clock = new LateClock();
    const screen = new FakeScreen(() => {
      clock.time += 30_000;
      return new Promise(() => undefined);
    });
    const lazy = createLazyScreen(async () => screen, { ...fakePorts(), clock });
    const reason = 'the browser did not answer in time';
    await expect(lazy.view(PAGE)).resolves.toMatchObject({ verdict: 'not-checked', reason });
    await expect(lazy.view(PAGE)).resolves.toMatchObject({ verdict: 'not-checked' });
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
    const lazy = createLazyScreen(async () => screen, ports);
    for (let count = 0; count < 5; count += 1) await lazy.view(PAGE);
    expect(screen.asked).toHaveLength(asked);
  });

  test('ends with the delivery', async () => {
    const ports = fakePorts();
    const screen = new FakeScreen(() => {
      ports.stop.abort(new Error('stopped'));
      return new Promise(() => undefined);
    });
    await expect(createLazyScreen(async () => screen, ports).view(PAGE)).rejects.toThrow('stopped');
  });
});
