import type { PagesOptions } from '../../src/channels/pages/destination.ts';

/** Options of channel K1 with every input at its default. */
export const pagesOptionsWith = (more: Partial<PagesOptions> = {}): PagesOptions => ({
  overwrite: false,
  essence: 'from run 7 of Deliver',
  deliverer: { name: 'octo/site/.github/workflows/deliver.yml', run: '7/1' },
  marker: undefined,
  picture: false,
  timeout: 240_000,
  prune: true,
  keep: undefined,
  nojekyll: false,
  setup: false,
  branch: undefined,
  siteWorkflow: undefined,
  path: undefined,
  pagesBase: undefined,
  rawBase: undefined,
  serverUrl: new URL('https://github.com'),
  ...more,
});
