import type { RepositoryAccess } from '../../src/channels/require-github.ts';
import type { GitHubClient } from '../../src/github/api/client.ts';
import type { PagesSite, RepositoryContext } from '../../src/github/api/repository.ts';

/** A public site, built from the root of main. */
export const siteWith = (more: Partial<PagesSite> = {}): PagesSite => ({
  base: new URL('https://octo.github.io/site/'),
  branch: 'main',
  folder: '',
  builtBy: 'branch',
  isPublic: true,
  ...more,
});

/** A public repository with such a site, and a token for it. */
export const repositoryContextWith = (more: Partial<RepositoryContext> = {}): RepositoryContext => ({
  hasToken: true,
  privateRepository: false,
  site: siteWith(),
  ...more,
});

/** Access to that repository; `null` for no token. */
export const accessWith = (
  github: GitHubClient | null,
  more: Partial<RepositoryContext> = {},
): RepositoryAccess => ({ github, repository: repositoryContextWith(more) });
