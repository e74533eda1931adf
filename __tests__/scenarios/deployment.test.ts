import { describe, expect, test } from '@jest/globals';
import type { CurrentRun } from '../../src/action/current-run.ts';
import { stoppedError } from '../../src/errors.ts';
import { runOf, runWith } from '../action/current-runs.ts';
import { shown } from '../action/runner.ts';
import { getDeploymentState, type StoredDeployment } from '../world/deployment-store.ts';
import type { TestRepository } from '../world/repository.ts';
import type { InterceptedReply, RequestMatch } from '../world/server/interceptions.ts';
import { replyHtml } from '../world/server/messages.ts';
import { FORK_PERMISSIONS, LOGINS } from '../world/tokens.ts';
import { type PlayedDelivery, proven, requestsOf, setUpPlay } from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const CREATE: RequestMatch = { method: 'POST', url: /\/deployments$/ };
const STATUS: RequestMatch = { method: 'POST', url: /\/deployments\/\d+\/statuses$/ };
const LIST: RequestMatch = { method: 'GET', url: /\/deployments\?/ };
const RUN = 'https://github.com/octo/site/actions/runs/4242';

/** A repository, the head of a pull request in it, and the run of a push to that head. */
async function repositoryWithPull() {
  const repository = await play.repository();
  const head = await repository.commit('a.txt', 'a', 'Change', 'feature');
  return { repository, head, run: runForPull(repository, head) };
}

/** The same with a pull request that is open, and its comments. */
async function repositoryWithOpenPull() {
  const { repository, head } = await repositoryWithPull();
  const number = repository.issues.openPullRequest('Change', 'feature');
  const listComments = () => repository.issues.comments(number).map(({ body }) => body);
  return { repository, number, run: runForPull(repository, head, { number }), listComments };
}

/** The run of a push to a pull request. */
const runForPull = (
  { fullName, owner, name: repo }: TestRepository,
  head: string,
  { number = 7, from = fullName } = {},
): CurrentRun => ({
  ...runOf({
    pull_request: {
      number,
      head: { sha: head, repo: { full_name: from } },
      base: { repo: { full_name: fullName } },
    },
  }),
  repository: { owner, repo },
});

const token = (more = {}, login: string = LOGINS.workflow): string =>
  play.world.token({ deployments: 'write', ...more }, login);

/** A delivery to `preview`, or a withdrawal. */
const deliver = (repository: TestRepository, run: CurrentRun, more: Partial<PlayedDelivery> = {}) =>
  play.deliver({
    repository,
    run,
    files: { 'page.html': createPage() },
    token: token(),
    ...more,
    inputs: { environment: 'preview', path: 'previews/pr-7/', ...more.inputs },
  });
const withdraw = (repository: TestRepository, run: CurrentRun, inputs = {}) =>
  deliver(repository, run, { files: {}, inputs: { file: '', operation: 'withdraw', ...inputs } });

const states = ({ deployments }: TestRepository): string[] => deployments.all.map(getDeploymentState);
const newest = ({ deployments }: TestRepository): StoredDeployment => deployments.all[0] as StoredDeployment;

/** A successful deployment by somebody. */
function addOther({ deployments }: TestRepository, sha: string, more: Partial<StoredDeployment> = {}) {
  const kind = { transientEnvironment: false, productionEnvironment: false, creator: LOGINS.workflow };
  const plain = { ref: sha, environment: 'preview', task: 'deploy', payload: {}, ...kind };
  const other = deployments.add({ sha, ...plain, ...more });
  const status = { state: 'success', description: '', logUrl: null, environmentUrl: 'https://a.dev/' };
  deployments.addStatus(other, { ...status, creator: other.creator });
  return other;
}

