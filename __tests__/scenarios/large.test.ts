import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { expectReady } from './expect-report.ts';
import { listRequests, setUpScenario } from './scenario.ts';

const MEGABYTE = 1_048_576;
const scenario = setUpScenario();
const inputs = { channel: 'K1', timeout: '30' };

/** Commits of the history that this action made. */
const ours = (messages: readonly { message: string }[]): string[] =>
  messages
    .map(({ message }) => message)
    .filter((message) => message.includes('Delivered-by: screen-delivery'));

test.each([60, 95])(
  'a file of %d MB goes to the screen through git, and comes back whole',
  async (megabytes) => {
    const repository = await scenario.repository({ files: { 'theirs.txt': 'theirs' } });
    const bytes = randomBytes(megabytes * MEGABYTE);
    const delivered = await scenario.deliver({
      repository,
      files: { 'данные.bin': bytes },
      inputs,
      timeoutMs: 120_000,
    });
    await expectReady(scenario, delivered, { channel: 'K1', shows: bytes });
    expect(delivered.report.lines.CODE).toContain("method C, git's own protocol");
    expect(ours(await repository.log())).toHaveLength(1);
    expect(String(await repository.read('theirs.txt'))).toBe('theirs');
    // The blob API, which refuses such a file, was not even asked.
    expect(scenario.world.traffic.lines().filter((line) => line.includes('/git/blobs'))).toEqual([]);
  },
);

test('a blob that the host refuses as too large goes through git as well', async () => {
  const repository = await scenario.repository();
  const bytes = randomBytes(2 * MEGABYTE);
  const body = JSON.stringify({ message: 'Sorry, your input was too large to process.' });
  scenario.intercept(
    { method: 'POST', url: /\/git\/blobs$/ },
    { status: 422, body, headers: { 'content-type': 'application/json' } },
  );
  const delivered = await scenario.deliver({ repository, files: { 'a.bin': bytes }, inputs });
  await expectReady(scenario, delivered, { channel: 'K1', shows: bytes });
  expect(ours(await repository.log())).toHaveLength(1);
  expect(delivered.stdout).toContain('using git instead');
  // The plan was method B.
  expect(delivered.report.lines.CODE).toContain("; method C, git's own protocol; ");
});

test('an upload whose connection dies in its middle is sent once more in little memory, and leaves one whole asset', async () => {
  const repository = await scenario.repository();
  const bytes = randomBytes(60 * MEGABYTE);
  const upload = { method: 'POST', url: /uploads\.github\.com/ };
  scenario.intercept(upload, { fault: 'reset-before' });
  const delivered = await scenario.deliver({
    repository,
    files: { 'data.bin': bytes },
    inputs: { channel: 'K2', timeout: '30' },
    timeoutMs: 120_000,
  });
  await expectReady(scenario, delivered, { channel: 'K2', shows: bytes });
  const sent = listRequests(scenario, /^POST https:\/\/uploads\.github\.com/);
  expect(sent.map(({ status }) => status)).toEqual([null, 201]);
  const [cut, whole] = sent.map(({ body }) => body.size);
  expect(cut).toBeLessThan(bytes.length);
  expect(whole).toBe(bytes.length);
  const [release] = repository.releases();
  expect(release?.assets.map(({ name, size }) => [name, size])).toEqual([['data.bin', bytes.length]]);
  // Of the file's size it knows nothing: a delivery of 1 MB takes 20 MB less than this bound.
  expect((delivered.maxRssKb ?? 0) / 1_024).toBeLessThan(130);
});
