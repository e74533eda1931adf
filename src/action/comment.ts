import { createHash } from 'node:crypto';
import { getDeliveryResult, type Report } from '../delivery/report.ts';
import { DeliveryError, type ErrorCode, toDeliveryError } from '../errors.ts';
import type { GitHubClient, GitHubClientOptions } from '../github/api/client.ts';
import { rewriteOwnComments, updateStickyComment } from '../github/api/pull-requests.ts';
import { serverUrlOf } from '../github/hosts.ts';
import type { Ports } from '../ports.ts';
import { TOOL } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import type { CurrentRun } from './current-run.ts';
import { FORK_HELP } from './inputs.ts';
import { type CommentContext, composeComment, composeWithdrawnComment } from './overview.ts';
import { findPullRequest, type PullRequest } from './pull-request.ts';

/** The parts of the request that decide which comment it is, and how GitHub is reached. */
export type CommentRequest = Pick<DeliveryRequest, 'fileLines' | 'path' | 'url' | 'token' | 'apiUrl'>;

/** One update of the comment. */
interface CommentJob {
  /** Without secrets: they can't be found any more once the text is escaped. */
  readonly reports: readonly Report[];
  readonly request: CommentRequest;
  readonly run: CurrentRun;
  /** What to change where the token may not comment. */
  readonly permissions: string;
  /** Opens the API of a repository. */
  readonly connect: (options: GitHubClientOptions) => GitHubClient;
}

/** Failures that another token, or another workflow, would avoid. */
const NOT_ALLOWED: readonly ErrorCode[] = ['NO_TOKEN', 'BAD_TOKEN', 'NO_PERMISSION', 'NOT_FOUND'];

/**
 * Keeps one comment on the pull request that the run is about. It is created once something is proven, and from
 * then on each run updates it, whatever the result. A failure here does not change the delivery: it is a warning.
 */
export async function updateComment(job: CommentJob, ports: Ports): Promise<void> {
  const { reports, request, run } = job;
  const { logger, clock } = ports;
  if (reports.some((report) => getDeliveryResult(report) === 'planned')) return;
  const connect = (): GitHubClient => job.connect(getCommentTarget(request, run));
  let pull: PullRequest | null = null;
  try {
    pull = await findPullRequest(run, connect);
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
  } catch (thrown) {
    warnAboutComment(toDeliveryError(thrown), pull, job.permissions, ports);
  }
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

/**
 * The event's own repository: the pull request is there, wherever the files are published. On another instance,
 * the same number is somebody else's pull request, and the token belongs to only one of the two.
 */
function getCommentTarget(
  { token, apiUrl }: CommentRequest,
  { repository, serverUrl }: CurrentRun,
): GitHubClientOptions {
  if (token === undefined) throw new DeliveryError('NO_TOKEN', 'there is no token to comment with');
  if (repository === null) {
    throw new DeliveryError('BAD_INPUT', 'the repository of the run is not known', {
      hint: 'set `comment: false`',
    });
  }
  if (serverUrl === null || serverUrlOf(apiUrl).host !== serverUrl.host) {
    const home = serverUrl?.host ?? 'an unknown instance';
    throw new DeliveryError(
      'BAD_INPUT',
      `the pull request is on ${home}, and \`api-url\` names ${apiUrl.host}`,
      { hint: 'set `comment: false`, or comment in a step without `api-url`' },
    );
  }
  return { ...repository, token, apiUrl };
}

/** Steps with the same path (or else the same files, or the same link) share a comment. */
function createMarker({ path, fileLines, url }: CommentRequest): string {
  const subject = path ?? (fileLines.join('\n') || (url?.href ?? ''));
  const key = createHash('sha256').update(subject).digest('hex').slice(0, 16);
  return `<!-- ${TOOL.name}:${key} -->`;
}

function warnAboutComment(
  { code, message, hint }: DeliveryError,
  pull: PullRequest | null,
  permissions: string,
  { logger }: Ports,
): void {
  const fork = pull?.readOnlyFor ?? null;
  const grant =
    fork === null ? permissions : `the token of a run for the fork ${fork} may only read: ${FORK_HELP}`;
  // The hints of hosts are for the delivery.
  const change = NOT_ALLOWED.includes(code) ? grant : code === 'BAD_INPUT' ? hint : '';
  const target = pull === null ? 'the pull request' : `pull request ${pull.number}`;
  logger.warning(
    `Could not update the comment on ${target} (the delivery is not affected): ${message}${change ? `. To change: ${change}` : ''}`,
  );
}
