import { crc32, deflateSync } from 'node:zlib';
import type { PixelGrid } from './pixels.ts';

/** Colors of an indexed picture. */
const MOST_COLORS = 256;

/** One color of the picture, with five bits for each channel, and how often it occurs. */
interface ColorBin {
  readonly channels: readonly number[];
  readonly count: number;
}

/**
 * Writes a PNG with 256 colors, one byte for each pixel before compression: 1280 × 800 pixels always fit in 1 MB.
 * Transparency is lost.
 */
export function writeIndexedPng(grid: PixelGrid): Buffer {
  const { width, height, data } = grid;
  const boxes = splitColors(listBins(grid));
  const indexes = new Uint8Array(32_768);
  for (const [index, box] of boxes.entries())
    for (const { channels } of box) indexes[keyOf(channels)] = index;
  const rows = Buffer.alloc(height * (width + 1));
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const at = (row * width + column) * 4;
      rows[row * (width + 1) + column + 1] = indexes[keyAt(data, at)] ?? 0;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // eight bits for each pixel, indexes of a palette
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    writeChunk('IHDR', header),
    writeChunk('PLTE', Buffer.from(boxes.flatMap(averageColor))),
    writeChunk('IDAT', deflateSync(rows)),
    writeChunk('IEND', Buffer.alloc(0)),
  ]);
}

function writeChunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

const keyOf = ([red = 0, green = 0, blue = 0]: readonly number[]): number =>
  (red << 10) | (green << 5) | blue;

const keyAt = (data: Uint8Array, at: number): number =>
  keyOf([(data[at] ?? 0) >> 3, (data[at + 1] ?? 0) >> 3, (data[at + 2] ?? 0) >> 3]);

function listBins({ data }: PixelGrid): ColorBin[] {
  const counts = new Uint32Array(32_768);
  for (let at = 0; at < data.length; at += 4) {
    const key = keyAt(data, at);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return [...counts].flatMap((count, key) =>
    count === 0 ? [] : { channels: [key >> 10, (key >> 5) & 31, key & 31], count },
  );
}

/** Splits the colors into boxes of similar ones: always the box with the most pixels, along its longest side. */
function splitColors(bins: readonly ColorBin[]): ColorBin[][] {
  const boxes = [[...bins]];
  while (boxes.length < MOST_COLORS) {
    const largest = boxes
      .filter(({ length }) => length > 1)
      .sort((one, other) => sumOf(other) - sumOf(one))[0];
    if (largest === undefined) break;
    const spans = [0, 1, 2].map((side) => spanOf(largest, side));
    const side = spans.indexOf(Math.max(...spans));
    largest.sort((one, other) => (one.channels[side] ?? 0) - (other.channels[side] ?? 0));
    boxes.push(largest.splice(findMiddle(largest)));
  }
  return boxes;
}

const sumOf = (box: readonly ColorBin[]): number => box.reduce((sum, { count }) => sum + count, 0);

function spanOf(box: readonly ColorBin[], side: number): number {
  const values = box.map(({ channels }) => channels[side] ?? 0);
  return (
    values.reduce((most, value) => Math.max(most, value), 0) -
    values.reduce((least, value) => Math.min(least, value), 31)
  );
}

/** Where half of the box's pixels are before; at least one color is on each side. */
function findMiddle(box: readonly ColorBin[]): number {
  const half = sumOf(box) / 2;
  let before = 0;
  const middle = box.findIndex(({ count }) => {
    before += count;
    return before >= half;
  });
  return Math.min(Math.max(middle, 1), box.length - 1);
}

/** The color of a box in eight bits for each channel; white stays white, and black black. */
function averageColor(box: readonly ColorBin[]): number[] {
  const total = sumOf(box);
  return [0, 1, 2].map((side) => {
    const sum = box.reduce((all, { channels, count }) => all + (channels[side] ?? 0) * count, 0);
    return Math.round(((sum / Math.max(1, total)) * 255) / 31);
  });
}
