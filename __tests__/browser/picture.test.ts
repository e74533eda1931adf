import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { PNG } from 'pngjs';
import { comparePictures, limitPicture } from '../../src/browser/picture.ts';
import { MEGABYTE } from '../../src/protocol/limits.ts';

const paint = (width: number, height: number, fill: (data: Buffer) => void): Buffer => {
  const data = Buffer.alloc(width * height * 4, 0xff);
  fill(data);
  return PNG.sync.write({ width, height, data });
};

describe('limitPicture', () => {
  test('keeps a small picture as it is', () => {
    const small = paint(1280, 800, () => undefined);
    expect(limitPicture(small)).toBe(small);
  });

  test('reduces the colors of a large one, and keeps its size in pixels', () => {
    const noise = paint(1280, 800, (data) => randomBytes(data.length).copy(data));
    const limited = limitPicture(noise) ?? Buffer.alloc(0);
    expect(noise.length).toBeGreaterThan(MEGABYTE);
    expect(limited.length).toBeLessThanOrEqual(MEGABYTE);
    expect(PNG.sync.read(Buffer.from(limited))).toMatchObject({ width: 1280, height: 800 });
  });
});

describe('comparePictures', () => {
  const white = paint(100, 100, () => undefined);

  test('tells the share of pixels that differ', () => {
    const half = paint(100, 100, (data) => {
      for (let at = 0; at < data.length / 2; at += 4) data.writeUInt32BE(0x000000ff, at);
    });
    expect(comparePictures(white, white)).toBe(0);
    expect(comparePictures(white, half)).toBeCloseTo(0.5);
  });

  test('does not compare pictures of different sizes, or what is no picture', () => {
    expect(
      comparePictures(
        white,
        paint(10, 10, () => undefined),
      ),
    ).toBeNull();
    expect(comparePictures(white, Buffer.from('no picture'))).toBeNull();
  });
});
