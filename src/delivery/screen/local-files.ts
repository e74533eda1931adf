import { mapConcurrently } from '../../async.ts';
import type { ScreenView, UnpublishedFile } from '../../browser/screen-view.ts';
import { resultOf } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { BATCH, PROBE_TIME } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { getContentType } from '../../rules/media-type.ts';
import { encodePath } from '../../rules/naming.ts';
import { type FileDelivery, isOngoing } from '../file-delivery.ts';

/** Files by the path below the host that they will have. */
export type LocalFiles = ReadonlyMap<string, UnpublishedFile>;

/** Everything that a step is to publish on the host of pages, as that host will serve it. */
export function listLocalFiles(deliveries: readonly FileDelivery[]): LocalFiles {
  const files = new Map<string, UnpublishedFile>();
  for (const delivery of deliveries.filter(isOngoing)) {
    const task = delivery.tasks.get('K1');
    if (task?.servedAt !== undefined) {
      for (const { path, file } of delivery.site?.files ?? []) {
        addFile(files, task.servedAt.sitePath + encodePath(path), file);
      }
    } else if (task?.served !== undefined && delivery.file !== null) {
      addFile(files, task.served.url.pathname, delivery.file);
    }
  }
  return files;
}

/** The host serves a page without its ending too, and the page of a folder at the folder's own path. */
function addFile(files: Map<string, UnpublishedFile>, path: string, file: LocalFile): void {
  const served = { size: file.size, contentType: getContentType(path), read: () => file.read() };
  const names = [path, path.replace(/\.html$/, ''), path.replace(/(?<=\/)index\.html$/, '')];
  for (const name of new Set(names)) files.set(name, served);
}

/**
 * Whether a page may show less before it is published than after: it asked its host for something that is not
 * part of the step, and that the host has, or may have.
 *
 * @param page its address
 */
export async function dependsOnHost(
  { failedRequests, counts }: ScreenView,
  page: URL,
  { http, clock, signal }: Ports,
): Promise<boolean> {
  const urls = failedRequests.flatMap((line) => {
    const url = URL.parse(/https:\/\/\S+$/.exec(line)?.[0] ?? '');
    return url?.origin === page.origin ? [url] : [];
  });
  // What is not listed may be anything.
  if (counts.failedRequests > failedRequests.length) return true;
  const isMissing = async (url: URL): Promise<boolean> => {
    const limit = AbortSignal.any([signal, clock.timeout(PROBE_TIME.least)]);
    const answer = await http({ method: 'GET', url, signal: limit });
    answer.body.destroy();
    return answer.status === 404;
  };
  const missing = await mapConcurrently(urls, BATCH.reads, (url) => resultOf(() => isMissing(url)));
  return missing.some((one) => one !== true);
}
