import type { RestEndpointMethodTypes } from '@octokit/rest';
import { DeliveryError, hasFailed, type Result } from '../../errors.ts';
import { defaultPagesUrl, serverUrlOf } from '../hosts.ts';
import type { GitHubClient } from './client.ts';
import { dataOrNull } from './failures.ts';

/** The Pages site of a repository, as its settings describe it. */
export interface PagesSettings {
  /** Address of the site's root, with a trailing slash. */
  readonly base: URL;
  /** The branch it is built from; of one that a workflow uploads, that of the time before, or `null`. */
  readonly branch: string | null;
  /** The folder of the branch that is the site's root: empty, or such as `docs`. */
  readonly folder: string;
  /** GitHub from a branch, a workflow of the repository, or this action, which deploys it itself. */
  readonly builtBy: 'branch' | 'workflow' | 'deployment';
  readonly isPublic: boolean;
}

type PagesRecord = RestEndpointMethodTypes['repos']['getPages']['response']['data'];

/** The settings of a site; `null` where there is none, or where they are not known. */
export const knownSettings = (settings: RepositoryContext['pagesSettings']): PagesSettings | null =>
  typeof settings === 'string' ? null : settings;

/** The site's settings: `null` where the repository has no site, `unreadable` without `pages: read`. */
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
 * Switches Pages on for a branch, which must exist.
 *
 * @throws {DeliveryError} `NO_PERMISSION` or `NOT_FOUND` where the token may not: the own token of a job never may.
 * @see https://docs.github.com/rest/pages/pages#create-a-github-pages-site
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
  // A site is opened over https whatever its settings say; verification shows whether that works.
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

/** What is known of the repository when the channel is chosen; only what the possible channels need is requested. */
export interface RepositoryContext {
  /** Its API, or why there is none. */
  readonly github: Result<GitHubClient>;
  /** Whether the repository to publish in is private; `null` where it was not requested or not said. */
  readonly privateRepository: boolean | null;
  /** `null` where the repository has none. */
  readonly pagesSettings: PagesSettings | null | 'unreadable' | 'not-requested';
}

/** What must be known before a channel can be chosen. */
export interface RepositoryQuery {
  readonly repository: boolean;
  readonly pagesSettings: boolean;
}

/** Reads what the choice of a channel depends on. @throws {DeliveryError} `BAD_TOKEN` or `NOT_FOUND` without access */
export async function loadRepositoryContext(
  github: Result<GitHubClient>,
  query: RepositoryQuery,
): Promise<RepositoryContext> {
  if (hasFailed(github)) return { github, privateRepository: null, pagesSettings: 'not-requested' };
  const { rest, repository } = github;
  const found = query.repository ? await dataOrNull(rest.repos.get(repository)) : undefined;
  if (found === null) {
    const message = `the repository ${repository.owner}/${repository.repo} does not exist for this token`;
    throw new DeliveryError('NOT_FOUND', message, {
      httpCode: 404,
      hint: (w) => `set ${w.input('repository')} to one that ${w.input('token')} has access to`,
    });
  }
  return {
    github,
    privateRepository: found?.private ?? null,
    pagesSettings: query.pagesSettings ? await getPagesSettings(github) : 'not-requested',
  };
}

/** The repository's API, for a channel that can not work without it. @throws {DeliveryError} why there is none */
export function requireGitHub({ github }: Pick<RepositoryContext, 'github'>): GitHubClient {
  if (hasFailed(github)) throw github;
  return github;
}

/** Why there is no API, with the channel that needs none. @see protocol 5 */
export function noAccessError(
  hasToken: boolean,
  hasRepository: boolean,
  permissions = 'contents: write, pages: write',
): DeliveryError {
  if (hasToken) {
    return new DeliveryError('BAD_INPUT', 'K1 and K2 need a repository, and none is known', {
      step: 'authorize',
      hint: (w) => `set ${w.input('repository', 'owner/name')}${w.orUse('K3')}`,
    });
  }
  return new DeliveryError('NO_TOKEN', `K1 and K2 need a token${hasRepository ? '' : ' and a repository'}`, {
    step: 'authorize',
    hint: (w) =>
      `set ${w.input('token')} to one with the permissions \`${permissions}\`${w.ownToken}${hasRepository ? '' : `, and ${w.input('repository')}`}${w.orUse('K3')}`,
  });
}