describe('a verified delivery', () => {
  test('is in progress, then a success with its URL, on the head of the pull request', async () => {
    const { repository, head, run } = await repositoryWithPull();
    const { report, log, requests } = await proven(deliver(repository, run));
    expect(report.url).toBe(`${repository.pages.url}previews/pr-7/page.html`);
    expect(newest(repository)).toMatchObject({
      sha: head,
      environment: 'preview',
      creator: LOGINS.workflow,
      transientEnvironment: true,
      productionEnvironment: false,
      payload: { 'screen-delivery': 'pull request 7' },
      statuses: [
        { state: 'success', environmentUrl: report.url, logUrl: RUN },
        { state: 'in_progress', environmentUrl: null, logUrl: RUN, description: 'Not verified yet' },
      ],
    });
    expect(log).toContain('Deployment to preview: success, 0 earlier deployments made inactive');
    const at = (pattern: RegExp): number => requests.findLastIndex((one) => pattern.test(one));
    expect(at(/POST .*\/statuses$/)).toBeGreaterThan(at(/pr-7\/page\.html/));
  });

  test.each([
    ['K1', {}],
    ['K2', {}],
    ['K3', {}],
    ['K4', { url: 'https://preview.agent-host.com/page.html' }],
    ['K1+K3', {}],
  ])('has its button on %s, and GitHub gets the URL in no earlier request', async (channel, more) => {
    const { repository, run } = await repositoryWithPull();
    play.world.host('preview.agent-host.com', () => replyHtml(200, createPage()));
    const inputs = { channel, path: '', ...more };
    const { report, sightings } = await proven(deliver(repository, run, { inputs }));
    expect(newest(repository).statuses[0]).toMatchObject({ state: 'success', environmentUrl: report.url });
    const told = sightings(report.url ?? 'none').filter(({ host }) => host === 'api.github.com');
    expect(told.map(({ pathname }) => pathname)).toEqual([expect.stringMatching(/\/statuses$/)]);
  });

  test('of several files links the first one, and is a failure if one is not verified', async () => {
    const { repository, run } = await repositoryWithPull();
    const files = { 'a.html': createPage('a'), 'b.html': createPage('b') };
    const both = { file: 'a.html\nb.html' };
    const { report } = await deliver(repository, run, { files, inputs: both });
    expect(newest(repository).statuses[0]).toMatchObject({ state: 'success', environmentUrl: report.url });
    const lacking = { ...files, 'b.html': '<p>?</p>' };
    await deliver(repository, run, { files: lacking, inputs: { ...both, marker: 'marker' } });
    expect(newest(repository).statuses[0]).toMatchObject({ state: 'failure', environmentUrl: null });
  });

  test("without a pull request is shown on the job's commit, in a permanent environment", async () => {
    const repository = await play.repository();
    const sha = (await repository.head()) ?? '';
    const run = { ...runWith({ sha }), repository: { owner: repository.owner, repo: repository.name } };
    for (const environment of ['docs', 'production']) {
      await deliver(repository, run, { inputs: { environment } });
      expect(newest(repository)).toMatchObject({
        sha,
        environment,
        transientEnvironment: false,
        productionEnvironment: environment === 'production',
        payload: { 'screen-delivery': 'refs/heads/main' },
      });
    }
    expect(states(repository)).toEqual(['success', 'success']);
  });
});

describe('a run that another run started', () => {
  /** The run after another one, which was for a branch; the job itself is on main. */
  async function follow(previous: object) {
    const repository = await play.repository();
    const sha = (await repository.head()) ?? '';
    const head = await repository.commit('a.txt', 'a', 'Change', 'feature');
    const { owner, name: repo } = repository;
    const about = { head_sha: head, head_branch: 'feature', head_repository: { id: 1 }, pull_requests: [] };
    const payload = { repository: { id: 1 }, workflow_run: { ...about, ...previous } };
    const run = { ...runOf(payload, 'workflow_run'), sha, repository: { owner, repo } };
    const ofMain = { ...runWith({ sha }), repository: { owner, repo } };
    await deliver(repository, ofMain);
    return { repository, head, run };
  }
  const fork = { id: 2, owner: { login: 'human' } };

  test('for a push to a branch announces on that branch, and leaves the deployment of main', async () => {
    const { repository, head, run } = await follow({ event: 'push' });
    await proven(deliver(repository, run));
    const payload = { 'screen-delivery': 'refs/heads/feature' };
    expect(newest(repository)).toMatchObject({ sha: head, payload });
    expect(states(repository)).toEqual(['success', 'success']);
  });

  test.each<[string, object]>([
    ['has a newer push', { head_branch: 'main', head_repository: fork }],
    ['lost its fork', { head_branch: 'main', head_repository: null }],
    ['came from a fork through another event', { event: 'push', head_branch: 'main', head_repository: fork }],
  ])('for a pull request that %s announces nothing, and reports why', async (_, previous) => {
    const { repository, head, run } = await follow({ event: 'pull_request', ...previous });
    const why = `no pull request has the commit ${head} at its head`;
    const delivered = await proven(deliver(repository, run, { inputs: { comment: 'true' } }));
    const withdrawn = await proven(withdraw(repository, run));
    expect([delivered, withdrawn].map(({ log }) => log.split(why).length - 1)).toEqual([2, 1]);
    expect(states(repository)).toEqual(['success']);
  });
});

