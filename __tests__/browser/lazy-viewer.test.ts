import { describe, expect, test } from '@jest/globals';
import { createLazyViewer } from '../../src/browser/lazy-viewer.ts';
import { FakeScreen, viewWith } from '../support/fake-screen.ts';

const PAGE = { url: 'https://octo.github.io/site/page.html', picture: true };

/** A lazy viewer with a count of what it did. */
function setUp() {
  const screen = new FakeScreen(() => viewWith());
  const done = { loaded: 0, created: 0 };
  const viewer = createLazyViewer(async () => {
    done.loaded += 1;
    return {
      createViewer: () => {
        done.created += 1;
        return screen;
      },
      comparePictures: () => 0.5,
    };
  });
  return { viewer, screen, done };
}

describe('a lazy viewer', () => {
  test('loads nothing and starts no browser without a page', async () => {
    const { viewer, screen, done } = setUp();
    await viewer.close();
    expect({ ...done, closed: screen.closed }).toEqual({ loaded: 0, created: 0, closed: 0 });
  });

  test('starts one browser for all pages, and ends it', async () => {
    const { viewer, screen, done } = setUp();
    const { signal } = new AbortController();
    await viewer.view(PAGE, signal);
    await viewer.view(PAGE, signal);
    await viewer.close();
    expect({ ...done, closed: screen.closed }).toEqual({ loaded: 1, created: 1, closed: 1 });
  });

  test('compares pictures, and knows nothing of them where the code can’t be loaded', async () => {
    const bytes = new Uint8Array(1);
    await expect(setUp().viewer.compare(bytes, bytes)).resolves.toBe(0.5);
    const broken = createLazyViewer(() => Promise.reject(new Error('no such file')));
    await expect(broken.compare(bytes, bytes)).resolves.toBeNull();
    await expect(broken.view(PAGE, new AbortController().signal)).rejects.toThrow('no such file');
    await expect(broken.close()).resolves.toBeUndefined();
  });
});
