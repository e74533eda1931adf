import { describe, expect, test } from '@jest/globals';
import type { HostProgress } from '../../src/channels/channel.ts';
import { type ChannelAttempt, newAttempt } from '../../src/delivery/delivery.ts';
import { proveAttempts, publishThroughChannel } from '../../src/delivery/publish-through-channel.ts';
import { DeliveryError } from '../../src/errors.ts';
import type { SendHttp } from '../../src/ports.ts';
import { SITE } from '../../src/protocol/limits.ts';
import { localFile } from '../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted, type Seen } from '../support/ports.ts';
import {
  FakeChannel,
  type FakeOutcome,
  type FakeTask,
  INTERVAL,
  PAGE,
  placementWith,
  planWith,
  RAW,
  TIMEOUT,
  taskWith,
} from './builders.ts';

const BYTES = '<p>It works</p>';
const NOT_FOUND = { status: 404 };

type Answer = (request: Seen, seconds: number) => Scripted | Error;

const LIMITS = { interval: INTERVAL, timeout: TIMEOUT };

/** A channel whose host is asked as the tasks say. */
const channelFor = (tasks: readonly FakeTask[]): FakeChannel => {
  const progress = ({ task }: { readonly task: FakeTask }): Promise<HostProgress> =>
    task.watch?.() ?? Promise.reject(new Error('nothing has to be waited for'));
  const isWaited = tasks.some(({ watch }) => watch !== undefined);
  return new FakeChannel(new Error('the tasks are prepared already'), isWaited ? progress : undefined);
};

/** Publishes a file of the same bytes for each task. */
async function publishAll(tasks: readonly FakeTask[], answer: Answer, marker?: string) {
  const file = await localFile(BYTES);
  const host: FakeHttp = new FakeHttp((request) => answer(request, (ports.clock.now() - NOON) / 1000));
  const ports = fakePorts(host.http);
  const channel = channelFor(tasks);
  const attempted = tasks.map((task) => {
    const data = task.data instanceof Error ? task.data : { ...task.data, file };
    const planned: FakeTask = { ...task, data };
    return newAttempt(planned, marker);
  });
  const attempts = await publishThroughChannel(channel, attempted, LIMITS, ports);
  return { attempts, channel, host, ports };
}

async function publishOne(task: FakeTask, answer: Answer, marker?: string) {
  const { attempts, host, ports } = await publishAll([task], answer, marker);
  expect(attempts).toHaveLength(1);
  return { attempt: attempts[0] as ChannelAttempt, host, ports };
}

const codesOf = (attempts: readonly ChannelAttempt[]) => attempts.map(({ failure }) => failure?.code ?? null);
const live: Answer = () => ({ body: BYTES });
const isStamped = ({ url }: Seen): boolean => url.includes('?v=');
const isRaw = ({ url }: Seen): boolean => url === RAW.href;
const watched = (placement: FakeOutcome = placementWith()): FakeTask =>
  taskWith(placement, async () => ({ finished: false, detail: 'building' }));

