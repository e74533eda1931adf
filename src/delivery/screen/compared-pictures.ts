import { COMPARED_ENDINGS } from '../../channels/pages/pictures.ts';
import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import { namedLine } from '../../plain-text.ts';
import { COMPARE } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { entryUrl, urlBelow, withVersion } from '../../rules/naming.ts';
import { attemptIn, type Delivery, withAttempt } from '../delivery.ts';
import type { DeliveryContext } from '../delivery-context.ts';
import { takeDeliveredPicture } from './add-picture.ts';
import { listLocalFiles } from './page-to-view.ts';

/**
 * Adds pictures of the first changed pages, as the other folder shows them and as they will be. UNKNOWN names pages
 * without pictures.
 *
 * @param other the URL of the other folder
 */
export async function addComparedPictures(
  delivery: Delivery,
  other: URL,
  context: DeliveryContext,
): Promise<Delivery> {
  const attempt = attemptIn(delivery, 'K1');
  const { served } = attempt?.task ?? {};
  const { changedPages = [] } = delivery;
  if (attempt === undefined || served === undefined) return delivery;
  const folder = new URL(served.sitePath, served.url);
  const local = listLocalFiles([delivery]);
  const take = (path: string, kind: keyof typeof COMPARED_ENDINGS): Promise<LocalFile> => {
    if (context.signal.aborted) throw new DeliveryError('NOT_SHOWN', 'no time was left');
    const name = path + COMPARED_ENDINGS[kind];
    const url = entryUrl(urlBelow(kind === 'after' ? folder : other, path));
    // A cache would show an earlier page.
    const page =
      kind === 'after' ? { local, url: url.href } : { url: withVersion(url, `${context.clock.date()}`).href };
    return takeDeliveredPicture(page, { name, url: urlBelow(folder, name) }, context);
  };
  const taken = new Map<LocalFile | undefined, readonly LocalFile[]>();
  const failures: string[] = [];
  for (const { file } of changedPages.filter(({ kind }) => kind === 'changed').slice(0, COMPARE.pictures)) {
    const name = file?.name ?? '';
    const both = await resultOf(async () => [await take(name, 'before'), await take(name, 'after')]);
    if (hasFailed(both)) failures.push(`${name} (${both.message})`);
    else taken.set(file, both);
  }
  const urlOf = (picture?: LocalFile): string =>
    picture ? withVersion(urlBelow(folder, picture.name), picture.sha256.slice(0, 16)).href : '';
  const task = { ...attempt.task, comparedPictures: [...taken.values()].flat() };
  return {
    ...withAttempt(delivery, { ...attempt, task }),
    changedPages: changedPages.map((page) => {
      const [before, after] = taken.get(page.file) ?? [];
      return before ? { ...page, pictures: { beforeUrl: urlOf(before), afterUrl: urlOf(after) } } : page;
    }),
    unknown: [...delivery.unknown, ...namedLine('how these changed pages look', failures)],
  };
}
