import type { LocalFiles } from '../../browser/screen-view.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { getContentType } from '../../rules/media-type.ts';
import { decodePath } from '../../rules/site/site-address.ts';
import { type Delivery, isOngoing, shownTask } from '../delivery.ts';

/**
 * Everything that a step is to publish on the host of pages, as that host will serve it. The list of a folder's files
 * is made once a browser asks for one: many machines have none.
 *
 * @param sitePaths where to serve folders, instead of where they will be
 */
export function listLocalFiles(deliveries: readonly Delivery[], sitePaths?: readonly string[]): LocalFiles {
  let known: ReadonlyMap<string, LocalFile> | undefined;
  return (path) => {
    known ??= new Map(deliveries.filter(isOngoing).flatMap((one) => listServed(one, sitePaths)));
    const file = known.get(path);
    return file && { size: file.size, contentType: getContentType(path), read: () => file.read() };
  };
}

function listServed(
  delivery: Delivery,
  sitePaths?: readonly string[],
): readonly (readonly [string, LocalFile])[] {
  const { site } = delivery;
  const served = shownTask(delivery)?.served;
  if (site === null || served === undefined) return [];
  if (!site.isFolder) return [[decodePath(served.url.pathname), site.entry]];
  return (sitePaths ?? [served.sitePath]).flatMap((folder) =>
    site.files.map((file) => [decodePath(folder) + file.name, file] as const),
  );
}
