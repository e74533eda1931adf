import type { ScreenView } from '../../browser/screen-view.ts';
import type { ServedFile } from '../../channels/channel.ts';
import { addPictures, type PagePictures } from '../../channels/pages/pictures.ts';
import { resultOf } from '../../errors.ts';
import { discard, readBody } from '../../http/response.ts';
import type { Ports } from '../../ports.ts';
import { PROBE_TIME, SCREEN } from '../../protocol/limits.ts';
import { createMemoryFile } from '../../rules/memory-file.ts';
import type { Delivery } from '../delivery.ts';
import type { DeliveryContext } from '../delivery-context.ts';

/**
 * Adds the picture of a page to what is delivered. Where an earlier delivery left another one, that is kept
 * beside it.
 *
 * @throws {DeliveryError} `BAD_INPUT` where a file of the folder has the name of the picture.
 * @see design 7
 */
export async function addPicture(
  delivery: Delivery,
  view: ScreenView,
  context: DeliveryContext,
): Promise<Delivery> {
  const task = delivery.tasks.get('K1');
  const urls = task?.served?.pictureUrls;
  if (task === undefined || urls == null) {
    return withoutPicture(delivery, 'the host builds the page under another name');
  }
  if (view.picture === null) return withoutPicture(delivery, view.reason || 'the browser took none');
  const { changed, ...pictures } = await compareWithEarlier(view.picture, urls, context);
  const site = delivery.site && addPictures(delivery.site, pictures);
  // Of a folder, the channel itself says which files a cache may still have.
  const isStale = changed !== null && changed > 0 && site === null;
  return {
    ...delivery,
    site,
    unknown: [...delivery.unknown, ...(isStale ? [STALE_PICTURE] : [])],
    tasks: new Map([...delivery.tasks, ['K1', { ...task, pictures: { ...pictures, site } }]]),
    picture: { title: view.title, changed },
  };
}

/** The pictures to deliver. Where nothing changed, both stay as they are: that needs no commit. */
async function compareWithEarlier(
  taken: Uint8Array,
  urls: NonNullable<ServedFile['pictureUrls']>,
  context: DeliveryContext,
): Promise<PagePictures & { readonly changed: number | null }> {
  const earlier = await fetchEarlier(urls.picture, taken, context);
  const changed = earlier && (await context.screen.compare(earlier, taken));
  const isSame = changed === 0;
  const before = isSame ? await fetchEarlier(urls.before, taken, context) : earlier;
  return {
    changed,
    picture: createMemoryFile(nameOf(urls.picture), isSame && earlier !== null ? earlier : taken),
    before: before === null || changed === null ? null : createMemoryFile(nameOf(urls.before), before),
  };
}

const nameOf = ({ pathname }: URL): string =>
  decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1));

const STALE_PICTURE = 'whether a cache still shows the older picture, for up to ten minutes';

const withoutPicture = (delivery: Delivery, reason: string): Delivery => ({
  ...delivery,
  unknown: [...delivery.unknown, `how the page looks: no picture of it was delivered, because ${reason}`],
});

/** The picture that an earlier delivery left; `null` where there is none of the same size. */
async function fetchEarlier(
  url: URL,
  picture: Uint8Array,
  { http, clock, signal }: Ports,
): Promise<Uint8Array | null> {
  const fresh = new URL(url);
  fresh.searchParams.set('v', `${clock.now()}-before`);
  const limit = AbortSignal.any([signal, clock.timeout(PROBE_TIME.least)]);
  const fetched = await resultOf(async () => {
    const answer = await http({ method: 'GET', url: fresh, signal: limit });
    if (answer.status === 200) return readBody(answer, SCREEN.picture);
    discard(answer);
    return null;
  });
  // Only a picture of the same size is decoded: it may be anybody's.
  return fetched instanceof Uint8Array && headOf(fetched) === headOf(picture) ? fetched : null;
}

/** The signature of a PNG, and the size in pixels that its first block tells. */
const headOf = (png: Uint8Array): string => Buffer.from(png.subarray(0, 24)).toString('hex');
