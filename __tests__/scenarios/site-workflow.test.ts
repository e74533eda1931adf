import { describe, expect, test } from '@jest/globals';
import type { RepositoryOptions } from '../world/repository.ts';
import { LOGINS } from '../world/tokens.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, type DeliveredStep, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage() };
const inputs = { channel: 'K1', 'site-workflow': 'pages.yml' };
const pages = { buildType: 'workflow', buildMs: 200 } as const;
const allowed = () => scenario.world.token({ actions: 'write' });
/** A delivery to a site whose workflow ends in some way. */
async function deliverTo(workflow: RepositoryOptions['pages']): Promise<DeliveredStep> {
  const repository = await scenario.repository({ pages: { ...pages, ...workflow } });
  return scenario.deliver({ repository, files, inputs, token: allowed(), simulatedTime: true });
}

const RUN_PAGE = 'https://github\\.com/octo/demo-\\d+/actions/runs/\\d+';
const runRequests = /^GET .*\/actions\/(workflows\/pages\.yml\/runs|runs\/)/;

describe('the run that was started publishes nothing: the wait ends at once, with its page and what to change', () => {
  test.each([
    ['failure', /ended with failure/, /fix what failed there and try again/],
    ['timed_out', /ended with timed_out/, /fix what failed there/],
    ['cancelled', /ended with cancelled/, /try again/],
    ['skipped', /ended with skipped/, /change the `if:`/],
    ['startup_failure', /ended with startup_failure/, /fix the workflow file/],
    ['approval', /waits for an approval/, /approve it and try again.*Settings → Environments/],
  ] as const)('%s', async (runOutcomes, reason, hint) => {
    const delivered = await deliverTo({ runOutcomes });
    expectNotReady(delivered, { step: 'wait', reason, hint });
    expect(delivered.report.notReady?.reason).toContain('the run of the workflow pages.yml');
    expect(delivered.report.notReady?.hint).toMatch(new RegExp(`${RUN_PAGE}.*K2 or K3`));
    expect(listRequests(scenario, /^GET .*page\.html\?v=\d+$/).length).toBeLessThanOrEqual(3);
    expect(listRequests(scenario, runRequests).length).toBeLessThanOrEqual(4);
  });
});

describe('the run that was started goes no further until the timeout, which names its page', () => {
  test.each([
    ['queued', /its run waits for a runner/, /`runs-on:`/],
    ['pending', /its run waits for another run/, /`concurrency:`/],
  ] as const)('%s', async (runOutcomes, reason, hint) => {
    const delivered = await deliverTo({ runOutcomes });
    expectNotReady(delivered, { step: 'wait', reason, hint });
    expect(delivered.report.notReady?.hint).toMatch(new RegExp(RUN_PAGE));
  });

  test('a run that ends with success and leaves the file out', async () => {
    const delivered = await deliverTo({ builds: 'never' });
    expectNotReady(delivered, {
      step: 'wait',
      reason: /its run ended with success/,
      hint: /actions\/runs\/\d+: let the workflow publish this file too/,
    });
  });
});

test('a run that deployed our commit without the file', async () => {
  const repository = await scenario.repository({ pages });
  repository.pages.live = false;
  const delivered = await scenario.deliver({
    repository,
    files,
    inputs: { ...inputs, timeout: '20' },
    token: allowed(),
    simulatedTime: true,
  });
  expectNotReady(delivered, {
    step: 'verify',
    httpCode: 404,
    reason: /HTTP 404/,
    hint: /^pages\.yml deployed our commit without `page\.html`; let its upload include it/,
  });
});

test('a run that deployed our commit without the files of the folder', async () => {
  const repository = await scenario.repository({ pages });
  repository.pages.live = false;
  const delivered = await scenario.deliver({
    repository,
    files: { 'out/index.html': createPage(), 'out/a.txt': 'text' },
    inputs: { 'site-workflow': 'pages.yml', file: 'out/', path: 'p/', timeout: '20' },
    token: allowed(),
    simulatedTime: true,
  });
  expectNotReady(delivered, {
    step: 'verify',
    httpCode: 404,
    reason: /HTTP 404/,
    hint: /^pages\.yml deployed our commit without all of `p\/`; let its upload include it/,
  });
});

test('a start that no run follows is reported before the timeout', async () => {
  const repository = await scenario.repository({ pages: { ...pages, runOutcomes: 'absent' } });
  const delivered = await scenario.deliver({
    repository,
    files,
    inputs: { ...inputs, 'poll-interval': '1', timeout: '40' },
    token: allowed(),
    simulatedTime: true,
  });
  expectNotReady(delivered, { step: 'wait', reason: /no run of it has appeared/, hint: /under Actions/ });
  expect(delivered.report.took.wait).toBeLessThan(30_000);
});

