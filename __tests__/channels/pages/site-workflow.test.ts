import { expect, test } from '@jest/globals';
import { checkSiteWorkflow, createSiteRun } from '../../../src/channels/pages/site-workflow.ts';
import { FakeGitHub, failure } from '../../github/fake-github.ts';
import { siteWith } from '../repository-context.ts';

const EARLIER = { id: 8, status: 'completed', conclusion: 'failure', html_url: 'https://github.com/earlier' };

/** The workflow is started after `EARLIER`; then the list of its runs fails. */
async function follow(refusal: Error) {
  const github = new FakeGitHub({
    dispatch_workflow: {},
    workflow_runs: (_: unknown, nth: number) => (nth === 1 ? { workflow_runs: [EARLIER] } : refusal),
  });
  const run = createSiteRun(github, 'pages.yml', 'main');
  await run.start();
  return run.follow();
}

test("a failed request for the runs doesn't fail the run", async () => {
  const progress = await follow(failure('HOST_ERROR', 502));
  expect(progress).toEqual({ text: 'the host said 502', page: '' });
});

test('a request for the runs ends the wait if the host refuses the token', async () => {
  const refused = failure('BAD_TOKEN', 401);
  await expect(follow(refused)).rejects.toBe(refused);
});

test('a workflow that is switched off is refused', async () => {
  const github = new FakeGitHub({ get_workflow: { state: 'disabled_manually' } });
  const named = checkSiteWorkflow(github, { siteWorkflow: 'pages.yml' }, siteWith({ builtBy: 'workflow' }));
  const message = expect.stringMatching(/switched off \(disabled_manually\)/);
  await expect(named).rejects.toMatchObject({ code: 'BAD_INPUT', message });
});
