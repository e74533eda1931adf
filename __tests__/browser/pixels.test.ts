import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { PNG } from 'pngjs';
import { comparePictures, DESKTOP } from '../../src/browser/pixels.ts';
import { SCREEN } from '../../src/protocol/limits.ts';

const paint = (width: number, height: number, fill: (data: Buffer) => void): Buffer => {
  const data = Buffer.alloc(width * height * 4, 0xff);
  fill(data);
  return PNG.sync.write({ width, height, data });
};

test('a picture of any page can be compared after it is fetched back', () => {
  // As the browser writes it: without a filter, and hardly compressed.
  const { width, height } = DESKTOP;
  const noise = PNG.sync.write(
    { width, height, data: randomBytes(width * height * 4) },
    { deflateLevel: 1, filterType: 0 },
  );
  expect(noise.length).toBeLessThanOrEqual(SCREEN.picture);
});

describe('comparePictures', () => {
  const white = paint(100, 100, () => undefined);

  test('returns the share of pixels that differ', () => {
    const half = paint(100, 100, (data) => {
      for (let at = 0; at < data.length / 2; at += 4) data.writeUInt32BE(0x000000ff, at);
    });
    expect(comparePictures(white, white)).toBe(0);
    expect(comparePictures(white, half)).toBeCloseTo(0.5);
  });

  test('compares neither pictures of different sizes nor other files', () => {
    const small = paint(10, 10, () => undefined);
    expect(comparePictures(white, small)).toBeNull();
    expect(comparePictures(white, Buffer.from('no picture'))).toBeNull();
  });
});
