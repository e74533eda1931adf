import { describe, expect, test } from '@jest/globals';
import { checkSiteWorkflow, createSiteRun } from '../../../src/channels/pages/site-workflow.ts';
import { absent, FakeGitHub, failure } from '../../github/fake-github.ts';
import { siteWith } from '../repository-context.ts';

const PAGE = 'https://github.com/octo/site/actions/runs/9';
const EARLIER = { id: 8, status: 'completed', conclusion: 'failure', html_url: 'https://github.com/earlier' };
const runOf = (more: object) => ({ id: 9, status: 'in_progress', conclusion: null, html_url: PAGE, ...more });
const answerOf = (runs: readonly object[]) => ({ total_count: runs.length, workflow_runs: runs });

/** The workflow is started after `EARLIER`; then its runs are `runs`. */
function createRun(runs: unknown, more: ConstructorParameters<typeof FakeGitHub>[0] = {}) {
  const github = new FakeGitHub({
    dispatch_workflow: {},
    workflow_runs: (_: unknown, nth: number) => {
      if (nth === 1) return answerOf([EARLIER]);
      return Array.isArray(runs) ? answerOf([...runs, EARLIER]) : runs;
    },
    ...more,
  });
  return { github, run: createSiteRun(github, 'pages.yml', 'main') };
}

async function follow(runs: unknown, more: ConstructorParameters<typeof FakeGitHub>[0] = {}) {
  const { run } = createRun(runs, more);
  await run.start();
  return run.follow();
}

describe('a run that ended without success', () => {
  test.each([
    ['neutral', /^fix what failed there/],
    ['a future conclusion', /^fix what failed there/],
  ])('is a failure with its conclusion, its page and what to change: %s', async (conclusion, change) => {
    const { failure: reason } = await follow([runOf({ status: 'completed', conclusion })]);
    expect(reason).toMatchObject({
      code: 'BUILD_ERRORED',
      message: `the run of the workflow pages.yml ended with ${conclusion}`,
      retryable: false,
    });
    const [, text = ''] = /^see the run at \S+?: (.*)/.exec(reason?.hint ?? '') ?? [];
    expect(reason?.hint).toContain(PAGE);
    expect(text).toMatch(change);
  });

  test('is none if it was there before the start', async () => {
    const progress = await follow([]);
    expect(progress).toEqual({ words: 'it has no run yet', page: '' });
  });
});

describe('the requests', () => {
  test.each(['HOST_ERROR', 'CONNECTION', 'RATE_LIMITED', 'NOT_FOUND'] as const)(
    'that fail with %s are no failure of the run',
    async (code) => {
      const progress = await follow(failure(code, 502));
      expect(progress).toEqual({ words: 'the host said 502', page: '' });
    },
  );

  test('end the wait where the host refuses the token', async () => {
    const refused = failure('BAD_TOKEN', 401);
    await expect(follow(refused)).rejects.toBe(refused);
  });
});

const BUILT = siteWith({ builtBy: 'workflow' });
const NAMED = { siteWorkflow: 'pages.yml' };

describe('checkSiteWorkflow', () => {
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
