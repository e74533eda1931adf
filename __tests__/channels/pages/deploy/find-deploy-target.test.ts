import { describe, expect, test } from '@jest/globals';
import { findDeployedSite } from '../../../../src/channels/pages/deploy/find-deploy-target.ts';
import type { RepositoryContext } from '../../../../src/github/api/repository.ts';
import { FakeGitHub, failure } from '../../../github/fake-github.ts';
import { accessWith, siteWith } from '../../repository-context.ts';

const BUILT = siteWith({ builtBy: 'workflow', branch: 'main', folder: 'docs' });
const NONE = { siteWorkflow: undefined, pagesBase: undefined };
const jobOf = (login: string) => new FakeGitHub({ graphql: { data: { viewer: { login } } } });
const accessOf = (github: FakeGitHub, site: RepositoryContext['site']) => accessWith(github, { site });

describe('findDeployedSite', () => {
  test("finds one whose workflow no commit by the job's own token starts, and takes its whole branch", async () => {
    const access = accessOf(jobOf('github-actions[bot]'), BUILT);
    const found = { builtBy: 'deployment', branch: null, folder: '' };
    await expect(findDeployedSite(access, NONE)).resolves.toMatchObject(found);
  });

  test('leaves it to its workflow where a commit of this token starts that', async () => {
    await expect(findDeployedSite(accessOf(jobOf('other-app[bot]'), BUILT), NONE)).resolves.toBeNull();
  });

  test('fails where it cannot be found out whose token it is', async () => {
    const denied = failure('NO_PERMISSION', 403);
    const access = accessOf(new FakeGitHub({ graphql: denied }), BUILT);
    await expect(findDeployedSite(access, NONE)).rejects.toBe(denied);
  });

  test.each([
    ['a branch builds the site', NONE, siteWith()],
    ['the repository has no site', NONE, null],
    ['the settings cannot be read', NONE, 'unreadable'],
    ['a workflow is named', { ...NONE, siteWorkflow: 'pages.yml' }, BUILT],
    ['another address is named', { ...NONE, pagesBase: new URL('https://octo.dev') }, BUILT],
  ] as const)('asks nothing where %s', async (_, location, site) => {
    const github = new FakeGitHub();
    await expect(findDeployedSite(accessOf(github, site), location)).resolves.toBeNull();
    expect(github.calls).toEqual([]);
  });
});
