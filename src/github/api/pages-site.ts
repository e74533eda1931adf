import type { RestEndpointMethodTypes } from '@octokit/rest';
import { DeliveryError } from '../../errors.ts';
import { type RetryPorts, withRetries } from '../../retry.ts';
import { RETRY_HINT } from '../hints.ts';
import { defaultSiteUrl, serverUrlOf } from '../hosts.ts';
import type { GitHubClient } from './client.ts';
import { isNotFound } from './failures.ts';

/** The Pages site of a repository, as its settings describe it. */
export interface PagesSite {
  /** Address of the site's root, with a trailing slash. */
  readonly base: URL;
  /** The branch it is built from; `null` when a workflow uploads the files. */
  readonly branch: string | null;
  /** The folder of the branch that is the site's root: empty, or such as `docs`. */
  readonly folder: string;
  readonly builtBy: 'branch' | 'workflow';
  /** Whether anybody may open it. */
  readonly isPublic: boolean;
}

type PagesRecord = RestEndpointMethodTypes['repos']['getPages']['response']['data'];

/** The site's settings: `null` where the repository has no site, `unreadable` without `pages: read`. */
export async function getPagesSite(github: GitHubClient): Promise<PagesSite | null | 'unreadable'> {
  try {
    const { data } = await github.rest.repos.getPages(github.repository);
    return toPagesSite(data, github);
  } catch (thrown) {
    if (isNotFound(thrown)) return null;
    if (thrown instanceof DeliveryError && thrown.code === 'NO_PERMISSION') return 'unreadable';
    throw thrown;
  }
}

/**
 * Switches Pages on for a branch, which must exist. Where it is on by now, these settings count.
 *
 * @throws {DeliveryError} `NO_PERMISSION` or `NOT_FOUND` where the token may not: the own token of a job never may.
 * @see https://docs.github.com/rest/pages/pages#create-a-github-pages-site
 */
export function createPagesSite(github: GitHubClient, branch: string, ports: RetryPorts): Promise<PagesSite> {
  let wasSent = false;
  return withRetries(ports, async () => {
    const existing = wasSent ? await getPagesSite(github) : null;
    if (existing !== null && existing !== 'unreadable') return existing;
    wasSent = true;
    const source = { branch, path: '/' } as const;
    const { data } = await github.rest.repos.createPagesSite({
      ...github.repository,
      build_type: 'legacy',
      source,
    });
    return toPagesSite(data, github);
  });
}

function toPagesSite(
  { html_url, source, build_type, public: isPublic }: PagesRecord,
  { apiUrl, repository }: GitHubClient,
): PagesSite {
  if ([source?.branch, source?.path].some((value) => (value ?? '') !== '' && typeof value !== 'string')) {
    throw new DeliveryError('HOST_ERROR', 'reading the Pages settings returned a source that is no branch', {
      hint: RETRY_HINT,
      retryable: true,
    });
  }
  return {
    base: parseSiteUrl(html_url) ?? defaultSiteUrl(serverUrlOf(apiUrl), repository),
    branch: source?.branch ?? null,
    folder: (source?.path ?? '/').replace(/^\/|\/$/g, ''),
    builtBy: build_type === 'workflow' ? 'workflow' : 'branch',
    isPublic: isPublic !== false,
  };
}

/**
 * A site is opened over https whatever its settings say; verification shows whether that works.
 *
 * @returns `null` where the settings hold no address
 */
function parseSiteUrl(address: unknown): URL | null {
  const url = typeof address === 'string' ? URL.parse(address.endsWith('/') ? address : `${address}/`) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  url.protocol = 'https:';
  return url;
}
