import { createHash } from 'node:crypto';
import { withCleanupSignal } from '../async.ts';
import { composeDocument, type Report } from '../delivery/report.ts';
import { DeliveryError, type ErrorCode, toDeliveryError } from '../errors.ts';
import type { ApiConnection, GitHubClient } from '../github/api/client.ts';
import { createDeployment, retireDeployments, setDeploymentState } from '../github/api/deployments.ts';
import { rewriteOwnComments, updateStickyComment } from '../github/api/pull-requests.ts';
import { updateStickyIssue } from '../github/api/sticky.ts';
import { serverUrlOf } from '../github/hosts.ts';
import type { Ports } from '../ports.ts';
import { TOOL } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { withRetries } from '../retry.ts';
import { ACTION } from '../words.ts';
import { composeAuditIssue, isConclusive } from './audit-issue.ts';
import { type CommentMemory, isEarlierRun, readMemory } from './comment-memory.ts';
import {
  type CurrentRun,
  findBranch,
  findPullRequest,
  type PullRequest,
  type RunBranch,
} from './current-run.ts';
import { type CommentContext, composeComment, composeWithdrawnComment, rememberLinks } from './overview.ts';

interface Announcement {
  readonly request: DeliveryRequest;
  readonly run: CurrentRun;
  readonly pull: PullRequest | null;
  /** Opens the API of the event's own repository. */
  readonly connect: () => GitHubClient;
}

/** Tells it through clients that have time left where the delivery was stopped. */
type End = (reports: readonly Report[], connect: Announcement['connect'], ports: Ports) => Promise<void>;

/**
 * Tells how the delivery ended.
 *
 * @param reports without secrets: they can't be found once the text is escaped
 * @param mayBeReadOnly whether nothing is announced unless the token has written something already
 * @returns whether it has
 */
export type FinishAnnouncements = (reports: readonly Report[], mayBeReadOnly?: boolean) => Promise<boolean>;

interface AnnouncementJob {
  readonly request: DeliveryRequest;
  readonly run: CurrentRun;
  /** What to change where the token lacks a permission. */
  readonly grant: (permission: string) => string;
  readonly connect: (connection: ApiConnection) => GitHubClient;
}

const ANNOUNCERS = [
  { input: 'comment', title: 'comment', permission: 'pull-requests: write', begin: beginComment },
  { input: 'environment', title: 'deployment', permission: 'deployments: write', begin: beginDeployment },
  { input: 'issue', title: 'issue', permission: 'issues: write', begin: beginIssue },
] as const;

type Announcer = (typeof ANNOUNCERS)[number];

/** Failures that another token, or another workflow, would avoid. */
const NOT_ALLOWED: readonly ErrorCode[] = ['BAD_TOKEN', 'NO_PERMISSION', 'NOT_FOUND'];

/** Begins to announce a delivery while it goes on; a failure is only a warning. @returns says how it ended */
export function startAnnouncements(job: AnnouncementJob, ports: Ports): FinishAnnouncements {
  const { request, run, grant } = job;
  let finding: Promise<PullRequest | null> | undefined;
  const orWarn = async <T>(
    { input, title, permission }: Announcer,
    { signal }: Ports,
    work: (announcement: Announcement) => Promise<T>,
  ): Promise<T | undefined> => {
    const connect = (): GitHubClient => job.connect(findEventRepository(job, input)).withSignal(signal);
    /** `undefined` if it could not be found. */
    let pull: PullRequest | null | undefined;
    try {
      finding ??= findPullRequest(run, connect);
      pull = await finding;
      return await work({ request, run, pull, connect });
    } catch (thrown) {
      const help = grant(pull === undefined ? `${permission}, pull-requests: read` : permission);
      const subject = `the ${title}${pull ? ` on pull request ${pull.number}` : ''}`;
      ports.logger.warning(describeProblem(subject, toDeliveryError(thrown), help));
      return undefined;
    }
  };
  const requested = ANNOUNCERS.filter(({ input }) => request[input] && !request.dryRun);
  const begun = requested.map((announcer) => ({
    announcer,
    end: orWarn(announcer, ports, async (given): Promise<End> => announcer.begin(given, ports)),
  }));
  return async (reports, mayBeReadOnly = false) => {
    const deployment = begun.find(({ announcer }) => announcer.input === 'environment');
    const hasWritten = (await deployment?.end) !== undefined;
    if (mayBeReadOnly && !hasWritten) return false;
    // After a stop nothing may go on saying that the page is ready.
    const finalPorts = ports.signal.aborted ? withCleanupSignal(ports) : ports;
    for (const { announcer, end } of begun) {
      const announce = await end;
      if (announce)
        await orWarn(announcer, finalPorts, ({ connect }) => announce(reports, connect, finalPorts));
    }
    return hasWritten;
  };
}

