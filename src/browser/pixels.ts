import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import type { PageBox } from './dom-types.ts';

export interface PixelGrid {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

export const decodePicture = (png: Uint8Array): PixelGrid => PNG.sync.read(Buffer.from(png));

/** The smallest difference in a color channel, of 255, that a person notices. */
const VISIBLE_DIFFERENCE = 24;

const SAMPLES = 40_000;

/** Whether a box shows more than one color, such as letters or a picture. */
export function hasContrast(grid: PixelGrid, box: PageBox): boolean {
  const colors = countColors(grid, box);
  const common = findCommonColor(colors);
  let [total, different] = [0, 0];
  for (const [color, count] of colors) {
    total += count;
    if (isDifferent(color, common)) different += count;
  }
  return different >= Math.max(3, total * 0.002);
}

/** Whether the box's main color differs from the pixels around it. @param least difference in a channel, of 255 */
export function differsFromSurroundings(grid: PixelGrid, box: PageBox, least = VISIBLE_DIFFERENCE): boolean {
  const inside = countColors(grid, box);
  if (inside.size === 0) return false;
  const { x, y, width, height } = box;
  const around = [
    { x: x - 4, y: y - 4, width: width + 8, height: 2 },
    { x: x - 4, y: y + height + 2, width: width + 8, height: 2 },
    { x: x - 4, y: y - 4, width: 2, height: height + 8 },
    { x: x + width + 2, y: y - 4, width: 2, height: height + 8 },
  ].flatMap((strip) => [...countColors(grid, strip).keys()]);
  const common = findCommonColor(inside);
  return around.some((color) => isDifferent(color, common, least));
}

/** The part of a box in which two pictures differ. An empty box stands for the whole window. */
export function findDifference(before: PixelGrid, after: PixelGrid, box: PageBox): PageBox | null {
  const { width, height } = before;
  const within = box.width >= 1 && box.height >= 1 ? box : { x: 0, y: 0, width, height };
  const [left, right] = limitRange(within.x, within.width, width);
  const [top, bottom] = limitRange(within.y, within.height, height);
  let [firstX, lastX, firstY, lastY] = [right, -1, bottom, -1];
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) {
      const at = (y * width + x) * 4;
      if ([0, 1, 2].every((channel) => before.data[at + channel] === after.data[at + channel])) continue;
      [firstX, lastX] = [Math.min(firstX, x), Math.max(lastX, x)];
      [firstY, lastY] = [Math.min(firstY, y), y];
    }
  }
  return lastY < 0 ? null : { x: firstX, y: firstY, width: lastX - firstX + 1, height: lastY - firstY + 1 };
}

const limitRange = (start: number, length: number, window: number): [number, number] => [
  Math.max(0, Math.floor(start)),
  Math.min(window, Math.ceil(start + length)),
];

function countColors({ width, height, data }: PixelGrid, box: PageBox): Map<number, number> {
  const [left, right] = limitRange(box.x, box.width, width);
  const [top, bottom] = limitRange(box.y, box.height, height);
  const colors = new Map<number, number>();
  if (right <= left || bottom <= top) return colors;
  const step = Math.max(1, Math.floor(Math.sqrt(((right - left) * (bottom - top)) / SAMPLES)));
  for (let row = top; row < bottom; row += step) {
    for (let column = left; column < right; column += step) {
      const at = (row * width + column) * 4;
      const color = ((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0);
      colors.set(color, (colors.get(color) ?? 0) + 1);
    }
  }
  return colors;
}

function findCommonColor(colors: ReadonlyMap<number, number>): number {
  let [common, most] = [0, 0];
  for (const [color, count] of colors) if (count > most) [common, most] = [color, count];
  return common;
}

function isDifferent(color: number, other: number, least = VISIBLE_DIFFERENCE): boolean {
  return [16, 8, 0].some((shift) => Math.abs(((color >> shift) & 0xff) - ((other >> shift) & 0xff)) >= least);
}

export const DESKTOP = { width: 1280, height: 800 } as const;

/** The share of different pixels, from 0 to 1; `null` if the pictures can't be compared. */
export function comparePictures(beforePng: Uint8Array, afterPng: Uint8Array): number | null {
  try {
    const [before, after] = [decodePicture(beforePng), decodePicture(afterPng)];
    const { width, height } = before;
    if (width !== after.width || height !== after.height) return null;
    return pixelmatch(before.data, after.data, undefined, width, height) / (width * height);
  } catch {
    return null;
  }
}
