import type { ScreenView } from '../../browser/screen-view.ts';
import type { ServedFile } from '../../channels/channel.ts';
import type { PagePictures } from '../../channels/pages/pictures.ts';
import { resultOf } from '../../errors.ts';
import { discard, readBody } from '../../http/response.ts';
import { neutralizeText } from '../../plain-text.ts';
import type { Ports } from '../../ports.ts';
import { SCREEN } from '../../protocol/limits.ts';
import { createMemoryFile } from '../../rules/inspect.ts';
import { baseName, decodePath } from '../../rules/naming.ts';
import { attemptIn, type Delivery, withAttempt } from '../delivery.ts';
import type { DeliveryContext } from '../delivery-context.ts';
import { askPastCaches } from './ask-host.ts';

/** Adds a page's picture to what is delivered, and keeps the one of before beside it. */
export async function addPicture(
  delivery: Delivery,
  view: ScreenView,
  context: DeliveryContext,
): Promise<Delivery> {
  const attempt = attemptIn(delivery, 'K1');
  const urls = attempt?.task.served?.pictureUrls;
  if (attempt === undefined || urls == null) {
    return withoutPicture(delivery, 'the host builds the page under another name');
  }
  if (view.picture === null) return withoutPicture(delivery, view.reason || 'the browser took none');
  const { changed, ...pictures } = await compareWithPrevious(view.picture, urls, context);
  // Of a folder, the channel itself says which files a cache may still have.
  const isStale = changed !== null && changed > 0 && !delivery.site?.isFolder;
  const task = { ...attempt.task, pictures };
  return {
    ...withAttempt(delivery, { ...attempt, task }),
    unknown: isStale
      ? [...delivery.unknown, 'whether a cache still shows the older picture, for up to ten minutes']
      : delivery.unknown,
    picture: { title: view.title, changed },
  };
}

/** The pictures to deliver. Where nothing changed, both stay as they are: that needs no commit. */
async function compareWithPrevious(
  taken: Uint8Array,
  urls: NonNullable<ServedFile['pictureUrls']>,
  context: DeliveryContext,
): Promise<PagePictures & { readonly changed: number | null }> {
  const previous = await fetchPrevious(urls.picture, taken, context);
  const changed = previous && (await context.screen.compare(previous, taken));
  const isSame = changed === 0;
  const before = isSame ? await fetchPrevious(urls.before, taken, context) : previous;
  return {
    changed,
    picture: createMemoryFile(nameOf(urls.picture), isSame && previous !== null ? previous : taken),
    before: before === null || changed === null ? null : createMemoryFile(nameOf(urls.before), before),
  };
}

const nameOf = ({ pathname }: URL): string => baseName(decodePath(pathname));

const withoutPicture = (delivery: Delivery, reason: string): Delivery => ({
  ...delivery,
  unknown: [...delivery.unknown, `how the page looks: no picture of it was delivered, because ${reason}`],
});

/** The picture that an earlier delivery left; `null` where there is none of the same size. */
async function fetchPrevious(url: URL, picture: Uint8Array, ports: Ports): Promise<Uint8Array | null> {
  const fetched = await resultOf(async () => {
    const answer = await askPastCaches(url, 'before', ports);
    if (answer.status === 200) return readBody(answer, SCREEN.picture);
    discard(answer);
    return null;
  });
  // Only a picture of the same size is decoded: it may be anybody's.
  return fetched instanceof Uint8Array && readPngHeader(fetched) === readPngHeader(picture) ? fetched : null;
}

/** The signature of a PNG, and the size in pixels that its first block tells. */
const readPngHeader = (png: Uint8Array): string => Buffer.from(png.subarray(0, 24)).toString('hex');

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
  const { picture, subject } = delivery;
  const attempt = attemptIn(delivery, 'K1');
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