function describeProblem(subject: string, { code, message, hint }: DeliveryError, help: string): string {
  // The hints of hosts are for the delivery.
  const change = NOT_ALLOWED.includes(code) ? help : ['BAD_INPUT', 'NO_TOKEN'].includes(code) ? hint : '';
  const way = change && `. To fix: ${change}`;
  return `Could not update ${subject} (the delivery is not affected): ${message}${way}`;
}

/** The event's own repository. On another instance its number is somebody else's pull request. */
function findEventRepository(
  { request: { token, apiUrl }, run: { repository, serverUrl } }: AnnouncementJob,
  input: string,
): ApiConnection {
  if (token === undefined) {
    const hint = `set \`token:\`${ACTION.ownToken}`;
    throw new DeliveryError('NO_TOKEN', 'there is no token', { hint });
  }
  if (repository === null || serverUrlOf(apiUrl).host !== serverUrl?.host) {
    const home = (repository && serverUrl?.host) ?? 'an unknown instance';
    throw new DeliveryError('BAD_INPUT', `the run is on ${home}, and \`api-url\` names ${apiUrl.host}`, {
      hint: `leave out \`${input}:\``,
    });
  }
  return { repository, token, apiUrl };
}

/** One comment for steps with the same path, else files or link. Others then link to nothing that is withdrawn. */
function beginComment(
  { request: { operation, path, file, url }, run, pull }: Announcement,
  { logger, clock }: Ports,
): End {
  return async (reports, connect, ports) => {
    if (pull === null) {
      requireBranch(run);
      logger.info('No comment: the run is not about a pull request');
      return;
    }
    const { number, headSha } = pull;
    const mark = createMark(path ?? (file.join('\n') || (url?.href ?? '')));
    const context = { subject: 'Preview', headSha, now: clock.date(), runUrl: run.url };
    const compose = (body: string): string | null =>
      body === '' && operation !== 'deliver'
        ? null
        : updateComment(reports, context, recall(body, mark, logger), run.number);
    const github = connect();
    const result = await updateStickyComment(github, { number, mark, compose }, ports);
    logger.info(`Comment on pull request ${number}: ${result}`);
    const removedUrls = reports.flatMap((report) => report.gone ?? []);
    if (removedUrls.length === 0) return;
    const rewrite = (body: string): string | null => {
      const memory = body.startsWith(mark) ? null : readMemory(body);
      return memory && composeWithdrawnComment(memory, removedUrls, context);
    };
    const changed = await rewriteOwnComments(github, number, `<!-- ${TOOL.name}:`, rewrite);
    if (changed > 0) logger.info(`Comments of other steps that say now what is gone: ${changed}`);
  };
}

/** The text of the comment; `null` if it stays as a later run wrote it, because this one has changed nothing there. */
function updateComment(
  reports: readonly Report[],
  context: CommentContext,
  memory: CommentMemory,
  run: CurrentRun['number'],
): string | null {
  const isOld = isEarlierRun(run, memory.run);
  if (isOld && reports.every(({ mayBeWritten }) => mayBeWritten !== true)) return null;
  const proven = rememberLinks(reports, context, memory.proven);
  return composeComment(reports, context, { ...memory, run: isOld ? memory.run : run, proven });
}

