import type { CDPSession, Frame, Page } from 'puppeteer-core';
import { untilAborted } from '../async.ts';
import type { Clock } from '../ports.ts';
import { findClosedRoots } from './closed-roots.ts';
import type { ContentBox, FrameLook, PageBox } from './dom-types.ts';
import { MarkerSearch } from './marker-search.ts';
import type { PageEvents } from './page-events.ts';
import { PageLook } from './page-look.ts';
import {
  decodePicture,
  differsFromSurroundings,
  fillsWindow,
  hasContrast,
  type PixelGrid,
} from './pixels.ts';

/** What one look at the open page found. */
export interface PageSight {
  readonly title: string;
  readonly heading: string;
  readonly isComplete: boolean;
  /** All text that can be seen. */
  readonly text: string;
  readonly painted: { readonly characters: number; readonly images: number; readonly drawings: number };
  /** Whether all pictures and drawings are small, as those that tell a person to wait. */
  readonly isSmall: boolean;
  /** Whether the page has more text or pictures outside of the window. */
  readonly hasMore: boolean;
  /** Whether the browser shows a page of its own, because what it was sent to can't be opened. */
  readonly isErrorPage: boolean;
  /** `null` without a marker. */
  readonly isMarkerVisible: boolean | null;
  readonly picture: Picture;
}

/** A picture of the window. */
export interface Picture {
  readonly png: Buffer;
  readonly grid: PixelGrid;
}

/** A page that is open, and the session through which it is controlled. */
export interface PageAccess {
  readonly page: Page;
  readonly session: CDPSession;
  readonly events: Pick<PageEvents, 'failedFrames'>;
  readonly clock: Clock;
}

/** Gives the page a window of this size, in CSS pixels. */
export const setWindow = (
  session: CDPSession,
  size: { readonly width: number; readonly height: number },
): Promise<void> =>
  session.send('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1, mobile: false });

/** Frames of one page that are looked at. */
const MOST_FRAMES = 12;

/** CSS pixels of a picture that may only tell a person to wait. */
const SMALL = 200;

/** Parts of a page, each as high as the window, that are scrolled to where nothing can be seen before. */
const MOST_PARTS = 4;

/** Milliseconds for a page to show what was scrolled to. */
const SCROLL_TIME = 150;

/** Milliseconds for a frame to answer: one that is not loaded yet never does. */
const FRAME_TIME = 1_000;

/**
 * Looks at the page once: what its documents contain, and what of it is in the pixels.
 *
 * @param before the look before, whose picture is decoded already
 */
export async function lookAtPage(
  access: PageAccess,
  marker: string | undefined,
  before: PageSight | null,
): Promise<PageSight> {
  const { title, heading, isComplete, boxes } = await lookAtFrame(access.page.mainFrame());
  const picture = await takePicture(access, before?.picture);
  const { grid } = picture;
  let visible = keepVisible([...boxes, ...(await lookAtInnerFrames(access))], grid);
  // Both cost more, and are needed only where nothing else is there.
  if (visible.length === 0) visible = keepVisible(await findClosedRoots(access).catch(() => []), grid);
  if (visible.length === 0) visible = await lookElsewhere(access);
  const text = joinTexts(visible);
  const isMarkerVisible = marker === undefined ? null : await isVisibleMarker(access, marker, text);
  return {
    ...{ title, heading, isComplete, text, painted: countPainted(visible), isMarkerVisible, picture },
    isSmall: visible.every(({ kind, width, height }) => kind === 'text' || Math.max(width, height) <= SMALL),
    hasMore: boxes.some(({ y, kind }) => y >= grid.height && kind !== 'shape'),
    isErrorPage: isErrorPage(access.page.mainFrame()),
  };
}

const joinTexts = (boxes: readonly ContentBox[]): string => boxes.map(({ text }) => text).join(' ');

/** Areas of color of their own that are a drawing together: charts and figures without a single picture. */
const SHAPES_OF_DRAWING = 3;

function countPainted(visible: readonly ContentBox[]): PageSight['painted'] {
  const count = (wanted: string): number => visible.filter(({ kind }) => kind === wanted).length;
  const texts = visible.filter(({ kind }) => kind === 'text');
  const shapes = count('shape');
  return {
    characters: texts.reduce((sum, { text }) => sum + text.replace(/\s/g, '').length, 0),
    images: count('image'),
    drawings: count('drawing') + (shapes >= SHAPES_OF_DRAWING ? 1 : 0),
  };
}

/** @param before returned again where the page looks the same */
async function takePicture({ session }: PageAccess, before?: Picture): Promise<Picture> {
  const { data } = await session.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true });
  const png = Buffer.from(data, 'base64');
  return before?.png.equals(png) ? before : { png, grid: decodePicture(png) };
}

