import { describe, expect, test } from '@jest/globals';
import { checkSiteWorkflow } from '../../../src/channels/pages/site-workflow.ts';
import { absent, FakeGitHub } from '../../github/fake-github.ts';
import { siteWith } from '../repository-context.ts';

const BUILT = siteWith({ builtBy: 'workflow' });
const NONE = { siteWorkflow: undefined, pagesBase: undefined };
const NAMED = { ...NONE, siteWorkflow: 'pages.yml' };

describe('checkSiteWorkflow', () => {
  test.each([
    ['a branch builds the site', NONE, siteWith()],
    ['the repository has no site', NONE, null],
    ['the settings cannot be read', NONE, 'unreadable'],
    ['no workflow is named', NONE, BUILT],
  ] as const)('asks nothing where %s', async (_, location, site) => {
    const github = new FakeGitHub();
    await checkSiteWorkflow(github, location, site);
    expect(github.calls).toEqual([]);
  });

  test.each([
    ['does not exist', absent, /no workflow pages\.yml/],
    ['is switched off', { state: 'disabled_manually' }, /switched off \(disabled_manually\)/],
  ])('refuses a workflow that %s', async (_, get_workflow, message) => {
    await expect(checkSiteWorkflow(new FakeGitHub({ get_workflow }), NAMED, BUILT)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringMatching(message),
      hint: expect.stringContaining('`site-workflow:`'),
    });
  });

  test('refuses a workflow for a site that is built from a branch', async () => {
    await expect(checkSiteWorkflow(new FakeGitHub(), NAMED, siteWith())).rejects.toMatchObject({
      hint: 'leave `site-workflow:` out',
    });
  });
});
