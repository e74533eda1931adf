import { describe, expect, test } from '@jest/globals';
import type { HostProgress, Placement } from '../../src/channels/channel.ts';
import { siteCheck } from '../../src/channels/pages/site-checks.ts';
import { newAttempt } from '../../src/delivery/delivery.ts';
import { proveAttempts, publishThroughChannel } from '../../src/delivery/publish-through-channel.ts';
import type { SendHttp } from '../../src/ports.ts';
import { SITE } from '../../src/protocol/limits.ts';
import { localFile } from '../support/files.ts';
import { FakeHttp, fakePorts, NOON } from '../support/ports.ts';
import {
  FakeChannel,
  INTERVAL,
  PAGE,
  placementOfFile,
  placementWith,
  TIMEOUT,
  taskWith,
} from './builders.ts';
import { type Answer, BYTES, FILE, NOT_FOUND, openHost } from './proving.ts';

const LIMITS = { interval: INTERVAL, timeout: TIMEOUT };
const building = async (): Promise<HostProgress> => ({ finished: false, detail: 'building' });

/** Publishes a file of the same bytes for each placement. */
async function publish(placements: readonly Placement[], answer: Answer, progress = building) {
  const file = await localFile(BYTES);
  const { asked, ports } = openHost(answer);
  const channel = new FakeChannel(new Error('the tasks are prepared already'), progress);
  const planned = placements.map((one) => newAttempt(taskWith(placementOfFile(one, file))));
  const attempts = await publishThroughChannel(channel, planned, LIMITS, ports);
  const codes = attempts.map(({ failure }) => failure?.code ?? null);
  return { attempts, codes, asked, ports, elapsed: ports.clock.now() - NOON };
}

describe('several files', () => {
  /** One site's pages, by whether they were written. */
  const pages = (...written: readonly boolean[]): Placement[] =>
    written.map((one, at) => placementWith({ url: new URL(`${at}.html`, PAGE), written: one, others: [] }));
  const showsFirst: Answer = ({ path }) => (path === '0.html' ? FILE : NOT_FOUND);

  test.each([
    ['the last one that was written', [true, true, false], '1.html'],
    ['the last one, where nothing had to be written', [false, false, false], '2.html'],
  ])('wait for %s: a site shows all of a push, or nothing of it', async (_, written, lead) => {
    let polls = 0;
    const progress = async (): Promise<HostProgress> => {
      polls += 1;
      return { finished: true, detail: 'built' };
    };
    const answer: Answer = () => (polls === 0 ? NOT_FOUND : FILE);
    const { codes, asked } = await publish(pages(...written), answer, progress);
    const beforeBuild = asked.slice(0, Math.max(written.filter(Boolean).length, 1));
    expect([codes, polls, beforeBuild.at(-1)?.path]).toEqual([[null, null, null], 1, lead]);
  });

  test('of a site that comes late are each looked at once more, and no longer', async () => {
    const { attempts, codes, asked, elapsed } = await publish(pages(true, true, true), showsFirst);
    expect([codes, elapsed]).toEqual([[null, 'BUILD_TIMEOUT', 'BUILD_TIMEOUT'], TIMEOUT]);
    expect(attempts[1]).toMatchObject({ failure: { step: 'wait' }, lastProbe: { httpCode: 404 } });
    expect(asked.filter(({ path }) => path === '1.html')).toHaveLength(2);
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
    return new FakeHttp(() => FILE).http(request);
  };
  const paths = Array.from({ length: 40 }, (_, nth) => `${nth}.html`);
  const others = paths.map((path) => siteCheck(path, new URL(path, PAGE), { is: 'bytes', file }));
  const folders = Array.from({ length: 12 }, () => ({
    ...newAttempt(taskWith()),
    placement: placementWith({ expect: { file }, others }),
  }));
  const proven = await proveAttempts(folders, LIMITS, fakePorts(slow));
  expect(proven.every(({ identicalFiles }) => identicalFiles === 41)).toBe(true);
  expect(most).toBeGreaterThan(SITE.probes);
  // Connections are most of the memory of an audit.
  expect(most).toBeLessThanOrEqual(80);
});
