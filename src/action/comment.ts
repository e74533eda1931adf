import { createHash } from 'node:crypto';
import type { Report } from '../delivery/report.ts';
import { DeliveryError, type ErrorCode, toDeliveryError } from '../errors.ts';
import type { GitHubClient, GitHubClientOptions } from '../github/api/client.ts';
import { updateStickyComment } from '../github/api/comments.ts';
import type { Ports } from '../ports.ts';
import { TOOL } from '../protocol/words.ts';
import type { RawInputs } from '../request/inputs.ts';
import { parseHttpsUrl, parseRepository } from '../request/values.ts';
import { composeComment } from './comment-body.ts';
import type { Environment } from './inputs.ts';
import { findPullRequest, type PullRequest } from './pull-request.ts';
import { reportStateOf } from './report-markdown.ts';
import { TWO_WORKFLOWS } from './two-workflows.ts';

/** The inputs that say where the comment is kept, and which one it is. */
export type CommentInputs = Pick<RawInputs, 'file' | 'path' | 'url' | 'token' | 'api-url'>;

/** What the comment is about, and how it is reached. */
export interface CommentJob {
  /** Without secrets, since they are escaped here. */
  readonly reports: readonly Report[];
  readonly inputs: CommentInputs;
  readonly env: Environment;
  /** Opens the API of a repository. */
  readonly connect: (options: GitHubClientOptions) => GitHubClient;
}

/** Failures that another token, or another workflow, mends. */
const NOT_ALLOWED: readonly ErrorCode[] = ['NO_TOKEN', 'BAD_TOKEN', 'NO_PERMISSION', 'NOT_FOUND'];

/**
 * Keeps the step's one comment on the pull request that the run is about true: made once something is proven,
 * and from then on updated, whatever becomes of the delivery. Nothing that goes wrong here touches the
 * delivery: it is warned of.
 */
export async function updateComment(task: CommentJob, ports: Ports): Promise<void> {
  const { reports, inputs, env } = task;
  if (reports.some((report) => reportStateOf(report) === 'planned')) return;
  const connect = (): GitHubClient => task.connect(commentTarget(inputs, env));
  let pull: PullRequest | null = null;
  try {
    pull = await findPullRequest(env, connect);
    if (pull === null) {
      ports.logger.info('No comment: the run is not about a pull request');
      return;
    }
    const marker = commentMarker(inputs);
    const { number, headSha } = pull;
    const occasion = { marker, headSha, now: ports.clock.now(), run: runUrl(env) };
    const body = composeComment(reports, occasion);
    const mayCreate = reports.some((report) => reportStateOf(report) === 'ready');
    const kept = await updateStickyComment(connect(), { number, marker, body, mayCreate }, ports);
    ports.logger.info(`Comment on pull request ${number}: ${kept}`);
    // A fork's delivery that was refused for its token has the same way around.
    const refused = reports.some(({ notReady }) => notReady?.code === 'NO_PERMISSION');
    if (refused && pull.readOnlyFor !== null) await showWayAround(ports);
  } catch (thrown) {
    await warnAboutComment(toDeliveryError(thrown), pull, ports);
  }
}

/** The event's own repository: a pull request is discussed there, wherever its files are published. */
function commentTarget(inputs: CommentInputs, env: Environment): GitHubClientOptions {
  if (inputs.token === '') throw new DeliveryError('NO_TOKEN', 'there is no token to comment with');
  const repository = parseRepository(env.GITHUB_REPOSITORY ?? '');
  return { ...repository, token: inputs.token, apiUrl: parseHttpsUrl(inputs['api-url'], 'api-url') };
}

/** Steps that speak of the same place share a comment, others don't: the path, or else the files, or the link. */
function commentMarker({ path, file, url }: CommentInputs): string {
  const files = file.split('\n').flatMap((line) => line.trim() || []);
  const place = path || files.join('\n') || url;
  const key = createHash('sha256').update(place).digest('hex').slice(0, 16);
  return `<!-- ${TOOL.name}:${key} -->`;
}

/** The run's page, where the summary stands. */
function runUrl({
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: repository,
  GITHUB_RUN_ID: id,
}: Environment) {
  return server === undefined || id === undefined ? null : `${server}/${repository}/actions/runs/${id}`;
}

/** One sentence; where the token is the reason, the way around it follows. */
async function warnAboutComment(
  failure: DeliveryError,
  pull: PullRequest | null,
  { logger }: Ports,
): Promise<void> {
  const where = pull === null ? 'the pull request' : `pull request ${pull.number}`;
  const notAllowed = NOT_ALLOWED.includes(failure.code);
  logger.warning(
    `No comment was kept on ${where}, the delivery is what it is without it: ${describeCommentError(failure, pull, notAllowed)}`,
  );
  if (notAllowed) await showWayAround({ logger });
}

async function showWayAround({ logger }: Pick<Ports, 'logger'>): Promise<void> {
  logger.startSection('How a pull request from a fork gets its comment: two workflows');
  for (const line of TWO_WORKFLOWS.split('\n')) logger.info(line);
  logger.endSection();
}

function describeCommentError(
  { message }: DeliveryError,
  pull: PullRequest | null,
  notAllowed: boolean,
): string {
  const fork = pull?.readOnlyFor ?? null;
  if (!notAllowed) return message;
  if (fork !== null) {
    return `it comes from ${fork}, and a fork's run gets a read-only token whatever is asked`;
  }
  return `${message}; add \`permissions: { pull-requests: write }\` to the job`;
}
