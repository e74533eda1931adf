import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, listRequests, setUpScenario } from './scenario.ts';

const MEGABYTE = 1_048_576;
const scenario = setUpScenario();
const inputs = { channel: 'K1' };

test.each([60, 95])(
  'a file of %d MB is published through git and fetched back completely',
  async (megabytes) => {
    const repository = await scenario.repository({ files: { 'theirs.txt': 'theirs' } });
    const bytes = randomBytes(megabytes * MEGABYTE);
    const files = { 'данные.bin': bytes };
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: bytes });
    expect(delivered.report.lines.CODE).toContain("method C, git's own protocol");
    expect(await repository.log()).toHaveLength(2);
    expect(String(await repository.read('theirs.txt'))).toBe('theirs');
    // The blob API refuses such a file, and got no request.
    expect(scenario.world.traffic.lines().filter((line) => line.includes('/git/blobs'))).toEqual([]);
  },
);

test('a page that needs 60 MB of another host is refused with little memory', async () => {
  const bytes = randomBytes(60 * MEGABYTE);
  scenario.world.host('cdn.octo.dev', () => ({ status: 200, body: bytes }));
  const page = createPage('<img src="https://cdn.octo.dev/a.png">');
  const given = { files: { 'page.html': page }, inputs: { ...inputs, 'self-contained': 'inline' } };
  const delivered = await scenario.deliver(given);
  expectNotReady(
    delivered,
    'check',
    /cdn\.octo\.dev\/a\.png can't be put into the page: a page may load at most 20 MB/,
  );
  expect((delivered.maxRssKb ?? 0) / 1_024).toBeLessThan(200);
});

test('an interrupted upload is sent again with little memory, and leaves one complete asset', async () => {
  const repository = await scenario.repository();
  const bytes = randomBytes(60 * MEGABYTE);
  scenario.intercept({ method: 'POST', url: /uploads\.github\.com/ }, { fault: 'reset-before' });
  const given = { files: { 'data.bin': bytes }, inputs: { channel: 'K2' } };
  const delivered = await scenario.deliver({ repository, ...given });
  await expectReady(scenario, delivered, { channel: 'K2', shows: bytes });
  const sent = listRequests(scenario, /^POST https:\/\/uploads\.github\.com/);
  expect(sent.map(({ status }) => status)).toEqual([null, 201]);
  const [cut, whole] = sent.map(({ body }) => body.size);
  expect(cut).toBeLessThan(bytes.length);
  expect(whole).toBe(bytes.length);
  const [release] = repository.releases();
  expect(release?.assets.map(({ name, size }) => [name, size])).toEqual([['data.bin', bytes.length]]);
  // Memory must not grow with the file: a delivery of 1 MB takes 20 MB less than this limit.
  expect((delivered.maxRssKb ?? 0) / 1_024).toBeLessThan(130);
});
