import { createHash } from 'node:crypto';
import { withCleanupSignal } from '../async.ts';
import { composeDocument, type Report } from '../delivery/report.ts';
import { DeliveryError, type ErrorCode, hasFailed, resultOf, toDeliveryError } from '../errors.ts';
import type { ApiConnection, GitHubClient } from '../github/api/client.ts';
import { createDeployment, retireDeployments, setDeploymentState } from '../github/api/deployments.ts';
import { rewriteOwnComments, updateStickyComment } from '../github/api/pull-requests.ts';
import { updateStickyIssue } from '../github/api/sticky.ts';
import { serverUrlOf } from '../github/hosts.ts';
import type { Ports } from '../ports.ts';
import { COMMENTS } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { isSweep } from '../request/input-rules.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { withRetries } from '../retry.ts';
import { pullNumberOf } from '../rules/naming.ts';
import { ACTION } from '../words.ts';
import { composeAuditIssue, isConclusive } from './audit-issue.ts';
import { type CommentMemory, isEarlierRun, readMemory } from './comment-memory.ts';
import { type CurrentRun, findPullRequest, type PullRequest, requireBranch } from './current-run.ts';
import {
  type CommentContext,
  composeBegunComment,
  composeComment,
  composeWithdrawnComment,
  createWithdrawnTest,
  rememberLinks,
} from './overview.ts';

interface Announcement extends Pick<AnnouncementJob, 'request' | 'run'> {
  readonly pull: PullRequest | null;
  /** Opens the API of the event's repository. */
  readonly connect: () => GitHubClient;
}

/** Announces the result. After a stop, the given client and ports still have time left. */
type End = (reports: readonly Report[], connect: Announcement['connect'], ports: Ports) => Promise<void>;

interface AnnouncementJob {
  readonly request: DeliveryRequest;
  readonly run: CurrentRun;
  /** A hint for a token that lacks a permission. */
  readonly grant: (permission: string) => string;
  readonly connect: (connection: ApiConnection) => GitHubClient;
}

const ANNOUNCERS = [
  { input: 'comment', title: 'comment', permission: 'pull-requests: write', begin: beginComment },
  { input: 'environment', title: 'deployment', permission: 'deployments: write', begin: beginDeployment },
  { input: 'issue', title: 'issue', permission: 'issues: write', begin: beginIssue },
] as const;

/** Another token or workflow would avoid these failures. */
const NOT_ALLOWED: readonly ErrorCode[] = ['BAD_TOKEN', 'NO_PERMISSION', 'NOT_FOUND'];

/**
 * Begins announcements during the delivery. A failure is only a warning.
 * @returns announces the end by reports without secrets, which can't be found in escaped text. With `mayBeReadOnly`, it
 * announces only if the token has written something already. It returns whether the token has.
 */
export function startAnnouncements(job: AnnouncementJob, ports: Ports) {
  const { request, run, grant } = job;
  let finding: Promise<PullRequest | null> | undefined;
  const orWarn = async <T>(
    { input, title, permission }: (typeof ANNOUNCERS)[number],
    { signal }: Ports,
    work: (announcement: Announcement) => Promise<T>,
  ): Promise<T | undefined> => {
    const connect = (): GitHubClient => job.connect(findEventRepository(job, input)).withSignal(signal);
    /** `undefined` if the search failed. */
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
  return async (reports: readonly Report[], mayBeReadOnly = false): Promise<boolean> => {
    const deployment = begun.find(({ announcer }) => announcer.input === 'environment');
    const hasWritten = (await deployment?.end) !== undefined;
    if (mayBeReadOnly && !hasWritten) return false;
    // After a stop, no announcement may still call the page ready.
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
  // Other hints are about the delivery.
  const change = NOT_ALLOWED.includes(code) ? help : ['BAD_INPUT', 'NO_TOKEN'].includes(code) ? hint : '';
  const way = change && `. To fix: ${change}`;
  return `Could not update ${subject} (the delivery is not affected): ${message}${way}`;
}

/** The same number may be another pull request on another instance. */
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
    throw new DeliveryError('BAD_INPUT', `this run is on ${home}, but \`api-url\` is for ${apiUrl.host}`, {
      hint: `leave out \`${input}:\``,
    });
  }
  return { repository, token, apiUrl };
}

/** Steps with the same path, files or link share a comment. Other comments lose links to withdrawn files. */
async function beginComment({ request, run, pull, connect }: Announcement, begun: Ports): Promise<End> {
  const { operation, path, file, url } = request;
  const { logger, clock } = begun;
  const mark = createMark(path ?? (file.join('\n') || (url?.href ?? '')));
  if (pull !== null && operation === 'deliver') {
    const compose = (body: string) => noteBegun(body, pull, run);
    // If this fails, the end still says what the link shows.
    await resultOf(() => updateStickyComment(connect(), { number: pull.number, mark, compose }, begun));
  }
  return async (reports, connect, ports) => {
    const context = { subject: 'Preview', headSha: null, now: clock.date(), runUrl: run.url };
    if (isSweep(request)) {
      const swept = reports.flatMap((report) => report.swept ?? []);
      const numbers = new Set(swept.flatMap(({ path }) => pullNumberOf(path) ?? []));
      return dropLinks(reports, [...numbers], { ...context, lines: [RENEW] }, { github: connect(), logger });
    }
    if (pull === null) {
      requireBranch(run);
      logger.info('No comment, because this run belongs to no pull request');
      return;
    }
    const { number, headSha } = pull;
    const atHead = { ...context, headSha };
    const compose = (body: string): string | null =>
      body === '' && operation !== 'deliver'
        ? null
        : updateComment(reports, atHead, recall(body, mark, logger), run.number);
    const github = connect();
    const result = await updateStickyComment(github, { number, mark, compose }, ports);
    logger.info(`Comment on pull request ${number}: ${result}`);
    await dropLinks(reports, [number], atHead, { github, logger, mark });
  };
}

