import { expect, test } from '@jest/globals';
import { findDeployedSite } from '../../../../src/channels/pages/deploy/find-deploy-target.ts';
import { FakeGitHub, failure } from '../../../github/fake-github.ts';
import { siteWith } from '../../repository-context.ts';

const BUILT = siteWith({ builtBy: 'workflow', branch: 'main', folder: 'docs' });
const NONE = { siteWorkflow: undefined, pagesBase: undefined };

test("findDeployedSite fails if the token's owner can't be found out", async () => {
  const denied = failure('NO_PERMISSION', 403);
  const github = new FakeGitHub({ graphql: denied });
  await expect(findDeployedSite(github, BUILT, NONE)).rejects.toBe(denied);
});

test.each([
  ['a branch builds the site', NONE, siteWith()],
  ['the repository has no site', NONE, null],
  ['the settings cannot be read', NONE, 'unreadable'],
  ['a workflow is named', { ...NONE, siteWorkflow: 'pages.yml' }, BUILT],
  ['another address is named', { ...NONE, pagesBase: new URL('https://octo.dev') }, BUILT],
] as const)('findDeployedSite asks nothing where %s', async (_, location, site) => {
  const github = new FakeGitHub();
  await expect(findDeployedSite(github, site, location)).resolves.toBeNull();
  expect(github.calls).toEqual([]);
});
