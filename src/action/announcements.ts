import { DeliveryError, type ErrorCode, toDeliveryError } from '../errors.ts';
import type { GitHubClient, GitHubClientOptions } from '../github/api/client.ts';
import { serverUrlOf } from '../github/hosts.ts';
import type { Ports } from '../ports.ts';
import type { Announce, AnnouncedRequest, Announcement } from './announcement.ts';
import { beginComment } from './comment.ts';
import type { CurrentRun } from './current-run.ts';
import { beginDeployment } from './deployment.ts';
import { FORK_HELP } from './inputs.ts';
import { beginIssue } from './issue.ts';
import { findPullRequest, type PullRequest } from './pull-request.ts';

export interface AnnouncementJob extends Pick<Announcement, 'request' | 'run'> {
  /** What to change where the token lacks a permission. */
  readonly grant: (permission: string) => string;
  /** Opens the API of a repository. */
  readonly connect: (options: GitHubClientOptions) => GitHubClient;
}

/** What people see of a delivery beside its report, by the input that asks for it. */
const ANNOUNCERS = {
  comment: { title: 'comment', permission: 'pull-requests: write', begin: beginComment },
  environment: { title: 'deployment', permission: 'deployments: write', begin: beginDeployment },
  issue: { title: 'issue', permission: 'issues: write', begin: beginIssue },
} as const;

type Announcer = keyof typeof ANNOUNCERS;

/** Begins to announce a delivery while it goes on; a failure is only a warning. @returns says how it ended */
export function startAnnouncements(job: AnnouncementJob, ports: Ports): Announce {
  const { request, run } = job;
  const asked = (Object.keys(ANNOUNCERS) as Announcer[]).filter((name) => request[name]);
  const names = request.dryRun ? [] : asked;
  const connect = (name: Announcer) => (): GitHubClient => job.connect(getTarget(request, run, name));
  let finding: Promise<PullRequest | null> | undefined;
  let pull: PullRequest | null | undefined;
  const attempt = async <T>(name: Announcer, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      finding ??= findPullRequest(run, connect(name));
      pull = await finding;
      return await work();
    } catch (thrown) {
      warnAbout(name, { failure: toDeliveryError(thrown), pull, grant: job.grant }, ports);
      return undefined;
    }
  };
  const begin = (name: Announcer): Promise<Announce> =>
    ANNOUNCERS[name].begin({ request, run, pull: pull ?? null, connect: connect(name) }, ports);
  const begun = names.map((name) => ({ name, end: attempt(name, () => begin(name)) }));
  return async (reports) => {
    for (const { name, end } of begun) {
      const announce = await end;
      if (announce !== undefined) await attempt(name, () => announce(reports));
    }
  };
}

/** The event's own repository. On another instance its number is somebody else's pull request. */
function getTarget(
  { token, apiUrl }: AnnouncedRequest,
  { repository, serverUrl }: CurrentRun,
  name: Announcer,
): GitHubClientOptions {
  const hint = `leave out \`${name}:\``;
  if (token === undefined) throw new DeliveryError('NO_TOKEN', 'there is no token');
  if (repository === null) {
    throw new DeliveryError('BAD_INPUT', 'the repository of the run is not known', { hint });
  }
  if (serverUrl === null || serverUrlOf(apiUrl).host !== serverUrl.host) {
    const home = serverUrl?.host ?? 'an unknown instance';
    const message = `the run is on ${home}, and \`api-url\` names ${apiUrl.host}`;
    throw new DeliveryError('BAD_INPUT', message, { hint });
  }
  return { ...repository, token, apiUrl };
}

/** Failures that another token, or another workflow, would avoid. */
const NOT_ALLOWED: readonly ErrorCode[] = ['NO_TOKEN', 'BAD_TOKEN', 'NO_PERMISSION', 'NOT_FOUND'];

interface AnnouncementFailure extends Pick<AnnouncementJob, 'grant'> {
  readonly failure: DeliveryError;
  /** `undefined` if it could not be found. */
  readonly pull: PullRequest | null | undefined;
}

function warnAbout(
  name: Announcer,
  { failure: { code, message, hint }, pull, grant }: AnnouncementFailure,
  { logger }: Ports,
): void {
  const { title, permission } = ANNOUNCERS[name];
  const fork = pull?.readOnlyFor ?? null;
  const needed = pull === undefined ? `${permission}, pull-requests: read` : permission;
  const help =
    fork === null ? grant(needed) : `the token of a run for the fork ${fork} may only read: ${FORK_HELP}`;
  // The hints of hosts are for the delivery.
  const change = NOT_ALLOWED.includes(code) ? help : code === 'BAD_INPUT' ? hint : '';
  const target = pull ? ` on pull request ${pull.number}` : '';
  logger.warning(
    `Could not update the ${title}${target} (the delivery is not affected): ${message}${change && `. To change: ${change}`}`,
  );
}
