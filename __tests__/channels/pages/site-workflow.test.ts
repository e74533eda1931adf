import { expect, test } from '@jest/globals';
import { checkSiteWorkflow, createSiteRun } from '../../../src/channels/pages/site-workflow.ts';
import { FakeGitHub, failure } from '../../github/fake-github.ts';
import { siteWith } from '../repository-context.ts';

const PAGE = 'https://github.com/octo/site/actions/runs/9';
const EARLIER = { id: 8, status: 'completed', conclusion: 'failure', html_url: 'https://github.com/earlier' };
const runOf = (more: object) => ({ id: 9, status: 'in_progress', conclusion: null, html_url: PAGE, ...more });
const answerOf = (runs: readonly object[]) => ({ total_count: runs.length, workflow_runs: runs });

/** The workflow is started after `EARLIER`; then its runs are `runs`. */
async function follow(runs: unknown) {
  const github = new FakeGitHub({
    dispatch_workflow: {},
    workflow_runs: (_: unknown, nth: number) => {
      if (nth === 1) return answerOf([EARLIER]);
      return Array.isArray(runs) ? answerOf([...runs, EARLIER]) : runs;
    },
  });
  const run = createSiteRun(github, 'pages.yml', 'main');
  await run.start();
  return run.follow();
}

test('a run that ended without success is a failure with its conclusion, its page and what to change', async () => {
  const { failure: reason } = await follow([runOf({ status: 'completed', conclusion: 'neutral' })]);
  expect(reason).toMatchObject({
    code: 'BUILD_ERRORED',
    message: 'the run of the workflow pages.yml ended with neutral',
    hint: expect.stringMatching(
      /^see the run at https:\/\/github\.com\/octo\/site\/actions\/runs\/9: fix what failed there/,
    ),
    retryable: false,
  });
});

test('a run that was there before the start is none', async () => {
  expect(await follow([])).toMatchObject({ words: 'it has no run yet', page: '' });
});

test.each(['HOST_ERROR', 'CONNECTION', 'RATE_LIMITED', 'NOT_FOUND'] as const)(
  'the requests that fail with %s are no failure of the run',
  async (code) => {
    const progress = await follow(failure(code, 502));
    expect(progress).toEqual({ words: 'the host said 502', page: '' });
  },
);

test('a request for the runs ends the wait where the host refuses the token', async () => {
  const refused = failure('BAD_TOKEN', 401);
  await expect(follow(refused)).rejects.toBe(refused);
});

test('a workflow that is switched off is refused', async () => {
  const github = new FakeGitHub({ get_workflow: { state: 'disabled_manually' } });
  const named = checkSiteWorkflow(github, { siteWorkflow: 'pages.yml' }, siteWith({ builtBy: 'workflow' }));
  const message = expect.stringMatching(/switched off \(disabled_manually\)/);
  await expect(named).rejects.toMatchObject({ code: 'BAD_INPUT', message });
});
