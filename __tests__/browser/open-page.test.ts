import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import type { CDPSession } from '#puppeteer';
import { takePicture } from '../../src/browser/open-page.ts';

test('a picture is given up if the page navigates away, but not if a frame in it does', async () => {
  const silent = { send: () => new Promise(() => undefined) };
  const session = Object.assign(new EventEmitter(), silent) as unknown as CDPSession;
  const taking = takePicture({ session });
  let ended = false;
  taking.catch(() => undefined).finally(() => (ended = true));
  session.emit('Page.frameNavigated', { frame: { parentId: 'main' } } as never);
  await new Promise(setImmediate);
  expect(ended).toBe(false);
  session.emit('Page.frameNavigated', { frame: {} } as never);
  await expect(taking).rejects.toThrow('the page navigated away');
  expect(session.listenerCount('Page.frameNavigated')).toBe(0);
});
