import type { RestEndpointMethodTypes } from '@octokit/rest';
import { DeliveryError, hasFailed, type Result } from '../../errors.ts';
import type { Text } from '../../words.ts';
import { defaultPagesUrl, serverUrlOf } from '../hosts.ts';
import type { GitHubClient } from './client.ts';
import { dataOrNull } from './failures.ts';

export interface PagesSettings {
  readonly base: URL;
  /** The source branch. If a workflow deploys the site, the previous source branch or `null`. */
  readonly branch: string | null;
  /** The branch's folder that becomes the site's root, without slashes. */
  readonly folder: string;
  readonly builtBy: 'branch' | 'workflow' | 'deployment';
  readonly isPublic: boolean;
}

type PagesRecord = RestEndpointMethodTypes['repos']['getPages']['response']['data'];

/** The Pages settings; `null` if there is no site or the settings are unknown. */
export const knownSettings = (settings: RepositoryContext['pagesSettings']): PagesSettings | null =>
  typeof settings === 'string' ? null : settings;

/** The Pages settings: `null` if the repository has no site, `unreadable` without `pages: read`. */
export async function getPagesSettings(github: GitHubClient): Promise<PagesSettings | null | 'unreadable'> {
  try {
    const found = await dataOrNull(github.rest.repos.getPages(github.repository));
    return found && toPagesSettings(found, github);
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'NO_PERMISSION') return 'unreadable';
    throw thrown;
  }
}

/**
 * Enables Pages for a branch. @throws {DeliveryError} `NO_PERMISSION` or `NOT_FOUND`: a job's own token can't do this
 */
export async function createPagesSite(github: GitHubClient, branch: string): Promise<PagesSettings> {
  const source = { branch, path: '/' } as const;
  const settings = { ...github.repository, build_type: 'legacy', source } as const;
  return toPagesSettings((await github.rest.repos.createPagesSite(settings)).data, github);
}

function toPagesSettings(
  { html_url, source, build_type, public: isPublic }: PagesRecord,
  { apiUrl, repository }: GitHubClient,
): PagesSettings {
  const base = new URL(html_url ?? defaultPagesUrl(serverUrlOf(apiUrl), repository));
  // We always use https. Verification shows whether it works.
  base.protocol = 'https:';
  base.pathname = base.pathname.replace(/\/?$/, '/');
  return {
    base,
    branch: source?.branch ?? null,
    folder: (source?.path ?? '/').replace(/^\/|\/$/g, ''),
    builtBy: build_type === 'workflow' ? 'workflow' : 'branch',
    isPublic,
  };
}

/** What the choice of a channel depends on. Only what the possible channels need is requested. */
export interface RepositoryContext {
  readonly github: Result<GitHubClient>;
  readonly privateRepository: boolean | null;
  readonly pagesSettings: PagesSettings | null | 'unreadable' | 'not-requested';
}

export interface RepositoryQuery {
  readonly repository: boolean;
  readonly pagesSettings: boolean;
}

/** Requests what a channel depends on. @throws {DeliveryError} `BAD_TOKEN` or `NOT_FOUND` without access */
export async function loadRepositoryContext(
  github: Result<GitHubClient>,
  query: RepositoryQuery,
): Promise<RepositoryContext> {
  if (hasFailed(github)) return { github, privateRepository: null, pagesSettings: 'not-requested' };
  const { rest, repository } = github;
  const found = query.repository ? await dataOrNull(rest.repos.get(repository)) : undefined;
  if (found === null) {
    const message = `the repository ${repository.owner}/${repository.repo} doesn't exist, or the token can't see it`;
    throw new DeliveryError('NOT_FOUND', message, {
      httpCode: 404,
      hint: (w) => `set ${w.input('repository')} to a repository that ${w.input('token')} can access`,
    });
  }
  return {
    github,
    privateRepository: found?.private ?? null,
    pagesSettings: query.pagesSettings ? await getPagesSettings(github) : 'not-requested',
  };
}

/** The repository's API. @throws {DeliveryError} why there is none */
export function requireGitHub({ github }: Pick<RepositoryContext, 'github'>): GitHubClient {
  if (hasFailed(github)) throw github;
  return github;
}

/** Explains why there is no API, and names a channel that doesn't need one. @see protocol 5 */
export function noAccessError(
  hasToken: boolean,
  hasRepository: boolean,
  permissions = 'contents: write, pages: write',
): DeliveryError {
  const step = 'authorize';
  if (hasToken) {
    const message = 'GitHub Pages and releases need a repository, but the repository is unknown';
    const hint: Text = (w) => `set ${w.input('repository', 'owner/name')}${w.orUse('K3')}`;
    return new DeliveryError('BAD_INPUT', message, { step, hint });
  }
  const message = `GitHub Pages and releases need a token${hasRepository ? '' : ' and a repository'}`;
  const hint: Text = (w) =>
    `set ${w.input('token')} to a token with the permissions \`${permissions}\`${w.ownToken}${hasRepository ? '' : `, and ${w.input('repository')}`}${w.orUse('K3')}`;
  return new DeliveryError('NO_TOKEN', message, { step, hint });
}
