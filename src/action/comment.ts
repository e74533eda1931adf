import { getDeliveryResult, type Report } from '../delivery/report.ts';
import type { GitHubClient } from '../github/api/client.ts';
import { rewriteOwnComments, updateStickyComment } from '../github/api/pull-requests.ts';
import type { Ports } from '../ports.ts';
import { TOOL } from '../protocol/words.ts';
import { type Announce, type AnnouncedRequest, type Announcement, markerOf } from './announcement.ts';
import { type CommentContext, composeComment, composeWithdrawnComment } from './overview.ts';

/**
 * Keeps one comment on the pull request that the run is about. It is created once something is proven, and from
 * then on each run updates it, whatever the result.
 */
export async function beginComment(
  { request, run, pull, connect }: Announcement,
  ports: Ports,
): Promise<Announce> {
  const { logger, clock } = ports;
  return async (reports) => {
    if (pull === null) {
      logger.info('No comment: the run is not about a pull request');
      return;
    }
    const marker = createMarker(request);
    const { number, headSha } = pull;
    const context = { marker, number, headSha, now: clock.now(), runUrl: run.url };
    const compose = (earlier: string): string => composeComment(reports, context, earlier);
    const mayCreate = reports.some((report) => getDeliveryResult(report) === 'ready');
    const github = connect();
    const result = await updateStickyComment(github, { number, marker, compose, mayCreate }, ports);
    logger.info(`Comment on pull request ${number}: ${result}`);
    const others = await updateOtherComments(reports, context, github, ports);
    if (others > 0) logger.info(`Comments of other steps that say now what is gone: ${others}`);
  };
}

/** What a withdrawal has removed, other steps may have delivered: their comments must not link to it any more. */
async function updateOtherComments(
  reports: readonly Report[],
  context: CommentContext,
  github: GitHubClient,
  ports: Ports,
): Promise<number> {
  const gone = reports.flatMap((report) => report.gone ?? []);
  if (gone.length === 0) return 0;
  const rewrite = (body: string): string | null => composeWithdrawnComment(body, gone, context);
  const { number, marker: except } = context;
  return rewriteOwnComments(github, { number, marker: `<!-- ${TOOL.name}:`, except, rewrite }, ports);
}

/** Steps with the same path (or else the same files, or the same link) share a comment. */
const createMarker = ({ path, fileLines, url }: AnnouncedRequest): string =>
  markerOf(path ?? (fileLines.join('\n') || (url?.href ?? '')));
