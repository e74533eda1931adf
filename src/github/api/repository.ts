import { DeliveryError } from '../../errors.ts';
import { API } from '../../protocol/calls.ts';
import type { GitHubClient } from './client.ts';
import { getPagesSite, type PagesSite } from './pages-site.ts';

/** What was found out before choosing; nothing is asked that the wished channels don't need. */
export interface RepositoryContext {
  readonly hasToken: boolean;
  /** Why there is none, where the device flow was tried. */
  readonly authorizationError?: DeliveryError | undefined;
  /** Of the repository that is published in; `null` where it was not asked. */
  readonly privateRepository: boolean | null;
  /** `null` where the repository has none. */
  readonly site: PagesSite | null | 'unreadable' | 'unasked';
}

/** What must be known before a channel can be chosen. */
export interface RepositoryQuery {
  readonly repository: boolean;
  readonly site: boolean;
}

/**
 * Asks the repository what the choice of a channel depends on, and nothing more.
 *
 * @throws {DeliveryError} `BAD_TOKEN` or `NOT_FOUND` when the token does not open the repository.
 */
export async function loadRepositoryContext(
  github: GitHubClient | null,
  needs: RepositoryQuery,
): Promise<RepositoryContext> {
  if (github === null) return { hasToken: false, privateRepository: null, site: 'unasked' };
  return {
    hasToken: true,
    privateRepository: needs.repository ? await isPrivate(github) : null,
    site: needs.site ? await siteOrUnreadable(github) : 'unasked',
  };
}

async function isPrivate(github: GitHubClient): Promise<boolean> {
  try {
    return (await github.call(API.get_repository)).private === true;
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || thrown.code !== 'NOT_FOUND') throw thrown;
    throw new DeliveryError(
      'NOT_FOUND',
      `the repository ${github.owner}/${github.repo} does not exist for this token`,
      {
        httpCode: thrown.httpCode,
        hint: 'set `repository: <owner>/<repo>` to one that `token:` may write to',
        cause: thrown,
      },
    );
  }
}

async function siteOrUnreadable(github: GitHubClient): Promise<RepositoryContext['site']> {
  try {
    return await getPagesSite(github);
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'NO_PERMISSION') return 'unreadable';
    throw thrown;
  }
}
