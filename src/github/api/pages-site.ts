import { DeliveryError } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import { API } from '../../protocol/calls.ts';
import { defaultSiteUrl, serverUrlOf } from '../hosts.ts';
import type { GitHubClient } from './client.ts';

/** The Pages site of a repository, as its settings describe it. */
export interface PagesSite {
  /** Where the site's root is served, with a trailing slash. */
  readonly base: URL;
  /** The branch it is built from; `null` when a workflow brings the files. */
  readonly branch: string | null;
  /** The folder of the branch that is the site's root: empty, or such as `docs`. */
  readonly folder: string;
  readonly builtBy: 'branch' | 'workflow';
  /** Whether anybody may open it. */
  readonly isPublic: boolean;
}

interface SiteRecord {
  readonly html_url?: string;
  readonly build_type?: string | null;
  readonly source?: { readonly branch?: string; readonly path?: string } | null;
  readonly public?: boolean;
}

/**
 * The site's settings; `null` where the repository has no site.
 *
 * @throws {DeliveryError} `NO_PERMISSION` where the token lacks `pages: read`.
 */
export async function getPagesSite(github: GitHubClient): Promise<PagesSite | null> {
  try {
    const record = await github.call<SiteRecord>(API.pages_site);
    return {
      base:
        record.html_url === undefined
          ? defaultSiteUrl(serverUrlOf(github.apiUrl), github)
          : rootOf(record.html_url),
      branch: record.source?.branch ?? null,
      folder: (record.source?.path ?? '/').replace(/^\/|\/$/g, ''),
      builtBy: record.build_type === 'workflow' ? 'workflow' : 'branch',
      isPublic: record.public !== false,
    };
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'NOT_FOUND') return null;
    throw thrown;
  }
}

/** A site is opened over https whatever scheme its settings name; proof decides whether it answers. */
function rootOf(address: string): URL {
  const url = new URL(address.endsWith('/') ? address : `${address}/`);
  url.protocol = 'https:';
  return url;
}

/** What is known of the build that should bring our commit live. */
export interface BuildStatus {
  /** `unknown` where nothing tells: no right to read, or no build yet. */
  readonly status: 'built' | 'building' | 'errored' | 'unknown';
  /** The host's status word, and whose build it is. */
  readonly detail: string;
  readonly httpCode?: number | undefined;
  /** The build's own error text. */
  readonly error?: string;
  /** No build of our commit, or of a later one that contains it, has appeared. */
  readonly notStarted?: boolean;
}

interface BuildRecord {
  readonly status?: string;
  readonly commit?: string;
  readonly error?: { readonly message?: string | null } | null;
}

interface DeploymentRecord {
  readonly id: number;
  readonly sha: string;
}

interface StatusRecord {
  readonly state: string;
  readonly description?: string | null;
}

/**
 * The latest build, as far as it concerns our commit; asked once, since the next poll asks again. A build of an older commit says nothing;
 * one of a later commit that contains ours counts like our own.
 *
 * @see protocol 3.2, 4.2
 */
export function getBuildStatus(github: GitHubClient, commit: string): Promise<BuildStatus> {
  return unlessUnreadable(async () => {
    const build = await github.callOnce<BuildRecord>(API.pages_latest);
    if (!(await contains(github, build.commit, commit))) {
      return { status: 'unknown', detail: 'the latest build belongs to an older commit', notStarted: true };
    }
    const whose = build.commit === commit ? 'our commit' : 'a later commit that contains ours';
    const detail = `build of ${whose}: ${shortHostMessage(build.status)}`;
    if (build.status === 'built') return { status: 'built', detail };
    if (build.status !== 'errored') return { status: 'building', detail };
    return {
      status: 'errored',
      detail,
      error: shortHostMessage(build.error?.message ?? 'no error text was given'),
    };
  });
}

/**
 * The latest deployment of a site that a workflow builds, as far as it concerns our commit.
 *
 * @see https://docs.github.com/en/rest/deployments/statuses
 */
export function getDeploymentStatus(github: GitHubClient, commit: string): Promise<BuildStatus> {
  return unlessUnreadable(async () => {
    const query = { environment: 'github-pages', per_page: 1 };
    const [latest] = await github.callOnce<DeploymentRecord[]>(API.deployments, query);
    if (!(await contains(github, latest?.sha, commit))) {
      return { status: 'unknown', detail: 'no deployment of our commit yet' };
    }
    const [status] = await github.callOnce<StatusRecord[]>(API.deployment_statuses, {
      id: latest?.id,
      per_page: 1,
    });
    const state = shortHostMessage(status?.state ?? 'pending');
    const detail = `deployment of our commit: ${state}`;
    if (state === 'success') return { status: 'built', detail };
    if (state !== 'failure' && state !== 'error') return { status: 'building', detail };
    return {
      status: 'errored',
      detail,
      error: shortHostMessage(status?.description || 'no error text was given'),
    };
  });
}

/**
 * Asks for a build of the branch.
 *
 * @returns what came of it, in words, and whether to ask again: one build more than needed does no harm
 */
export async function requestBuild(
  github: GitHubClient,
): Promise<{ readonly words: string; readonly again: boolean }> {
  try {
    await github.callOnce(API.request_build, {});
    return { words: 'a build was requested', again: false };
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError)) throw thrown;
    const refused = thrown.code === 'NO_PERMISSION' || thrown.code === 'NOT_FOUND';
    const why = refused
      ? 'requesting one needs `permissions: { pages: write }`'
      : `requesting one failed: ${thrown.message}`;
    return { words: `no build started by itself, and ${why}`, again: thrown.retryable };
  }
}

/** Whether `head` is our commit or comes after it. */
async function contains(github: GitHubClient, head: string | undefined, commit: string): Promise<boolean> {
  if (head === undefined) return false;
  if (head === commit) return true;
  try {
    const { status } = await github.callOnce<{ status?: string }>(API.compare, {
      base: commit,
      head,
      per_page: 1,
    });
    return status === 'ahead' || status === 'identical';
  } catch (thrown) {
    // A commit that was rewritten away can't be compared, and contains nothing of ours.
    if (thrown instanceof DeliveryError && thrown.code === 'NOT_FOUND') return false;
    throw thrown;
  }
}

/** A build status that can't be read is no failure: the live bytes decide. */
async function unlessUnreadable(look: () => Promise<BuildStatus>): Promise<BuildStatus> {
  try {
    return await look();
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError)) throw thrown;
    const { code, httpCode } = thrown;
    if (code === 'NOT_FOUND') {
      return { status: 'unknown', detail: 'no build yet', httpCode, notStarted: true };
    }
    if (code === 'NO_PERMISSION') {
      return { status: 'unknown', detail: 'the build status needs `permissions: { pages: read }`', httpCode };
    }
    if (code === 'HOST_ERROR' || code === 'CONNECTION' || code === 'RATE_LIMITED' || code === 'NO_NETWORK') {
      return { status: 'unknown', detail: thrown.message, httpCode };
    }
    throw thrown;
  }
}
