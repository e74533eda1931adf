import { readdir } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { readJobRuntime } from '../../src/channels/pages/deploy/job-runtime.ts';
import { runRequest } from '../../src/context.ts';
import { RECEIPT as LIMITS } from '../../src/protocol/limits.ts';
import type { TestRepository } from '../world/repository.ts';
import {
  type Played,
  type PlayedDelivery,
  proven,
  refused,
  requestsOf,
  setUpPlay,
  writesOf,
} from './play.ts';
import { createPage } from './scenario.ts';

/* Sites that GitHub Actions deploys, without a branch: every delivery keeps what the others have. */

const play = setUpPlay();
const RECEIPT = '.well-known/screen-delivery.json';
const DEPLOYMENTS = /pages\/deployments$/;
const DEPLOYMENT = /^POST .*pages\/deployments$/;

const newSite = (): Promise<TestRepository> =>
  play.repository({ pages: { buildType: 'workflow', built: false } });
const readLive = ({ pages }: TestRepository, path: string): string | null =>
  pages.readLive(path)?.toString() ?? null;
const readReceipt = (repository: TestRepository) => JSON.parse(readLive(repository, RECEIPT) ?? '{}');
const livePaths = ({ pages }: TestRepository): readonly string[] =>
  [...(pages.liveVersion?.files.keys() ?? [])].filter((path) => path !== RECEIPT).sort();

/** Runs the action in a job that may deploy the site. */
async function run(repository: TestRepository, given: Omit<PlayedDelivery, 'repository'>): Promise<Played> {
  const commit = (await repository.head()) ?? '';
  const env = play.world.actions.startJob({ commit, repository: repository.fullName });
  const runtime = readJobRuntime(env);
  return play.deliver({ ...given, repository, around: { runtime, ...given.around } });
}

type Contents = Readonly<Record<string, string>>;

/** Delivers a folder to a place of the site. */
function put(
  repository: TestRepository,
  path: string,
  files: Contents,
  more: object = {},
  around: object = {},
) {
  const local = Object.fromEntries(Object.entries(files).map(([name, text]) => [`site/${name}`, text]));
  return run(repository, { files: local, inputs: { channel: 'K1', file: 'site/', path, ...more }, around });
}
const putPreview = (repository: TestRepository, name: string, text = name, more: object = {}, around = {}) =>
  put(
    repository,
    `previews/${name}/`,
    { 'index.html': createPage(text), 'a.css': `/* ${text} */` },
    more,
    around,
  );
const putMain = (repository: TestRepository, text = 'main', more: object = {}) =>
  put(repository, './', { 'index.html': createPage(text), 'app.js': text }, more);
const withdraw = (repository: TestRepository, path: string, more: object = {}, around: object = {}) =>
  run(repository, { inputs: { file: '', channel: 'K1', operation: 'withdraw', path, ...more }, around });
const list = async (repository: TestRepository, operation = 'audit', more: object = {}) =>
  run(repository, { inputs: { file: '', channel: 'K1', operation, timeout: '20', ...more } });

/** The run of a workflow of the repository. */
const runOf = (name: string, run = '43/1') => ({
  deliverer: { name: `octo/site/.github/workflows/${name}.yml`, run },
});

const MAIN = ['app.js', 'index.html'];
const filesOf = (...names: readonly string[]) =>
  names.flatMap((name) => [`previews/${name}/a.css`, `previews/${name}/index.html`]);

