import { mapConcurrently } from '../../async.ts';
import type { LocalFiles, ScreenView } from '../../browser/screen-view.ts';
import { resultOf } from '../../errors.ts';
import { discard } from '../../http/response.ts';
import type { HttpResponse, Ports } from '../../ports.ts';
import { BATCH, PROBE_TIME } from '../../protocol/limits.ts';
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
  if (!site.isFolder) return [[decodePath(served.url.pathname), site.entry.file]];
  return (sitePaths ?? [served.sitePath]).flatMap((folder) =>
    site.files.map(({ path, file }) => [decodePath(folder) + path, file] as const),
  );
}

/** Addresses that a host is asked for at most; one of more may be there. */
const MOST_ASKED = 10;

/** Whether a page asked its host for what is not part of the step, and may be there. @param page its address */
export async function dependsOnHost(
  { failedRequests }: ScreenView,
  page: URL,
  ports: Ports,
): Promise<boolean> {
  const urls = failedRequests.flatMap((line) => {
    const [, path] = / (\/\S*)$/.exec(line) ?? [];
    return path === undefined ? [] : [new URL(path, page)];
  });
  if (urls.length > MOST_ASKED) return true;
  return (await findMissingUrls(urls, ports)).length < urls.length;
}

/** Those of the addresses whose host says that nothing is there. */
export async function findMissingUrls(urls: readonly URL[], ports: Ports): Promise<readonly URL[]> {
  const isAbsent = async (url: URL): Promise<boolean> => {
    const answer = await askPastCaches(url, 'host', ports);
    discard(answer);
    return answer.status === 404;
  };
  const absent = await mapConcurrently(urls, BATCH.reads, (url) => resultOf(() => isAbsent(url)));
  ports.signal.throwIfAborted();
  return urls.filter((_, at) => absent[at] === true);
}

/** Asks a host once, with `?v=`: a cache would keep the answer that a file is absent. */
export function askPastCaches(
  known: URL,
  purpose: string,
  { http, clock, signal }: Ports,
): Promise<HttpResponse> {
  const url = new URL(known);
  url.searchParams.set('v', `${clock.now()}-${purpose}`);
  return http({ method: 'GET', url, signal: AbortSignal.any([signal, clock.timeout(PROBE_TIME.least)]) });
}
