import type { PagesSite } from '../../src/github/pages-site.ts';
import type { Circumstances } from '../../src/github/survey.ts';

/** A public site, built from the root of main. */
export const siteWith = (more: Partial<PagesSite> = {}): PagesSite => ({
  base: new URL('https://octo.github.io/site/'),
  branch: 'main',
  folder: '',
  builtBy: 'branch',
  open: true,
  ...more,
});

/** A public repository with such a site, and a token for it. */
export const circumstancesWith = (more: Partial<Circumstances> = {}): Circumstances => ({
  hasToken: true,
  privateRepository: false,
  site: siteWith(),
  ...more,
});
