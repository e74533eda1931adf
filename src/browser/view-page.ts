import { createHash } from 'node:crypto';
import type { CDPSession, Frame, Page } from 'puppeteer-core';
import type { Clock } from '../ports.ts';
import { type ContentBox, type FrameLook, PageLook } from './page-look.ts';
import { DESKTOP } from './picture.ts';
import { decodePicture, differsFromSurroundings, hasContrast, type PixelGrid } from './pixels.ts';

/** What one look at the open page found. */
export interface PageSight {
  readonly title: string;
  readonly isComplete: boolean;
  /** All text that can be seen. */
  readonly text: string;
  readonly painted: { readonly characters: number; readonly images: number; readonly drawings: number };
  readonly png: Uint8Array;
  /** SHA-256 of the picture. */
  readonly hash: string;
}

/** Looks at the page once: what its document contains, and what of it is in the pixels. */
export async function lookAtPage(page: Page, session: CDPSession): Promise<PageSight> {
  const { title, isComplete, boxes } = await lookAtFrame(page.mainFrame());
  const { data } = await session.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true });
  const png = Buffer.from(data, 'base64');
  const visible = keepVisible(boxes, decodePicture(png));
  const texts = visible.filter(({ kind }) => kind === 'text').map(({ text }) => text);
  const count = (kinds: readonly string[]): number =>
    visible.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    title,
    isComplete,
    text: texts.join(' '),
    painted: {
      characters: texts.join('').replace(/\s/g, '').length,
      images: count(['image']),
      drawings: count(['drawing', 'frame']),
    },
    png,
    hash: createHash('sha256').update(png).digest('hex'),
  };
}

/** The world of its own that puppeteer keeps in every frame; its public methods use it as well. */
interface IsolatedFrame {
  isolatedRealm(): { evaluate(expression: string): Promise<unknown> };
}

async function lookAtFrame(frame: Frame): Promise<FrameLook> {
  const realm = (frame as unknown as IsolatedFrame).isolatedRealm();
  return (await realm.evaluate(`new (${PageLook.toString()})().run()`)) as FrameLook;
}

/** What is outside of the window is believed; what is in it must be in the pixels. */
function keepVisible(boxes: readonly ContentBox[], grid: PixelGrid): ContentBox[] {
  return boxes.filter((box) => {
    const isInside =
      box.x < grid.width && box.y < grid.height && box.x + box.width > 0 && box.y + box.height > 0;
    if (!isInside) return box.y >= grid.height && box.x < grid.width && box.x + box.width > 0;
    return hasContrast(grid, box) || (box.kind === 'image' && differsFromSurroundings(grid, box));
  });
}

/** CSS pixels by which the page is wider than a phone. */
export async function measureOverflow(page: Page, session: CDPSession, clock: Clock): Promise<number> {
  const phone = { width: 390, height: 844, deviceScaleFactor: 1, mobile: false };
  await session.send('Emulation.setDeviceMetricsOverride', phone);
  await clock.sleep(200);
  const realm = (page.mainFrame() as unknown as IsolatedFrame).isolatedRealm();
  const wider = await realm.evaluate(`(() => {
    const { documentElement: root, body, scrollingElement } = document;
    const clips = [root, body].some((one) => one && /hidden|clip/.test(getComputedStyle(one).overflowX));
    return clips || !scrollingElement ? 0 : Math.max(0, scrollingElement.scrollWidth - ${phone.width});
  })()`);
  await session.send('Emulation.setDeviceMetricsOverride', {
    ...DESKTOP,
    deviceScaleFactor: 1,
    mobile: false,
  });
  return typeof wider === 'number' ? wider : 0;
}