describe('a preview on a site without a branch', () => {
  test('is delivered beside the main site, which stays as it is', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    const before = await repository.log();
    const { report, requests, log } = await proven(putPreview(repository, 'pr-7'));
    expect(report).toMatchObject({ url: `${repository.pages.url}previews/pr-7/`, commitSha: null });
    expect(log).toMatch(/uploaded 4 files as artifact(?:.|\n)*^deployment [0-9a-f]{40}$/m);
    expect(livePaths(repository)).toEqual([...MAIN, ...filesOf('pr-7')]);
    expect(readLive(repository, 'index.html')).toContain('main');
    expect(await repository.log()).toEqual(before);
    expect(requests.filter((one) => one.includes('api.github.com')).length).toBeLessThanOrEqual(15);
  });

  test('may be the first delivery; `./` then keeps it, and prunes only its own files', async () => {
    const repository = await newSite();
    await proven(putPreview(repository, 'pr-7'));
    await proven(putMain(repository));
    await proven(put(repository, './', { 'index.html': createPage('second') }));
    expect(livePaths(repository)).toEqual(['index.html', ...filesOf('pr-7')]);
  });

  test('is replaced, and files that it no longer has answer 404', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    await proven(putPreview(repository, 'pr-7'));
    const { report } = await proven(put(repository, 'previews/pr-7/', { 'index.html': createPage('new') }));
    expect(report.lines.CODE).toContain('1 changed, 1 removed');
    expect(livePaths(repository)).toEqual([...MAIN, 'previews/pr-7/index.html']);
    expect(readReceipt(repository).deliveries).toMatchObject([
      { files: [{}] },
      { files: [] },
      { files: [{}, {}] },
    ]);
  });

  test('that is delivered again without a change is only verified', async () => {
    const repository = await newSite();
    await proven(putPreview(repository, 'pr-7'));
    const { log, requests } = await proven(putPreview(repository, 'pr-7'));
    expect(writesOf({ requests })).toEqual([]);
    expect(log).toContain('the live site had this site before this delivery');
  });

  test('is withdrawn alone; withdrawn again, it only verifies', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    for (const name of ['pr-7', 'pr-8']) await proven(putPreview(repository, name));
    await proven(withdraw(repository, 'previews/pr-7/'));
    expect(livePaths(repository)).toEqual([...MAIN, ...filesOf('pr-8')]);
    const again = await proven(withdraw(repository, 'previews/pr-7/'));
    expect(requestsOf(again, DEPLOYMENT)).toEqual([]);
    await proven(withdraw(repository, 'previews/pr-8'));
    expect(livePaths(repository)).toEqual(MAIN);
  });

  test('may be one page with its source beside it', async () => {
    const repository = await newSite();
    const files = { 'report.md': '# Report\n\nAll is well.' };
    const inputs = { channel: 'K1', path: 'r/', render: 'true' };
    await proven(run(repository, { files, inputs }));
    expect(livePaths(repository)).toEqual(['r/report.md', 'r/report.md.html']);
    await proven(withdraw(repository, 'r/report.md.html'));
    expect(livePaths(repository)).toEqual([]);
  });

  test('several files and a folder of one run are one deployment', async () => {
    const repository = await newSite();
    const files = {
      'a.html': createPage('a'),
      'b.html': createPage('b'),
      'site/index.html': createPage('s'),
    };
    const inputs = { channel: 'K1', path: 'p/', file: 'a.html\nb.html\nsite/' };
    const played = await proven(run(repository, { files, inputs }));
    expect(requestsOf(played, DEPLOYMENT)).toHaveLength(1);
    expect(livePaths(repository)).toEqual(['p/a.html', 'p/b.html', 'p/site/index.html']);
  });

  test('is listed and audited with the others, by its receipt', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    await proven(putPreview(repository, 'pr-7', 'pr-7', {}, runOf('preview')));
    await proven(putPreview(repository, 'pr-8'));
    await proven(withdraw(repository, 'previews/pr-8/'));
    const { reports } = await list(repository);
    const verdicts = reports.map(({ file, verdict }) => [file?.path, verdict]);
    expect(verdicts).toEqual([
      ['previews/pr-8/', 'withdrawn'],
      ['previews/pr-7/', 'as-delivered'],
      ['./', 'as-delivered'],
    ]);
    play.alterSite(repository, 'previews/pr-7/a.css', { status: 404 });
    const lost = await list(repository, 'audit', { path: 'previews/pr-7/' });
    expect(lost.report.verdict).toBe('lost');
  });

  test('is compared with the main site', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    const { report } = await proven(putPreview(repository, 'pr-7', 'other', { compare: './' }));
    expect(report.changedPages).toMatchObject([{ kind: 'changed', path: 'index.html' }]);
  });

  test.each([
    ['of another workflow stays', 'other', [...filesOf('pr-1', 'pr-2', 'pr-3')]],
    ['of the same workflow goes', 'preview', [...filesOf('pr-2', 'pr-3')]],
  ])('beyond `keep` %s', async (_, workflow, expected) => {
    const repository = await newSite();
    await proven(putPreview(repository, 'pr-1', 'pr-1', {}, runOf(workflow)));
    for (const name of ['pr-2', 'pr-3'])
      await proven(putPreview(repository, name, name, { keep: '2' }, runOf('preview')));
    expect(livePaths(repository)).toEqual(expected);
  });

  test('is swept once it is old, with one deployment for all', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    for (const name of ['pr-1', 'pr-2']) await proven(putPreview(repository, name));
    const inputs = {
      operation: 'withdraw',
      file: '',
      channel: 'K1',
      path: 'previews/',
      'older-than': '3 days',
    };
    const perform: PlayedDelivery['perform'] = (request, ports) => {
      play.jumpClock(4 * 86_400_000);
      return runRequest(request, ports);
    };
    const played = await proven(run(repository, { inputs, perform }));
    expect(requestsOf(played, DEPLOYMENT)).toHaveLength(1);
    expect(livePaths(repository)).toEqual(MAIN);
  });

  test('leaves large files of others as they are, and no file on the runner', async () => {
    const repository = await newSite();
    const files = {
      'index.html': createPage('main'),
      'data.bin': 'x'.repeat(LIMITS.smallFile + 1),
      'empty.txt': '',
    };
    await proven(put(repository, './', files));
    await proven(putPreview(repository, 'pr-7'));
    expect(readLive(repository, 'data.bin')).toHaveLength(LIMITS.smallFile + 1);
    expect(readLive(repository, 'empty.txt')).toBe('');
    expect((await readdir(play.world.folder)).filter((name) => name.includes('site-'))).toEqual([]);
  });

  test('is not ready if its deployment damages another delivery', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    const damage = () => play.alterSite(repository, 'app.js', { status: 404 });
    play.meanwhile({ method: 'POST', url: /pages\/deployments$/ }, damage);
    await refused(
      putPreview(repository, 'pr-7'),
      /^verify.*: after the deployment, the live site answers HTTP 404 at app\.js/,
    );
  });

  test('beside 2,000 live files needs few API requests, fetches each file once, and verifies 100 again', async () => {
    const repository = await newSite();
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, nth) => [`f/${nth}.txt`, `${nth}`]));
    await proven(put(repository, './', { 'index.html': createPage('main'), ...many }));
    const { report, requests } = await proven(putPreview(repository, 'pr-7'));
    expect(report.unknown).toContain('whether about 1901 more files of other deliveries are still served');
    expect(requestsOf({ requests }, /^\w+ https:\/\/api\.github\.com\//).length).toBeLessThanOrEqual(20);
    expect(requestsOf({ requests }, /\/f\/\d+\.txt/).length).toBeLessThanOrEqual(2_100);
  });

  test('inside another delivery is refused, and nothing is deployed', async () => {
    const repository = await newSite();
    await proven(putPreview(repository, 'pr-7'));
    const files = { 'index.html': createPage('x') };
    const played = await refused(
      run(repository, { files, inputs: { channel: 'K1', path: 'previews/pr-7/index.html' } }),
      /^place: .*it came with the folder previews\/pr-7\/ that was delivered as a whole/,
    );
    expect(writesOf(played)).toEqual([]);
  });
});

