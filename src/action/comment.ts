import { createHash } from 'node:crypto';
import { getDeliveryResult, type Report } from '../delivery/report.ts';
import type { GitHubClient } from '../github/api/client.ts';
import { rewriteOwnComments, updateStickyComment } from '../github/api/pull-requests.ts';
import type { Ports } from '../ports.ts';
import { TOOL } from '../protocol/words.ts';
import type { Announce, AnnouncedRequest, Announcement } from './announcement.ts';
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
    const context = { marker, headSha, now: clock.now(), runUrl: run.url };
    const body = composeComment(reports, context);
    const mayCreate = reports.some((report) => getDeliveryResult(report) === 'ready');
    const github = connect();
    const result = await updateStickyComment(github, { number, marker, body, mayCreate }, ports);
    logger.info(`Comment on pull request ${number}: ${result}`);
    const others = await updateOtherComments(reports, { number, context, github }, ports);
    if (others > 0) logger.info(`Comments of other steps that say now what is gone: ${others}`);
  };
}

interface OtherComments {
  /** The pull request's number. */
  readonly number: number;
  readonly context: CommentContext;
  readonly github: GitHubClient;
}

/** What a withdrawal has removed, other steps may have delivered: their comments must not link to it any more. */
async function updateOtherComments(
  reports: readonly Report[],
  { number, context, github }: OtherComments,
  ports: Ports,
): Promise<number> {
  const gone = reports.flatMap((report) => report.gone ?? []);
  if (gone.length === 0) return 0;
  const rewrite = (body: string): string | null => composeWithdrawnComment(body, gone, context);
  const marker = `<!-- ${TOOL.name}:`;
  return rewriteOwnComments(github, { number, marker, except: context.marker, rewrite }, ports);
}

/** Steps with the same path (or else the same files, or the same link) share a comment. */
function createMarker({ path, fileLines, url }: AnnouncedRequest): string {
  const subject = path ?? (fileLines.join('\n') || (url?.href ?? ''));
  const key = createHash('sha256').update(subject).digest('hex').slice(0, 16);
  return `<!-- ${TOOL.name}:${key} -->`;
}
