import type { ScreenView } from '../../browser/screen-view.ts';
import type { ServedFile } from '../../channels/channel.ts';
import { resultOf } from '../../errors.ts';
import { discard, readBody } from '../../http/response.ts';
import { neutralizeText } from '../../plain-text.ts';
import type { Ports } from '../../ports.ts';
import { SCREEN } from '../../protocol/limits.ts';
import { createMemoryFile, type LocalFile } from '../../rules/inspect.ts';
import { decodePath } from '../../rules/naming.ts';
import { attemptIn, type Delivery, withAttempt } from '../delivery.ts';
import type { DeliveryContext } from '../delivery-context.ts';
import { askPastCaches } from './ask-host.ts';

/** Adds a picture of the page to the delivery, beside the previous picture. */
export async function addPicture(
  delivery: Delivery,
  view: ScreenView,
  context: DeliveryContext,
): Promise<Delivery> {
  const attempt = attemptIn(delivery, 'K1');
  const { pictureUrls: urls = null, sitePath = '' } = attempt?.task.served ?? {};
  if (attempt === undefined || urls === null) {
    return withoutPicture(delivery, 'the host builds the page under another name');
  }
  if (view.picture === null) return withoutPicture(delivery, view.reason || 'the browser took no picture');
  const { changed, picture, before } = await compareWithPrevious(view.picture, urls, context);
  const toFile = ({ pathname }: URL, png: Uint8Array): LocalFile =>
    createMemoryFile(decodePath(pathname.slice(sitePath.length)), png);
  const file = toFile(urls.picture, picture);
  const pictures = before === null ? [file] : [file, toFile(urls.before, before)];
  // For folders, the channel itself reports cached files.
  const isStale = changed !== null && changed > 0 && !delivery.site?.isFolder;
  return {
    ...withAttempt(delivery, { ...attempt, task: { ...attempt.task, pictures } }),
    unknown: isStale
      ? [...delivery.unknown, 'whether a cache still shows the older picture, for up to ten minutes']
      : delivery.unknown,
    picture: { title: view.title, changed, sha256: file.sha256, hasBefore: before !== null },
  };
}

/** The pictures to deliver. If nothing changed, both stay the same, which needs no commit. */
async function compareWithPrevious(
  taken: Uint8Array,
  urls: NonNullable<ServedFile['pictureUrls']>,
  context: DeliveryContext,
) {
  const previous = await fetchPrevious(urls.picture, taken, context);
  const changed = previous && (await context.screen.compare(previous, taken));
  const isSame = changed === 0;
  const before = isSame ? await fetchPrevious(urls.before, taken, context) : previous;
  return { changed, picture: (isSame && previous) || taken, before: changed === null ? null : before };
}

const withoutPicture = (delivery: Delivery, reason: string): Delivery => ({
  ...delivery,
  unknown: [...delivery.unknown, `how the page looks: no picture of it was delivered, because ${reason}`],
});

/** The previous picture; `null` unless it has the same size. */
async function fetchPrevious(url: URL, picture: Uint8Array, ports: Ports): Promise<Uint8Array | null> {
  const fetched = await resultOf(async () => {
    const answer = await askPastCaches(url, 'before', ports);
    if (answer.status === 200) return readBody(answer, SCREEN.picture);
    discard(answer);
    return null;
  });
  // The picture may be anybody's, so only one of the same size is decoded.
  return fetched instanceof Uint8Array && readPngHeader(fetched) === readPngHeader(picture) ? fetched : null;
}

/** The signature and the size in pixels. */
const readPngHeader = (png: Uint8Array): string => Buffer.from(png.subarray(0, 24)).toString('hex');

/** A verified picture of the page. */
export interface PictureReport {
  readonly url: string;
  /** Lowercase hex: a cache may keep an older picture. */
  readonly sha256: string;
  /** The alternative text. */
  readonly alternative: string;
  /** The verified URL of the previous picture; `null` if it is the same or missing. */
  readonly beforeUrl: string | null;
  /** The share of pixels, from 0 to 1, that changed; `null` without a previous picture. */
  readonly changed: number | null;
}

/** Reports the delivered picture if everything is verified. */
export function reportPicture(delivery: Delivery): PictureReport | null {
  const { picture, subject } = delivery;
  const { proof, task } = attemptIn(delivery, 'K1') ?? {};
  const urls = task?.served?.pictureUrls;
  if (picture === null || !urls || !proof) return null;
  return {
    url: urls.picture.href,
    sha256: picture.sha256,
    alternative: neutralizeText(`Picture of ${picture.title || subject}`),
    // If nothing changed, an even older picture is still there.
    beforeUrl: picture.changed === 0 || !picture.hasBefore ? null : urls.before.href,
    changed: picture.changed,
  };
}
