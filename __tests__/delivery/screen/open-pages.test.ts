import { describe, expect, test } from '@jest/globals';
import type { PageToView } from '../../../src/browser/screen-view.ts';
import { createPageOpener } from '../../../src/delivery/screen/page-to-view.ts';
import { FakeScreen, viewWith } from '../../support/fake-screen.ts';
import { FakeClock, fakePorts } from '../../support/ports.ts';
import { PAGE } from '../builders.ts';

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
  test('returns what the browser saw', async () => {
    const view = viewWith();
    const open = createPageOpener(new FakeScreen(() => view), fakePorts());
    await expect(open(TO_VIEW)).resolves.toBe(view);
  });

  test('gives up on a browser that does not answer, and asks it no more', async () => {
    const clock = new LateClock();
    const screen = new FakeScreen(() => new Promise(() => undefined));
    const open = createPageOpener(screen, { ...fakePorts(), clock });
    await expect(open(TO_VIEW)).resolves.toMatchObject({
      verdict: 'not-checked',
      reason: 'the browser did not answer within 30 s',
    });
    await expect(open(TO_VIEW)).resolves.toMatchObject({ verdict: 'not-checked' });
    expect({ limits: clock.limits, asked: screen.asked.length }).toEqual({ limits: [30_000], asked: 1 });
  });

  test('loses at most 30 s to a browser that fails slowly', async () => {
    const ports = fakePorts();
    const screen = new FakeScreen(() => {
      ports.clock.time += 12_000;
      return viewWith({ verdict: 'not-checked' });
    });
    const open = createPageOpener(screen, ports);
    for (let count = 0; count < 5; count += 1) await open(TO_VIEW);
    expect(screen.asked).toHaveLength(3);
  });

  test('does not count the time of pages that were seen', async () => {
    const ports = fakePorts();
    const screen = new FakeScreen(() => {
      ports.clock.time += 12_000;
      return viewWith();
    });
    const open = createPageOpener(screen, ports);
    for (let count = 0; count < 5; count += 1) await open(TO_VIEW);
    expect(screen.asked).toHaveLength(5);
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
