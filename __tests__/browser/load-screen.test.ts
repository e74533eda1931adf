import { describe, expect, test } from '@jest/globals';
import type { BrowserOptions } from '../../src/browser/browser.ts';
import { createLazyScreen, loadScreen } from '../../src/browser/load-screen.ts';
import { FakeScreen, viewWith } from '../support/fake-screen.ts';

const PAGE = { url: 'https://octo.github.io/site/page.html', picture: true };
const { signal } = new AbortController();

/** A lazy screen with a count of how often its code was loaded. */
function setUp() {
  const screen = new FakeScreen(() => viewWith());
  const done = { loaded: 0 };
  const lazy = createLazyScreen(async () => {
    done.loaded += 1;
    return screen;
  });
  return { lazy, screen, done };
}

describe('a lazy screen', () => {
  test('loads nothing without a page', async () => {
    const { lazy, done } = setUp();
    await lazy.close();
    expect(done.loaded).toBe(0);
  });

  test('loads its code once for all pages, and ends the browser', async () => {
    const { lazy, screen, done } = setUp();
    await lazy.view(PAGE, signal);
    await lazy.view(PAGE, signal);
    await lazy.close();
    expect({ ...done, closed: screen.closed }).toEqual({ loaded: 1, closed: 1 });
  });

  test('knows nothing of pictures where the code can’t be loaded', async () => {
    const broken = createLazyScreen(() => Promise.reject(new Error('no such file')));
    await expect(broken.compare(new Uint8Array(1), new Uint8Array(1))).resolves.toBeNull();
    await expect(broken.view(PAGE, signal)).rejects.toThrow('no such file');
    await expect(broken.close()).resolves.toBeUndefined();
  });

  test('says why no browser is started', async () => {
    const options = { environment: { CHROME_PATH: '/nowhere' } } as unknown as BrowserOptions;
    const view = await createLazyScreen(() => loadScreen(options)).view(PAGE, signal);
    expect(view).toMatchObject({
      verdict: 'not-checked',
      reason: '`CHROME_PATH` names no file that can be run',
      hint: 'correct it, or unset it',
    });
  });
});