test('if a cache shows the previous page, every announcement has the URL of the new one and a note', async () => {
  const { repository, run, listComments } = await repositoryWithOpenPull();
  const inputs = { comment: 'true' };
  await proven(deliver(repository, run, { inputs }));
  repository.pages.purges = false;
  const files = { 'page.html': createPage('second') };
  const { report } = await proven(deliver(repository, run, { inputs, files }));
  const { url = '', urlNote = 'none' } = report;
  expect(url).toMatch(/page\.html\?v=[0-9a-f]{12}$/);
  const [status] = newest(repository).statuses;
  expect(status).toMatchObject({ environmentUrl: url, description: `Verified; ${urlNote}` });
  const readComment = () => shown(listComments()[0] ?? '');
  expect(readComment()).toContain(`\n<${url}><br>${urlNote}\n`);
  expect(readComment()).not.toContain('**Note:** the address');
  // The page is recognized without its version.
  const { report: gone } = await proven(withdraw(repository, run, { ...inputs, path: '', url: url ?? '' }));
  expect(gone.withdrawn).toBe(`${repository.pages.url}previews/pr-7/page.html`);
  expect(readComment()).toMatch(/withdrawn\n\n- page\.html: <code>.*page\.html\?v=\w+<\/code>/);
  expect(states(repository)).toEqual(['inactive', 'inactive']);
});

describe('a delivery that is not verified', () => {
  const served = /github\.io/;
  test.each<[string, Partial<PlayedDelivery>, InterceptedReply | null]>([
    ['a file that is refused', { files: { 'page.html': '<script src="gone.js"></script>' } }, null],
    ['a page that is served altered', {}, { status: 200, body: 'something else' }],
  ])('with %s is a failure without a URL, and the previous button disappears', async (_, more, answer) => {
    const { repository, run } = await repositoryWithPull();
    const { report } = await deliver(repository, run);
    if (answer !== null) play.intercept({ url: served, times: 99 }, answer);
    const { report: failed, sightings } = await deliver(repository, run, {
      files: { 'page.html': createPage('second') },
      ...more,
    });
    expect(failed.ready).toBe(false);
    expect(states(repository)).toEqual(['failure', 'inactive']);
    expect(newest(repository).statuses[0]).toMatchObject({ environmentUrl: null, logUrl: RUN });
    expect(sightings(report.url ?? 'none').filter(({ host }) => host === 'api.github.com')).toEqual([]);
  });

  test('is reported at once if the step is stopped, and nothing calls the page ready', async () => {
    const { repository, run, listComments } = await repositoryWithOpenPull();
    const inputs = { comment: 'true' };
    await deliver(repository, run, { inputs });
    expect(listComments()).toEqual([expect.stringContaining('Preview ready')]);
    const stop = new AbortController();
    play.meanwhile({ method: 'PUT', url: /contents/ }, () => stop.abort(stoppedError()));
    const files = { 'page.html': createPage('second') };
    await deliver(repository, run, { inputs, files, signal: stop.signal });
    expect(states(repository)).toEqual(['failure', 'inactive']);
    expect(listComments()).toEqual([expect.stringContaining('Preview not ready')]);
  });

  test('gets its final state even if its state "in progress" could not be set', async () => {
    const { repository, run } = await repositoryWithPull();
    play.intercept({ method: 'POST', url: /\/statuses$/ }, { status: 422, body: '{"message":"odd"}' });
    await proven(deliver(repository, run));
    expect(states(repository)).toEqual(['success']);
  });

  test.each([
    ['push', deliver, ['success']],
    ['withdrawal', withdraw, []],
  ])('stays in progress after a kill until the next %s', async (_, next, left) => {
    const { repository, run } = await repositoryWithPull();
    await deliver(repository, run);
    play.intercept({ method: 'PUT', url: /contents/ }, { fault: 'hang' });
    void deliver(repository, run, { files: { 'page.html': createPage('killed') } });
    while (states(repository)[0] !== 'in_progress') await new Promise(setImmediate);
    await next(repository, run);
    expect(states(repository)).toEqual([...left, 'inactive', 'inactive']);
  });

  test('is not announced in a dry run', async () => {
    const { repository, run } = await repositoryWithPull();
    const inputs = { 'dry-run': 'true', comment: 'true' };
    const planned = await deliver(repository, run, { inputs });
    expect(requestsOf(planned, /deployments|issues/)).toEqual([]);
  });
});