/** The world of its own that puppeteer keeps in every frame; its public methods use it as well. */
interface IsolatedFrame {
  isolatedRealm(): { evaluate(expression: string): Promise<unknown> };
}

/** Runs an expression in a world of its own, which the page's scripts can't change. */
export const evaluateApart = (frame: Frame, expression: string): Promise<unknown> =>
  (frame as unknown as IsolatedFrame).isolatedRealm().evaluate(expression);

const lookAtFrame = async (frame: Frame): Promise<FrameLook> =>
  (await evaluateApart(frame, `new (${PageLook.toString()})().run()`)) as FrameLook;

/** What the frames inside the page contain, at their place in the window; an error of browser or host is nothing. */
async function lookAtInnerFrames({ page, events, clock }: PageAccess): Promise<ContentBox[]> {
  const isMeant = (frame: Frame): boolean => !isErrorPage(frame) && !events.failedFrames.has(frame);
  const frames = page.frames().filter((frame) => frame !== page.mainFrame() && isMeant(frame));
  const tooLate = clock.timeout(FRAME_TIME);
  const found = frames
    .slice(0, MOST_FRAMES)
    .map((frame) => untilAborted(tooLate, lookAtInnerFrame(frame)).catch(() => []));
  return (await Promise.all(found)).flat();
}

const isErrorPage = (frame: Frame): boolean => frame.url().startsWith('chrome-error:');

async function lookAtInnerFrame(frame: Frame): Promise<ContentBox[]> {
  const element = await frame.frameElement();
  const place = await element?.boundingBox();
  if (!place) return [];
  const { boxes } = await lookAtFrame(frame);
  const isInside = (box: ContentBox): boolean => box.x < place.width && box.y < place.height;
  return boxes.filter(isInside).map((box) => ({ ...box, x: box.x + place.x, y: box.y + place.y }));
}

/** Keeps what is in the pixels of the window. */
const keepVisible = (boxes: readonly ContentBox[], grid: PixelGrid): ContentBox[] =>
  boxes.filter((box) => isInPixels(box, grid));

function isInPixels(box: ContentBox, grid: PixelGrid): boolean {
  switch (box.kind) {
    case 'text':
      return hasContrast(grid, box);
    case 'image':
      return hasContrast(grid, box) || differsFromSurroundings(grid, box) || fillsWindow(grid, box);
    case 'drawing':
      return hasContrast(grid, box) || differsFromSurroundings(grid, box);
    case 'shape':
      return (
        box.width * box.height < grid.width * grid.height * 0.5 && differsFromSurroundings(grid, box, 64)
      );
  }
}

/** Scrolls to what the page has outside of the window, as a person would, and looks there. */
async function lookElsewhere(access: PageAccess): Promise<ContentBox[]> {
  const main = access.page.mainFrame();
  let visible: ContentBox[] = [];
  for (let part = 1; part <= MOST_PARTS && visible.length === 0; part += 1) {
    const isMoved = await evaluateApart(main, `new (${PageLook.toString()})().scroll(${part})`);
    if (isMoved !== true) break;
    // What appears when it is scrolled to needs a moment.
    await access.clock.sleep(SCROLL_TIME);
    const { boxes } = await lookAtFrame(main);
    visible = keepVisible(boxes, (await takePicture(access)).grid);
  }
  await evaluateApart(main, "scrollTo({ top: 0, left: 0, behavior: 'instant' })");
  return visible;
}

/** Whether the marker is in the pixels, anywhere on the page: it is scrolled to. */
async function isVisibleMarker(access: PageAccess, marker: string, text: string): Promise<boolean> {
  const main = access.page.mainFrame();
  const search = `new (${MarkerSearch.toString()})().run(${JSON.stringify(marker)})`;
  const box = (await evaluateApart(main, search)) as PageBox | null;
  // Of inner frames and form fields only what is in the window counts.
  if (box === null) return joinWords(text).includes(joinWords(marker));
  const isThere = hasContrast((await takePicture(access)).grid, box);
  await evaluateApart(main, "scrollTo({ top: 0, behavior: 'instant' })");
  return isThere;
}

const joinWords = (text: string): string => text.normalize('NFC').replace(/\s+/g, '');