describe('a site without a branch whose live state is not what its receipt says', () => {
  test.each([
    ['has other content at', { status: 200, body: 'evil' }],
    ['answers HTTP 404 at', { status: 404 }],
    ['answers HTTP 503 at', { status: 503 }],
  ])(
    '%s a file: nothing is deployed, the file is named, and its own delivery repairs it',
    async (what, reply) => {
      const repository = await newSite();
      await proven(putMain(repository));
      const rule = play.alterSite(repository, 'app.js', reply);
      const played = await refused(
        putPreview(repository, 'pr-7'),
        new RegExp(
          `^place \\d+: the live site ${what} app\\.js.* → deliver app\\.js again with .overwrite: true`,
        ),
      );
      expect(writesOf(played)).toEqual([]);
      await rule.remove();
      await proven(putMain(repository, 'main', { overwrite: 'true' }));
      await proven(putPreview(repository, 'pr-7'));
    },
  );

  test('is waited for if an edge shows an old file only for a moment', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    play.intercept({ url: /app\.js\?/, times: 2 }, { status: 200, body: 'old' });
    await proven(putPreview(repository, 'pr-7'));
    expect(readLive(repository, 'app.js')).toBe('main');
  });

  test.each<[string, { status: number; body?: string }, RegExp]>([
    [
      'no receipt',
      { status: 404 },
      /deployed by another tool.* → set `path: \.\/` and `overwrite: true` once/,
    ],
    [
      'a receipt that the host denies while it serves the site',
      { status: 404, body: "There isn't a GitHub Pages site here." },
      /deployed by another tool.* → set `path: \.\/` and `overwrite: true` once/,
    ],
    [
      'a receipt of a newer format',
      { status: 200, body: '{"tool":"screen-delivery","format":3,"commit":"a"}' },
      /a newer version of screen-delivery wrote the receipt.* → use the newest version/,
    ],
    [
      'a receipt above 5 MB',
      { status: 200, body: ' '.repeat(6_000_000) },
      /more than 5 MB.* → withdraw older/,
    ],
  ])('with %s is refused', async (_, reply, says) => {
    const repository = await newSite();
    await proven(putMain(repository));
    play.alterSite(repository, RECEIPT, reply);
    for (const overwrite of ['false', 'true']) {
      const played = await refused(
        putPreview(repository, 'pr-7', 'x', { overwrite }),
        new RegExp(`^check[^:]*: .*${says.source}`),
      );
      expect(writesOf(played)).toEqual([]);
    }
  });

  test('with a receipt that would become larger than 5 MB is refused', async () => {
    const repository = await newSite();
    await proven(putPreview(repository, 'pr-6'));
    const receipt = readReceipt(repository);
    const fill = (length: number) => ({
      ...{ id: 'c'.repeat(40), time: receipt.deliveries[0].time, files: [], removed: [] },
      message: `REMOVE a: ${'x'.repeat(length)}\n\nDelivered-by: screen-delivery`,
    });
    const most = [...receipt.deliveries, ...Array.from({ length: 5 }, () => fill(LIMITS.message - 100))];
    const rest = LIMITS.bytes - JSON.stringify({ ...receipt, deliveries: [...most, fill(0)] }).length - 100;
    const body = JSON.stringify({ ...receipt, deliveries: [...most, fill(rest)] });
    play.alterSite(repository, RECEIPT, { status: 200, body });
    const played = await refused(putPreview(repository, 'pr-7'), /^place: .*would have more than 5 MB/);
    expect(writesOf(played)).toEqual([]);
  });

  test.each<[string, (receipt: Record<string, unknown>) => unknown]>([
    ['a file outside of its delivery', (one) => ({ ...one, files: [...(one.files as []), FILE] })],
    ['a removal with files', (one) => ({ ...one, message: 'REMOVE a: b\n\nDelivered-by: screen-delivery' })],
    ['a file of two deliveries', (one) => [one, { ...one, id: 'b'.repeat(40) }]],
    ['a path that leaves the site', (one) => ({ ...one, files: [{ ...FILE, path: '../x.html' }] })],
    ['another message', (one) => ({ ...one, message: `${one.message}\nReviewed-by: x` })],
    ['no id', ({ id: _, ...one }) => one],
    ['a message of 2 MB', (one) => ({ ...one, message: `${one.message}\n${'x'.repeat(2_000_000)}` })],
    ['an object as its time', (one) => ({ ...one, time: { toString: 1 } })],
    ['half a character in a path', (one) => ({ ...one, files: [{ ...FILE, path: 'previews/pr-6/\ud800' }] })],
  ])('with a receipt that has %s counts as deployed by another tool', async (_, change) => {
    const repository = await newSite();
    await proven(putPreview(repository, 'pr-6'));
    const receipt = readReceipt(repository);
    const body = JSON.stringify({ ...receipt, deliveries: receipt.deliveries.flatMap(change) });
    play.alterSite(repository, RECEIPT, { status: 200, body });
    await refused(putPreview(repository, 'pr-7'), /^check: .*deployed by another tool/);
  });
});