describe('publishOne a file through a channel', () => {
  test('places, waits, verifies, and proves the bare and the raw address too', async () => {
    const task = watched(placementWith({ unknown: ['the lock'] }));
    const { attempt, host, ports } = await publishOne(task, live);
    expect(attempt).toMatchObject({
      failure: null,
      proof: { match: 'identical', rawUrl: RAW },
      unknown: ['the lock'],
      took: { place: 0, wait: 0, verify: 0 },
    });
    const log = ports.logger.lines.join('\n');
    expect(log).toMatch(/^# Place: K1, branch main, path page.html\ncommit c0ffee\n# Wait for the site\n/);
    expect(log).not.toContain('https://');
    expect(host.seen.map(({ url }) => url).sort()).toEqual([
      ...Array<string>(4).fill(PAGE.href),
      `${PAGE.href}?v=${NOON / 1000}500000001`,
      RAW.href,
    ]);
  });

  test('names the other host that the address leads to', async () => {
    const redirect = { status: 301, headers: { location: 'https://www.octo-pages.com/' } };
    const leads: Answer = (request) =>
      request.url.startsWith(PAGE.href)
        ? redirect
        : { body: BYTES, headers: { 'content-type': 'text/html' } };
    const { attempt } = await publishOne(taskWith(), leads);
    expect(attempt.unknown).toEqual([expect.stringMatching(/^whether www\.octo-pages\.com, where /)]);
    const stored = await publishOne(taskWith(placementWith({ bypassCache: false })), leads);
    expect(stored.attempt.unknown).toEqual([]);
  });
});

describe('the address without ?v=', () => {
  const OLD = '<p>It worked</p>';
  const withOld = async (): Promise<FakeTask> =>
    taskWith(placementWith({ earlier: [{ sha: (await localFile(OLD)).blobSha, size: OLD.length }] }));

  /** Publishes where everything else is right. @param answer by the seconds, and which look it is, from 1 */
  async function publishPlain(answer: (seconds: number, nth: number) => Scripted | Error) {
    let nth = 0;
    return publishOne(await withOld(), (request, seconds) => {
      // Another host may have the same bytes, and is wrong all the same.
      if (request.url !== PAGE.href) return { body: request.url.includes('/login') ? 'Sign in' : BYTES };
      nth += 1;
      return answer(seconds, nth);
    });
  }

  test.each<[Record<string, string>, string]>([
    [{ 'cache-control': 'max-age=600' }, 'for up to 10 minutes'],
    [{ 'cache-control': 'max-age=600', age: '545' }, 'for up to 1 minute'],
    [{}, 'for a time that the host does not tell'],
  ])('may still be the copy from before, and UNKNOWN says how long: %j', async (headers, time) => {
    const { attempt, host, ports } = await publishPlain(() => ({ body: OLD, headers }));
    expect(attempt).toMatchObject({
      failure: null,
      proof: { match: 'identical' },
      unknown: [`without ?v= a cache still answered older copies of 1 file; it may show them ${time}`],
    });
    expect(ports.clock.now() - NOON).toBe(2 * INTERVAL);
    // The new page is still behind it.
    expect(host.seen.filter(isStamped)).toHaveLength(2);
  });

  test('is waited for no longer than it is late', async () => {
    const { attempt, ports } = await publishPlain((seconds) => ({ body: seconds >= 5 ? BYTES : OLD }));
    expect(attempt.unknown).toEqual([]);
    expect(ports.clock.now() - NOON).toBe(5_000);
  });

  test('must show what the proof saw, also where the host altered it', async () => {
    const headers = { 'last-modified': new Date(NOON).toUTCString() };
    const watch = async (): Promise<HostProgress> => ({ finished: true, detail: 'built', committedAt: NOON });
    const altered = `<!-- built -->${BYTES}`;
    const publish = (plain: string) =>
      publishOne(
        taskWith(placementWith(), watch),
        (request) => ({ body: isRaw(request) ? BYTES : isStamped(request) ? altered : plain, headers }),
        'It works',
      );
    const { attempt } = await publish(altered);
    expect(attempt).toMatchObject({ proof: { match: 'altered', rawUrl: RAW }, unknown: [] });
    const { attempt: other } = await publish(`<!-- another -->${BYTES}`);
    expect(other.failure).toMatchObject({ code: 'NOT_PROVEN' });
  });
});

describe('the raw address', () => {
  const LOGIN = { status: 302, headers: { location: '/login?return_to=x' } };
  test.each<[string, Scripted, number, string]>([
    ['is not there', NOT_FOUND, 3, 'did not show the file yet'],
    ['has the marker alone', { body: `${BYTES} and more` }, 3, 'did not show the file yet'],
    ['asks to sign in', LOGIN, 1, 'answers with a login page'],
  ])('that %s holds no delivery up, and is not handed over', async (_, answer, looks, unknown) => {
    const { attempt, host, ports } = await publishOne(
      taskWith(),
      (request) => (isRaw(request) ? answer : { body: request.url.includes('/login') ? 'Sign in' : BYTES }),
      'It works',
    );
    expect(attempt).toMatchObject({ failure: null, proof: { rawUrl: null } });
    expect(attempt.unknown).toEqual([`the raw address ${unknown}, so it was not verified`]);
    expect(host.seen.filter(isRaw)).toHaveLength(looks);
    expect(ports.clock.now() - NOON).toBe((looks - 1) * INTERVAL);
  });
});

test('an address that may open only inside this network is proven, and UNKNOWN says once why', async () => {
  const url = new URL('https://pages.git.corp/octo/site/page.html');
  const { attempt } = await publishOne(taskWith(placementWith({ url })), live);
  const why =
    'whether the address opens outside this network: pages.git.corp is a host name of an internal network';
  expect(attempt).toMatchObject({ failure: null, proof: { isInternal: true }, unknown: [why] });
});

describe('several files', () => {
  const pageOf = (at: number): URL => new URL(`https://octo.github.io/site/${at}.html`);
  const rawOf = (at: number): URL => new URL(`https://raw.githubusercontent.com/octo/site/main/${at}.html`);
  const building = async (): Promise<HostProgress> => ({ finished: false, detail: 'building' });

  /** Tasks of one site, each with its own page. */
  const pages = (count: number, watch = building): FakeTask[] =>
    Array.from({ length: count }, (_, at) => {
      const placement = placementWith({ url: pageOf(at), rawUrl: rawOf(at), commitSha: `c${at}` });
      return taskWith(placement, watch, planWith({ destination: `page ${at}` }));
    });
  const shows = (which: readonly number[]): Answer => {
    const paths = which.map((at) => `/${at}.html`);
    return ({ url }) =>
      paths.some((path) => new URL(url).pathname.endsWith(path)) ? { body: BYTES } : NOT_FOUND;
  };

  test.each([
    ['the last one that was written', [true, true, false], '/1.html'],
    ['the last one, where nothing had to be written', [false, false, false], '/2.html'],
  ])('wait for %s: a site shows all of a push, or nothing of it', async (_, written, lead) => {
    let polls = 0;
    const watch = async (): Promise<HostProgress> => {
      polls += 1;
      return { finished: true, detail: 'built' };
    };
    const tasks = written.map((one, at) =>
      taskWith(placementWith({ url: pageOf(at), rawUrl: rawOf(at), written: one }), watch),
    );
    const { attempts, host } = await publishAll(tasks, () => (polls === 0 ? NOT_FOUND : { body: BYTES }));
    expect(codesOf(attempts)).toEqual([null, null, null]);
    expect(polls).toBe(1);
    expect(new URL(host.seen[0]?.url ?? '').pathname).toBe(`/site${lead}`);
  });

  test('of a site that comes late are each looked at once more, and no longer', async () => {
    const { attempts, host, ports } = await publishAll(pages(3), shows([0]));
    expect(codesOf(attempts)).toEqual([null, 'BUILD_TIMEOUT', 'BUILD_TIMEOUT']);
    expect(attempts[1]).toMatchObject({ failure: { step: 'wait' }, lastProbe: { httpCode: 404 } });
    expect(host.seen.filter(({ url }) => url.includes('/1.html'))).toHaveLength(1);
    expect(ports.clock.now() - NOON).toBe(TIMEOUT);
  });

  test('of a removal are not proven by a 404 before the site is built without it', async () => {
    const ports = fakePorts(new FakeHttp(() => NOT_FOUND).http);
    const watch = async () => ({ finished: false, building: true, detail: 'building' });
    const task = taskWith(placementWith(), watch);
    const removed = { ...newAttempt(task), placement: placementWith(), gone: true };
    const [late] = await proveAttempts([removed], LIMITS, ports, channelFor([task]));
    expect(late).toMatchObject({ proof: null, failure: { code: 'BUILD_TIMEOUT', step: 'wait' } });
  });

  test('of a build that failed say so, but for one that is there already', async () => {
    const errored = new DeliveryError('BUILD_ERRORED', 'bad front matter');
    const tasks = pages(2, () => Promise.reject(errored));
    const { attempts, ports } = await publishAll(tasks, shows([0]));
    expect(codesOf(attempts)).toEqual([null, 'BUILD_ERRORED']);
    expect(attempts[1]?.failure).toMatchObject({ step: 'wait', message: 'bad front matter' });
    expect(ports.clock.slept).toEqual([]);
  });
});

test('of many folders only some are asked at once, each for many of its files', async () => {
  const file = await localFile(BYTES);
  let [open, most] = [0, 0];
  const slow: SendHttp = async (request) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise(setImmediate);
    open -= 1;
    return new FakeHttp(() => ({ body: BYTES })).http(request);
  };
  const paths = Array.from({ length: 40 }, (_, nth) => `${nth}.html`);
  const parts = paths.map((path) => ({ path, url: new URL(path, PAGE), file }));
  const folders = Array.from({ length: 12 }, () => ({
    ...newAttempt(taskWith()),
    placement: placementWith({ file, parts }),
  }));
  const proven = await proveAttempts(folders, LIMITS, fakePorts(slow));
  expect(proven.every(({ proof }) => proof?.parts === 40)).toBe(true);
  expect(most).toBeGreaterThan(SITE.probes);
  // Connections are most of the memory of an audit.
  expect(most).toBeLessThanOrEqual(80);
});
