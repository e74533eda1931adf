import { DeliveryError, type ErrorCode, toDeliveryError } from '../errors.ts';
import type { ApiAccess, GitHubClient } from '../github/api/client.ts';
import { serverUrlOf } from '../github/hosts.ts';
import type { Ports } from '../ports.ts';
import type { Announce, Announcement } from './announcement.ts';
import { beginComment } from './comment.ts';
import { beginDeployment } from './deployment.ts';
import { FORK_HELP } from './inputs.ts';
import { beginIssue } from './issue.ts';
import { findPullRequest, type PullRequest } from './pull-request.ts';

export interface AnnouncementJob extends Pick<Announcement, 'request' | 'run'> {
  /** What to change where the token lacks a permission. */
  readonly grant: (permission: string) => string;
  readonly connect: (access: ApiAccess) => GitHubClient;
}

/** What people see of a delivery beside its report, by the input that asks for it. */
const ANNOUNCERS = [
  { input: 'comment', title: 'comment', permission: 'pull-requests: write', begin: beginComment },
  { input: 'environment', title: 'deployment', permission: 'deployments: write', begin: beginDeployment },
  { input: 'issue', title: 'issue', permission: 'issues: write', begin: beginIssue },
] as const;

type Announcer = (typeof ANNOUNCERS)[number];

/** Failures that another token, or another workflow, would avoid. */
const NOT_ALLOWED: readonly ErrorCode[] = ['NO_TOKEN', 'BAD_TOKEN', 'NO_PERMISSION', 'NOT_FOUND'];

/** Begins to announce a delivery while it goes on; a failure is only a warning. @returns says how it ended */
export function startAnnouncements(job: AnnouncementJob, ports: Ports): Announce {
  const { request, run } = job;
  let finding: Promise<PullRequest | null> | undefined;
  /** `undefined` if it could not be found. */
  let pull: PullRequest | null | undefined;

  const attempt = async <T>(
    announcer: Announcer,
    work: (announcement: Announcement) => Promise<T>,
  ): Promise<T | undefined> => {
    const connect = (): GitHubClient => job.connect(getTarget(job, announcer.input));
    try {
      finding ??= findPullRequest(run, connect);
      pull = await finding;
      return await work({ request, run, pull, connect });
    } catch (thrown) {
      ports.logger.warning(describeFailure(announcer, toDeliveryError(thrown), pull, job.grant));
      return undefined;
    }
  };
  const asked = ANNOUNCERS.filter(({ input }) => request[input] && !request.dryRun);
  const begun = asked.map((announcer) => ({
    announcer,
    end: attempt(announcer, (announcement) => announcer.begin(announcement, ports)),
  }));
  return async (reports) => {
    for (const { announcer, end } of begun) {
      const announce = await end;
      if (announce !== undefined) await attempt(announcer, () => announce(reports));
    }
  };
}

function describeFailure(
  { title, permission }: Announcer,
  { code, message, hint }: DeliveryError,
  pull: PullRequest | null | undefined,
  grant: AnnouncementJob['grant'],
): string {
  const needed = pull === undefined ? `${permission}, pull-requests: read` : permission;
  const help = pull?.readOnlyFor
    ? `the token of a run for the fork ${pull.readOnlyFor} may only read: ${FORK_HELP}`
    : grant(needed);
  // The hints of hosts are for the delivery.
  const change = NOT_ALLOWED.includes(code) ? help : code === 'BAD_INPUT' ? hint : '';
  const target = pull ? ` on pull request ${pull.number}` : '';
  return `Could not update the ${title}${target} (the delivery is not affected): ${message}${change && `. To change: ${change}`}`;
}

/** The event's own repository. On another instance its number is somebody else's pull request. */
function getTarget(
  { request: { token, apiUrl }, run: { repository, serverUrl } }: AnnouncementJob,
  input: string,
): ApiAccess {
  if (token === undefined) throw new DeliveryError('NO_TOKEN', 'there is no token');
  if (repository === null || serverUrlOf(apiUrl).host !== serverUrl?.host) {
    const home = (repository && serverUrl?.host) ?? 'an unknown instance';
    throw new DeliveryError('BAD_INPUT', `the run is on ${home}, and \`api-url\` names ${apiUrl.host}`, {
      hint: `leave out \`${input}:\``,
    });
  }
  return { repository, token, apiUrl };
}
