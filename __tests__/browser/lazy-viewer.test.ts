import { describe, expect, test } from '@jest/globals';
import { createLazyViewer } from '../../src/browser/lazy-viewer.ts';
import { type BrowserOptions, loadBrowserCode } from '../../src/browser/load-code.ts';
import { FakeScreen, viewWith } from '../support/fake-screen.ts';

const PAGE = { url: 'https://octo.github.io/site/page.html', picture: true };

/** A lazy viewer with a count of what it did. */
function setUp() {
  const screen = new FakeScreen(() => viewWith());
  const done = { loaded: 0 };
  const viewer = createLazyViewer(async () => {
    done.loaded += 1;
    return { viewer: screen, comparePictures: () => 0.5 };
  });
  return { viewer, screen, done };
}

describe('a lazy viewer', () => {
  test('loads nothing and starts no browser without a page', async () => {
    const { viewer, screen, done } = setUp();
    await viewer.close();
    expect({ ...done, closed: screen.closed }).toEqual({ loaded: 0, closed: 0 });
  });

  test('loads its code once for all pages, and ends the browser', async () => {
    const { viewer, screen, done } = setUp();
    const { signal } = new AbortController();
    await viewer.view(PAGE, signal);
    await viewer.view(PAGE, signal);
    await viewer.close();
    expect({ ...done, closed: screen.closed }).toEqual({ loaded: 1, closed: 1 });
  });

  test('compares pictures, and knows nothing of them where the code can’t be loaded', async () => {
    const bytes = new Uint8Array(1);
    await expect(setUp().viewer.compare(bytes, bytes)).resolves.toBe(0.5);
    const broken = createLazyViewer(() => Promise.reject(new Error('no such file')));
    await expect(broken.compare(bytes, bytes)).resolves.toBeNull();
    await expect(broken.view(PAGE, new AbortController().signal)).rejects.toThrow('no such file');
    await expect(broken.close()).resolves.toBeUndefined();
  });

  test('says why no browser is started', async () => {
    const options = { environment: { CHROME_PATH: '/nowhere' } } as unknown as BrowserOptions;
    const viewer = createLazyViewer(() => loadBrowserCode(options));
    expect(await viewer.view(PAGE, new AbortController().signal)).toMatchObject({
      verdict: 'not-checked',
      reason: '`CHROME_PATH` names no file that can be run',
      hint: 'correct it, or unset it',
    });
  });
});