const ANY_MARK = `<!-- ${TOOL.name}:`;

const RENEW =
  'Removed, because the pull request is closed. To renew it, reopen the pull request, or push a commit.';

/** Comments lose their links to what is gone. @param on its `mark` is that of a comment that is up to date */
async function dropLinks(
  reports: readonly Report[],
  numbers: readonly number[],
  context: CommentContext,
  on: Readonly<{ github: GitHubClient; logger: Ports['logger']; mark?: string }>,
): Promise<void> {
  const gone = reports.flatMap((report) => report.gone ?? []);
  const folders = reports.flatMap((report) => report.swept ?? []).map(({ url }) => url);
  const isGone = createWithdrawnTest(gone, folders);
  const rewrite = (body: string): string | null =>
    on.mark && body.startsWith(on.mark) ? null : composeWithdrawnComment(body, isGone, context);
  let changed = 0;
  for (const number of gone.length + folders.length === 0 ? [] : numbers.slice(0, COMMENTS.rewrites)) {
    const done = await resultOf(() => rewriteOwnComments(on.github, number, ANY_MARK, rewrite));
    // There may be no pull request with this number.
    if (hasFailed(done) && done.code !== 'NOT_FOUND') throw done;
    changed += hasFailed(done) ? 0 : done;
  }
  const unread = Math.max(numbers.length - COMMENTS.rewrites, 0);
  const rest = unread === 0 ? '' : `; pull requests not read: ${unread}`;
  if (changed + unread > 0)
    on.logger.info(`Other comments updated, because links are gone: ${changed}${rest}`);
}

/** The text while this run delivers; `null` for a new comment, or if a later run wrote it. */
function noteBegun(body: string, { headSha }: PullRequest, run: CurrentRun): string | null {
  const memory = readMemory(body);
  if (memory === null || headSha === null || isEarlierRun(run.number, memory.run)) return null;
  return composeBegunComment(body, memory, headSha);
}

/** The new text; `null` if a later run wrote the comment and this run changed nothing. */
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

/** Deploys the head of the pull request or branch. Deployments of earlier runs become inactive in any case. */
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
      const hint = 'leave out `environment:` for this event';
      throw new DeliveryError('BAD_INPUT', 'the event does not name a commit', { hint });
    }
    const github = connect();
    id = await createDeployment(github, subject, { commit: sha, isPreview: pull !== null });
    // If this fails, the final state still replaces it.
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
    logger.info(`Deployment to ${environment}: ${state}${retired} earlier deployments made inactive`);
  };
}

/** Keeps one issue open while something is lost, and closes it once all is verified again. */
function beginIssue({ request, run }: Announcement, { logger, clock }: Ports): End {
  return async (reports, connect, ports) => {
    if (!isConclusive(reports)) {
      logger.info('The issue is unchanged, because the audit could not tell what is lost');
      return;
    }
    const mark = createAuditMark(request);
    const context = { subject: 'Audit', headSha: null, now: clock.date(), runUrl: run.url };
    const compose = (body: string) => composeAuditIssue(reports, context, recall(body, mark, logger));
    const { result, number } = await updateStickyIssue(connect(), { mark, compose }, ports);
    logger.info(`Issue${number === null ? '' : ` ${number}`}: ${result}`);
  };
}

/** Audits with the same inputs share an issue. */
function createAuditMark(request: DeliveryRequest): string {
  const { repository, path, branch, channels, tag, tagIsDefault, siteWorkflow, pagesBase } = request;
  const name = `${repository?.owner}/${repository?.repo}`.toLowerCase();
  const scope = [branch, path, siteWorkflow, pagesBase];
  return createMark(JSON.stringify([name, channels, tagIsDefault ? null : tag, ...scope]), 'audit:');
}

/** The beginning of a comment or issue, by which a later run finds it. */
const createMark = (subject: string, kind = ''): string =>
  `<!-- ${TOOL.name}:${kind}${createHash('sha256').update(subject).digest('hex').slice(0, 16)}`;

/** Warns and forgets everything if the memory can't be read. @param body empty for a new comment */
function recall(body: string, mark: string, { warning }: Ports['logger']): CommentMemory {
  const memory = readMemory(body);
  if (memory === null && body !== '')
    warning('Could not read what the earlier comment or issue remembers, so its earlier links are left out');
  return memory ?? { mark, run: null, proven: [], lost: [] };
}
