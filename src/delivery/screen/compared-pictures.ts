import { createUncheckedView, type PageToView } from '../../browser/screen-view.ts';
import type { ComparedFolder } from '../../channels/channel.ts';
import { COMPARED_FOLDER } from '../../channels/pages/pictures.ts';
import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import { namedLine } from '../../plain-text.ts';
import { COMPARE } from '../../protocol/limits.ts';
import { createMemoryFile, type LocalFile } from '../../rules/inspect.ts';
import { entryUrl, urlBelow, withVersion } from '../../rules/naming.ts';
import { type ChannelAttempt, type Delivery, withAttempt } from '../delivery.ts';
import type { DeliveryContext } from '../delivery-context.ts';
import { listLocalFiles } from './page-to-view.ts';

/** Adds pictures of the first changed pages, as the other folder shows them and as they will be. */
export async function addComparedPictures(
  delivery: Delivery,
  attempt: ChannelAttempt,
  { folder, other }: { readonly folder: URL; readonly other: ComparedFolder },
  { screen, clock, signal }: DeliveryContext,
): Promise<Delivery> {
  const take = async (page: PageToView, name: string): Promise<LocalFile> => {
    const taken = other.hasRoom ? '' : `${COMPARED_FOLDER} in that folder holds other files`;
    const obstacle = signal.aborted ? 'no time was left' : taken;
    const view = obstacle === '' ? await screen.view(page) : createUncheckedView(obstacle);
    if (view.verdict === 'shown' && view.picture) return createMemoryFile(name, view.picture);
    throw new DeliveryError('NOT_SHOWN', view.reason || 'the browser took no picture');
  };
  const local = listLocalFiles([delivery]);
  const taken = new Map<LocalFile | undefined, readonly LocalFile[]>();
  const failures = new Map<string, string>();
  const { changedPages = [] } = delivery;
  const pages = changedPages.filter(({ kind }) => kind === 'changed').slice(0, COMPARE.pictures);
  for (const [nth, { file }] of pages.entries()) {
    const { name = '' } = file ?? {};
    const [before, after] = [other.url, folder].map((base) => entryUrl(urlBelow(base, name))) as [URL, URL];
    const path = `${COMPARED_FOLDER}/${nth + 1}`;
    const both = await resultOf(async () => [
      // A cache would show an earlier page.
      await take({ url: withVersion(before, `${clock.date()}`).href }, `${path}-before.png`),
      await take({ url: after.href, local }, `${path}-after.png`),
    ]);
    if (hasFailed(both)) failures.set(name, both.message);
    else taken.set(file, both);
  }
  const reasons = [...new Set(failures.values())].join('; ');
  const pictures = [...(attempt.task.pictures ?? []), ...[...taken.values()].flat()];
  return {
    ...withAttempt(delivery, { ...attempt, task: { ...attempt.task, pictures } }),
    changedPages: changedPages.map((page) => {
      const [beforeUrl = '', url = ''] = (taken.get(page.file) ?? []).map(
        ({ name, sha256 }) => withVersion(urlBelow(folder, name), sha256.slice(0, 16)).href,
      );
      return url === '' ? page : { ...page, pictures: { beforeUrl, url } };
    }),
    unknown: [
      ...delivery.unknown,
      ...namedLine(`how these changed pages look (${reasons})`, [...failures.keys()]),
    ],
  };
}
