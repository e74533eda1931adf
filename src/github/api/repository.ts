import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from './client.ts';
import { isNotFound } from './failures.ts';
import { getPagesSite, type PagesSite } from './pages-site.ts';

/** What is known of the repository when the channel is chosen; only what the possible channels need is requested. */
export interface RepositoryContext {
  readonly hasToken: boolean;
  /** Why there is no token, where the device flow was tried. */
  readonly authorizationError?: DeliveryError | undefined;
  /** Whether the repository to publish in is private; `null` where it was not requested. */
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
 * Reads from the repository what the choice of a channel depends on, and nothing else.
 *
 * @throws {DeliveryError} `BAD_TOKEN` or `NOT_FOUND` when the token gives no access to the repository.
 */
export async function loadRepositoryContext(
  github: GitHubClient | null,
  query: RepositoryQuery,
): Promise<RepositoryContext> {
  if (github === null) return { hasToken: false, privateRepository: null, site: 'unasked' };
  return {
    hasToken: true,
    privateRepository: query.repository ? await isPrivate(github) : null,
    site: query.site ? await getPagesSite(github) : 'unasked',
  };
}

async function isPrivate({ rest, repository }: GitHubClient): Promise<boolean> {
  try {
    return (await rest.repos.get(repository)).data.private === true;
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
    const name = `${repository.owner}/${repository.repo}`;
    throw new DeliveryError('NOT_FOUND', `the repository ${name} does not exist for this token`, {
      httpCode: 404,
      hint: 'set `repository: <owner>/<repo>` to one that `token:` may write to',
      cause: thrown,
    });
  }
}