describe('earlier deployments', () => {
  test('end with the next push, and the last deployment with the withdrawal', async () => {
    const { repository, run } = await repositoryWithPull();
    await deliver(repository, run);
    await deliver(repository, run, { files: { 'page.html': createPage('second') } });
    const third = await deliver(repository, run, { files: { 'page.html': createPage('third') } });
    expect(states(repository)).toEqual(['success', 'inactive', 'inactive']);
    // Deployments older than an inactive one are not requested, however many there are.
    expect(requestsOf(third, /GET .*\/deployments/)).toHaveLength(3);
    const { log } = await proven(withdraw(repository, run));
    expect(states(repository)).toEqual(['inactive', 'inactive', 'inactive']);
    expect(log).toContain('Deployment to preview: 1 earlier deployments made inactive');
  });

  test('stay if the withdrawal fails', async () => {
    const { repository, run } = await repositoryWithPull();
    await deliver(repository, run);
    await repository.commit('previews/pr-7/page.html', 'by a person');
    const { report } = await withdraw(repository, run);
    expect(report.ready).toBe(false);
    expect(states(repository)).toEqual(['success']);
  });

  test('of others stay unchanged', async () => {
    const { repository, head, run } = await repositoryWithPull();
    addOther(repository, head);
    await deliver(repository, runForPull(repository, head, { number: 8 }));
    await deliver(repository, run, { inputs: { environment: 'docs' } });
    await deliver(repository, run, { token: token({}, LOGINS.app) });
    const { task, payload } = newest(repository);
    addOther(repository, head, { task });
    addOther(repository, head, { task, payload, creator: LOGINS.human });
    await deliver(repository, run);
    await withdraw(repository, run);
    expect(states(repository)).toEqual(['inactive', ...Array.from({ length: 6 }, () => 'success')]);
  });

  test('end only for the older of two concurrent runs', async () => {
    const { repository, run } = await repositoryWithPull();
    const inputs = { channel: 'K3', path: '' };
    play.meanwhile({ method: 'POST', url: /filebin/ }, () => deliver(repository, run, { inputs }));
    await deliver(repository, run, { inputs });
    expect(states(repository)).toEqual(['success', 'inactive']);
    expect(repository.deployments.all[1]?.statuses.map(({ state }) => state)).toContain('success');
  });

  test('end oldest first, so that the next run finds the rest after a failure', async () => {
    const { repository, run } = await repositoryWithPull();
    for (const _ of [1, 2, 3]) {
      play.intercept(LIST, { status: 404, body: '{}' });
      await deliver(repository, run);
    }
    expect(states(repository)).toEqual(['success', 'success', 'success']);
    // The first of the two that end, and nothing after it.
    play.intercept({ ...STATUS, skip: 3, times: 99 }, { status: 404, body: '{}' });
    await deliver(repository, run);
    expect(states(repository)).toEqual(['success', 'success', 'success', 'inactive']);
  });
});

