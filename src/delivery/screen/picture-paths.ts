import { DeliveryError } from '../../errors.ts';
import { encodePath } from '../../rules/naming.ts';
import { type Delivery, isOngoing, withFailure } from '../delivery.ts';

/**
 * Refuses the files of a step that go where the picture of a page of the same step goes: one would replace the
 * other.
 *
 * @see design 7
 */
export function refusePicturePaths(deliveries: readonly Delivery[]): readonly Delivery[] {
  const pages = new Map(
    deliveries.flatMap((delivery) => listPictureAddresses(delivery).map((address) => [address, delivery])),
  );
  return deliveries.map((delivery) => {
    const page = listAddresses(delivery)
      .map((address) => pages.get(address))
      .find((one) => one !== undefined && one !== delivery);
    return page === undefined ? delivery : withFailure(delivery, 'check', pictureTakenError(delivery, page));
  });
}

const servedBy = (delivery: Delivery) => (isOngoing(delivery) ? delivery.tasks.get('K1')?.served : undefined);

/** Where the pictures of a page will be. */
function listPictureAddresses(delivery: Delivery): readonly string[] {
  const served = servedBy(delivery);
  if (served?.display !== 'page' || served.pictureUrls === null) return [];
  return [served.pictureUrls.picture.href, served.pictureUrls.before.href];
}

/** Where a file will be, or each file of a folder. */
function listAddresses(delivery: Delivery): readonly string[] {
  const served = servedBy(delivery);
  if (served === undefined) return [];
  const { site } = delivery;
  if (site === null) return [served.url.href];
  // The entry is served at the address of the folder.
  return site.files.map(({ path }) => new URL(encodePath(path), new URL('.', served.url)).href);
}

function pictureTakenError({ subject }: Delivery, page: Delivery): DeliveryError {
  return new DeliveryError('BAD_INPUT', `${subject} would go where the picture of ${page.subject} goes`, {
    hint: (w) => `give that file another name, or set ${w.input('picture', 'false')}`,
    leftBehind: [],
  });
}
