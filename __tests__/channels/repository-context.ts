import type { GitHubClient } from '../../src/github/api/client.ts';
import {
  noAccessError,
  type PagesSettings,
  type RepositoryContext,
} from '../../src/github/api/repository.ts';
import { FakeGitHub } from '../github/fake-github.ts';

/** A public site, built from the root of main. */
export const siteWith = (more: Partial<PagesSettings> = {}): PagesSettings => ({
  base: new URL('https://octo.github.io/site/'),
  branch: 'main',
  folder: '',
  builtBy: 'branch',
  isPublic: true,
  ...more,
});

/** A public repository with such a site, and a token for it. */
export const repositoryContextWith = (more: Partial<RepositoryContext> = {}): RepositoryContext => ({
  github: new FakeGitHub(),
  privateRepository: false,
  pagesSettings: siteWith(),
  ...more,
});

/** Access to that repository; `null` for no token. */
export const accessWith = (
  github: GitHubClient | null,
  more: Partial<RepositoryContext> = {},
): RepositoryContext => repositoryContextWith({ github: github ?? noAccessError(false, false), ...more });