const FILE = { path: 'stranger.html', size: 1, blob: 'a'.repeat(40) };

describe('jobs that deliver to a site without a branch at once', () => {
  test.each([2, 3])('%i previews: all are there', async (count) => {
    const repository = await newSite();
    await proven(putMain(repository));
    const names = Array.from({ length: count }, (_, nth) => `pr-${nth + 1}`);
    const played = await Promise.all(names.map((name) => putPreview(repository, name)));
    expect(played.map(({ report }) => report.notReady)).toEqual(names.map(() => null));
    expect(livePaths(repository)).toEqual([...MAIN, ...filesOf(...names)]);
  });

  test('a delivery, a withdrawal and the main site: each has its effect', async () => {
    const repository = await newSite();
    for (const name of ['pr-1', 'pr-2']) await proven(putPreview(repository, name));
    const jobs = [
      putPreview(repository, 'pr-3'),
      withdraw(repository, 'previews/pr-1/'),
      putMain(repository),
    ];
    const played = await Promise.all(jobs);
    expect(played.map(({ report }) => report.notReady)).toEqual([null, null, null]);
    expect(livePaths(repository)).toEqual([...MAIN, ...filesOf('pr-2', 'pr-3')]);
  });

  test('two withdrawals and two deliveries of the same preview end consistently', async () => {
    const repository = await newSite();
    for (const name of ['pr-1', 'pr-2']) await proven(putPreview(repository, name));
    await Promise.all([withdraw(repository, 'previews/pr-1/'), withdraw(repository, 'previews/pr-2/')]);
    expect(livePaths(repository)).toEqual([]);
    await Promise.all([putPreview(repository, 'pr-3', 'one'), putPreview(repository, 'pr-3', 'two')]);
    expect(livePaths(repository)).toEqual(filesOf('pr-3'));
  });

  test.each(['accepted', 'after the upload'])(
    'another job replaces the site (%s) without this delivery: it is deployed again on top',
    async (when) => {
      const repository = await newSite();
      await proven(putMain(repository));
      const [url, method] =
        when === 'accepted' ? [/pages\/deployments$/, 'POST'] : [/FinalizeArtifact$/, 'POST'];
      let other: Promise<Played> | undefined;
      play.meanwhile({ method, url }, () => {
        other ??= putPreview(repository, 'pr-2');
        return when === 'accepted' ? undefined : other;
      });
      await proven(putPreview(repository, 'pr-1'));
      await proven(other as Promise<Played>);
      expect(livePaths(repository)).toEqual([...MAIN, ...filesOf('pr-1', 'pr-2')]);
    },
  );

  test('another delivery goes live between the last look and the deployment: it is deployed again with it', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    const { promise, resolve } = Promise.withResolvers<void>();
    let isAccepted = false;
    play.meanwhile({ method: 'GET', url: /screen-delivery\.json/, skip: 3 }, async () => {
      await proven(putPreview(repository, 'pr-2'));
      // The run's own deployment takes longer than its next requests.
      repository.pages.pause = () => promise;
      play.meanwhile({ method: 'POST', url: DEPLOYMENTS }, () => {
        isAccepted = true;
        repository.pages.deploymentRefusals = [[400, 'Deployment failed due to in progress deployment.']];
      });
    });
    const files = { 'site/index.html': createPage('pr-1') };
    const inputs = { channel: 'K1', file: 'site/', path: 'previews/pr-1/' };
    const { report } = await proven(
      run(repository, { files, inputs, onPause: () => isAccepted && resolve() }),
    );
    expect(report.unknown.join()).not.toContain('replaced');
    expect(livePaths(repository)).toEqual([...MAIN, 'previews/pr-1/index.html', ...filesOf('pr-2')]);
  });

  test('a CDN that shows the old receipt while another deployment ends: nothing is lost', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    const body = readLive(repository, RECEIPT) ?? '';
    let other: Promise<Played> | undefined;
    // The first job's deployment runs, and the second job's is refused; then the old receipt is shown twice.
    play.meanwhile({ method: 'POST', url: /pages\/deployments$/ }, () => {
      other = putPreview(repository, 'pr-2');
      play.intercept({ url: /screen-delivery\.json/, times: 2 }, { status: 200, body });
    });
    await proven(putPreview(repository, 'pr-1'));
    await proven(other as Promise<Played>);
    expect(livePaths(repository)).toEqual([...MAIN, ...filesOf('pr-1', 'pr-2')]);
  });

  test('a job that builds on this deployment before this run looks again: one deployment is enough', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    play.meanwhile({ method: 'POST', url: DEPLOYMENTS }, () => putPreview(repository, 'pr-2'));
    const { report, requests } = await proven(putPreview(repository, 'pr-1'));
    expect(report.lines.CODE).toContain('2 added');
    expect(requestsOf({ requests }, DEPLOYMENT)).toHaveLength(1);
    expect(livePaths(repository)).toEqual([...MAIN, ...filesOf('pr-1', 'pr-2')]);
  });

  test('a receipt that stays the earlier one is not ready, because the next delivery would build on it', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    play.alterSite(repository, RECEIPT, { status: 200, body: readLive(repository, RECEIPT) ?? '' });
    await refused(
      putPreview(repository, 'pr-1'),
      /^verify.*: the receipt .* is still an earlier one → run it/,
    );
  });

  test('an old receipt that a CDN shows again is never built on', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    const body = readLive(repository, RECEIPT) ?? '';
    await proven(putPreview(repository, 'pr-1'));
    const showOld = () => play.intercept({ url: /screen-delivery\.json/, times: 2 }, { status: 200, body });
    play.meanwhile({ method: 'GET', url: /screen-delivery\.json/ }, showOld);
    await proven(putPreview(repository, 'pr-2'));
    expect(livePaths(repository)).toEqual([...MAIN, ...filesOf('pr-1', 'pr-2')]);
  });

  test('an old receipt that a CDN shows after the deployment of another job is waited for', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    const body = readLive(repository, RECEIPT) ?? '';
    repository.pages.deploymentRefusals = [[400, 'Deployment failed due to in progress deployment.']];
    play.meanwhile({ method: 'POST', url: DEPLOYMENTS }, async () => {
      await proven(putPreview(repository, 'pr-2'));
      play.intercept({ url: /screen-delivery\.json/, times: 3 }, { status: 200, body });
    });
    await proven(putPreview(repository, 'pr-1'));
    expect(livePaths(repository)).toEqual([...MAIN, ...filesOf('pr-1', 'pr-2')]);
  });

  test('a file that another job replaces while this run fetches it: fetched again by the newer receipt', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    const replace = async () => {
      await proven(putMain(repository, 'next'));
      return { status: 200, body: 'next' };
    };
    play.intercept({ url: /app\.js\?/ }, { alter: replace });
    await proven(putPreview(repository, 'pr-1'));
    expect(readLive(repository, 'app.js')).toBe('next');
    expect(livePaths(repository)).toEqual([...MAIN, ...filesOf('pr-1')]);
  });

  test('a site that others replace again and again is deployed five times, and then not ready', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    const main = [...MAIN.map((path) => [path, readLive(repository, path) ?? ''] as const)];
    const receipt = readReceipt(repository);
    const commit = (await repository.head()) ?? '';
    let replaced = 0;
    play.meanwhile({ method: 'POST', url: DEPLOYMENTS, times: 99 }, () => {
      replaced += 1;
      const theirs = JSON.stringify({ ...receipt, id: `${replaced}`.repeat(40), before: [] });
      const files = [...main, [RECEIPT, theirs] as const];
      repository.pages.deployArtifact(
        commit,
        new Map(files.map(([path, text]) => [path, Buffer.from(text)])),
      );
    });
    const played = await refused(putPreview(repository, 'pr-1'), /^(wait|verify)/);
    expect(requestsOf(played, DEPLOYMENT)).toHaveLength(5);
  });

  test('a run that is killed after its deployment was accepted: its delivery may be live, and the next one keeps it', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    const stop = new AbortController();
    play.meanwhile({ method: 'POST', url: /pages\/deployments$/ }, () => stop.abort(new Error('killed')));
    const files = { 'site/index.html': createPage('killed') };
    const inputs = { channel: 'K1', file: 'site/', path: 'previews/pr-1/' };
    await expect(run(repository, { files, inputs, signal: stop.signal })).resolves.toMatchObject({
      report: { ready: false },
    });
    await proven(putPreview(repository, 'pr-2'));
    expect(livePaths(repository)).toEqual([...MAIN, 'previews/pr-1/index.html', ...filesOf('pr-2')]);
  });

  test('an answer that was lost: the live receipt shows that the deployment arrived', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    play.intercept({ method: 'POST', url: /pages\/deployments$/ }, { alter: () => ({ status: 502 }) });
    await proven(putPreview(repository, 'pr-1'));
    expect(livePaths(repository)).toEqual([...MAIN, ...filesOf('pr-1')]);
  });

  test('the site of another tool, deployed meanwhile, is not replaced', async () => {
    const repository = await newSite();
    await proven(putMain(repository));
    const commit = (await repository.head()) ?? '';
    play.meanwhile({ method: 'POST', url: /FinalizeArtifact$/ }, async () => {
      repository.pages.deployArtifact(commit, new Map([['index.html', Buffer.from('theirs')]]));
    });
    await refused(putPreview(repository, 'pr-1'), /^place: somebody deployed the site .*by another tool/);
    expect(readLive(repository, 'index.html')).toBe('theirs');
  });
});
