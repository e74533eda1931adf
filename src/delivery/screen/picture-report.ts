import { neutralizeText } from '../../plain-text.ts';
import type { Delivery } from '../delivery.ts';

/** A proven picture of the page. */
export interface PictureReport {
  readonly url: string;
  /** Of the picture's bytes, lowercase hex: a cache may keep an older picture. */
  readonly sha256: string;
  /** For those who don't see it. */
  readonly alternative: string;
  /** The proven address of the picture of the delivery before; `null` where it was the same, or where there was none. */
  readonly beforeUrl: string | null;
  /** The share of pixels, from 0 to 1, that changed since; `null` where there was none. */
  readonly changed: number | null;
}

/** The picture that was delivered with a page, once everything is proven. */
export function reportPicture(delivery: Delivery): PictureReport | null {
  const { picture, attempts, subject } = delivery;
  const attempt = attempts.get('K1');
  const pictures = attempt?.placement?.pictures;
  if (picture === null || pictures === undefined || attempt?.proof == null) return null;
  return {
    url: pictures.url.href,
    sha256: pictures.sha256,
    alternative: neutralizeText(`Picture of ${picture.title || subject}`),
    // One of an even earlier delivery stays where nothing changed.
    beforeUrl: picture.changed === 0 ? null : (pictures.before?.href ?? null),
    changed: picture.changed,
  };
}
