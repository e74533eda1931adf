import { mapConcurrently } from '../../async.ts';
import { isOwnRequest, type ScreenView } from '../../browser/screen-view.ts';
import { resultOf } from '../../errors.ts';
import { discard } from '../../http/response.ts';
import type { HttpResponse, Ports } from '../../ports.ts';
import { BATCH, PROBE_TIME } from '../../protocol/limits.ts';
import { withVersion } from '../../rules/naming.ts';
import type { RequestContext } from '../delivery-context.ts';

/** More failed requests are not checked. */
const MAX_URLS = 10;

/** Whether a page needs files that only its host may have. @param page its URL */
export async function dependsOnHost(
  { failedRequests }: ScreenView,
  page: URL,
  run: RequestContext,
): Promise<boolean> {
  const urls = failedRequests.filter(isOwnRequest).map(({ url }) => new URL(url, page));
  if (urls.length > MAX_URLS || run.request.checkOnly) return urls.length > 0;
  return (await findMissingUrls(urls, run)).length < urls.length;
}

/** Returns the URLs that answer HTTP 404. */
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

/** Requests a URL once, with `?v=`: a cache would keep a 404. */
export function askPastCaches(
  known: URL,
  purpose: string,
  { http, clock, signal }: Ports,
): Promise<HttpResponse> {
  const url = withVersion(known, `${clock.date()}-${purpose}`);
  return http({ method: 'GET', url, signal: AbortSignal.any([signal, clock.timeout(PROBE_TIME.least)]) });
}