/** @throws {DeliveryError} if nothing is known that the run is about */
function requireBranch(run: CurrentRun): RunBranch {
  const branch = findBranch(run);
  if (branch !== null) return branch;
  const { head_sha: commit = 'unknown' } = run.payload.workflow_run ?? {};
  const message = `this run follows a run for the commit ${commit}, which no pull request has at its head (after a newer push, or without its fork), so there is nothing to announce`;
  throw new DeliveryError('CONFLICT', message);
}

/** A deployment of the pull request's head, or of the branch's; those of earlier runs end, whatever the result. */
async function beginDeployment(
  { request: { environment = '', operation }, run, pull, connect }: Announcement,
  { logger }: Ports,
): Promise<End> {
  const { ref, sha } =
    pull === null ? requireBranch(run) : { ref: `pull request ${pull.number}`, sha: pull.headSha };
  const subject = { environment, source: ref };
  const page = run.url === null ? {} : { log_url: run.url };
  let id: number | null = null;
  if (operation === 'deliver') {
    if (!sha) {
      const hint = `leave out \`environment:\` where the run is for this event`;
      throw new DeliveryError('BAD_INPUT', 'the event does not say which commit it is about', { hint });
    }
    const github = connect();
    id = await createDeployment(github, subject, { commit: sha, isPreview: pull !== null });
    // Where this fails, the end still says how it ended.
    await setDeploymentState(github, id, { state: 'in_progress', ...page }).catch(() => undefined);
  }
  return async (reports, connectAtEnd, finalPorts) => {
    const { result, url } = composeDocument(reports);
    if (id === null && result !== 'withdrawn') return;
    const github = connectAtEnd();
    const [address = ''] = url.split('\n');
    if (id !== null) {
      const { urlNote } = reports[0] ?? {};
      const description = urlNote && { description: `Verified; ${urlNote}` };
      const proven = { state: 'success', environment_url: address, ...description } as const;
      await setDeploymentState(github, id, { ...(address ? proven : { state: 'failure' }), ...page });
    }
    const retired = await withRetries(finalPorts, () => retireDeployments(github, subject, id));
    const state = id === null ? '' : `${address ? 'success' : 'failure'}, `;
    logger.info(`Deployment to ${environment}: ${state}${retired} of earlier runs made inactive`);
  };
}

/** Keeps one issue open while an audit finds something lost, and closes it when all that it names is verified again. */
function beginIssue({ request, run }: Announcement, { logger, clock }: Ports): End {
  return async (reports, connect, ports) => {
    if (!isConclusive(reports)) {
      logger.info('The issue stays as it is: the audit did not find out what is lost');
      return;
    }
    const mark = createAuditMark(request);
    const context = { subject: 'Audit', headSha: null, now: clock.date(), runUrl: run.url };
    const compose = (body: string) => composeAuditIssue(reports, context, recall(body, mark, logger));
    const { result, number } = await updateStickyIssue(connect(), { mark, compose }, ports);
    logger.info(`Issue${number === null ? '' : ` ${number}`}: ${result}`);
  };
}

/** Audits that look at the same share an issue: all inputs that choose it count, as they are written. */
function createAuditMark(request: DeliveryRequest): string {
  const { repository, path, branch, channels, tag, tagIsDefault, siteWorkflow, pagesBase } = request;
  const name = `${repository?.owner}/${repository?.repo}`.toLowerCase();
  const scope = [branch, path, siteWorkflow, pagesBase];
  return createMark(JSON.stringify([name, channels, tagIsDefault ? null : tag, ...scope]), 'audit:');
}

/** The beginning of a comment or an issue by which one about the same is found again. */
const createMark = (subject: string, kind = ''): string =>
  `<!-- ${TOOL.name}:${kind}${createHash('sha256').update(subject).digest('hex').slice(0, 16)}`;

/** What was remembered; nothing if it can't be read, which is said. @param body empty for none */
function recall(body: string, mark: string, { warning }: Ports['logger']): CommentMemory {
  const memory = readMemory(body);
  if (memory === null && body !== '') warning('What the comment or the issue remembered can not be read');
  return memory ?? { mark, run: null, proven: [], lost: [] };
}
