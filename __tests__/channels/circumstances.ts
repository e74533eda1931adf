import type { PagesSite } from '../../src/github/api/pages-site.ts';
import type { RepositoryContext } from '../../src/github/api/repository.ts';

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
export const circumstancesWith = (more: Partial<RepositoryContext> = {}): RepositoryContext => ({
  hasToken: true,
  privateRepository: false,
  site: siteWith(),
  ...more,
});