describe('the run that was started is only one of several', () => {
  test('a run that a timer holds back is waited for', async () => {
    const repository = await scenario.repository({ pages: { ...pages, runOutcomes: 'timer' } });
    const delivered = await scenario.deliver({ repository, files, inputs, token: allowed() });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
  });

  test('a run that a later one of its concurrency group replaced is no failure', async () => {
    const repository = await scenario.repository({
      pages: { ...pages, runOutcomes: ['cancelled', 'published'] },
    });
    scenario.intercept(
      { method: 'POST', url: /\/dispatches$/, times: 1 },
      {
        alter: async (real) => {
          const head = (await repository.head()) ?? '';
          repository.pages.startWorkflow(head, {
            event: 'workflow_dispatch',
            branch: 'main',
            actor: LOGINS.app,
            inputs: {},
          });
          return real;
        },
      },
    );
    const delivered = await scenario.deliver({ repository, files, inputs, token: allowed() });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect(repository.pages.runs.map(({ conclusion }) => conclusion)).toEqual(['success', 'cancelled']);
  });

  test('an earlier run that failed says nothing of the one that was started', async () => {
    const repository = await scenario.repository({
      pages: { ...pages, runOutcomes: ['failure', 'published'] },
    });
    const first = await scenario.deliver({ repository, files, inputs, token: allowed() });
    expectNotReady(first, { step: 'wait', reason: /ended with failure/ });
    const second = await scenario.deliver({ repository, files, inputs, token: allowed() });
    await expectReady(scenario, second, { channel: 'K1', shows: createPage() });
    expect(repository.pages.runs).toHaveLength(2);
  });
});

test('runs that the token may not read are no failure: the deployment decides', async () => {
  const repository = await scenario.repository({ pages });
  const denied = {
    status: 403,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({
      message: 'Resource not accessible by integration',
      documentation_url: 'https://docs.github.com/rest',
      status: '403',
    }),
  };
  scenario.intercept({ method: 'GET', url: /\/runs\?/, times: 99 }, denied);
  const delivered = await scenario.deliver({ repository, files, inputs, token: allowed() });
  await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
  expect(listRequests(scenario, runRequests)).toHaveLength(1);
});

describe('a build that had failed before the step is started again', () => {
  test('by `site-workflow`, where its deployment failed', async () => {
    const repository = await scenario.repository({ pages: { ...pages, builds: ['errored', 'normal'] } });
    const first = await scenario.deliver({ repository, files, inputs, token: allowed() });
    expectNotReady(first, {
      step: 'wait',
      reason: /deployment of our commit: failure/,
      hint: new RegExp(RUN_PAGE),
    });
    const second = await scenario.deliver({ repository, files, inputs, token: allowed() });
    await expectReady(scenario, second, { channel: 'K1', shows: createPage() });
  });

  test('by a request, where a branch is built', async () => {
    const repository = await scenario.repository({ pages: { builds: ['errored', 'normal'] } });
    const first = await scenario.deliver({ repository, files, inputs: { channel: 'K1' } });
    expectNotReady(first, { step: 'wait', reason: /Page build failed/ });
    const second = await scenario.deliver({ repository, files, inputs: { channel: 'K1' } });
    await expectReady(scenario, second, { channel: 'K1', shows: createPage() });
    expect(listRequests(scenario, /^POST .*\/pages\/builds$/)).toHaveLength(1);
  });

  test('but not without the permission, which is named', async () => {
    const repository = await scenario.repository({ pages: { builds: 'errored' } });
    const token = scenario.world.token({ pages: 'read' });
    const first = await scenario.deliver({ repository, files, inputs: { channel: 'K1' }, token });
    expectNotReady(first, { step: 'wait', reason: /Page build failed/ });
    const second = await scenario.deliver({ repository, files, inputs: { channel: 'K1' }, token });
    expectNotReady(second, {
      step: 'wait',
      reason: /requesting a build needs the permission `pages: write`/,
    });
  });
});

test('a deployment that another one has replaced is started again', async () => {
  const repository = await scenario.repository({ pages });
  const first = await scenario.deliver({ repository, files, inputs, token: allowed() });
  await expectReady(scenario, first, { channel: 'K1', shows: createPage() });
  // An older commit was deployed at the same time, and ended later.
  const [, initial = ''] = (await repository.log()).map(({ sha }) => sha);
  await repository.pages.publishImmediately(initial);
  repository.pages.deployments.reverse();
  repository.pages.deployments[0]?.statuses.unshift({ state: 'inactive', description: '', at: new Date() });
  const second = await scenario.deliver({ repository, files, inputs, token: allowed() });
  await expectReady(scenario, second, { channel: 'K1', shows: createPage() });
  expect(repository.pages.runs).toHaveLength(2);
});