describe('the comment of a run that has begun', () => {
  const inputs = { comment: 'true', environment: '', path: 'pr/' };
  /** What the comment says while a delivery waits, and afterwards. */
  const watch = async (
    repository: TestRepository,
    head: string,
    id: number,
    { level = 'write', ...more }: Partial<PlayedDelivery> & { readonly level?: 'read' | 'write' },
  ) => {
    const run = { ...runForPull(repository, head, { number: 1 }), number: [id, 1] as const };
    const seen = new Set<string>();
    const body = () => repository.issues.comments(1)[0]?.body ?? '';
    const onPause = () => void seen.add(body());
    const given = {
      ...more,
      inputs: { ...inputs, ...more.inputs },
      token: token({ pull_requests: level }),
      onPause,
    };
    const { report } = await deliver(repository, run, given);
    return { report, seen: [...seen], after: body() };
  };
  const setUp = async () => {
    const { repository, head } = await repositoryWithPull();
    repository.issues.openPullRequest('Change', 'feature');
    return { repository, next: 'd00dfeed'.repeat(5), head };
  };
  const LINE = (next: string, head: string) =>
    `<!-- begun -->Delivering <code>${next.slice(0, 7)}</code>; the link shows <code>${head.slice(0, 7)}</code>.`;

  test('says what its link shows in one line under it, and no URL before its proof', async () => {
    const { repository, head, next } = await setUp();
    const first = await watch(repository, head, 1, {});
    expect(first.seen).toEqual(['']);
    const url = `${repository.pages.url}pr/page.html`;
    const second = await watch(repository, next, 2, { files: { 'other.html': createPage('second') } });
    expect(second.report.ready).toBe(true);
    expect(second.seen).toEqual([expect.stringContaining(`\n\n<${url}>\n\n${LINE(next, head)}\n\n`)]);
    expect(second.seen.join()).not.toContain('other.html');
    expect(second.after).not.toContain('begun');
  });

  test('is corrected if nothing is verified, and has one line if two runs begin', async () => {
    const { repository, head, next } = await setUp();
    await watch(repository, head, 1, {});
    if (repository.site) repository.site.live = false;
    const failing = { files: { 'page.html': createPage('broken') }, inputs: { timeout: '20' } };
    play.intercept({ method: 'PATCH', url: /\/issues\/comments\//, skip: 1 }, { status: 404, body: '{}' });
    const lost = await watch(repository, next, 2, failing);
    expect(lost.after).toContain(LINE(next, head));
    const last = await watch(repository, next, 3, failing);
    expect(last.seen.map((body) => body.split('begun').length)).toEqual([2]);
    expect(last.after).not.toContain('begun');
    expect(last.after).toContain('Last verified');
    const again = await watch(repository, next, 4, failing);
    expect(again.seen).toEqual([expect.stringMatching(/Last verified at .*\n\n<!-- begun -->Delivering /)]);
  });

  test.each([
    ['of a later run', 1, {}, {}],
    ['if the token may not write', 3, {}, { level: 'read' as const }],
    ['for a dry run', 3, { 'dry-run': 'true' }, {}],
    ['for a withdrawal', 3, { operation: 'withdraw', file: '' }, { files: {} }],
  ])('is unchanged %s', async (_, id, more, given) => {
    const { repository, head, next } = await setUp();
    await watch(repository, head, 2, {});
    const { seen } = await watch(repository, next, id, { inputs: more, ...given });
    expect(seen.join()).not.toContain('begun');
  });
});

describe('a failure to announce', () => {
  const BLOCK =
    'give the job `permissions: { contents: write, pages: write, pull-requests: write, deployments: write }`';

  test.each([
    ['may not write deployments', { deployments: 'read' }, 1],
    ['may write neither', { deployments: 'none', pull_requests: 'none' }, 2],
  ] as const)('warns of a token that %s, with the whole block', async (_, permissions, count) => {
    const { repository, run } = await repositoryWithOpenPull();
    const given = { inputs: { comment: 'true' }, token: token(permissions) };
    const { log } = await proven(deliver(repository, run, given));
    const warnings = log.split('\n').filter((line) => line.startsWith('warning: '));
    expect(warnings).toHaveLength(count);
    expect(warnings.every((line) => line.endsWith(`To fix: ${BLOCK}`))).toBe(true);
    expect(log).toContain(
      'Could not update the deployment on pull request 1 (the delivery is not affected): creating the deployment failed with HTTP 403',
    );
    expect(states(repository)).toEqual([]);
  });

  test.each(['replaces', 'withdraws'])(
    'keeps the comment correct if an older run %s what a newer run verified',
    async (what) => {
      const { repository, head } = await repositoryWithPull();
      await repository.issues.openPullRequest('Change', 'feature');
      const play1 = (id: number, text: string, more = {}) => {
        const run = { ...runForPull(repository, head, { number: 1 }), number: [id, 1] as const };
        return deliver(repository, run, {
          files: { 'pa\u2028ge.html': createPage(text) },
          token: token({ pull_requests: 'write' }),
          inputs: { comment: 'true', environment: '', path: 'pr/page.html', ...more },
        });
      };
      await proven(play1(300, 'NEW'));
      const [{ body: before } = { body: '' }] = repository.issues.comments(1);
      if (repository.site) repository.site.live = false;
      const inputs = what === 'replaces' ? {} : { file: '', operation: 'withdraw' };
      const { report } = await play1(200, 'OLD', { timeout: '20', ...inputs });
      expect(report.ready).toBe(false);
      const [{ body: after } = { body: '' }] = repository.issues.comments(1);
      expect(after).not.toBe(before);
      expect(after).not.toContain('✅');
    },
  );

  test('names the two workflows in the run of a fork', async () => {
    const { repository, head } = await repositoryWithPull();
    const given = { inputs: { channel: 'K3', path: '' }, token: token(FORK_PERMISSIONS) };
    const run = runForPull(repository, head, { from: 'human/site' });
    const { log } = await proven(deliver(repository, run, given));
    expect(log).toMatch(
      /HTTP 403.*To fix: publish from a second workflow, .* the fork human\/site is read-only: .*fork-safe/,
    );
  });

  test.each<[string, RequestMatch, string[]]>([
    ['creates', CREATE, []],
    ['gets a state', STATUS, ['pending']],
    ['lists', LIST, ['success']],
  ])('does not change the delivery if the host fails when it %s', async (_, match, left) => {
    const { repository, run } = await repositoryWithPull();
    play.intercept({ ...match, times: 99 }, { status: 500, body: '{"message":"Server Error"}' });
    const { log } = await proven(deliver(repository, run));
    expect(log).toMatch(
      /^warning: Could not update the deployment on pull request 7 .*HTTP 500: Server Error$/m,
    );
    expect(states(repository)).toEqual(left);
  });

  test('ends when the host answers again', async () => {
    const { repository, run } = await repositoryWithPull();
    for (const match of [CREATE, STATUS, LIST]) {
      play.intercept(match, { alter: () => ({ status: 502, body: 'Bad Gateway' }) });
    }
    const { log } = await deliver(repository, run);
    // The first attempt was done, though its answer was lost.
    expect(states(repository)).toEqual(['success', 'inactive']);
    expect(log).not.toContain('warning: ');
  });

  test('names the events without a commit', async () => {
    const { repository } = await repositoryWithPull();
    const { repository: own } = runForPull(repository, '');
    const run = { ...runOf({ issue: { number: 7, pull_request: {} } }), repository: own };
    const played = await proven(deliver(repository, run));
    expect(played.log).toContain('the event does not name a commit. To fix: leave out');
    expect(requestsOf(played, /deployments/)).toEqual([]);
  });
});
