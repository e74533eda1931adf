import type { Frame } from '#puppeteer';
import { untilAborted } from '../async.ts';
import { withoutSpace } from '../plain-text.ts';
import { TEMPLATE_TAG } from '../rules/page/page-file.ts';
import { DocumentReader } from './document-reader.ts';
import type { ContentBox, FrameContent } from './dom-types.ts';
import { evaluateApart, type OpenPage, type PagePicture, SCROLL_BACK, takePicture } from './open-page.ts';
import { DESKTOP, differsFromSurroundings, hasContrast, type PixelGrid } from './pixels.ts';
import type { ScreenView } from './screen-view.ts';

export interface PageSnapshot
  extends Omit<FrameContent, 'boxes'>,
    Pick<ScreenView, 'painted' | 'isMarkerVisible' | 'isStable'> {
  readonly text: string;
  /** The longest side of a visible picture or drawing, in CSS pixels; or 0. */
  readonly largestPicture: number;
  readonly hasMore: boolean;
  readonly isErrorPage: boolean;
  readonly picture: PagePicture;
}

const MOST_FRAMES = 12;

/** Most windows to scroll down if nothing is visible at the top. */
const MOST_PARTS = 4;

/** Milliseconds for a page to paint after scrolling. */
const SCROLL_TIME = 150;

/** Milliseconds for a frame to answer. A frame that is still loading never does. */
const FRAME_TIME = 1_000;

/** Reads the content of all frames, and keeps what the pixels show. @param before the previous snapshot */
export async function inspectPage(opened: OpenPage, before: PageSnapshot | null): Promise<PageSnapshot> {
  const { marker } = opened.wanted;
  const main = opened.page.mainFrame();
  const { boxes, ...content } = await inspectFrame(main);
  const picture = await takePicture(opened, before?.picture);
  const { grid } = picture;
  const inner = await inspectInnerFrames(opened);
  let visible = keepVisible([...boxes, ...inner.flatMap((frame) => frame.boxes)], grid);
  // Scrolling takes time, so it comes last.
  if (visible.length === 0) visible = await inspectBelow(opened, boxes);
  const text = visible.map((box) => box.text).join(' ');
  return {
    ...content,
    brokenPictures: [content, ...inner].flatMap((frame) => frame.brokenPictures),
    text,
    painted: countPainted(visible),
    picture,
    isStable: before && before.picture === picture,
    isMarkerVisible: marker === undefined ? null : withoutSpace(text).includes(withoutSpace(marker)),
    largestPicture: Math.max(
      0,
      ...visible.flatMap(({ kind, width, height }) => (kind === 'text' ? [] : [width, height])),
    ),
    hasMore: boxes.some(({ y, kind }) => y >= grid.height && kind !== 'shape'),
    isErrorPage: isErrorPage(main),
  };
}

/** So many shapes count as one drawing, such as a chart made of boxes. */
const SHAPES_OF_DRAWING = 3;

function countPainted(visible: readonly ContentBox[]): PageSnapshot['painted'] {
  const listed = (wanted: string): readonly ContentBox[] => visible.filter(({ kind }) => kind === wanted);
  return {
    characters: listed('text').reduce((sum, { text }) => sum + text.replace(/\s/g, '').length, 0),
    images: listed('image').length,
    drawings: listed('drawing').length + (listed('shape').length >= SHAPES_OF_DRAWING ? 1 : 0),
  };
}

const inspectFrame = async (frame: Frame): Promise<FrameContent> =>
  (await evaluateApart(frame, `new (${DocumentReader.toString()})().run(${TEMPLATE_TAG})`)) as FrameContent;

type InnerContent = Pick<FrameContent, 'boxes' | 'brokenPictures'>;

/** The content of inner frames, by window coordinates. Error pages don't count. */
async function inspectInnerFrames({ page, events, clock }: OpenPage): Promise<InnerContent[]> {
  const isMeant = (frame: Frame): boolean => !isErrorPage(frame) && !events.failedFrames.has(frame);
  const frames = page.frames().filter((frame) => frame !== page.mainFrame() && isMeant(frame));
  const tooLate = clock.timeout(FRAME_TIME);
  const found = frames
    .slice(0, MOST_FRAMES)
    .map((frame) => untilAborted(tooLate, inspectInnerFrame(frame)).catch(() => []));
  return (await Promise.all(found)).flat();
}

const isErrorPage = (frame: Frame): boolean => frame.url().startsWith('chrome-error:');

async function inspectInnerFrame(frame: Frame): Promise<InnerContent[]> {
  const element = await frame.frameElement();
  const area = await element?.boundingBox();
  if (!area) return [];
  const { boxes, brokenPictures } = await inspectFrame(frame);
  const isInside = (box: ContentBox): boolean => box.x < area.width && box.y < area.height;
  const inside = boxes.filter(isInside).map((box) => ({ ...box, x: box.x + area.x, y: box.y + area.y }));
  return [{ boxes: inside, brokenPictures }];
}

const keepVisible = (boxes: readonly ContentBox[], grid: PixelGrid): ContentBox[] =>
  boxes.filter((box) => isInPixels(box, grid));

function isInPixels(box: ContentBox, grid: PixelGrid): boolean {
  const { kind, width, height } = box;
  if (kind === 'shape') {
    return width * height < grid.width * grid.height * 0.5 && differsFromSurroundings(grid, box, 64);
  }
  return hasContrast(grid, box) || (kind !== 'text' && differsFromSurroundings(grid, box));
}

async function inspectBelow(opened: OpenPage, boxes: readonly ContentBox[]): Promise<ContentBox[]> {
  const main = opened.page.mainFrame();
  const { height } = DESKTOP;
  let top = 0;
  let [found, visible] = [boxes, [] as ContentBox[]];
  for (let part = 1; part <= MOST_PARTS && visible.length === 0; part += 1) {
    const next = found.find((box) => box.kind !== 'shape' && box.y >= height);
    const wanted = top + (next === undefined ? height : next.y - height / 2);
    const reached = await evaluateApart(main, `scrollTo({ top: ${wanted}, behavior: 'instant' }), scrollY`);
    if (Number(reached) <= top) break;
    top = Number(reached);
    await opened.clock.sleep(SCROLL_TIME);
    found = (await inspectFrame(main)).boxes;
    visible = keepVisible(found, (await takePicture(opened)).grid);
  }
  await evaluateApart(main, SCROLL_BACK);
  return visible;
}
