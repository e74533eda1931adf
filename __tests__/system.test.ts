import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createWorkFolders, systemClock, watchForEnd, watchForStop } from '../src/system.ts';
import { temporaryFolder } from './support/files.ts';

/** Longer than any test may take. */
const AN_HOUR = 3_600_000;

describe('systemClock', () => {
  test.each([
    ['before', true],
    ['during', false],
  ])('rejects with the reason of a signal that aborts %s the sleep', async (_when, early) => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    if (early) stop.abort(reason);
    const sleeping = systemClock.sleep(AN_HOUR, stop.signal);
    if (!early) stop.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });

  test('creates a signal that aborts when the time is over, even a fraction of a millisecond', async () => {
    const signal = systemClock.timeout(0.5);
    expect(signal.aborted).toBe(false);
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });
});

describe('watchForEnd', () => {
  test.each(['beforeExit', 'uncaughtException', 'unhandledRejection'])(
    'ends work that nothing would end any more: %s',
    async (event) => {
      const before = process.listenerCount(event);
      const { comes, unwatch } = watchForEnd();
      process.emit(event as 'uncaughtException', new Error('thrown'));
      unwatch();
      await expect(comes).rejects.toThrow(event === 'beforeExit' ? 'nothing was left to wait for' : 'thrown');
      expect(process.listenerCount(event)).toBe(before);
    },
  );
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])(
  'watchForStop stops the work on %s while it is watched',
  (name) => {
    const before = process.listenerCount(name);
    const { signal, unwatch } = watchForStop();
    expect(process.emit(name as 'SIGINT')).toBe(true);
    expect(signal.reason).toMatchObject({ code: 'ABORTED' });
    watchForStop().unwatch();
    unwatch();
    expect(process.listenerCount(name)).toBe(before);
  },
);

test('creates private folders, and removes all of them', async () => {
  const folders = createWorkFolders(await temporaryFolder());
  const paths = [await folders.open(), await folders.open()];
  expect(new Set(paths).size).toBe(2);
  for (const path of paths) {
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    await writeFile(join(path, 'a'), 'x');
  }
  await folders.remove();
  for (const path of paths) await expect(stat(path)).rejects.toThrow('ENOENT');
});
