import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { PNG } from 'pngjs';
import { writeIndexedPng } from '../../src/browser/indexed-png.ts';
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
    // As the browser writes it: without a filter, and hardly compressed.
    const noise = PNG.sync.write(
      { width: 1280, height: 800, data: randomBytes(1280 * 800 * 4) },
      { deflateLevel: 1, filterType: 0 },
    );
    const limited = limitPicture(noise) ?? Buffer.alloc(0);
    expect(noise.length).toBeGreaterThan(MEGABYTE);
    expect(limited.length).toBeLessThanOrEqual(MEGABYTE);
    expect(PNG.sync.read(Buffer.from(limited))).toMatchObject({ width: 1280, height: 800 });
  });
});

describe('writeIndexedPng', () => {
  test('keeps the colors of a picture that has few, and comes near to those of one with many', () => {
    const data = Buffer.alloc(64 * 64 * 4, 0xff);
    for (let at = 0; at < data.length; at += 4) data.set([(at / 4) % 256, (at / 1024) % 256, 0], at);
    const written = PNG.sync.read(writeIndexedPng({ width: 64, height: 64, data })).data;
    const differences = [...data].map((value, at) => Math.abs(value - (written[at] ?? 0)));
    expect(Math.max(...differences)).toBeLessThan(48);
    const flat = Buffer.alloc(16, 0xff);
    expect([...PNG.sync.read(writeIndexedPng({ width: 2, height: 2, data: flat })).data]).toEqual([...flat]);
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
