import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';

/** The window of a desktop, in CSS pixels. */
export const DESKTOP = { width: 1280, height: 800 } as const;

/**
 * How far two pictures differ.
 *
 * @returns the share of pixels that differ, from 0 to 1; `null` for pictures of different sizes, or none
 */
export function comparePictures(before: Uint8Array, after: Uint8Array): number | null {
  try {
    const [one, other] = [before, after].map((png) => PNG.sync.read(Buffer.from(png)));
    if (one === undefined || other === undefined) return null;
    const { width, height } = one;
    if (width !== other.width || height !== other.height) return null;
    return pixelmatch(one.data, other.data, undefined, width, height) / (width * height);
  } catch {
    return null;
  }
}
